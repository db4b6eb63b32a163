"""Working sets in Redis or Valkey: turns per frame, the session, the outcomes of recent messages.

Keys of a conversation, all made by `tenant.key` (components of ids are percent-encoded):

    :session          hash   json, frame (of the session), forgotten (the position up to which it was erased)
    :turns            list   the newest turns of all frames
    :turns:<frame>    list   the newest turns of one frame
    :seen             list   the last 256 message ids, oldest first
    :outcomes :filed  hash   message id -> outcome bytes, frame id

One hash beside them lists the complete partitions of `conversation.turns` (`redis_scripts`).
Keys expire a month after the last write: only to remove unused data, never as policy (that is event time).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthenticationWrongNumberOfArgsError,
    RedisError,
)

from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns, begun_anew
from agents.core.conversation.session_state import MAX_FRAMES, TurnOutcome, WorkingSetState, apply_log
from schemas.base import Conversation
from streams.stores.guard import CircuitBreaker
from streams.stores.sessions.redis_calls import PIPELINE_SIZE, TIMEOUT_S, RedisView, SameServer, awaited, is_outage
from streams.stores.sessions.redis_scripts import APPEND, EPOCHS, FORGET, FRAME, LOAD, OPEN, RANGE, RESTORE, WHOLE
from streams.stores.sessions.turn_codec import (
    decode_newest,
    decode_session,
    decode_turns,
    encode_session,
    encode_turn,
    filed_id,
)
from streams.stores.tenant import key, key_part, keys_of

KNOWN_MESSAGES = 256
SESSION_TURNS = 400
EXPIRE_S = 30 * 24 * 3600
# The first pause: a killed server is back within a fraction of a second.
PAUSE = 0.05
CREDENTIALS = "the user or its password is refused; check FATHOM_REDIS_URL"
# Shared by working sets, tool sessions, weights and probes: none waits for a connection, which would count as silence.
CONNECTIONS = 4 * PIPELINE_SIZE
# Turns read beyond the limit, so that a few newer ones do not need a second read.
TRIM_SLACK = 4
# The names of keys.
OPENED = ("session",), ("turns",), ("outcomes",)
OF_MESSAGES = ("seen",), ("outcomes",), ("filed",)


class RedisWorkingSets(RedisView):
    """Turns and session of each conversation; `append` is one script, `open` one round trip."""

    def __init__(self, client: Redis, *, timeout: float = TIMEOUT_S) -> None:
        guard = CircuitBreaker(
            "working_set",
            timeout=timeout,
            errors=(RedisError,),
            is_outage=is_outage,
            pause=PAUSE,
            probe=self._answers,
            at_once=PIPELINE_SIZE,
        )
        super().__init__(client, guard, what="working_set")
        self._place: Callable[[Conversation], int] | None = None

    def follow(self, partitions: int, place: Callable[[Conversation], int]) -> None:
        """From now on every call raises `ViewIncomplete` where the conversation's partition is incomplete."""
        self._partitions, self._place = partitions, place

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session, its current frame's last `limit` turns, and the outcome if this message was seen before."""
        raw, outcome, turns = await self._checked(conversation, OPEN, keys_of(conversation, *OPENED), message_id, limit)
        return Opened(
            session=Session() if raw is None else decode_session(raw),
            turns=decode_turns(turns),
            outcome=outcome,
        )

    async def load(self, conversation: Conversation, message_id: str) -> tuple[WorkingSetState, bytes | None]:
        """All that is stored of the session and its current frame, and the outcome if this message was seen before."""
        found = await self._checked(conversation, WHOLE, keys_of(conversation, *OPENED), message_id)
        raw, outcome, of_frame, of_all = found
        session = Session() if raw is None else decode_session(raw)
        turns = decode_turns(of_all)
        # Most conversations have one frame.
        frame = turns if of_frame == of_all else decode_turns(of_frame)
        return WorkingSetState(session, turns, {session.frame_id: frame} if session.frame_id else {}), outcome

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame of an earlier message, while it is still stored."""
        found = await self._checked(conversation, FRAME, [key(conversation, "filed")], message_id)
        return None if found is None else bytes(found).decode()

    async def append(
        self,
        conversation: Conversation,
        frame_id: str,
        turn: ConversationTurn,
        session: Session,
        outcome: bytes,
        keep: int,
    ) -> bytes | None:
        """Store a turn with the new session and the outcome, atomically; of a known message id its first outcome."""
        known: bytes | None = await self._checked(
            conversation,
            APPEND,
            keys_of(conversation, ("session",), ("turns",), ("turns", frame_id), *OF_MESSAGES),
            filed_id(turn),
            encode_turn(turn),
            encode_session(session),
            key_part(session.frame_id),
            frame_id,
            outcome,
            max(keep, 1),
            max(keep, SESSION_TURNS),
            KNOWN_MESSAGES,
            EXPIRE_S,
        )
        return known

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        return await self._newest(conversation, ("turns", frame_id), up_to_seq, limit)

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""
        return await self._newest(conversation, ("turns",), up_to_seq, limit)

    async def forget(self, conversation: Conversation, up_to_seq: int) -> None:
        """Erase all turns and outcomes, atomically; one forgotten up to there before keeps what was said since."""
        await self._forget(conversation, up_to_seq, -1 if self._place is None else self._place(conversation), "")

    async def _forget(self, conversation: Conversation, up_to_seq: int, partition: int, token: str) -> None:
        session_key = key(conversation, "session")
        raw, *_ = await self._run(LOAD, [session_key])
        frames = () if raw is None else decode_session(raw).frames
        if len(frames) >= MAX_FRAMES:  # older frames than the session names have turns until they expire
            frames = await self._guard.run(partial(self._frames_of, conversation))
        others = keys_of(conversation, ("turns",), *OF_MESSAGES, *(("turns", frame) for frame in frames))
        name, session = "" if partition < 0 else self._name(partition), encode_session(begun_anew(up_to_seq))
        done = await self._run(FORGET, [EPOCHS, session_key, *others], name, token, up_to_seq, session, EXPIRE_S)
        self._unless_behind(done, partition)

    async def _frames_of(self, conversation: Conversation) -> tuple[str, ...]:
        # Parts of keys are percent-encoded, so that none of them has a character that is special in a pattern.
        found = self._client.scan_iter(match=f"{key(conversation, 'turns')}:*", count=1_000)
        return tuple([unquote(each.decode().rpartition(":")[2]) async for each in found])

    async def restore(
        self,
        conversation: Conversation,
        partition: int,
        token: str,
        outcomes: Sequence[TurnOutcome],
        keep: int,
        forgotten: int = -1,
    ) -> int:
        """Add the missing turns of a conversation, and its session; returns the number of added turns."""
        if forgotten >= 0:
            await self._forget(conversation, forgotten, partition, token)
        said = {outcome.turn.message_id: outcome for outcome in outcomes}
        frames = tuple(dict.fromkeys(outcome.turn.frame_id for outcome in outcomes))
        session_and_turns = ("session",), ("turns",)
        read = keys_of(conversation, *session_and_turns, *(("turns", frame) for frame in frames))
        raw, turns, *of_frames = await self._run(LOAD, read)
        known = WorkingSetState(
            Session() if raw is None else decode_session(raw),
            decode_turns(turns),
            dict(zip(frames, map(decode_turns, of_frames), strict=True)),
        )
        made = apply_log(known, outcomes, keep=max(keep, 1), keep_all=max(keep, SESSION_TURNS))
        if made is None:
            return 0
        there = {turn.message_id for turn in known.turns}
        written = keys_of(conversation, *session_and_turns, *OF_MESSAGES, *(("turns", frame) for frame in made.frames))
        done = await self._run(
            RESTORE, [EPOCHS, *written], self._name(partition), token, *_restoring(made, said, there)
        )
        self._unless_behind(done, partition)
        return sum(turn.message_id not in there for turn in made.turns)

    async def ping(self) -> None:
        """Raises `Unavailable` when the server does not answer."""
        await self._guard.check(self._answers)

    async def version(self) -> str:
        """The name and version of the server."""
        said = await self._guard.run(lambda: awaited(self._client.info("server")))
        return (
            f"{'Valkey' if 'valkey_version' in said else 'Redis'} {said.get('valkey_version', said['redis_version'])}"
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._guard.close()
        await self._client.aclose()

    async def _answers(self) -> None:
        try:
            await awaited(self._client.ping())
        except (AuthenticationError, AuthenticationWrongNumberOfArgsError) as error:
            raise PermissionError(f"{CREDENTIALS} ({error})") from error

    async def _newest(self, conversation: Conversation, name: tuple[str, ...], up_to_seq: int, limit: int) -> Turns:
        window = limit + TRIM_SLACK
        turns, kept = decode_newest(await self._last(conversation, name, -window), up_to_seq=up_to_seq, limit=limit)
        if len(turns) < limit and kept == window:
            turns, _ = decode_newest(await self._last(conversation, name, 0), up_to_seq=up_to_seq, limit=limit)
        return turns

    async def _last(self, conversation: Conversation, name: tuple[str, ...], start: int) -> bytes:
        encoded: bytes = await self._checked(conversation, RANGE, [key(conversation, *name)], start)
        return encoded

    async def _checked(self, conversation: Conversation, script: str, keys: Sequence[str], *args: Any) -> Any:
        """The result of the script; raises `ViewIncomplete` where the conversation's partition is incomplete."""
        if self._place is None:
            return await self._run(script, [EPOCHS, *keys], "", *args)
        partition = self._place(conversation)
        found = await self._run(script, [EPOCHS, *keys], self._name(partition), *args)
        self._unless_behind(found, partition)
        return found


