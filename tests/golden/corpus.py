"""The golden corpus: talks, documents and questions of this repository in both languages, and what packs hold of them.

make golden        write tests/golden/packs.txt again, after a change that is meant; commit it with the change
"""

import json
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agents.core.progress import pack_document
from schemas.packs import ContextPack
from streams.testing.pipeline import Pipeline
from tests.checkout import ROOT

EVERYDAY = ROOT / "bench" / "everyday"
GOLDEN = Path(__file__).with_name("packs.txt")
# Of each corpus every third question: each kind is among them, and all together take seconds.
EVERY = 3


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EVERYDAY / name).read_text(encoding="utf-8").splitlines()]


def _told(fathom: Pipeline, corpus: str) -> list[tuple[str, str]]:
    """Tell a corpus: its documents, then its talks at their times; returns the messages of users."""
    for path in (
        sorted((EVERYDAY / "documents" / corpus).glob("*")) if (EVERYDAY / "documents" / corpus).is_dir() else ()
    ):
        fathom.document(path.stem, path.stem, path.read_text(encoding="utf-8"), tenant=corpus)
    said = []
    for talk in (each for each in _lines("talks.jsonl") if each["corpus"] == corpus):
        fathom.clock.at = max(fathom.clock.at, datetime.fromisoformat(talk["at"]))
        for turn in talk["turns"]:
            fathom.clock.advance(20)
            number = fathom.say(turn["text"], role=turn["role"], conversation=talk["session"], tenant=corpus)
            if turn["role"] == "user":
                said.append((number, turn["text"]))
    return said


def played() -> Iterator[str]:
    """What each message was decided and given, a paragraph each."""
    items = _lines("items.jsonl")
    for corpus in sorted({each["corpus"] for each in items}):
        with Pipeline(partitions=1) as fathom:
            asked = _told(fathom, corpus)
            fathom.clock.at += timedelta(days=1)
            for place, item in enumerate(each for each in items if each["corpus"] == corpus):
                if place % EVERY == 0:
                    fathom.clock.advance(60)
                    number = fathom.say(item["text"], conversation=item["id"], tenant=corpus)
                    asked.append((number, item["text"]))
            packs = {pack.message_id: pack for pack in fathom.packs()}
            for number, text in asked:
                yield f"{corpus}: {' '.join(text.split())}\n{_pack(packs[number])}"


def _pack(pack: ContextPack) -> str:
    sources = " ".join(f"{part.memory_class.value}={part.status}" for part in pack.parts)
    head = f"  {pack.depth_level.value} {pack.total_tokens_estimated} tokens, evidence {pack.evidence}; {sources}\n"
    held = (f"  - {section}: {pack_document.title(item)}\n" for section, item in pack_document.kept_items(pack))
    return head + "".join(held)


def main() -> int:
    """Write the golden file."""
    GOLDEN.write_text("".join(played()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
