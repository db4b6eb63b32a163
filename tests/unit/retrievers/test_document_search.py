"""Which passages of a document are ranked together: the pieces of one block that was cut for its length."""

from typing import Any

from agents.document_search import by_block
from agents.ports.passages import Hit, Passage
from tests.builders.events import AT


def hit(name: str, score: float, **fields: Any) -> Hit:
    placed = {"document_id": "law", "title": "Law › Article 7", **fields}
    return Hit(Passage(name, "chunk", name, "en", AT, fields=placed), score, {})


def test_pieces_of_one_block_are_raised_towards_the_best_of_them() -> None:
    rule, other, exception = hit("rule", 3.0, block=2), hit("other", 2.0, block=5), hit("exception", 1.0, block=2)
    assert [each.passage.id for each in by_block([rule, other, exception])] == ["rule", "exception", "other"]


def test_passages_of_one_section_stand_for_themselves() -> None:
    hits = [hit("best", 3.0), hit("next", 1.0), hit("last", 0.5)]
    assert [(each.passage.id, each.score) for each in by_block(hits)] == [("best", 3.0), ("next", 1.0), ("last", 0.5)]
