"""A whole recorded job: the events of one message's pack and cognitive run, as `GET /events` sends them.

    python -m tests.builders.progress_job    makes the files again

`progress_job.json` are the events in the order of the log, `progress_job_reduced.json` what they reduce to: whoever
reduces them, in whatever language, has to find the same.
"""

from collections.abc import Iterable
from heapq import merge
from operator import attrgetter
from pathlib import Path
from typing import Any

import orjson

from agents.core.progress.message_events import MessageEvents, TimedEvent
from agents.core.progress.reduction import snapshot
from schemas.progress import ProgressMade
from schemas.topics import COGNITION_STEPS, CONTEXT_PACKS, PACKS_PARTIAL, RETRIEVAL_PLANS
from streams import extensions
from streams.edges.http.events.message_progress import MessageProgress
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT

HERE = Path(__file__).parent
EVENTS, REDUCED = HERE / "progress_job.json", HERE / "progress_job_reduced.json"
LAW = """# CLT: artigos

## Art. 71
Em qualquer trabalho contínuo de mais de seis horas é obrigatório um intervalo para almoço de no mínimo uma hora.
"""
RULINGS = """# Julgados

## Processo 0000111-45.2023.5.02.0001
O adicional de insalubridade é devido ao empregado do frigorífico.

## Processo 0000222-45.2023.5.15.0002
O adicional de insalubridade não é devido ao empregado do frigorífico.
"""
# One leaf has two sides, one an answer, one nothing.
QUESTION = (
    "O adicional de insalubridade é devido ao empregado do frigorífico, quanto dura o intervalo de almoço "
    "e qual é a alíquota do ITBI?"
)
ON: dict[str, object] = {
    "rag_enable_cograg": True,
    "rag_cograg_verification_enabled": True,
    "rag_cograg_evidence_refinement_enabled": True,
    "rag_cograg_memory_enabled": True,
    "rag_cograg_hallucination_loop": True,
}


def told(fathom: Pipeline) -> list[TimedEvent]:
    """The events of all messages, one message after the other."""
    topics = (PACKS_PARTIAL, CONTEXT_PACKS, COGNITION_STEPS)
    records = [*merge(*map(fathom.events, topics), key=attrgetter("timestamp"))]
    plans = {plan.event.pack_id: plan for plan in fathom.events(RETRIEVAL_PLANS)}
    found: list[TimedEvent] = []
    for plan in plans.values():
        message = MessageEvents(plan, extensions.run_of(plan.event, fathom.settings.cognition()))
        found += [message.first, *(each for record in records for each in message.of(record))]
    return found


def events(fathom: Pipeline) -> list[ProgressMade]:
    """The same without their times."""
    return [each.event for each in told(fathom)]


def recorded() -> list[TimedEvent]:
    """The events of one message, in the order of the log."""
    with Pipeline(stages=SPLIT, **ON) as fathom:
        fathom.document("clt", "CLT", LAW)
        fathom.document("julgados", "Julgados", RULINGS)
        fathom.ask(QUESTION)
        return told(fathom)


def as_json(told: Iterable[TimedEvent]) -> Any:
    """The events as the stream's data."""
    progress = MessageProgress(has_run=True)
    progress.add(told)
    return [orjson.loads(each.data) for each in progress.events]


def main() -> None:
    records = recorded()
    events = [each.event for each in records]
    lines = (orjson.dumps(each) for each in as_json(records))
    EVENTS.write_bytes(b"[\n" + b",\n".join(lines) + b"\n]\n")
    REDUCED.write_bytes(orjson.dumps(snapshot(events[0].message_id, events), option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
