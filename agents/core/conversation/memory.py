"""Conversation memory: turns under a policy, and their session. Pure: event times only.

The policy's limits are applied in one order, on load and on append: time to live, then turns, then characters.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from agents.core.conversation import references
from schemas.base import Conversation, Source, derive
from schemas.chat import TurnLink
from schemas.depth import Anchor, DepthLevel, Reference
from schemas.policy import ContextPolicy

Turns = tuple["ConversationTurn", ...]


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One stored turn; a turn of a history given by a caller has the first three fields only.

    `last_reference` and `last_ticker` come from the turn itself.
    """

    role: Literal["user", "assistant", "system"]
    content: str
    created_at: datetime
    message_id: str = ""
    seq: int = 0
    frame_id: str = ""
    lang: str | None = None
    user_id: str | None = None
    source: Source | None = None
    request_id: str | None = None
    intent: str | None = None
    entity: str | None = None
    answers: str | None = None
    depth_level: DepthLevel | None = None
    last_reference: Reference | None = None
    last_ticker: str | None = None
    link: TurnLink | None = None

    @property
    def place(self) -> Source:
        """The turn's position in the log; raises `ValueError` for a turn that was never stored."""
        if self.source is None:
            raise ValueError(f"the turn {self.message_id!r} is not filed")
        return self.source


META = ("request_id", "intent", "entity", "answers", "last_ticker")


def meta_of(turn: ConversationTurn) -> dict[str, object] | None:
    """The contract's fourth field, `meta`: ids, position in the log, optional fields; None for a turn never stored."""
    if not turn.message_id:
        return None
    meta: dict[str, object] = {"message_id": turn.message_id, "seq": turn.seq}
    meta |= {name: value for name in ("frame_id", "lang", "user_id") if (value := getattr(turn, name))}
    if turn.source is not None:
        meta |= turn.source.model_dump()
    meta |= {name: value for name in META if (value := getattr(turn, name)) is not None}
    if turn.depth_level is not None:
        meta["depth_level"] = turn.depth_level.value
    if turn.last_reference is not None:
        meta["last_reference"] = turn.last_reference.model_dump(mode="json")
    if turn.link is not None:
        meta["link"] = turn.link.model_dump(mode="json")
    return meta


def turn_of(
    role: Literal["user", "assistant", "system"], content: str, created_at: datetime, meta: Mapping[str, Any] | None
) -> ConversationTurn:
    """The turn from the contract's four fields; the inverse of `meta_of`."""
    known = dict(meta or {})
    place = {name: known.pop(name) for name in ("topic", "partition", "offset") if name in known}
    level, reference, link = (known.pop(name, None) for name in ("depth_level", "last_reference", "link"))
    return ConversationTurn(
        role,
        content,
        created_at,
        source=Source(**place) if len(place) == 3 else None,
        depth_level=None if level is None else DepthLevel(level),
        last_reference=None if reference is None else Reference.model_validate(reference),
        link=None if link is None else TurnLink.model_validate(link),
        **known,
    )


@dataclass(frozen=True, slots=True)
class Session:
    """The state of a conversation besides its turns: current frame, anchor, last intent, entity and references.

    `references` are the latest of each kind in the frame, the newest at the end. Messages up to `forgotten` are erased.
    `participants` are the users who spoke, or whom an application named; None where a session of an older version does
    not tell.
    """

    frame_id: str = ""
    frames: tuple[str, ...] = ()
    anchor: Anchor | None = None
    lang: str | None = None
    last_seq: int = -1
    last_intent: str | None = None
    last_entity: str | None = None
    references: tuple[Reference, ...] = ()
    forgotten: int = -1
    participants: tuple[str, ...] | None = ()

    @property
    def is_new(self) -> bool:
        """Whether nothing was said in the conversation, or nothing since it was forgotten."""
        return self.last_seq <= self.forgotten

    @property
    def last_reference(self) -> Reference | None:
        """The most recent reference."""
        return references.last(self.references)

    @property
    def last_ticker(self) -> str | None:
        """The most recent ticker."""
        found = references.last(self.references, references.TICKER)
        return found.value if found else None


@dataclass(frozen=True, slots=True)
class Opened:
    """A session at the arrival of a message, with the newest turns of its current frame, oldest first.

    `outcome` is the stored decision on a message seen before, as bytes: a redelivery must give the same events.
    """

    session: Session
    turns: Turns
    outcome: bytes | None = None


def storage_key(client_id: str, conversation_id: str) -> str:
    """The key `client:conversation`, each part percent-encoded so that `a:b`+`c` is not `a`+`b:c`."""
    parts = Conversation(tenant="-", client_id=client_id, conversation_id=conversation_id).key().split("|")
    return f"{parts[1]}:{parts[2]}"


def recent(turns: Sequence[ConversationTurn], policy: ContextPolicy, as_of: datetime) -> Turns:
    """The turns the policy permits at a time: not expired, the last `max_turns`, within `max_chars`."""
    if not policy.enabled:
        return ()
    alive = [turn for turn in turns if as_of - turn.created_at <= timedelta(seconds=policy.ttl_seconds)]
    return _within_chars(alive[-policy.max_turns :] if policy.max_turns > 0 else [], policy.max_chars)


def _within_chars(turns: Sequence[ConversationTurn], max_chars: int) -> Turns:
    kept: list[ConversationTurn] = []
    left = max_chars
    for turn in reversed(turns):
        if len(turn.content) > left:
            # The newest turn alone may exceed the limit: cut at its end, so that there is always something.
            if not kept and left > 0:
                kept.append(replace(turn, content=turn.content[:left]))
            break
        kept.append(turn)
        left -= len(turn.content)
    return tuple(reversed(kept))


def to_wire(turns: Iterable[ConversationTurn]) -> list[dict[str, object]]:
    """The turns as plain dicts of the contract's four fields; internal use only."""
    return [
        {"role": turn.role, "content": turn.content, "created_at": turn.created_at, "meta": meta_of(turn)}
        for turn in turns
    ]


def first_frame(conversation: Conversation, forgotten: int = -1) -> str:
    """The id of a conversation's first frame, or of its first since it was forgotten: derived, the same on replay."""
    return derive("frame", conversation.key(), *([forgotten] if forgotten >= 0 else []))


def begun_anew(forgotten: int) -> Session:
    """The session of a conversation whose messages up to this position are erased."""
    return Session(last_seq=forgotten, forgotten=forgotten)


def next_frame(conversation: Conversation, message_id: str) -> str:
    """The id of the frame that a message opens."""
    return derive("frame", conversation.key(), message_id)
