"""The page of proofs: of each property what has run, what was counted, and whether that is what was promised."""

import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from deploy.docs.pages import table

PATH = "docs/proofs/README.md"
ROWS, RESULTS = "tests/proofs/rows.toml", "tests/proofs/results.jsonl"
TIERS, SIZES = ("P", "F", "R"), ("small", "full", "release")
DAILY = "test"
HEAD = f"""# What is proven, and what not yet

<!-- Made by `make docs` from {RESULTS} and {ROWS}: change those, not this page. -->

All of it ran on a machine with two cores and 24 GB. A property has up to three tiers: **P** with each change, **F** in
full, **R** for a release. A tier is met when one workload of that size has run without a single fault. Figures of
different brokers and stores are never added up; those of a release are sums of slices, in which a fault stays. Run
again what a row names with `make proofs PART=… SIZE=…` ([how](../testing.md#what-is-proven)); the page is made from
[these results](../../{RESULTS}).
"""
Result = Mapping[str, Any]
Row = Mapping[str, Any]


def page(root: Path) -> str:
    """The page, of the committed results alone."""
    rows = tomllib.loads((root / ROWS).read_text())["row"]
    results = [json.loads(line) for line in (root / RESULTS).read_text().splitlines()]
    results.sort(key=lambda result: SIZES.index(result["size"]))
    cells = [_row(row, results) for row in rows]
    met = sum(each[-1].startswith("met") for each in cells)
    return "\n".join(
        [
            *(HEAD, f"{met} of {len(rows)} properties are met at a tier.", ""),
            *table(["", "Property", "What must run", "Part", "What has run", "Counted", "On", "Verdict"], cells),
            *("", "## By part", ""),
            *table(["Part", "Size", "Passed", "Tests", "Seconds", "Commit", "Day", "Age"], _parts(results)),
            *(
                "",
                "Age is in days before the newest result. `make proofs-status` tells which code has changed since.",
                "",
            ),
        ]
    )


def verdict(row: Row, results: Sequence[Result]) -> str:
    """Whether what has run is what was promised, at which tier; or why not."""
    own = [result for result in results if result["part"] == row["part"]]
    entries = [entry for _, entry in _counted(row, results)]
    faults = Counter[str]()
    for entry in entries:
        faults += Counter(entry["faults"])
    if faults:
        return f"**not met**: {_figures(faults)}"
    if failed := [result["size"] for result in own if not result["passed"]]:
        return f"not shown: the part failed ({', '.join(failed)})"
    lacking = {tier: _lacking(row, tier, results, entries) for tier in _tiers(row)}
    met = [tier for tier, what in lacking.items() if not what]
    why: dict[str, list[str]] = {}
    for tier, what in lacking.items():
        if tier not in met and not (met and TIERS.index(tier) < TIERS.index(met[-1])):
            why.setdefault(what, []).append(tier)
    return "; ".join(
        [
            *(f"met at {tier}{' by its tests' * (tier in row.get('tested', {}))}" for tier in met[-1:]),
            *(f"{', '.join(tiers)} not shown: {what}" for what, tiers in why.items()),
        ]
    )


def _tiers(row: Row) -> list[str]:
    return [tier for tier in TIERS if tier in row or tier in row.get("tested", {})]


def _counted(row: Row, results: Iterable[Result]) -> list[tuple[Result, Mapping[str, Any]]]:
    return [(result, entry) for result in results for entry in result.get("counters", ()) if row["id"] in entry["rows"]]


def _lacking(row: Row, tier: str, results: Sequence[Result], entries: Sequence[Mapping[str, Any]]) -> str:
    """Why a tier is not reached; empty when it is."""
    part = row.get("tested", {}).get(tier, row["part"])
    own = [result for result in results if result["part"] == part]
    if why := row.get("open", {}).get(tier):
        return str(why)
    if not own and part != DAILY:
        return "has not run"
    if tier in row.get("tested", {}):
        return "" if all(result["passed"] for result in own) else "its tests failed"
    if not entries:
        return "was run before it was counted"
    return min((_short(row, row[tier], entry) for entry in entries), key=len)


def _short(row: Row, needed: Mapping[str, int], entry: Mapping[str, Any]) -> str:
    """What a workload has too little of, or too much."""
    ran, measured = entry["ran"], entry["measured"]
    found = [f"{ran.get(name, 0):,} of {least:,} {name}" for name, least in needed.items() if ran.get(name, 0) < least]
    for name, most in row.get("limits", {}).items():
        if measured.get(name, math.inf) > most:
            found.append(f"{name} {measured.get(name, 'not measured')}, at most {most}")
    for name, whole, share in row.get("shares", ()):
        if measured.get(name, math.inf) > share * measured.get(whole, 0):
            found.append(f"{name} {measured.get(name, 'not measured')}, at most {share:.0%} of {whole}")
    return ", ".join(found)


def _row(row: Row, results: Sequence[Result]) -> list[str]:
    own = [result for result in results if result["part"] == row["part"]]
    # Of each workload what ran last in the order of sizes: the largest.
    largest = {entry["workload"]: (result, entry) for result, entry in _counted(row, results)}
    alike: dict[tuple[str, str], list[str]] = {}
    for result, entry in largest.values():
        figures = (f"{result['size']}: {_figures(entry['ran'])}", _figures({**entry["faults"], **entry["measured"]}))
        alike.setdefault(figures, []).append(f"{entry['workload']}{_seeds(entry['seeds'])}")
    ran = [f"{one if not more else f'{len(more) + 1} workloads'}, {what}" for (what, _), (one, *more) in alike.items()]
    commits = dict.fromkeys(_on(result) for result in ([result for result, _ in largest.values()] or own))
    sizes = [f"{tier}: {_figures(row.get(tier, {})) or ('its tests' if tier in row.get('tested', {}) else '–')}"
             for tier in _tiers(row)]  # fmt: skip
    told: tuple[Iterable[str], ...] = ([f"`PART={row['part']}`"], ran, [counted for _, counted in alike], commits)
    if row["part"] == DAILY:
        told = (["`make test`"], (), (), ["every change"])
    return [row["id"], row["property"], *("<br>".join(lines) or "–" for lines in (sizes, *told)), verdict(row, results)]


def _figures(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in figures.items())


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) < 3:
        return f" (seed {' and '.join(map(str, seeds))})" if seeds else ""
    return f" ({len(seeds)} seeds, {seeds[0]} to {seeds[-1]})"


def _on(result: Result) -> str:
    commits = dict.fromkeys(commit for entry in result.get("counters", ()) for commit in entry.get("commits", ()))
    more = f" and {len(commits) - 1} more" if len(commits) > 1 else ""
    return f"`{result['commit'][:9]}`{more}{' with changes' if result['changed'] else ''}, {result['day']}"


def _parts(results: Sequence[Result]) -> Iterator[list[str]]:
    newest = max((date.fromisoformat(result["day"]) for result in results), default=date.min)
    for each in sorted(results, key=lambda result: (result["part"], SIZES.index(result["size"]))):
        age = (newest - date.fromisoformat(each["day"])).days
        tests = each["tests"]
        yield [
            *(f"`{each['part']}`", each["size"], "yes" if each["passed"] else "**no**"),
            *(f"{tests['passed']} passed, {tests['failed'] + tests['error']} failed", f"{each['seconds']:,}"),
            *(f"`{each['commit'][:9]}`", each["day"], str(age)),
        ]
