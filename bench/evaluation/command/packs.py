"""`fathom eval packs`: whether the pack of a question contains its evidence, end to end, compared with plain search."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Annotated

import orjson
import typer

from bench.evaluation import pack_figures, pack_pages, questions
from bench.evaluation.command.play import PackPlayer
from bench.evaluation.command.report import Html, show, write
from bench.evaluation.pack_figures import Figure, JudgedPack, PackAnswer
from bench.evaluation.plain_search import PlainSearch
from bench.evaluation.questions import Asking, Material, PackQuestion
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.demo.run import note, on_own_system
from streams.edges.client import clients
from streams.edges.client.errors import USAGE, CommandFailed

MAX_CHAT = 200

Datasets = Annotated[
    list[str] | None, typer.Option("--dataset", metavar="NAME", help="Only this one; may be repeated.")
]
Chat = Annotated[
    Path | None, typer.Option("--chat", metavar="FILE", help="Labelled messages: its greetings need nothing.")
]


def packs(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Corpora with queries (.jsonl, .gz), and folders of the everyday kind."),
    ],
    broker: Broker = None,
    up: Annotated[bool, typer.Option("--up", help="On a system of its own, in a temporary folder.")] = False,
    datasets: Datasets = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="At most so many questions of each; 0 is all.")] = 0,
    foreign: Annotated[
        int, typer.Option("--foreign", min=0, help="So many questions of each other data set, which nothing answers.")
    ] = 0,
    chat: Chat = None,
    rate: Annotated[float, typer.Option("--rate", min=0.1, help="Questions a second.")] = 20.0,
    alone: Annotated[
        bool, typer.Option("--alone", help="No question finds another in memory: figures that can be repeated.")
    ] = False,
    patience: Annotated[float, typer.Option("--patience", help="Seconds until memory must have settled.")] = 900.0,
    html: Html = None,
    out: Annotated[Path | None, typer.Option("--packs", metavar="FILE", help="Write every pack, one a line.")] = None,
    as_json: Json = False,
) -> None:
    """Whether the pack of a question holds its evidence, end to end, beside plain search in as many tokens.

    Memory goes in and questions are asked over Kafka, in tenants of their own; what is measured stays in that memory.
    """
    if up and broker is not None:
        raise typer.BadParameter("give either --up or --broker")
    materials, asked = given(inputs, datasets or (), limit)

    async def story(bootstrap: str) -> Figure:
        async with PackPlayer.on(bootstrap, run=token_hex(3), rate=rate, alone=alone) as player:
            note(f"{await player.teach(materials)} records of memory sent; waiting until they can be found")
            await player.settle(patience)
            answers = await player.ask([*asked, *_unanswered(materials, asked, foreign, chat)], note)
            earlier = player.packs
        if out is not None:
            write(out, "".join(map(_line, answers)))
        note("comparing with plain search")
        return await asyncio.to_thread(_figures, pack_figures.judged(answers, earlier), materials)

    figures = on_own_system("eval", "the system", story) if up else clients.run(story(clients.bootstrap_of(broker)))
    show(figures, pack_pages, html, as_json=as_json)


def _line(answer: PackAnswer) -> str:
    row = {"id": answer.question.id, "dataset": answer.question.dataset, "pack": answer.pack}
    return f"{orjson.dumps(row).decode()}\n"


def _unanswered(
    materials: Sequence[Material], asked: Sequence[PackQuestion], foreign: int, chat: Path | None
) -> Iterator[PackQuestion]:
    """Unanswerable questions: those of other data sets, and labelled small talk."""
    if foreign:
        yield from questions.foreign(materials, asked, foreign)
    if chat:
        yield from questions.of_chat(chat, materials[0].tenant, MAX_CHAT)


def given(inputs: Sequence[Path], datasets: Sequence[str], limit: int) -> Asking:
    """Material and questions of files and folders; raises `CommandFailed`."""
    materials: list[Material] = []
    asked: list[PackQuestion] = []
    for path in inputs:
        try:
            read = questions.of_everyday(path) if path.is_dir() else questions.of_retrieval(path, tuple(datasets))
        except (OSError, ValueError) as error:
            raise CommandFailed(f"{path} cannot be read: {error}", USAGE) from None
        except (KeyError, TypeError) as error:
            raise CommandFailed(f"{path} is no file of corpora with queries: {error!r}", USAGE) from None
        materials += read[0]
        asked += read[1]
    if not asked:
        raise CommandFailed("there is nothing to ask: no question of the data sets asked for is in the files", USAGE)
    if limit:
        names = dict.fromkeys(each.dataset for each in asked)
        asked = [row for name in names for row in _spread([each for each in asked if each.dataset == name], limit)]
    return materials, asked


def _spread(asked: list[PackQuestion], most: int) -> list[PackQuestion]:
    """At most `most` of them, evenly spread over the list."""
    return [asked[at * len(asked) // most] for at in range(most)] if len(asked) > most else asked


def _figures(rows: Sequence[JudgedPack], materials: Sequence[Material]) -> Figure:
    from streams.stores.passages.vectors import UseEmbedder

    embedder = UseEmbedder()
    searches = {material.tenant: PlainSearch(material, embedder) for material in materials}
    own = [row for row in rows if row.question.foreign is None and row.question.dataset != "chat"]
    other = [row for row in rows if row.question.foreign is not None]
    chat = [row for row in rows if row.question.dataset == "chat"]
    found: dict[str, object] = {"datasets": _by_dataset(own, lambda each: pack_figures.dataset(each, searches))}
    if other:
        found["foreign"] = _by_dataset(other, pack_figures.brought)
    if chat:
        found["chat"] = {"questions": len(chat), **pack_figures.traffic(chat)}
    return found


def _by_dataset(rows: Sequence[JudgedPack], figure: Callable[[Sequence[JudgedPack]], Figure]) -> dict[str, Figure]:
    names = dict.fromkeys(row.question.dataset for row in rows)
    return {name: figure([row for row in rows if row.question.dataset == name]) for name in names}
