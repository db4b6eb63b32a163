"""The turns of a conversation as they are stored."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest

from agents.core.conversation.memory import turn_of
from streams.stores.sessions.turn_codec import decode_newest, decode_turns, encode_turn, newest

NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def stored(*seqs: int) -> bytes:
    """Turns in the order in which they were filed, as the store hands them out; one is of a caller, without ids."""
    turns = [
        turn_of("user", f"said {seq}", NOON + timedelta(minutes=seq), {"message_id": f"m{seq}", "seq": seq})
        for seq in seqs
    ]
    asked = orjson.dumps({"role": "user", "content": "asked", "created_at": NOON.isoformat(), "meta": None})
    return b"[" + b",".join([asked, *map(encode_turn, turns)]) + b"]"


@pytest.mark.parametrize("limit", [0, 1, 3, 24])
@pytest.mark.parametrize("up_to_seq", [-1, 0, 2, 4, 9])
def test_the_newest_are_those_of_all_that_are_decoded(up_to_seq: int, limit: int) -> None:
    array = stored(1, 3, 2, 5, 4, 7)
    turns, count = decode_newest(array, up_to_seq=up_to_seq, limit=limit)
    assert turns == newest(decode_turns(array), up_to_seq=up_to_seq, limit=limit)
    before = [seq for seq in (0, 1, 2, 3, 4, 5, 7) if seq <= up_to_seq]
    assert [turn.seq for turn in turns] == (before[-limit:] if limit else [])
    assert count == 7
