"""Turns and sessions as JSON bytes, the storage format of all working sets."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from agents.core.conversation.memory import ConversationTurn, Session, Turns, meta_of, turn_of
from schemas.depth import Anchor, Reference


def encode_turn(turn: ConversationTurn) -> bytes:
    return orjson.dumps(
        {
            "role": turn.role,
            "content": turn.content,
            "created_at": turn.created_at.isoformat(),
            "meta": meta_of(turn),
        }
    )


def decode_turns(array: bytes) -> Turns:
    """The turns of a JSON array of encoded turns."""
    return tuple(map(_turn, orjson.loads(array)))


def decode_newest(array: bytes, *, up_to_seq: int, limit: int) -> tuple[Turns, int]:
    """The last `limit` turns up to a position in the conversation, in order, and how many turns the array has.

    Those that are not wanted are not made: of a writer that is behind that is most of a conversation.
    """
    encoded = orjson.loads(array)
    wanted = sorted((fields for fields in encoded if _seq(fields) <= up_to_seq), key=_seq)
    return tuple(map(_turn, wanted[-limit:] if limit > 0 else ())), len(encoded)


def _turn(fields: Mapping[str, Any]) -> ConversationTurn:
    return turn_of(fields["role"], fields["content"], datetime.fromisoformat(fields["created_at"]), fields["meta"])


def _seq(fields: Mapping[str, Any]) -> int:
    found: int = (fields["meta"] or {}).get("seq", 0)
    return found


def encode_session(session: Session) -> bytes:
    last = session.last_reference
    return orjson.dumps(
        {
            "frame_id": session.frame_id,
            "frames": session.frames,
            "anchor": None if session.anchor is None else session.anchor.model_dump(mode="json"),
            "lang": session.lang,
            "last_seq": session.last_seq,
            "last_intent": session.last_intent,
            "last_entity": session.last_entity,
            # For a worker of the previous version, which reads it from sessions.
            "last_reference": None if last is None else last.model_dump(mode="json"),
            "references": [each.model_dump(mode="json") for each in session.references],
            "forgotten": session.forgotten,
            "participants": session.participants,
        }
    )


def decode_session(raw: bytes) -> Session:
    fields = orjson.loads(raw)
    anchor = fields["anchor"]
    return Session(
        frame_id=fields["frame_id"],
        frames=tuple(fields["frames"]),
        anchor=None if anchor is None else Anchor(topic=anchor["topic"], terms=tuple(anchor["terms"])),
        lang=fields["lang"],
        last_seq=fields["last_seq"],
        last_intent=fields["last_intent"],
        last_entity=fields["last_entity"],
        # Absent in a session of an older version.
        references=tuple(Reference.model_validate(each) for each in fields.get("references", ())),
        forgotten=fields.get("forgotten", -1),
        participants=None if fields.get("participants") is None else tuple(fields["participants"]),
    )


def newest(kept: Turns, *, up_to_seq: int, limit: int) -> Turns:
    """The last `limit` turns up to a position in the conversation, in order."""
    turns = sorted((turn for turn in kept if turn.seq <= up_to_seq), key=lambda turn: turn.seq)
    return tuple(turns[-limit:]) if limit > 0 else ()


def filed_id(turn: ConversationTurn) -> str:
    """The message id of a turn to store; raises `ValueError` without one, since it could not be found again."""
    if not turn.message_id:
        raise ValueError("a turn needs a message_id to be filed")
    return turn.message_id
