"""Growth curves as text that is drawn where the page is shown: one line per store over the number of items."""

from collections.abc import Mapping, Sequence


def growth(title: str, sizes: Sequence[int], lines: Mapping[str, Sequence[float]]) -> list[str]:
    """A chart of milliseconds over sizes, as lines of Markdown; its lines are named in their order above it."""
    top = max((value for values in lines.values() for value in values), default=0.0)
    named = ", ".join(f"{number}. {name}" for number, name in enumerate(lines, start=1))
    ticks = ", ".join(f'"{short(size)}"' for size in sizes)
    return [
        f"{title}: {named}",
        "",
        "```mermaid",
        "xychart-beta",
        f'    title "{title}"',
        f"    x-axis [{ticks}]",
        f'    y-axis "ms" 0 --> {max(1, round(top * 1.2 + 0.5))}',
        *(f"    line [{', '.join(f'{value:g}' for value in values)}]" for values in lines.values()),
        "```",
        "",
    ]


def short(size: int) -> str:
    """1000 as 1k, 1000000 as 1M."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)
