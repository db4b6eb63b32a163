"""Reports of pack figures: as text, and as one page with plots."""

from collections.abc import Iterator, Mapping
from html import escape

from schemas.base import JsonObject as Figures
from streams.evaluation import html
from streams.evaluation.html import with_interval
from streams.evaluation.plain_search import BASELINES

NAMES = {
    "last_turns": "last turns",
    "bm25": "BM25",
    "dense": "vectors (own encoder)",
    "hybrid": "hybrid (reciprocal ranks)",
}
OURS = "Fathom's packs"
COUNTS = ("questions", "answerable", "degraded", "missing")


def text(figures: Figures) -> str:
    """The text report: figures by data set, every share with its 95 % interval."""
    return "\n".join(_lines(figures))


def _lines(figures: Figures) -> Iterator[str]:
    for name, figure in figures["datasets"].items():
        yield f"{name}: {_counts(figure)}"
        for measure in ("any", "all", "answer", "looked", "tokens"):
            if figure[measure]["n"]:
                yield f"  {measure:<10} {with_interval(figure[measure])}"
        yield f"  levels     {_levels(figure)}"
        yield f"  plain search in the same {figure['budget']:,} tokens (any, all; packs minus it)"
        for baseline in BASELINES:
            yield f"    {NAMES[baseline]:<26} {_baseline(figure['baselines'][baseline])}"
        for kind, each in figure["kinds"].items():
            yield f"  {kind}: {_flat(each)}"
        for reason, each in figure["errors"].items():
            yield f"  lost: {reason} {each['count']}, as {each['examples'][0]['text'][:100]!r}"
        yield ""
    for name, figure in figures.get("foreign", {}).items():
        yield f"foreign questions to {name}: {_flat(figure)}"
    if chat := figures.get("chat"):
        yield f"messages that need nothing: {_flat(chat)}"


def _counts(figure: Figures) -> str:
    return ", ".join(f"{name} {figure[name]}" for name in COUNTS)


def _levels(figure: Figures) -> str:
    return ", ".join(f"{level} {count}" for level, count in figure["levels"].items())


def _baseline(figure: Figures) -> str:
    alone = f"{with_interval(figure['any'])}, {with_interval(figure['all'])}"
    return f"{alone}; {with_interval(figure['difference_any'])}, {with_interval(figure['difference_all'])}"


def _flat(figure: Figures) -> str:
    return ", ".join(f"{name} {_formatted(value)}" for name, value in figure.items())


def _formatted(value: object) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return with_interval(value) if "value" in value else " ".join(f"{name}={count}" for name, count in value.items())


def page(figures: Figures) -> str:
    """The report as one self-contained page."""
    return html.page("Packs against their questions", _parts(figures))


def _parts(figures: Figures) -> Iterator[str]:
    yield (
        "<p>Asked over Kafka, each question in a conversation of its own. <em>any</em>, <em>all</em>: the pack holds "
        "one, all of the evidence. Plain search gets as many tokens as the packs take on average. Intervals: 95 %, "
        "groups resampled. Data sets are never pooled.</p>"
    )
    for name, figure in figures["datasets"].items():
        yield f"<h2>{escape(name)}</h2><p>{escape(_counts(figure))}; levels: {escape(_levels(figure))}</p>"
        yield from _dataset(figure)
    if foreign := figures.get("foreign"):
        rows = [
            (name, each["questions"], each["brought"], each["items"], each["tokens"]) for name, each in foreign.items()
        ]
        yield "<h2>Questions that nothing there answers</h2>"
        yield html.table(("put to", "questions", "packs that bring something", "items", "tokens"), rows)
    if chat := figures.get("chat"):
        yield "<h2>Messages that need nothing</h2>"
        yield html.table(("messages", "looked", "tokens"), [(chat["questions"], chat["looked"], chat["tokens"])])


def _dataset(figure: Figures) -> Iterator[str]:
    baselines = figure["baselines"]
    for measure in ("any", "all"):
        rows = [(OURS, figure[measure]), *((NAMES[each], baselines[each][measure]) for each in BASELINES)]
        yield html.bars(f"{measure} of the evidence, in {figure['budget']:,} tokens", rows, ours=1)
    measured = ("any", "all", "answer", "looked", "tokens")
    yield html.table(measured, [[figure[measure] for measure in measured]])
    rows_against = [
        (NAMES[each], baselines[each]["difference_any"], baselines[each]["difference_all"]) for each in BASELINES
    ]
    yield html.table(("packs minus", "any", "all"), rows_against)
    yield from _kinds(figure["kinds"])
    yield from _errors(figure["errors"])


def _kinds(kinds: Figures) -> Iterator[str]:
    asked = {name: each for name, each in kinds.items() if "all" in each}
    if asked:
        yield html.bars(
            "all of the evidence, by kind", [(name, each["all"]) for name, each in asked.items()], ours=len(asked)
        )
    columns = list(dict.fromkeys(name for each in kinds.values() for name in each))
    if columns:
        rows = [(kind, *(_plain(each.get(column, "")) for column in columns)) for kind, each in kinds.items()]
        yield html.table(("kind", *columns), rows)


def _plain(value: object) -> object:
    return _formatted(value) if isinstance(value, Mapping) and "value" not in value else value


def _errors(errors: Figures) -> Iterator[str]:
    if not errors:
        return
    yield "<h3>Why evidence was not there</h3>"
    yield html.table(("reason", "questions"), [(reason, each["count"]) for reason, each in errors.items()])
    for reason, each in errors.items():
        rows = [(e["id"], e["text"], e["level"], " · ".join(e["evidence"])) for e in each["examples"]]
        yield f"<details><summary>{escape(reason)}: examples</summary>"
        yield html.table(("question", "text", "level", "lacking"), rows) + "</details>"
