"""Building blocks of a self-contained page: tables, bar charts as inline SVG, no scripts or external resources."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from schemas.base import JsonObject

Figure = JsonObject

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.6rem}h2{margin-top:2.4rem;border-bottom:1px solid #ccc}h3{margin-top:1.6rem}
table{border-collapse:collapse;margin:.8rem 0;display:block;overflow-x:auto}
th,td{border-bottom:1px solid #ddd;padding:.25rem .7rem;text-align:left;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums}small,.ci{color:#666}svg{max-width:100%;height:auto}
.bar{fill:#9db8d9}.own{fill:#2c6e49}.axis{stroke:#bbb}.whisker{stroke:#1a1a1a;stroke-width:1.5}.floor{stroke:#b3261e;stroke-width:2}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th,td,h2{border-color:#444}small,.ci{color:#aaa}
text{fill:#e6e6e6}.whisker{stroke:#e6e6e6}.bar{fill:#4a6385}.own{fill:#4caf7d}}
"""
WIDTH, LABEL, ROW, BAR = 860, 290, 26, 14


def page(title: str, parts: Iterable[str]) -> str:
    """The HTML of a page."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    body = "\n".join(parts)
    return (
        f'<!doctype html><html lang="en"><head>{head}<title>{escape(title)}</title><style>{STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def number(value: float | None) -> str:
    """Format a number: a share with three digits, a larger one with one, None as a dash."""
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}".removesuffix(".0")


def with_interval(figure: Figure) -> str:
    """Format a figure with its interval: `0.512 [0.470, 0.551]`."""
    said, interval = number(figure["value"]), figure.get("ci95")
    return f"{said} [{number(interval[0])}, {number(interval[1])}]" if interval else said


def formatted(value: object) -> str:
    """Format a figure with its interval, other objects as `name=value`, anything else as it is."""
    if not isinstance(value, dict):
        return str(value)
    return with_interval(value) if "value" in value else " ".join(f"{name}={count}" for name, count in value.items())


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The HTML of a table; numbers are right-aligned."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, dict) and "value" in value:
        said, _, interval = with_interval(value).partition(" ")
        return f'<td class="n">{escape(said)} <span class="ci">{escape(interval)}</span></td>'
    if isinstance(value, int | float):
        return f'<td class="n">{number(value) if isinstance(value, float) else f"{value:,}"}</td>'
    return f"<td>{escape(formatted(value))}</td>"


def details(summary: str, content: str) -> str:
    """Content that is hidden until its summary is clicked."""
    return f"<details><summary>{escape(summary)}</summary>\n{content}</details>"


def bars(
    title: str, rows: Sequence[tuple[str, Figure]], *, ours: int, floors: Mapping[str, float] | None = None
) -> str:
    """Horizontal bars of shares with interval whiskers and a red line for a floor; the first `ours` are highlighted."""
    height, drawn = ROW * len(rows) + 24, ""
    for share in (0, 0.25, 0.5, 0.75, 1):
        drawn += _line("axis", share, share, 0, height - 20)
        drawn += f'<text x="{_x(share):.1f}" y="{height - 6}" text-anchor="middle">{share:g}</text>'
    for at, (name, figure) in enumerate(rows):
        drawn += _bar(at * ROW + (ROW - BAR) / 2, name, figure, "own" if at < ours else "bar")
        if floors and name in floors:
            y = at * ROW + (ROW - BAR) / 2
            drawn += _line("floor", floors[name], floors[name], y - 3, y + BAR + 3)
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'role="img" aria-label="{escape(title)}" font-size="13">{drawn}</svg></figure>'
    )


def _bar(y: float, name: str, figure: Figure, kind: str) -> str:
    value, interval, base = figure["value"], figure.get("ci95"), y + BAR - 2
    drawn = f'<text x="{LABEL - 8}" y="{base}" text-anchor="end">{escape(name)}</text>'
    if value is not None:
        drawn += f'<rect class="{kind}" x="{LABEL}" y="{y}" width="{_x(value) - LABEL:.1f}" height="{BAR}"/>'
        drawn += f'<text x="{WIDTH - 62}" y="{base}">{number(value)}</text>'
    if interval:
        drawn += _line("whisker", interval[0], interval[1], y + BAR / 2, y + BAR / 2)
    return drawn


def _x(share: float) -> float:
    return LABEL + max(0.0, min(1.0, share)) * (WIDTH - LABEL - 70)


def _line(kind: str, start: float, end: float, top: float, bottom: float) -> str:
    return f'<line class="{kind}" x1="{_x(start):.1f}" x2="{_x(end):.1f}" y1="{top}" y2="{bottom}"/>'
