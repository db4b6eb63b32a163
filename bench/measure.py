"""What the benchmarks share: percentiles, the machine, the table, the document they write."""

import json
import os
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "benchmarks.json"
PAGE = ROOT / "docs" / "benchmarks.md"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share (0-1) of the values lies; nan of none."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def spread(values: Sequence[float]) -> dict[str, float]:
    """p50, p95, p99 and the number of values."""
    return {
        "n": len(values),
        "p50": round(percentile(values, 0.50), 3),
        "p95": round(percentile(values, 0.95), 3),
        "p99": round(percentile(values, 0.99), 3),
    }


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def machine() -> dict[str, Any]:
    """Where this was measured."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    kib = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gb": round(kib / 1024**2),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def say(text: str) -> None:
    """Progress, beside the figures."""
    print(text, file=sys.stderr, flush=True)


def finish(part: str, command: str, figures: Mapping[str, Any]) -> None:
    """Print one JSON object as the last line, and keep the figures for the page."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known[part] = {
        "command": command,
        "measured_at": datetime.now(UTC).isoformat(timespec="minutes"),
        "machine": machine(),
        "figures": figures,
    }
    # Parts in the order of their names; within one the order is that of its table's columns.
    RESULTS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    write_page(known)
    print(json.dumps(figures))


def write_page(known: Mapping[str, Any]) -> None:
    """docs/benchmarks.md, from the figures last measured."""
    lines = [
        "# Benchmarks",
        "",
        "Measured, not promised: each part with its command, machine and time. A part is made again by its command;",
        "`make bench` makes all of them. Machines are noisy: compare ratios and orders of magnitude.",
    ]
    for part, result in sorted(known.items()):
        where = result["machine"]
        lines += [
            "",
            f"## {part}",
            "",
            f"`{result['command']}` · {result['measured_at']} · {where['cores']} cores, {where['cpu']}, "
            f"{where['memory_gb']} GB, Python {where['python']}",
            "",
        ]
        lines += _table(result["figures"])
        if (notes := ROOT / "bench" / part / "notes.md").exists():
            lines += ["", *notes.read_text().splitlines()]
    PAGE.write_text("\n".join(lines) + "\n")


def _table(figures: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, rows in figures.items():
        if rows and name != "charts" and isinstance(rows, list):
            columns = list(dict.fromkeys(column for row in rows for column in row))
            lines += ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
            lines += ["| " + " | ".join(str(row.get(column, "")) for column in columns) + " |" for row in rows]
            lines += [""]
    lines += [f"- {name}: **{value}**" for name, value in figures.items() if not isinstance(value, list)]
    charts: Sequence[str] = figures.get("charts", ())
    return [*lines, "", *charts] if charts else lines
