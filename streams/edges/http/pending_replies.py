"""Futures of awaited answers, and a cache of recent ones for repeated questions. No Kafka in here."""

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass

import orjson

from agents.core.caching.budget import CacheShare, bytes_of, share_of
from agents.core.caching.lru import ByteCache
from schemas.base import Conversation
from schemas.envelope import USER_BOUND, header_map
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS, CONVERSATION_TURNS, SEARCHES_OUT, TOOLS_CALLS_OUT
from streams.edges.client.ask import UNKNOWN_CONVERSATION, RefusedRecord
from streams.edges.client.deep_answers import answer_of
from streams.edges.client.log_lookup import unknown_conversation
from streams.edges.client.records import OutgoingRecord

Place = tuple[str, bytes]
REPLIES = share_of("replies")


@dataclass(frozen=True, slots=True)
class ExpectedReply:
    """The answer to a message, or to a tool call: its topic, its key, the id of what is answered.

    `deep`: only the answer by cognition, which may come beside that of an assistant. `user`: who said the message;
    `bound`: who asks speaks for that user alone, and another user's message of the same id is none of theirs.
    """

    topic: str
    key: bytes
    message_id: str
    deep: bool = False
    user: str = ""
    bound: bool = False

    @classmethod
    def to(cls, topic: str, sent: OutgoingRecord, *, deep: bool = False) -> "ExpectedReply":
        """What answers a record on a topic."""
        stated = header_map(sent.headers)
        return cls(topic, sent.key, sent.name, deep, stated.get("user_id", ""), stated.get(USER_BOUND) == "true")

    @property
    def place(self) -> Place:
        return self.topic, self.key

    @property
    def tenant(self) -> str:
        return Conversation.from_key(self.key.decode()).tenant


class TooMany(Exception):
    """The limit of waiting callers is reached."""


