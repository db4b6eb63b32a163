"""Reports of pack figures: as text, and as one page with plots."""

from collections.abc import Iterator
from html import escape

from bench.evaluation.plain_search import BASELINES, NEEDING
from schemas.base import JsonObject as Figures
from streams.edges.cli.replay import html
from streams.edges.cli.replay.html import formatted, with_interval

NAMES = {
    "last_turns": "last turns",
    "bm25": "BM25",
    "bm25_with_turns": "BM25 with the last two turns",
    "dense": "vectors (own encoder)",
    "hybrid": "hybrid (reciprocal ranks)",
}
OURS = "Fathom's packs"
COUNTS = ("questions", "answerable", "degraded", "missing")
BROUGHT = ("questions", "brought", "items", "source_tokens", "tokens")
UNANSWERED = ("questions", "packs that bring something", "items", "source tokens", "tokens")
MEASURES = ("any", "all", "answer", "looked", "tokens")


def text(figures: Figures) -> str:
    """The text report: figures by data set, every share with its 95 % interval."""
    return "\n".join(_lines(figures))


def _lines(figures: Figures) -> Iterator[str]:
    for name, figure in figures["datasets"].items():
        yield f"{name}: {_counts(figure)}"
        for measure in MEASURES:
            if figure[measure]["n"]:
                yield f"  {measure:<10} {with_interval(figure[measure])}"
        yield f"  levels     {_levels(figure)}"
        yield f"  plain search in the same {figure['budget']:,} tokens (any, all; packs minus it)"
        for baseline in BASELINES:
            yield f"    {NAMES[baseline]:<26} {_baseline(figure['baselines'][baseline])}"
        yield "  tokens that plain search needs for the same recall (any, all; packs by them)"
        for name in NEEDING:
            yield f"    {NAMES[name]:<28} {_needing(figure['same_recall'][name])}"
        if "needless" in figure:
            yield f"  source tokens in sources without a needed word: {with_interval(figure['needless'])}"
        for part in ("unanswerable", "beliefs"):
            if figure[part]["questions"]:
                yield f"  {part}, all: {_flat(figure[part])}"
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
    return _flat({name: figure[name] for name in COUNTS})


def _levels(figure: Figures) -> str:
    return _flat(figure["levels"])


def _baseline(figure: Figures) -> str:
    said = {name: with_interval(each) for name, each in figure.items()}
    return f"{said['any']}, {said['all']}; {said['difference_any']}, {said['difference_all']}"


def _needing(figure: Figures) -> str:
    tokens = [counted(figure[f"tokens_{measure}"]) for measure in ("any", "all")]
    ratios = [html.number(figure[f"ratio_{measure}"]) for measure in ("any", "all")]
    return f"{', '.join(tokens)}; {', '.join(ratios)}"


def counted(tokens: int | None) -> str:
    """A budget that plain search needs, or that no budget is enough."""
    return "never" if tokens is None else f"{tokens:,}"


def _flat(figure: Figures) -> str:
    return ", ".join(f"{name} {formatted(value)}" for name, value in figure.items())


def page(figures: Figures) -> str:
    """The report as one self-contained page."""
    return html.page("Packs against their questions", _parts(figures))


def _parts(figures: Figures) -> Iterator[str]:
    yield (
        "<p>Asked over Kafka, each question in a conversation of its own. <em>any</em>, <em>all</em>: the pack holds "
        "one, all of the evidence. Plain search gets as many tokens as the packs take on average. Intervals: 95 %, "
        "groups resampled. Data sets are never pooled. <em>The same recall</em>: the budget that plain search needs to "
        "hold the evidence of as many questions, and the packs' tokens by it. <em>A needed word</em>: a content word "
        "of the answer, or without one of the evidence.</p>"
    )
    for name, figure in figures["datasets"].items():
        yield f"<h2>{escape(name)}</h2><p>{escape(_counts(figure))}; levels: {escape(_levels(figure))}</p>"
        yield from _dataset(figure)
    if foreign := figures.get("foreign"):
        yield "<h2>Questions that nothing there answers</h2>"
        rows = [(name, *map(each.get, BROUGHT)) for name, each in foreign.items()]
        yield html.table(("put to", *UNANSWERED), rows)
    if chat := figures.get("chat"):
        yield "<h2>Messages that need nothing</h2>"
        yield html.table(("messages", "looked", "tokens"), [(chat["questions"], chat["looked"], chat["tokens"])])


def _dataset(figure: Figures) -> Iterator[str]:
    plain = {NAMES[name]: figure["baselines"][name] for name in BASELINES}
    for measure in ("any", "all"):
        rows = [(OURS, figure[measure]), *((name, each[measure]) for name, each in plain.items())]
        yield html.bars(f"{measure} of the evidence, in {figure['budget']:,} tokens", rows, ours=1)
    yield html.table(MEASURES, [[figure[measure] for measure in MEASURES]])
    against = [(name, each["difference_any"], each["difference_all"]) for name, each in plain.items()]
    yield html.table(("packs minus", "any", "all"), against)
    yield from _costs(figure)
    kinds, errors = figure["kinds"], figure["errors"]
    if asked := [(name, each["all"]) for name, each in kinds.items() if "all" in each]:
        yield html.bars("all of the evidence, by kind", asked, ours=len(asked))
    if columns := list(dict.fromkeys(name for each in kinds.values() for name in each)):
        listed = [(kind, *(each.get(column, "") for column in columns)) for kind, each in kinds.items()]
        yield html.table(("kind", *columns), listed)
    if errors:
        yield "<h3>Why evidence was not there</h3>"
        yield html.table(("reason", "questions"), [(reason, each["count"]) for reason, each in errors.items()])
    for reason, each in errors.items():
        examples = [(e["id"], e["text"], e["level"], " · ".join(e["evidence"])) for e in each["examples"]]
        yield html.details(f"{reason}: examples", html.table(("question", "text", "level", "lacking"), examples))


def _costs(figure: Figures) -> Iterator[str]:
    """What plain search needs for the same recall, what sources hold in vain, what unanswerable questions bring."""
    rows = [
        (NAMES[name], measure, counted(each[f"tokens_{measure}"]), each[f"ratio_{measure}"], each[f"most_{measure}"])
        for name in NEEDING
        for each in [figure["same_recall"][name]]
        for measure in ("any", "all")
    ]
    yield html.table(("the same recall by", "of the evidence", "tokens", "packs by that", "reached at most"), rows)
    if "needless" in figure:
        yield html.table(("source tokens without a needed word",), [(figure["needless"],)])
    if (unanswerable := figure["unanswerable"])["questions"]:
        yield html.table(("unanswerable", *UNANSWERED[1:]), [tuple(map(unanswerable.get, BROUGHT))])
    if (beliefs := figure["beliefs"])["questions"]:
        yield html.table(tuple(beliefs), [tuple(beliefs.values())])
