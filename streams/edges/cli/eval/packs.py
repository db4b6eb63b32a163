"""`fathom eval packs`: whether the pack of a question holds its evidence, end to end, beside plain search."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import orjson
import uvloop

from streams.edges.cli.demo.run import everything
from streams.edges.cli.eval.play import PackPlayer
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, USAGE, CommandFailed
from streams.evaluation import pack_figures, pack_pages, questions
from streams.evaluation.pack_figures import Figure, JudgedPack
from streams.evaluation.plain_search import PlainSearch
from streams.evaluation.questions import Asking, Material, PackQuestion
from streams.telemetry import metrics

MAX_CHAT = 200


@dataclass(frozen=True, slots=True)
class EvalPacks:
    """What is measured: `inputs` are retrieval files and everyday folders."""

    inputs: tuple[Path, ...]
    datasets: tuple[str, ...] = ()
    limit: int = 0
    foreign: int = 0
    chat: Path | None = None
    up: bool = False
    rate: float = 20.0
    alone: bool = False
    patience: float = 900.0
    html: Path | None = None
    packs: Path | None = None


def packs(wanted: EvalPacks, broker: str | None, *, as_json: bool) -> None:
    """Measure, print, and write the page; raises `CommandFailed`."""
    given = _given(wanted)
    if wanted.up:
        metrics.set_up_logging("error", "auto")
        figures = uvloop.run(_measure_here(wanted, given))
    else:
        figures = clients.run(_measure(wanted, given, clients.bootstrap_of(broker)))
    if wanted.html is not None:
        _write(wanted.html, pack_pages.page(figures))
    text = orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() if as_json else pack_pages.text(figures)
    sys.stdout.write(text.rstrip() + "\n")


def _given(wanted: EvalPacks) -> Asking:
    materials: list[Material] = []
    asked: list[PackQuestion] = []
    for path in wanted.inputs:
        try:
            read = questions.of_everyday(path) if path.is_dir() else questions.of_retrieval(path, wanted.datasets)
        except (OSError, ValueError) as error:
            raise CommandFailed(f"{path} cannot be read: {error}", USAGE) from None
        except (KeyError, TypeError) as error:
            raise CommandFailed(f"{path} is no file of corpora with queries: {error!r}", USAGE) from None
        materials += read[0]
        asked += read[1]
    if not asked:
        raise CommandFailed(
            "there is nothing to ask: no question of the data sets asked for is in the files",
            USAGE,
        )
    if wanted.limit:
        asked = [each for name in _names(asked) for each in _spread(_of(asked, name), wanted.limit)]
    return materials, asked


def _names(asked: Sequence[PackQuestion]) -> list[str]:
    return list(dict.fromkeys(each.dataset for each in asked))


def _of(asked: Sequence[PackQuestion], name: str) -> list[PackQuestion]:
    return [each for each in asked if each.dataset == name]


def _spread(asked: list[PackQuestion], most: int) -> list[PackQuestion]:
    """So many of them, from all of the list."""
    return [asked[at * len(asked) // most] for at in range(most)] if len(asked) > most else asked


async def _measure_here(wanted: EvalPacks, given: Asking) -> Figure:
    with tempfile.TemporaryDirectory(prefix="fathom-eval-") as directory:
        _note(f"starting broker, stores and all stages in {directory}")
        async with everything(Path(directory)) as running:
            measuring = asyncio.create_task(_measure(wanted, given, running.bootstrap))
            running.ended.add_done_callback(lambda _: measuring.cancel())
            try:
                return await measuring
            except asyncio.CancelledError:
                if not running.ended.done():
                    raise
                raise CommandFailed(f"the system stopped: {running.ended.result()}", DOWN) from None


async def _measure(wanted: EvalPacks, given: Asking, bootstrap: str) -> Figure:
    materials, asked = given
    foreign = list(questions.foreign(materials, asked, wanted.foreign)) if wanted.foreign else []
    chat = list(questions.of_chat(wanted.chat, materials[0].tenant, MAX_CHAT)) if wanted.chat else []
    async with PackPlayer.on(bootstrap, run=token_hex(3), rate=wanted.rate, alone=wanted.alone) as player:
        _note(f"{await player.teach(materials)} records of memory sent; waiting until they can be found")
        await player.settle(wanted.patience)
        answers = await player.ask([*asked, *foreign, *chat], _note)
        earlier = player.packs
    if wanted.packs is not None:
        rows = ({"id": each.question.id, "dataset": each.question.dataset, "pack": each.pack} for each in answers)
        _write(wanted.packs, "".join(f"{orjson.dumps(row).decode()}\n" for row in rows))
    _note("comparing with plain search")
    rows_judged = pack_figures.judged(answers, earlier)
    return await asyncio.to_thread(_figures, rows_judged, materials)


def _figures(rows: Sequence[JudgedPack], materials: Sequence[Material]) -> Figure:
    from streams.stores.passages.vectors import UseEmbedder

    embedder = UseEmbedder()
    searches = {material.tenant: PlainSearch(material, embedder) for material in materials}
    own = [row for row in rows if row.question.foreign is None and row.question.dataset != "chat"]
    other = [row for row in rows if row.question.foreign is not None]
    chat = [row for row in rows if row.question.dataset == "chat"]
    found: dict[str, Any] = {"datasets": _by_dataset(own, lambda each: pack_figures.dataset(each, searches))}
    if other:
        found["foreign"] = _by_dataset(other, pack_figures.brought)
    if chat:
        found["chat"] = {"questions": len(chat), **pack_figures.traffic(chat)}
    return found


def _by_dataset(rows: Sequence[JudgedPack], figure: Callable[[Sequence[JudgedPack]], Figure]) -> dict[str, Figure]:
    names = dict.fromkeys(row.question.dataset for row in rows)
    return {name: figure([row for row in rows if row.question.dataset == name]) for name in names}


def _note(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from None
