"""Packs of `fathom up` beside plain retrieval: the everyday sets taught, their questions asked one after the other."""

import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from subprocess import TimeoutExpired
from typing import Any

import httpx

from bench.evaluation.command.play import PackPlayer
from bench.evaluation.held_packs import Content
from bench.evaluation.pack_figures import judged
from bench.evaluation.questions import Asking, PackQuestion, of_everyday
from bench.measure import ROOT, median, percentile
from bench.peers.contestants import Unmeasured, running
from bench.pipeline import caught_up
from bench.running import Running, cpu_by_process, fathom_up
from streams.edges.client import clients
from streams.edges.client.send import deliver
from streams.stores.tokens import O200kTokens

SYSTEMS = {"fathom": "Fathom", "langchain": "LangChain", "llamaindex": "LlamaIndex", "mem0": "mem0"}
SETS = ("everyday", "everyday_by_others")
# How many of the best texts of an answer are judged; the most are asked for.
CUTS = (2, 4, 10)
TURNS = 2
GIVE_UP_S = 120.0
RUN = "peers"
Figures = dict[str, object]


@dataclass
class Play:
    """One round of one system: milliseconds of each call, CPU of one, and what each question got.

    `chosen`: Fathom's packs, as its judge reads them, some `degraded` by their deadline; without them, what was got are
    texts, best first.
    """

    ingest_ms: list[float] = field(default_factory=list)
    ingest_cpu_ms: float = 0.0
    learnt_ms: float = 0.0
    asks: dict[str, tuple[list[float], float]] = field(default_factory=dict)
    got: list[list[str]] = field(default_factory=list)
    chosen: list[Content] | None = None
    degraded: int = 0


def everyday() -> Asking:
    """Both everyday sets, questions that follow earlier turns first: those are not timed, and warm what is."""
    given = [of_everyday(ROOT / "bench" / name) for name in SETS]
    questions = [each for _, asked in given for each in asked]
    alone = timed(questions)
    ordered = [*(each for each in questions if each.turns), *alone[1::2], *alone[::2]]
    return [each for taught, _ in given for each in taught], ordered


def timed(questions: Sequence[PackQuestion]) -> Sequence[PackQuestion]:
    """Those that follow nothing: with Fathom one half over HTTP, then the other over Kafka, as texts are cached."""
    return [each for each in questions if not each.turns]


def once(name: str, asking: Asking) -> Play:
    """One round of a system."""
    return fathom(asking) if name == "fathom" else retrieved(name, asking)


# --- Fathom