def _restoring(
    made: WorkingSetState, said: Mapping[str, TurnOutcome], there: Collection[str]
) -> list[str | bytes | int]:
    """The arguments of `RESTORE` after partition and token."""
    frame_key = key_part(made.session.frame_id)
    arguments: list[str | bytes | int] = [EXPIRE_S, encode_session(made.session), frame_key]
    arguments += [len(made.turns), min(len(made.turns), KNOWN_MESSAGES)]
    for turn in made.turns:
        outcome = None if turn.message_id in there else said[turn.message_id]
        frame_id = outcome.turn.frame_id if outcome else ""
        kept = outcome.kept() if outcome else b""
        arguments += [turn.message_id, frame_id, kept, encode_turn(turn), int(outcome is not None)]
    for turns in made.frames.values():
        arguments += [len(turns), *map(encode_turn, turns)]
    return arguments


def connect(url: str) -> Redis:
    """A client whose time limit is the guard's: its own would start a timer for every read.

    It tries nothing again: of a server that ends what it accepts, the driver would make four connections for each call.
    """
    pool = BlockingConnectionPool.from_url(
        url, max_connections=CONNECTIONS, timeout=None, protocol=2, socket_timeout=None, retry=Retry(NoBackoff(), 0),
        redis_connect_func=SameServer().connected,
    )  # fmt: skip
    # Owned by the client: given to its constructor, the pool would stay open after the client is closed.
    return Redis.from_pool(pool)