class PendingReplies:
    """At most `most` callers wait; answers are cached within a share, the oldest is evicted first."""

    def __init__(self, most: int, share: CacheShare = REPLIES) -> None:
        self._most = most
        self._share = share
        self._share.join(self)
        self._waiting: dict[Place, dict[asyncio.Future[bytes], ExpectedReply]] = {}
        self._count = 0
        self._came: OrderedDict[Place, deque[bytes]] = OrderedDict()
        self.size_bytes = 0
        self._refused: ByteCache[tuple[bytes, str, str], Exception] = ByteCache("refused_messages")
        self._failed: ByteCache[tuple[str, str], Exception] = ByteCache("failed_runs")
        # Set whenever somebody begins to wait.
        self.called = asyncio.Event()

    def __len__(self) -> int:
        return self._count

    def wait(self, wanted: ExpectedReply) -> "asyncio.Future[bytes]":
        """A future of the answer, done at once for a cached one. Raises `TooMany`."""
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        refusal = self._refused.get((wanted.key, wanted.message_id, wanted.user)) or self._others(wanted)
        if refusal is not None:
            future.set_exception(refusal)
            return future
        known = next((value for value in self._came.get(wanted.place, ()) if self._answers(value, wanted)), None)
        if known is not None:
            future.set_result(known)
            return future
        if wanted.deep and (failure := self._failed.get((wanted.tenant, wanted.message_id))) is not None:
            future.set_exception(failure)
            return future
        if self._count >= self._most:
            raise TooMany
        self._waiting.setdefault(wanted.place, {})[future] = wanted
        self._count += 1
        self.called.set()
        future.add_done_callback(lambda _: self._forget(wanted, future))
        return future

    def came(self, topic: str, key: bytes, value: bytes) -> None:
        """Cache an answer and resolve the futures that wait for it."""
        place = (topic, key)
        # A search is made once: nobody waits for the same results again.
        if topic != SEARCHES_OUT.name:
            self._keep(place, value)
        for future, wanted in tuple(self._waiting.get(place, {}).items()):
            if not future.done() and self._answers(value, wanted):
                future.set_result(value)
        if topic == CONVERSATION_TURNS.name:
            self._said(key)

    def erased(self, key: bytes) -> None:
        """Forget all that came for a key."""
        for place in [each for each in self._came if each[1] == key]:
            self.size_bytes -= sum(map(len, self._came.pop(place)))

    def _said(self, key: bytes) -> None:
        """A turn says whose a message is: an answer that came before it is theirs, and nobody else waits for it."""
        for place in [each for each in self._waiting if each[1] == key]:
            for future, wanted in tuple(self._waiting[place].items()):
                if not wanted.bound or future.done():
                    continue
                if (refusal := self._others(wanted)) is not None:
                    future.set_exception(refusal)
                    continue
                known = [value for value in self._came.get(place, ()) if self._answers(value, wanted)]
                if known:
                    future.set_result(known[0])

    def _others(self, wanted: ExpectedReply) -> Exception | None:
        """The refusal of a message whose id is that of another user's, where the asker speaks for one user alone."""
        if not wanted.bound or self._speaker(wanted) in (None, wanted.user):
            return None
        where = Conversation.from_key(wanted.key.decode())
        return RefusedRecord(UNKNOWN_CONVERSATION, unknown_conversation(where))

    def _speaker(self, wanted: ExpectedReply) -> str | None:
        """Who said the message, as its turn says; None where no turn has come, or is kept no more."""
        for value in self._came.get((CONVERSATION_TURNS.name, wanted.key), ()):
            said = _object(value)
            if said.get("message_id") == wanted.message_id:
                return str(said.get("user_id"))
        return None

    def _answers(self, value: bytes, wanted: ExpectedReply) -> bool:
        """Whether a record is the awaited answer, and the asker's to read."""
        if not _answers(value, wanted):
            return False
        if not wanted.bound or wanted.topic == TOOLS_CALLS_OUT.name:
            return True
        said = _object(value)
        return (said["user_id"] if "user_id" in said else self._speaker(wanted)) == wanted.user

    def recent(self, topic: str, key: bytes) -> tuple[bytes, ...]:
        """What came for a key of a topic and is still cached, the oldest first."""
        return tuple(self._came.get((topic, key), ()))

    def refused(self, key: bytes, message_id: str, user: str, refusal: Exception) -> None:
        """Fail the futures that wait for what follows from a user's message that its stage has refused."""
        self._refused.put((key, message_id, user), refusal, sum(map(bytes_of, refusal.args)))
        for (_, at), waiting in tuple(self._waiting.items()):
            for future, wanted in tuple(waiting.items()) if at == key else ():
                if not future.done() and (wanted.message_id, wanted.user) == (message_id, user):
                    future.set_exception(refusal)

    def failed(self, tenant: str, message_id: str, failure: Exception) -> None:
        """Fail the futures that wait for the answer by a cognitive run that has failed."""
        self._failed.put((tenant, message_id), failure, sum(map(bytes_of, failure.args)))
        for waiting in tuple(self._waiting.values()):
            for future, wanted in tuple(waiting.items()):
                named = wanted.tenant, wanted.message_id
                if wanted.deep and named == (tenant, message_id) and not future.done():
                    future.set_exception(failure)

    def fail(self, error: Exception) -> None:
        """Fail all waiting futures."""
        for future in [future for each in self._waiting.values() for future in each]:
            if not future.done():
                future.set_exception(error)

    def _forget(self, wanted: ExpectedReply, future: "asyncio.Future[bytes]") -> None:
        self._count -= 1
        waiting = self._waiting[wanted.place]
        del waiting[future]
        if not waiting:
            del self._waiting[wanted.place]

    def _keep(self, place: Place, value: bytes) -> None:
        self._came.setdefault(place, deque()).append(value)
        self._came.move_to_end(place)
        self.size_bytes += len(value)
        while self.size_bytes > self._share.allowed:
            first, oldest = next(iter(self._came.items()))
            self.size_bytes -= len(oldest.popleft())
            if not oldest:
                del self._came[first]


def _object(value: bytes) -> dict[str, object]:
    """The fields of a record; none of one that is no object."""
    try:
        said = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def _answers(value: bytes, wanted: ExpectedReply) -> bool:
    """Whether a record is the awaited answer; later revisions of a pack are not."""
    try:
        said = orjson.loads(value)
        if wanted.topic == ANSWERS_OUT.name:
            mine = bool(said["meta"]["answers"] == wanted.message_id)
            return mine and (not wanted.deep or answer_of(value) is not None)
        if wanted.topic == TOOLS_CALLS_OUT.name:
            return bool(said["call_id"] == wanted.message_id)
        if wanted.topic == SEARCHES_OUT.name:
            return bool(said["request_id"] == wanted.message_id)
        if wanted.topic == CONVERSATION_TURNS.name:
            return bool(said["message_id"] == wanted.message_id)
        return wanted.topic == CONTEXT_PACKS.name and (said["revision"], said["message_id"]) == (1, wanted.message_id)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False  # a record of some other writer
