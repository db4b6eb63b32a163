"""What is known of an id without a search of the log."""

import asyncio

import pytest

from schemas.base import Conversation
from schemas.chat import Role, Turn
from streams.edges.client import log_lookup
from tests.tenants import memories

WHERE = Conversation(tenant="acme", client_id="web", conversation_id="c1")


def turn(message_id: str, role: Role = Role.USER, seq: int = 7) -> Turn:
    return memories.turn("And on Monday?").model_copy(update={"message_id": message_id, "role": role, "seq": seq})


@pytest.mark.parametrize(
    ("recent", "erased", "searches"),
    [
        ([turn("m1")], -1, 0),
        ([turn("m1")], 7, 1),  # erased since
        ([turn("m1", role=Role.ASSISTANT)], -1, 1),
        ([turn("m2")], -1, 1),
        ([], -1, 1),
    ],
)
def test_a_message_that_came_lately_is_known_without_a_search(monkeypatch, recent, erased, searches):
    searched = []

    async def search(*asked, **_):
        searched.append(asked)
        return [], True

    async def erased_up_to(*_):
        return erased

    monkeypatch.setattr(log_lookup, "search", search)
    monkeypatch.setattr(log_lookup, "erased_up_to", erased_up_to)
    checked = log_lookup.check_message("broker", WHERE, "m1", recent=recent)
    if searches:
        with pytest.raises(log_lookup.UnknownId, match="no user's message 'm1' is in conversation 'c1'"):
            asyncio.run(checked)
    else:
        asyncio.run(checked)
    assert len(searched) == searches
