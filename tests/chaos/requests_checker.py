"""Judge what became of the requests beside the messages: assessments, tool calls, corrections, feedback, consultations.

Pure, as `checker`: each has its effect in the log and in the store, once, in its order, the same at every delivery.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import orjson

from schemas.learning import DepthVote
from schemas.topics import (
    ASSESSMENTS_IN,
    ASSESSMENTS_OUT,
    CORRECTIONS_IN,
    FEEDBACK_IN,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_CORRECTIONS,
    MEMORY_VOTES,
    SEARCHES_IN,
    SEARCHES_OUT,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
)
from tests.chaos.entries import Entry, Evidence, Given
from tests.chaos.findings import CONFLICT, DOUBLED, LOST, REORDERED, Finding
from tests.chaos.requests import AUDITED, JUDGED

FROM_OUTSIDE = (
    ASSESSMENTS_IN.name,
    CORRECTIONS_IN.name,
    FEEDBACK_IN.name,
    MEMORY_CONSULTATIONS.name,
    SEARCHES_IN.name,
    TOOLS_CALLS_IN.name,
    TOOLS_CONFIRMATIONS_IN.name,
    TOOLS_RESULTS_IN.name,
)
VOTES = (MEMORY_VOTES.name, AUDITED)
MADE = (
    ASSESSMENTS_OUT.name,
    SEARCHES_OUT.name,
    TOOLS_CALLS_OUT.name,
    JUDGED,
    MEMORY_CORRECTIONS.name,
    MEMORY_CLAIMS.name,
    *VOTES,
)
# Assessments and searches have a key each.
IN_ORDER = (TOOLS_CALLS_OUT.name, MEMORY_CORRECTIONS.name, *VOTES)
CORRECTION = "urn:fathom:correction"
UNAVAILABLE = "indisponivel"
# Argument of a call: the place of the session and the field of a result that fill it.
FILLED = {
    "report_id": ("active_report_id", "report_id"),
    "processo_referencia": ("processo_atual", "processo_referencia"),
}
Streams = Mapping[str, list[Entry]]
Cause = tuple[str, str]


def is_from_outside(entry: Entry) -> bool:
    """Whether a claim or correction was made of a request, not of what was said."""
    return entry.headers.get("ce_source") == CORRECTION


def without_times(entry: Entry) -> bytes:
    """What must be the same in every delivery: all bytes, of an assessment all but what it took.

    Of a search only what it is of: memory may know more when it is made again.
    """
    if entry.topic == SEARCHES_OUT.name:
        return orjson.dumps({name: said for name, said in entry.whole().items() if name in ("request_id", "query")})
    if entry.topic != ASSESSMENTS_OUT.name:
        return entry.value
    return orjson.dumps({name: said for name, said in entry.whole().items() if name != "latency_ms"})


def unavailable(streams: Streams) -> frozenset[tuple[str, str]]:
    """Calls, by key and id, that were refused because the session did not answer in time, as a pack is degraded.

    Such a refusal is not kept: what the session holds, and what becomes of a confirmation, is then open.
    """
    verdicts = ((entry.key, entry.event) for entry in streams[TOOLS_CALLS_OUT.name])
    return frozenset(
        (key, str(event.get("call_id"))) for key, event in verdicts if event.get("erro_codigo") == UNAVAILABLE
    )


def may_be_refused(given: Iterable[Given], streams: Streams) -> frozenset[Cause]:
    """Requests that are rightly a dead letter."""
    away = unavailable(streams)
    return frozenset((one.tenant, one.id) for one in given if one.refused or _is_open(one, away))


def _is_open(one: Given, away: frozenset[tuple[str, str]]) -> bool:
    return one.topic == TOOLS_CONFIRMATIONS_IN.name and (one.key, one.subject) in away


def findings(given: Sequence[Given], streams: Streams) -> Iterator[Finding]:
    """Everything there is to find in the log."""
    away = unavailable(streams)
    made = {name: _by_cause(name, streams[name]) for name in MADE}
    settled = {name: _settled(causes) for name, causes in made.items()}
    yield from _unanswered([one for one in given if not _is_open(one, away)], made, streams)
    yield from _doubled(given, settled)
    yield from _verdicts(given, settled[TOOLS_CALLS_OUT.name], away)
    yield from _reordered(given, made)


def _by_cause(name: str, entries: Iterable[Entry]) -> Mapping[Cause, list[Entry]]:
    found: dict[Cause, list[Entry]] = defaultdict(list)
    for entry in entries:
        if name not in (MEMORY_CORRECTIONS.name, MEMORY_CLAIMS.name) or is_from_outside(entry):
            found[entry.cause].append(entry)
    return found


def _settled(made: Mapping[Cause, list[Entry]]) -> Mapping[Cause, list[Entry]]:
    """Without "not now" where a verdict followed, when the call was delivered again: that is an event of its own."""
    return {cause: [e for e in entries if not says_not_now(e)] or entries for cause, entries in made.items()}


def says_not_now(entry: Entry) -> bool:
    """Whether it is, or audits, the refusal of a call whose session did not answer in time."""
    if entry.topic == TOOLS_CALLS_OUT.name:
        return bool(entry.event.get("erro_codigo") == UNAVAILABLE)
    if entry.event.get("kind") != "tool":
        return False
    return bool(entry.whole()["detail"]["verdict"].get("erro_codigo") == UNAVAILABLE)


def _unanswered(
    given: Iterable[Given], made: Mapping[str, Mapping[Cause, list[Entry]]], streams: Streams
) -> Iterator[Finding]:
    """Requests that left the log, or without what they want."""
    there = {name: {(e.partition, e.offset, e.ce_id) for e in streams[name]} for name in FROM_OUTSIDE}
    letters = {
        (e.tenant, e.ce_id) for name, entries in streams.items() if name.startswith("dead-letters.") for e in entries
    }
    for one in given:
        if (one.partition, one.offset, one.id) not in there[one.topic]:
            yield Finding(LOST, f"{one.topic}: {one.id} itself")
        for name in one.wants:
            if (one.tenant, one.id) not in made[name]:
                yield Finding(LOST, f"{name}: of {one.topic} {one.subject}")
        if one.refused and (one.tenant, one.id) not in letters:
            yield Finding(LOST, f"no dead letter of {one.topic} {one.subject}")


def _doubled(given: Iterable[Given], made: Mapping[str, Mapping[Cause, list[Entry]]]) -> Iterator[Finding]:
    """Effects that nobody wanted, and two different events of one cause."""
    wanted = {(one.tenant, one.id): one.wants for one in given}
    for name, causes in made.items():
        for cause, entries in causes.items():
            if name not in wanted.get(cause, ()):
                yield Finding(DOUBLED, f"{name}: nobody asked for {entries[0].ce_id}")
            if len({entry.ce_id for entry in entries}) > 1:
                yield Finding(DOUBLED, f"{name}: several events of {cause[1]}")


def _verdicts(
    given: Sequence[Given], made: Mapping[Cause, list[Entry]], away: frozenset[tuple[str, str]]
) -> Iterator[Finding]:
    """A call has one verdict, the right one, by what was known before it; a yes executes what was shown, once."""
    results: dict[str, list[tuple[int, Given]]] = defaultdict(list)
    said: dict[tuple[str, str], dict[bytes, dict[str, Any]]] = defaultdict(dict)
    taken: Counter[tuple[str, str]] = Counter()
    for number, one in enumerate(given):
        if one.topic == TOOLS_RESULTS_IN.name:
            results[one.key].append((number, one))
    for number, one in enumerate(given):
        entries = made.get((one.tenant, one.id), [])
        if not entries:
            continue
        verdict, call = entries[0].whole(), (one.key, one.subject)
        if verdict.get("status") != one.status and call not in away:
            code = verdict.get("erro_codigo")
            yield Finding(LOST, f"{one.topic} {one.subject}: {verdict.get('status')} ({code}), not {one.status}")
        if one.topic == TOOLS_CALLS_IN.name:
            # Who asks again after a refusal that is not kept may well get a verdict then.
            whole = ((entry.value, entry.whole()) for entry in entries)
            said[call] |= {value: event for value, event in whole if event.get("erro_codigo") != UNAVAILABLE}
            yield from _unseen(number, one, verdict, results[one.key])
        else:
            taken[call] += 1
            for shown in () if call in away else said[call].values():
                if one.status == "resolved" and verdict.get("args_resolvidos") != shown.get("preview", {}).get("args"):
                    yield Finding(CONFLICT, f"{one.topic} {one.subject}: resolved to other than was shown")
    yield from (Finding(CONFLICT, f"call {call}: {len(all_)} verdicts") for call, all_ in said.items() if len(all_) > 1)
    yield from (Finding(DOUBLED, f"call {call}: answered {n} times") for call, n in taken.items() if n > 1)


def _unseen(
    number: int, call: Given, verdict: Mapping[str, Any], results: Sequence[tuple[int, Given]]
) -> Iterator[Finding]:
    """Results that were in the log before a call, and were not seen by it; those behind it may have been."""
    for injection in verdict.get("injections", ()):
        if injection["source"] != "session":
            continue
        _, field = FILLED[injection["arg"]]
        before = [each.event[field] for at, each in results if at < number]
        after = [each.event[field] for at, each in results if at > number]
        if injection["value"] not in (*before[-1:], *after):
            yield Finding(LOST, f"call {call.subject}: {injection['value']}, and {before[-1:]} came before it")


def _reordered(given: Iterable[Given], made: Mapping[str, Mapping[Cause, list[Entry]]]) -> Iterator[Finding]:
    """Keys whose effects first came in another order than what they came of, topic by topic."""
    places = {(one.tenant, one.id): one for one in given}
    for name in IN_ORDER:
        order: dict[tuple[str, str, int], list[tuple[int, int]]] = defaultdict(list)
        for cause, entries in made[name].items():
            if (one := places.get(cause)) is not None:
                order[one.topic, entries[0].key, one.partition].append((entries[0].offset, one.offset))
        for (topic, key, _), pairs in order.items():
            if any(later < earlier for (_, earlier), (_, later) in pairwise(sorted(pairs))):
                yield Finding(REORDERED, f"{name}: {key}, by {topic}")


def kept_findings(evidence: Evidence, streams: Streams) -> Iterator[Finding]:
    """The stores of votes and of tool sessions against the log."""
    yield from _votes(evidence.kept.votes, streams[MEMORY_VOTES.name])
    first = {entry.cause: entry for entry in reversed(streams[TOOLS_CALLS_OUT.name]) if not says_not_now(entry)}
    yield from _sessions(evidence, first, unavailable(streams))


def _votes(kept: Mapping[str, Iterable[DepthVote]], recorded: Iterable[Entry]) -> Iterator[Finding]:
    # A record that cannot be read is a finding of `conflicts`.
    wanted = {(e.tenant, _sorted(vote)) for e in recorded if "pattern" in (vote := e.whole())}
    found = Counter((name, _sorted(vote.model_dump(mode="json"))) for name, votes in kept.items() for vote in votes)
    yield from (Finding(LOST, f"votes: {tenant} {vote}") for tenant, vote in wanted - found.keys())
    yield from (Finding(DOUBLED, f"votes: nobody cast {one}") for one in found.keys() - wanted)
    yield from (Finding(DOUBLED, f"votes: {one} counts {times} times") for one, times in found.items() if times > 1)


def _sorted(fields: Mapping[str, Any]) -> str:
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()


def _sessions(
    evidence: Evidence, verdicts: Mapping[Cause, Entry], away: frozenset[tuple[str, str]]
) -> Iterator[Finding]:
    last: dict[tuple[str, str], Given] = {}
    for one in evidence.given:
        if (one.key, one.subject) in away:
            continue
        session = evidence.kept.sessions.get(one.key)
        made = verdicts.get((one.tenant, one.id))
        if one.topic == TOOLS_RESULTS_IN.name:
            last |= {(one.key, argument): one for argument in FILLED}
        elif one.topic == TOOLS_CALLS_IN.name and made is not None:
            kept = session.verdicts.get(one.subject) if session else None
            if kept is None or orjson.loads(kept.model_dump_json()) != made.whole():
                yield Finding(LOST, f"session {one.key}: the verdict on {one.subject}")
        elif one.topic == TOOLS_CONFIRMATIONS_IN.name and made is not None:
            waiting = session.waiting.get(one.subject) if session else None
            if waiting is None or waiting.taken != one.id:
                yield Finding(LOST, f"session {one.key}: what was said to {one.subject}")
    for (key, argument), result in last.items():
        place, field = FILLED[argument]
        found = evidence.kept.sessions.get(key)
        value = found.values.get(place) if found else None
        if value is None or value.value != result.event[field]:
            yield Finding(LOST, f"session {key}: {place} of {result.subject}")
