"""The context of a chat request: its pack, or the reason why the request goes on without one."""

import asyncio
from dataclasses import dataclass

import orjson

from agents.core.caching.lru import ByteCache
from schemas.topics import CONTEXT_PACKS, MESSAGES_IN
from streams.edges.client.ask import UNKNOWN_CONVERSATION, RefusedRecord
from streams.edges.http.openai.caller import ChatTurn
from streams.edges.http.pending_replies import ExpectedReply, TooMany
from streams.edges.http.problems import Problem
from streams.edges.http.request_reply import Exchange, NotReachable


@dataclass(frozen=True, slots=True)
class GivenContext:
    """The text of a pack and its response headers; `reason` is why there is no text.

    `filed` says whether the question is in its conversation, so that its answer belongs there.
    """

    turn: ChatTurn | None = None
    text: str = ""
    pack_id: str | None = None
    depth: str | None = None
    tokens: int | None = None
    reason: str | None = None

    @property
    def filed(self) -> bool:
        return self.turn is not None and self.reason not in ("broker", "busy", "refused", "too-long")

    def headers(self) -> dict[str, str]:
        """The response headers that say what was given."""
        said = {
            "fathom-status": "context" if self.reason is None else f"passed-through; reason={self.reason}",
            "fathom-message-id": self.turn.message_id if self.turn and self.filed else None,
            "fathom-conversation": self.turn.conversation.conversation_id if self.turn else None,
            "fathom-pack-id": self.pack_id,
            "fathom-depth": self.depth,
            "fathom-tokens": None if self.tokens is None else str(self.tokens),
        }
        # Ids may hold any printable character, a header Latin-1.
        return {name: text.encode().decode("latin-1") for name, text in said.items() if text is not None}


class ContextSource:
    """Packs of questions, each waited for `seconds` at most; one question has one, however often it is sent."""

    def __init__(self, exchange: Exchange, seconds: float) -> None:
        self._exchange = exchange
        self.seconds = seconds
        self._kept: ByteCache[tuple[bytes, str, str], GivenContext] = ByteCache("given_contexts")

    async def of(self, turn: ChatTurn) -> GivenContext:
        """The context of a turn, which is sent to `messages.in` where it is new."""
        place = (turn.key, turn.message_id, turn.envelope.user_id or "")
        if (known := self._kept.get(place)) is not None:
            return known
        given = await self._asked(turn)
        if given.pack_id is not None:
            self._kept.put(place, given)
        return given

    async def _asked(self, turn: ChatTurn) -> GivenContext:
        if not turn.question:
            return GivenContext(reason="no-text")
        prepared = turn.asked()
        if len(prepared.value) > MESSAGES_IN.max_bytes:
            return GivenContext(turn, reason="too-long")
        try:
            async with asyncio.timeout(self.seconds):
                wanted = ExpectedReply.to(CONTEXT_PACKS.name, prepared)
                _, answer = await self._exchange.ask(prepared, wanted, within=self.seconds)
                return _given(turn, await answer)
        except RefusedRecord as refused:
            if refused.reason == UNKNOWN_CONVERSATION:
                raise Problem(404, str(refused)) from None
            return GivenContext(turn, reason="refused")
        except (TooMany, Problem):
            # A chat goes on, whatever waits at Fathom.
            return GivenContext(turn, reason="busy")
        except NotReachable:
            return GivenContext(turn, reason="broker")
        except TimeoutError:
            return GivenContext(turn, reason="timeout")


def _given(turn: ChatTurn, pack: bytes) -> GivenContext:
    """The context of a pack that `PendingReplies` has read already."""
    said = orjson.loads(pack)
    text = said.get("text") or ""
    return GivenContext(
        turn,
        text,
        said.get("pack_id"),
        said.get("depth_level"),
        said.get("total_tokens_estimated"),
        None if text else "empty-pack",
    )
