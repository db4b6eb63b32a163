"""What proofs count: handed on by a test or a command, gathered into the line of its part in `results.jsonl`.

An entry is one workload on one broker or store: figures of different ones are never added up.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = "FATHOM_TEST_COUNTERS"
Entry = dict[str, Any]


def record(
    rows: str, workload: str, ran: Mapping[str, int], faults: Mapping[str, int],
    measured: Mapping[str, float] | None = None, seeds: Sequence[int] = (),
) -> None:  # fmt: skip
    """Append what a workload counted to the file that `make proofs` names.

    `rows` are those of the page of proofs; one fault is one too many; what is measured may be as large as it is.
    """
    if (file := os.environ.get(FILE)) is not None:
        finite = {name: round(each, 3) for name, each in (measured or {}).items() if math.isfinite(each)}
        entry = {"rows": rows.split(), "workload": workload, "ran": ran, "faults": faults, "measured": finite}
        with Path(file).open("a") as lines:
            lines.write(json.dumps({**entry, "seeds": list(seeds)}) + "\n")


def gathered(file: Path) -> list[Entry]:
    """What was handed on, one entry a workload."""
    return merged((), map(json.loads, file.read_text().splitlines())) if file.exists() else []


def merged(before: Iterable[Entry], now: Iterable[Entry]) -> list[Entry]:
    """One entry a workload: whole numbers add up, of fractions the highest stays, so that no fault is ever gone."""
    found: dict[str, Entry] = {}
    for entry in (*before, *now):
        known = found.get(entry["workload"], {})
        found[entry["workload"]] = {name: _both(known.get(name), value) for name, value in entry.items()}
    return list(found.values())


def _both(known: Any, value: Any) -> Any:
    if known is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: _both(known.get(name), value.get(name, 0)) for name in {**known, **value}}
    if isinstance(value, list):
        return sorted({*known, *value})
    return known + value if isinstance(value, int) and isinstance(known, int) else max(known, value)
