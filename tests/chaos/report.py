"""What a run is judged by, and how it is told: a table for people, one JSON line for programs."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import orjson

from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL
from tests import counters
from tests.chaos import requests_checker
from tests.chaos.checker import by_stream
from tests.chaos.entries import Entry
from tests.chaos.findings import KINDS
from tests.chaos.scenario import Outcome
from tests.chaos.servers import COMMIT_S, SESSION_S

# What a killed worker had handled since its last commit is handled again. The commit is a timer's, so it may be late,
# and a record in flight holds the ones behind it.
HELD_S = 0.5
IN_FLIGHT = 20
# The assembler's new owner reads again what its joins held, and with it parts that came after their pack: their audit
# records are made again, the same.
LATE = f"{MEMORY_DECISIONS.name} (late-part)"
SILENCE_AFTER_KILL_S = 15.0


def violations(outcome: Outcome) -> list[str]:
    """Everything for which a run fails, in words."""
    found = [f"before the first kill, {finding.kind}: {finding.where}" for finding in outcome.graceful.findings]
    found += [
        f"repeated by a join or a graceful stop: {count} {name}"
        for name, count in outcome.graceful.repeats.items()
        if count and name != LATE
    ]
    found += outcome.failures
    allowed = allowed_repeats(outcome)
    found += [
        f"{name}: {repeated} repeats, at most {allowed[name]} are explained by the kills"
        for name, repeated in outcome.verdict.repeats.items()
        if repeated > allowed[name]
    ]
    return found + [f"{finding.kind}: {finding.where}" for finding in outcome.verdict.findings]


def allowed_repeats(outcome: Outcome) -> Mapping[str, int]:
    """For each stream: kills times what came in a commit interval at its busiest second, and what was in flight."""
    kills = sum(event.kind not in ("join", "SIGTERM") for event in outcome.events)
    streams = by_stream(outcome.evidence.log)
    return {
        name: int(kills * ((COMMIT_S + HELD_S) * _busiest_second(entries) + IN_FLIGHT)) if kills else 0
        for name, entries in streams.items()
    }


def _busiest_second(entries: Iterable[Entry]) -> int:
    return max(Counter(entry.timestamp // 1000 for entry in entries).values(), default=0)


def summary(outcome: Outcome) -> dict[str, Any]:
    """The figures of a run."""
    verdict, kills = outcome.verdict, [e for e in outcome.events if e.kind not in ("join", "SIGTERM")]
    sent = outcome.evidence.sent
    stops = [event.took for event in outcome.events if event.kind == "SIGTERM"]
    return {
        "broker": outcome.broker,
        "messages": len({(m.key, m.message_id) for m in sent}),
        "sent_again": sum(message.again for message in sent),
        "packs": verdict.packs,
        "degraded": verdict.degraded,
        "requests": _by_kind(given.topic for given in outcome.evidence.given),
        "calls_unavailable": len(requests_checker.unavailable(by_stream(outcome.evidence.log))),
        "kills": len(kills),
        "kills_by_kind": _by_kind(event.kind for event in kills),
        "joins": sum(event.kind == "join" for event in outcome.events),
        "sigterms": len(stops),
        "sigterm_s_max": round(max(stops, default=0.0), 2),
        **{kind.replace(" ", "_"): verdict.count(kind) for kind in KINDS},
        "repeats": {name: count for name, count in verdict.repeats.items() if count},
        "repeats_a_kill": {name: round(n / len(kills), 1) for name, n in verdict.repeats.items() if n and kills},
        "repeats_without_kill": {name: count for name, count in outcome.graceful.repeats.items() if count},
        "records": len(outcome.evidence.log),
        "differing_parts": verdict.differing_parts,
        "ready_again_s": _spread([event.ready - event.at for event in kills if event.ready]),
        "silence_s": _spread(silences([event.at for event in kills], outcome.evidence.log)),
        "session_timeout_s": SESSION_S,
        "pack_latency_ms": _spread(latencies(outcome.evidence.log)),
        "took_s": round(outcome.took_s, 1),
        "failures": outcome.failures,
        "violations": len(violations(outcome)),
    }


def record(outcome: Outcome, rows: str, workload: str, seed: int) -> None:
    """Hand on what a run counted."""
    figures = summary(outcome)
    ran = {name: figures[name] for name in ("messages", "records", "packs", "kills", "joins", "sigterms")}
    reprocessed = sum(count for name, count in figures["repeats_without_kill"].items() if name != LATE)
    measured = {"duplicate records": sum(outcome.verdict.repeats.values()), "stop s": figures["sigterm_s_max"]}
    if figures["silence_s"]:
        measured["recovery p95 s"] = figures["silence_s"]["p95"]
    counters.record(
        rows, workload, {**ran, "seconds": round(outcome.took_s)},
        {**{kind: outcome.verdict.count(kind) for kind in KINDS}, "reprocessed": reprocessed,
         "violations": figures["violations"]},
        measured, [seed],
    )  # fmt: skip


def table(outcome: Outcome) -> str:
    """The figures as lines, and the first violations in words."""
    figures = summary(outcome)
    lines = [f"{name:22} {_plain(value)}" for name, value in figures.items()]
    wrong = violations(outcome)
    return "\n".join([*lines, *(f"VIOLATION {one}" for one in wrong[:20])])


def json_line(outcome: Outcome) -> str:
    """The figures for programs."""
    return orjson.dumps(summary(outcome)).decode()


def silences(kills: Iterable[float], log: Iterable[Entry]) -> list[float]:
    """For each kill, the longest time without a new pack that began or lasted within fifteen seconds of it."""
    stamps = sorted(entry.timestamp / 1000 for entry in log if entry.topic == CONTEXT_PACKS.name)
    found = []
    for at in kills:
        around = stamps[max(bisect_left(stamps, at) - 1, 0) : bisect_right(stamps, at + SILENCE_AFTER_KILL_S) + 1]
        found.append(max((later - earlier for earlier, later in pairwise(around)), default=0.0))
    return found


def latencies(log: Iterable[Entry]) -> list[float]:
    """From the opening of a join to its pack, by their places in time; milliseconds."""
    opened: dict[str, int] = {}
    packed: dict[str, int] = {}
    for entry in log:
        if entry.topic == PACKS_PARTIAL.name and entry.event.get("kind") in ("open", "inputs"):
            opened.setdefault(entry.event["pack_id"], entry.timestamp)
        elif entry.topic == CONTEXT_PACKS.name:
            packed.setdefault(entry.event["pack_id"], entry.timestamp)
    return [float(at - opened[pack]) for pack, at in packed.items() if pack in opened]


def _by_kind(kinds: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(kinds).items()))


def _spread(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    ranked = sorted(values)
    at = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    return {name: round(ranked[min(int(len(ranked) * share), len(ranked) - 1)], 2) for name, share in at.items()}


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items()) or "-"
    return str(value)
