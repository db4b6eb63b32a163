"""Write measured figures into the tables of docs/judgement.md, and print all of them.

    python -m bench.judgement FOLDER

FOLDER holds what `fathom eval report --json`, `fathom eval packs --json` and `fathom eval answers --json` print, as
`decisions.json`, `packs.json`, with more data sets `own.json`, and `answers.json`; a table of what is not there stays
as it is.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.evaluation import pack_pages, score_pages
from bench.evaluation.deep import pages as deep_pages
from bench.evaluation.plain_search import BASELINES, NEEDING
from bench.measure import say
from streams.edges.cli.replay.html import number, with_interval

PAGE = Path(__file__).resolve().parents[1] / "docs" / "judgement.md"
DRAWING = PAGE.parent / "risk-coverage.svg"
END = "<!-- end -->"
# The sets of which every kind has its figures.
HARDER = ("everyday_harder", "long_talks", "single_beliefs")
Figures = Mapping[str, Any]


def filled(page: str, decisions: Figures | None, packs: Figures | None, answers: Figures | None = None) -> str:
    """The page with each table between its marks made again."""
    for name in TABLES:
        make, figures = next(
            (table[name], figures)
            for table, figures in ((_OF_PACKS, packs), (_OF_DECISIONS, decisions), (_OF_ANSWERS, answers))
            if name in table
        )
        if figures is None:
            continue
        before, opened, rest = page.partition(f"<!-- {name} -->\n")
        if opened:
            made = "\n".join(f"| {' | '.join(row)} |" for row in make(figures))
            page = f"{before}{opened}{made}\n{END}{rest.partition(END)[2]}"
    return page


def _head(*columns: str) -> Iterator[Sequence[str]]:
    yield columns
    yield ["---"] * len(columns)


def _packs(figures: Figures) -> Iterator[Sequence[str]]:
    yield from _head(
        "data set", "questions", "any evidence", "all", "tokens", *map(pack_pages.NAMES.__getitem__, BASELINES)
    )
    for name, each in figures["datasets"].items():
        plain = [with_interval(each["baselines"][baseline]["any"]) for baseline in BASELINES]
        measured = [with_interval(each[measure]) for measure in ("any", "all", "tokens")]
        yield [name, str(each["answerable"]), *measured, *plain]


def _costs(figures: Figures) -> Iterator[Sequence[str]]:
    yield from _head(
        "data set", "tokens",
        *(f"{pack_pages.NAMES[name]}: {what}" for name in NEEDING for what in ("needs (any; all)", "ratio")),
        "source tokens without a needed word", "unanswerable", "bring something", "their source tokens",
    )  # fmt: skip
    for name, each in figures["datasets"].items():
        needs = [each["same_recall"][ranking] for ranking in NEEDING]
        yield [
            name,
            f"{each['budget']:,}",
            *(text for need in needs for text in _needed(need)),
            with_interval(each["needless"]) if "needless" in each else "",
            str(each["unanswerable"]["questions"]),
            *map(with_interval, map(each["unanswerable"].get, ("brought", "source_tokens"))),
        ]


def _needed(need: Figures) -> Iterator[str]:
    yield "; ".join(pack_pages.counted(need[f"tokens_{measure}"]) for measure in ("any", "all"))
    yield "; ".join(number(need[f"ratio_{measure}"]) for measure in ("any", "all"))


def _harder(figures: Figures) -> Iterator[Sequence[str]]:
    columns = ("all", "pieces", "newer_marked", "kept_out", "brought", "source_tokens", "looked", "tokens")
    yield from _head("data set", "kind", "messages", *columns)
    for name, figure in figures["datasets"].items():
        for kind, each in figure["kinds"].items() if name.startswith(HARDER) else ():
            values = [with_interval(each[column]) if column in each else "" for column in columns]
            yield [name, kind, str(each["questions"]), *values]


def _beliefs(figures: Figures) -> Iterator[Sequence[str]]:
    columns = ("precision", "recall", "exact", "silent")
    yield from _head("data set", "messages", *columns)
    for name, figure in figures["datasets"].items():
        if (each := figure["beliefs"])["questions"]:
            yield [name, str(each["questions"]), *(with_interval(each[column]) for column in columns)]


def _kinds(figures: Figures) -> Iterator[Sequence[str]]:
    columns = ("all", "first_right", "near_copy_avoided", "newer_marked", "brought", "items", "looked", "tokens")
    yield from _head("kind", "messages", *columns)
    named = dict(figures["datasets"].get("everyday", {}).get("kinds", {}))
    named |= {f"foreign to {name}": each for name, each in figures.get("foreign", {}).items()}
    if "chat" in figures:
        named["greetings (CLINC150)"] = figures["chat"]
    for name, each in named.items():
        yield [name, str(each["questions"]), *(with_interval(each[c]) if c in each else "" for c in columns)]


def _errors(figures: Figures) -> Iterator[Sequence[str]]:
    reasons = list(dict.fromkeys(reason for each in figures["datasets"].values() for reason in each["errors"]))
    yield from _head("data set", *reasons)
    for name, each in figures["datasets"].items():
        yield [name, *(str(each["errors"].get(reason, {}).get("count", 0)) for reason in reasons)]


def _decisions(figures: Figures) -> Iterator[Sequence[str]]:
    yield from _head("task", "data set", "measure", "value", "floor")
    for task, name, row in _rows(figures):
        if "floor" in row:
            measure = f"{row['part']}: {row['measure']}" if row["part"] else row["measure"]
            yield [task, name, measure, with_interval(row), f"{number(row['floor'])} ({row['rule']})"]


def _reliability(figures: Figures) -> Iterator[Sequence[str]]:
    yield from _head("confidence", "decisions", "right")
    for _, _, row in _rows(figures):
        if row["part"].startswith("confidence "):
            yield [row["part"].removeprefix("confidence "), f"{row['n']:,}", number(row["value"])]


def _rows(figures: Figures) -> Iterator[tuple[str, str, Figures]]:
    for task in figures["tasks"]:
        for name, rows in task.get("datasets", {}).items():
            yield from ((task["task"], name, row) for row in rows)


def _answers(figures: Figures) -> Iterator[Sequence[str]]:
    yield from _head(
        "data set", "questions", "right", "wrong", "missing", "hallucinated sentences", "words",
        *map(deep_pages.NAMES.__getitem__, ("telling", "plain", "plain_telling", "rightly_silent")),
    )  # fmt: skip
    yield from deep_pages.rows(figures)


_OF_PACKS = {
    "packs": _packs,
    "costs": _costs,
    "kinds": _kinds,
    "harder": _harder,
    "beliefs": _beliefs,
    "errors": _errors,
}
_OF_DECISIONS = {"decisions": _decisions, "reliability": _reliability}
_OF_ANSWERS = {"answers": _answers}
TABLES = (*_OF_PACKS, *_OF_ANSWERS, *_OF_DECISIONS)


def main(folder: Path) -> None:
    """Fill the page, print everything."""
    found = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    decisions, packs, own, answers = (found.get(name) for name in ("decisions", "packs", "own", "answers"))
    if packs is not None and own is not None:
        packs["datasets"] |= own["datasets"]
    PAGE.write_text(filled(PAGE.read_text(), decisions, packs, answers))
    if decisions is not None:
        say(score_pages.text(decisions))
    if packs is not None:
        say(pack_pages.text(packs))
    if answers is not None:
        DRAWING.write_text(deep_pages.drawing(answers))
        say(deep_pages.text(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
