"""`fathom eval answers`: whether deep answers are right, end to end, compared with plain sentences of the same size."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any

import orjson
import typer

from bench.evaluation.command.packs import Datasets, given
from bench.evaluation.command.play import PackPlayer
from bench.evaluation.command.report import Html, show, write
from bench.evaluation.deep import figures, pages
from bench.evaluation.deep.figures import DeepAsked, Figure
from bench.evaluation.questions import Asking, Material, PackQuestion
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.demo.run import note, on_own_system
from streams.edges.client import clients

ON: Mapping[str, Any] = {
    "rag_enable_cograg": True,
    "rag_cograg_verification_enabled": True,
    "rag_cograg_evidence_refinement_enabled": True,
}
OF_TALKS, TALKS = ("said", "told", "updated", "followup"), ", of talks"


def answers(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Corpora with queries (.jsonl, .gz), and folders of the everyday kind."),
    ],
    broker: Broker = None,
    up: Annotated[
        bool, typer.Option("--up", help="On a system of its own, in a temporary folder, with cognition on.")
    ] = False,
    datasets: Datasets = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="At most so many questions of each; 0 is all.")] = 0,
    rate: Annotated[float, typer.Option("--rate", min=0.1, help="Questions a second.")] = 5.0,
    patience: Annotated[float, typer.Option("--patience", help="Seconds until memory must have settled.")] = 900.0,
    html: Html = None,
    out: Annotated[
        Path | None, typer.Option("--answers", metavar="FILE", help="Write every answer, one a line.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Whether answers by cognition are right, end to end, beside plain sentences of the same length.

    Each question is asked with `deep`, in a tenant and a conversation of its own; none finds another.
    """
    if up and broker is not None:
        raise typer.BadParameter("give either --up or --broker")
    materials, asked = _named(inputs, datasets or (), limit)

    async def story(bootstrap: str) -> Figure:
        async with PackPlayer.on(bootstrap, run=token_hex(3), rate=rate, alone=True, deep=True) as player:
            note(f"{await player.teach(materials)} records of memory sent; waiting until they can be found")
            await player.settle(patience)
            await player.ask(asked, note)
            found = [DeepAsked(each, player.answer_to(number)) for number, each in enumerate(asked)]
        if out is not None:
            write(out, "".join(map(_line, found)))
        note("comparing with plain search")
        judged = figures.judged(found, materials)
        return {"datasets": await asyncio.to_thread(figures.by_dataset, judged, materials)}

    if up:
        made = on_own_system("eval", "the system", story, settings=ON)
    else:
        made = clients.run(story(clients.bootstrap_of(broker)))
    show(made, pages, html, as_json=as_json)


def _named(inputs: Sequence[Path], datasets: Sequence[str], limit: int) -> Asking:
    """Material and questions; those of a folder are a data set of its name, with tenants of its own.

    Questions of talks are a data set apart: what was said is harder to find, and other questions are asked of it.
    """
    materials: list[Material] = []
    asked: list[PackQuestion] = []
    for path in inputs:
        own, questions = given([path], datasets, limit)
        if path.is_dir():
            name = path.resolve().name
            own = [replace(each, dataset=name, tenant=f"{name}-{each.tenant}") for each in own]
            questions = [
                replace(each, dataset=f"{name}{TALKS if each.kind in OF_TALKS else ''}", tenant=f"{name}-{each.tenant}")
                for each in questions
            ]
        materials += own
        asked += questions
    return materials, asked


def _line(asked: DeepAsked) -> str:
    row = {"id": asked.question.id, "dataset": asked.question.dataset, "answer": asked.answer}
    return f"{orjson.dumps(row).decode()}\n"
