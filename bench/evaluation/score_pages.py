"""Reports of the scores of all tasks: as text, and as one page with plots."""

from collections.abc import Iterator
from html import escape

from schemas.base import JsonObject as Report
from streams.edges.cli.replay import html
from streams.edges.cli.replay.html import number, with_interval


def text(report: Report) -> str:
    """The text report: one line per figure, with its floor where there is one."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    for task in report["tasks"]:
        yield f"{task['task']}: {_state(task)}"
        for name, rows in task.get("datasets", {}).items():
            yield f"  {name}"
            yield from (f"    {_label(row):<62} {with_interval(row)}{_floor_note(row)}" for row in rows)
        yield ""


def _state(task: Report) -> str:
    if "why" in task:
        return str(task["why"])
    unknown = f", {task['unknown_ids']} predictions of unknown ids" if task["unknown_ids"] else ""
    return f"{task['items']:,} items, {task['missing']:,} without a prediction{unknown}"


def _label(row: Report) -> str:
    return f"{row['part']}: {row['measure']}" if row["part"] else str(row["measure"])


def _floor_note(row: Report) -> str:
    return f"   floor {number(row['floor'])} ({row['rule']})" if "floor" in row else ""


def page(report: Report) -> str:
    """The report as one self-contained page: plots of figures with a floor, and tables of all."""
    return html.page("Decisions against labelled data", _parts(report))


def _parts(report: Report) -> Iterator[str]:
    yield (
        "<p>Each data set by itself, never pooled: what they are about differs. Intervals: 95 %, groups (dialogues, "
        "documents) resampled. The red line is the floor: what a trivial rule gets on the same items.</p>"
    )
    for task in report["tasks"]:
        yield f"<h2>{escape(task['task'])}</h2><p>{escape(_state(task))}</p>"
        for name, rows in task.get("datasets", {}).items():
            yield f"<h3>{escape(name)}</h3>"
            if drawn := [(_label(row), row) for row in rows if "floor" in row]:
                floors = {label: row["floor"] for label, row in drawn}
                yield html.bars(f"{name}: figures with a floor", drawn, ours=len(drawn), floors=floors)
            listed = [(_label(row), row, row["n"], _floor_note(row).strip()) for row in rows]
            yield html.details(f"all {len(rows)} figures", html.table(("measure", "value", "of", ""), listed))
