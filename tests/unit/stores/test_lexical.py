"""The rarity of a term as an engine has it, from the best point for that term alone."""

import pytest

from streams.stores.passages.lexical import Holder, place_of
from streams.stores.passages.points import TERMS
from streams.stores.passages.qdrant_server import _rarity


def test_it_is_the_score_by_the_weight_of_the_term() -> None:
    holder = Holder(6.0, [place_of("prazo"), place_of("reembolso")], [1.5, 2.0])
    assert (holder.rarity("prazo"), holder.rarity("reembolso")) == (4.0, 3.0)


@pytest.mark.parametrize("places", [[], [place_of("viagem")]])
def test_a_point_that_was_written_again_meanwhile_without_the_term_says_nothing(places: list[int]) -> None:
    """A server scores a point and reads it afterwards; a passage may be indexed again in between."""
    values = [1.0] * len(places)
    assert Holder(6.0, places, values).rarity("prazo") is None
    assert _rarity([{"score": 6.0, "vector": {TERMS: {"indices": places, "values": values}}}], "prazo") is None