def fathom(asking: Asking) -> Play:
    """On a `fathom up` of its own."""
    tokens = {material.tenant: token_hex(16) for material in asking[0]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokens.json"
        file.touch(0o600)
        file.write_text(json.dumps({token: {"tenant": f"{name}-{RUN}"} for name, token in tokens.items()}))
        with fathom_up(ask_tokens_file=str(file), ask_calls_per_minute="1000000", log_level="error") as system:
            return clients.run(packed(system, tokens, asking))


async def packed(system: Running, tokens: dict[str, str], asking: Asking) -> Play:
    """Taught over Kafka, asked over HTTP and over Kafka; CPU includes what is learnt from the questions."""
    play, questions = Play(), timed(asking[1])
    by_http, by_kafka = questions[: len(questions) // 2], questions[len(questions) // 2 :]
    async with PackPlayer.on(system.bootstrap, run=RUN, rate=1, alone=True) as player:
        await caught_up(system)
        before, began = used(system), time.perf_counter()
        # Each once the broker has the one before: that is what its sender waits for.
        for record in (each for material in asking[0] for each in player.memory_of(material)):
            sent = time.perf_counter()
            await deliver(player.broker.producer, record)
            play.ingest_ms.append(1000 * (time.perf_counter() - sent))
        await caught_up(system)
        play.learnt_ms = 1000 * (time.perf_counter() - began) / len(play.ingest_ms)
        play.ingest_cpu_ms = 1000 * (used(system) - before) / len(play.ingest_ms)

        answers, took = [], list[float]()
        for number, question in enumerate(asking[1]):
            if question in (by_http[0], by_kafka[0]):
                await caught_up(system)
            if question is by_http[0]:
                before = used(system)
                over = await asyncio.to_thread(over_http, system.http, tokens, by_http)
                await caught_up(system)
                play.asks["Fathom, HTTP /ask"] = over, 1000 * (used(system) - before) / len(over)
            if question is by_kafka[0]:
                before = used(system)
            sent = time.perf_counter()
            answers.append(await player.converse(number, question))
            took.append(1000 * (time.perf_counter() - sent))
        await caught_up(system)
        took = took[-len(by_kafka) :]
        play.asks["Fathom, Kafka"] = took, 1000 * (used(system) - before) / len(took)
        rows = judged(answers, player.packs)
    play.got, play.chosen = [[str(row.pack.get("text", ""))] for row in rows], [row.content for row in rows]
    play.degraded = sum(bool(row.pack["degraded"]) for row in rows)
    return play


def over_http(http: str, tokens: dict[str, str], questions: Sequence[PackQuestion]) -> list[float]:
    """The milliseconds of `/ask`. They are dated now, later than those over Kafka, which do not find them."""
    took = []
    with httpx.Client(base_url=f"http://{http}", timeout=GIVE_UP_S) as client:
        for number, each in enumerate(questions):
            headers = {"authorization": f"Bearer {tokens[each.tenant]}", "fathom-user": each.user}
            body = {"question": each.text, "conversation_id": f"http-{number}", "client_id": "eval"}
            began = time.perf_counter()
            client.post("/ask", json=body, headers=headers).raise_for_status()
            took.append(1000 * (time.perf_counter() - began))
    return took


def used(system: Running) -> float:
    """CPU seconds of all processes of `up`."""
    return sum(cpu_by_process(system.pid).values())


# --- the others


def retrieved(name: str, asking: Asking) -> Play:
    """Another's memory, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        job, result = Path(folder) / "job.json", Path(folder) / "result.json"
        job.write_text(json.dumps(job_of(asking)))
        with running("bench.peers.memories", name, str(job), str(result)) as process:
            with suppress(TimeoutExpired):
                process.wait(GIVE_UP_S)
            if process.returncode != 0:
                raise Unmeasured(f"it did not end within {GIVE_UP_S:g} s")
        found = json.loads(result.read_text())
    ingest, complete, ask = found["ingest"], found["complete"], found["ask"]
    items = len(ingest["ms"])
    return Play(
        ingest_ms=ingest["ms"],
        ingest_cpu_ms=ingest["cpu_ms"] + complete["cpu_ms"] / items,
        learnt_ms=sum([*ingest["ms"], *complete["ms"]]) / items,
        asks={SYSTEMS[name]: (ask["ms"][-len(timed(asking[1])) :], ask["cpu_ms"])},
        got=found["texts"],
    )


def job_of(asking: Asking) -> dict[str, Any]:
    """The items and questions of an in-process memory; a question is searched with the last turns before it."""
    items = [
        {"tenant": material.tenant, "text": text}
        for material in asking[0]
        for text in (*(text for _, text in material.documents), *material.said())
    ]
    questions = [
        {"tenant": each.tenant, "text": "\n".join([*(turn.text for turn in each.turns[-TURNS:]), each.text])}
        for each in asking[1]
    ]
    return {"best": CUTS[-1], "items": items, "questions": questions}


# --- figures


def cost_rows(system: str, plays: Sequence[Play]) -> tuple[Figures, list[Figures]]:
    """Of ingesting and of each way to ask: percentiles over all rounds, medians of the rest."""
    waits = shares([ms for play in plays for ms in play.ingest_ms], "wait_")
    learnt, cpu = (median([getattr(play, name) for play in plays]) for name in ("learnt_ms", "ingest_cpu_ms"))
    asks: list[Figures] = []
    for way in plays[0].asks:
        took = shares([ms for play in plays for ms in play.asks[way][0]])
        asks.append({"ask": way, **took, "cpu_ms": round(median([play.asks[way][1] for play in plays]), 1)})
    return {"ingest": system, **waits, "learnt_ms": round(learnt, 1), "cpu_ms": round(cpu, 1)}, asks


def shares(values: Sequence[float], of: str = "") -> Figures:
    return {f"{of}p{share}_ms": round(percentile(values, share / 100), 1) for share in (50, 95)}


def found_rows(system: str, questions: Sequence[PackQuestion], play: Play) -> list[Figures]:
    """What a round found: all of it where Fathom chose, else the best texts, fewer and more."""
    if play.chosen is not None:
        return [{"found": system, **judgement(questions, play.got, play.chosen), "degraded": play.degraded}]
    rows: list[Figures] = []
    for most in CUTS:
        best = [texts[:most] for texts in play.got]
        rows.append({"found": f"{system}, best {most}", **judgement(questions, best, list(map(Content.of, best)))})
    return rows


def judgement(questions: Sequence[PackQuestion], got: Sequence[Sequence[str]], contents: Sequence[Content]) -> Figures:
    """By data set: the share of answerable questions with all their evidence; mean tokens of those, and of the others.

    The others need no memory, or nothing in it answers them.
    """
    counter, found = O200kTokens(), Figures()
    for dataset in dict.fromkeys(each.dataset for each in questions):
        spent, right = {True: list[int](), False: list[int]()}, 0
        for question, texts, content in zip(questions, got, contents, strict=True):
            if question.dataset == dataset:
                spent[bool(question.evidence)].append(counter.count("\n\n".join(texts)))
                right += content.holds_all(question)
        tokens, for_nothing = (round(sum(counts) / max(1, len(counts))) for counts in spent.values())
        found[f"{dataset} evidence"] = round(right / max(1, len(spent[True])), 3)
        found |= {f"{dataset} tokens": tokens, f"{dataset} tokens for nothing": for_nothing}
    return found
