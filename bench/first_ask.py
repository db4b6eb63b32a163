"""The README's first question, asked as soon as `fathom ingest` returns, each time of a fresh `fathom up`.

make first-ask RUNS=20
"""

import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

from bench.measure import ROOT, say
from bench.running import fathom_up
from schemas.packs import ContextPack
from streams.edges.client.console_pack import sections

QUESTION = "How do I publish a message?"
RUNS = 20


@dataclass(frozen=True, slots=True)
class FirstPack:
    """What a caller sees of a pack: its items by section and text, its tokens, whether anything was missing."""

    items: tuple[tuple[str, str], ...]
    tokens: int
    degraded: tuple[str, ...]


def first_pack(folder: str = "docs", question: str = QUESTION) -> FirstPack:
    """Start, ingest a folder, ask at once."""
    with fathom_up() as running:
        _fathom("ingest", folder, "--broker", running.bootstrap)
        pack = ContextPack.model_validate_json(_fathom("ask", question, "--json", "--broker", running.bootstrap))
    items = tuple((name, entry.text) for name, entries in sections(pack) for entry in entries)
    return FirstPack(items, pack.total_tokens_estimated, pack.degraded_reasons)


def _fathom(*arguments: str) -> bytes:
    return subprocess.run(
        [sys.executable, "-m", "streams", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    packs: Counter[FirstPack] = Counter()
    for number in range(1, runs + 1):
        began = time.perf_counter()
        pack = first_pack()
        packs[pack] += 1
        missing = f", degraded: {', '.join(pack.degraded)}" if pack.degraded else ""
        say(f"{number}: {len(pack.items)} items, {pack.tokens} tokens{missing}, {time.perf_counter() - began:.1f} s")
    [(usual, same)] = packs.most_common(1)
    say(f"the same pack in {same} of {runs} runs: {len(usual.items)} items, {usual.tokens} tokens")
    for other in packs.keys() - {usual}:
        for sign, items in (("-", usual.items), ("+", other.items)):
            rest = other.items if sign == "-" else usual.items
            for section, text in (item for item in items if item not in rest):
                say(f"  {sign} {section}: {text[:100]}")
    return 0 if same == runs and not usual.degraded else 1


if __name__ == "__main__":
    sys.exit(main())
