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
    interval = figure.get("ci95")
    said = number(figure["value"])
    return f"{said} [{number(interval[0])}, {number(interval[1])}]" if interval else said


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
        return f'<td class="n">{escape(number(float(value)) if isinstance(value, float) else f"{value:,}")}</td>'
    return f"<td>{escape(str(value))}</td>"


def bars(
    title: str, rows: Sequence[tuple[str, Figure]], *, ours: int, floors: Mapping[str, float] | None = None
) -> str:
    """Horizontal bars of shares with interval whiskers and a red line for a floor; the first `ours` are highlighted."""
    height = ROW * len(rows) + 24
    drawn = "".join(
        _bar(at, name, figure, (floors or {}).get(name), own=at < ours) for at, (name, figure) in enumerate(rows)
    )
    ticks = "".join(_tick(share / 4, height) for share in range(5))
    label = escape(title, quote=True)
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'role="img" aria-label="{label}" font-size="13">{ticks}{drawn}</svg></figure>'
    )


def _x(share: float) -> float:
    return LABEL + max(0.0, min(1.0, share)) * (WIDTH - LABEL - 70)


def _tick(share: float, height: int) -> str:
    x = _x(share)
    return (
        f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - 20}"/>'
        f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{share:g}</text>'
    )


def _bar(at: int, name: str, figure: Figure, floor: float | None, *, own: bool) -> str:
    value, interval = figure["value"], figure.get("ci95")
    y = at * ROW + (ROW - BAR) / 2
    kind = "own" if own else "bar"
    drawn = f'<text x="{LABEL - 8}" y="{y + BAR - 2}" text-anchor="end">{escape(name)}</text>'
    if value is not None:
        drawn += f'<rect class="{kind}" x="{LABEL}" y="{y}" width="{_x(value) - LABEL:.1f}" height="{BAR}"/>'
        drawn += f'<text x="{WIDTH - 62}" y="{y + BAR - 2}">{number(value)}</text>'
    if interval:
        middle = y + BAR / 2
        low, high = _x(interval[0]), _x(interval[1])
        drawn += f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>'
    if floor is not None:
        drawn += f'<line class="floor" x1="{_x(floor):.1f}" x2="{_x(floor):.1f}" y1="{y - 3}" y2="{y + BAR + 3}"/>'
    return drawn
