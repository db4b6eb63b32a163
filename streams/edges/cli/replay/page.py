"""The report of a replay as one self-contained page."""

from collections.abc import Iterator

from streams.edges.cli.replay.html import bars, details, page, table
from streams.replay.differences import Differences

LEVELS = ("D0", "D1", "D2", "D3", "D4")
MAX_ON_PAGE = 500


def page_of(found: Differences, was: str, now: str) -> str:
    """The HTML of a report on two runs."""
    return page(f"Replay {now} against {was}", _parts(found, was, now))


def _parts(found: Differences, was: str, now: str) -> Iterator[str]:
    told = found.as_json()
    yield f"<p>{found.compared:,} messages compared, {found.different:,} came out otherwise.</p>"
    yield table(
        ("", was, now),
        [
            ("tokens of all packs", *found.tokens),
            ("packs degraded", *found.degraded),
            ("packs without room for what the other has", *found.over_budget),
            ("time, p50 ms", told["latency_ms"]["was"]["p50"] or 0, told["latency_ms"]["now"]["p50"] or 0),
            ("time, p95 ms", told["latency_ms"]["was"]["p95"] or 0, told["latency_ms"]["now"]["p95"] or 0),
        ],
    )
    yield "<h2>Depths</h2>"
    yield bars("Share of messages by depth", [*_shares(found, 1, now), *_shares(found, 0, was)], ours=len(LEVELS))
    yield table(("from", "to", "messages"), [*found.levels()]) if told["depths"] else "<p>No depth changed.</p>"
    yield "<h2>Sources and items</h2>"
    yield table(("source", was, now), [(name, each["was"], each["now"]) for name, each in told["sources"].items()])
    yield table(
        ("items of", "kept", "gained", "lost"),
        [(name, each["kept"], each["gained"], each["lost"]) for name, each in told["items"].items()],
    )
    yield f"<p>Evidence gained in {found.evidence['gained']:,} packs, lost in {found.evidence['lost']:,}.</p>"
    yield "<h2>Messages that came out otherwise</h2>"
    for change in found.changes[:MAX_ON_PAGE]:
        row = change.row()
        head = f"{row['depth'][0]} → {row['depth'][1]}, {row['tokens'][0]} → {row['tokens'][1]} tokens: {row['query']}"
        items = [("gained", each["section"], each["title"]) for each in row["items_gained"]]
        items += [
            ("lost, over budget" if each["over_budget"] else "lost", each["section"], each["title"])
            for each in row["items_lost"]
        ]
        where = ("message", change.message_id, f"conversation {row['conversation_id']}")
        yield details(head, table(("", "section", "item"), [where, *items]))
    if found.different > MAX_ON_PAGE:
        yield f"<p>And {found.different - MAX_ON_PAGE:,} more, which the JSON has.</p>"


def _shares(found: Differences, at: int, name: str) -> list[tuple[str, dict[str, float]]]:
    counts = {level: sum(n for pair, n in found.depths.items() if pair[at] == level) for level in LEVELS}
    return [(f"{level} {name}", {"value": counts[level] / max(found.compared, 1)}) for level in LEVELS]
