"""Reports of figures of deep answers: as text, as a page, and risk by coverage as one drawing."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from schemas.base import JsonObject as Figures
from streams.edges.cli.replay import html
from streams.edges.cli.replay.html import number, with_interval

MEASURES = (
    "right", "wrong", "missing", "cited", "precision", "telling", "partial", "plain", "plain_telling", "rightly_silent",
)  # fmt: skip
NAMES = {
    "telling": "words that tell",
    "plain": "BM25 sentences, as long",
    "plain_telling": "their words that tell",
    "rightly_silent": "rightly silent",
}
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 400, 56, 46, 16, 250
COLOURS = ("#2c6e49", "#1f5fa8", "#b3261e", "#8a5a00", "#6a3d9a", "#00a0a8", "#777777")


def text(figures: Figures) -> str:
    """The text report: figures by data set, every share with its 95 % interval."""
    return "\n".join(_lines(figures))


def _lines(figures: Figures) -> Iterator[str]:
    for name, figure in figures["datasets"].items():
        yield f"{name}: {figure['questions']} questions, {figure['answerable']} answerable, {figure['none']} got none"
        for measure in MEASURES:
            if measure in figure and figure[measure]["n"]:
                yield f"  {NAMES.get(measure, measure):<24} {with_interval(figure[measure])}"
        proven = figure["hallucinated"]
        yield f"  {'hallucinated':<24} {proven['unproven']} of {proven['claims']} sentences"
        yield f"  {'words of an answer':<24} {figure['words']}"
        yield f"  {'mean risk':<24} {number(figure['area'])}"
        for example in figure["wrong_examples"]:
            yield f"  wrong: {example[:100]!r}"
        yield ""


def page(figures: Figures) -> str:
    """One page: a table and the drawing."""
    columns = ("data set", *(NAMES.get(each, each) for each in MEASURES), "hallucinated", "words")
    rows = [
        [
            name,
            *(each.get(measure, "") for measure in MEASURES),
            f"{each['hallucinated']['unproven']} of {each['hallucinated']['claims']}",
            each["words"],
        ]
        for name, each in figures["datasets"].items()
    ]
    return html.page("Fathom: deep answers", [html.table(columns, rows), drawing(figures)])


def drawing(figures: Figures) -> str:
    """Risk by coverage as an SVG without scripts: a line for each data set, a point where plain search stands."""
    parts = [*_axes()]
    for place, (name, figure) in enumerate(figures["datasets"].items()):
        colour = COLOURS[place % len(COLOURS)]
        parts += _curve(figure["curve"], colour)
        answerable = figure["answerable"] / max(figure["questions"], 1)
        risk = 1 - answerable * (figure["plain"]["value"] or 0.0)
        parts.append(f'<circle cx="{_x(1):.1f}" cy="{_y(risk):.1f}" r="4" fill="none" stroke="{colour}"/>')
        y = TOP + 14 + 20 * place
        parts.append(f'<rect x="{WIDTH - RIGHT + 20}" y="{y - 9}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 38}" y="{y + 2}">{escape(name)}</text>')
    label = "Risk by coverage of deep answers; circles: BM25 sentences of the same length, which always answer"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
        f'aria-label="{label}" font-family="system-ui, sans-serif" font-size="12" fill="#1a1a1a">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _axes() -> Iterator[str]:
    for tick in (0, 0.25, 0.5, 0.75, 1):
        yield f'<line x1="{_x(tick):.1f}" x2="{_x(tick):.1f}" y1="{_y(0):.1f}" y2="{_y(1):.1f}" stroke="#e4e4e4"/>'
        yield f'<line x1="{_x(0):.1f}" x2="{_x(1):.1f}" y1="{_y(tick):.1f}" y2="{_y(tick):.1f}" stroke="#e4e4e4"/>'
        yield f'<text x="{_x(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:g}</text>'
        yield f'<text x="{LEFT - 8}" y="{_y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
    yield f'<text x="{_x(0.5):.1f}" y="{HEIGHT - 8}" text-anchor="middle">coverage: share of questions answered</text>'
    yield (
        f'<text transform="translate(14 {_y(0.5):.1f}) rotate(-90)" text-anchor="middle">'
        "risk: share of these answers that are wrong</text>"
    )


def _curve(points: Sequence[Sequence[float]], colour: str) -> Iterator[str]:
    if points:
        path = " ".join(f"{_x(coverage):.1f},{_y(risk):.1f}" for coverage, risk in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
        coverage, risk = points[-1]
        yield f'<circle cx="{_x(coverage):.1f}" cy="{_y(risk):.1f}" r="3.5" fill="{colour}"/>'


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)


def rows(figures: Figures) -> Iterator[Sequence[str]]:
    """The rows of the table in the documentation."""
    each: Mapping[str, Figures]
    for name, each in figures["datasets"].items():
        proven = each["hallucinated"]
        shares = [with_interval(each[measure]) for measure in ("right", "wrong", "missing")]
        yield [
            name, str(each["answerable"]), *shares, f"{proven['unproven']} of {proven['claims']}", str(each["words"]),
            *(with_interval(each[measure]) for measure in ("telling", "plain", "plain_telling")),
            with_interval(each["rightly_silent"]) if "rightly_silent" in each else "",
        ]  # fmt: skip
