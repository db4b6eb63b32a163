"""Who waits for which answer: what is handed to whom, what is kept, what is refused."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from agents.core.caching.budget import CacheShare
from streams.edges.client.ask import RefusedRecord
from streams.edges.http.pending_replies import ExpectedReply, PendingReplies, TooMany

KEY = b"acme|web|c1"


def pack(message_id: str, revision: int = 1, filling: int = 0) -> bytes:
    return json.dumps({"message_id": message_id, "revision": revision, "filling": "x" * filling}).encode()


def answer(message_id: str | None) -> bytes:
    meta = {"frame_id": "f"} if message_id is None else {"answers": message_id}
    return json.dumps({"status": "ok", "results": None, "meta": meta, "answer": "sim"}).encode()


def wanted(message_id: str, topic: str = "context-packs.out", key: bytes = KEY) -> ExpectedReply:
    return ExpectedReply(topic, key, message_id)


def story(told: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(told())


def test_an_answer_goes_to_all_that_wait_for_it_and_to_nobody_else():
    async def told() -> None:
        waiting = PendingReplies(10, CacheShare(10_000))
        mine, also, other = waiting.wait(wanted("m1")), waiting.wait(wanted("m1")), waiting.wait(wanted("m2"))
        elsewhere = waiting.wait(wanted("m1", key=b"beta|web|c1"))
        an_answer = waiting.wait(wanted("m1", "answers.out"))
        waiting.came("context-packs.out", KEY, pack("m1"))
        assert (await mine, await also) == (pack("m1"), pack("m1"))
        assert [future.done() for future in (other, elsewhere, an_answer)] == [False] * 3
        waiting.came("answers.out", KEY, answer("m1"))
        assert await an_answer == answer("m1")
        await asyncio.sleep(0)
        assert len(waiting) == 2

    story(told)


def test_another_users_message_of_the_same_id_is_none_of_theirs():
    def of(user: str, topic: str = "context-packs.out") -> ExpectedReply:
        return ExpectedReply(topic, KEY, "m1", user=user, bound=True)

    anas = json.dumps({"message_id": "m1", "revision": 1, "user_id": "ana", "text": "her secret"}).encode()
    turn = json.dumps({"message_id": "m1", "user_id": "ana"}).encode()

    async def told() -> None:
        waiting = PendingReplies(10, CacheShare(10_000))
        bobs, hers = waiting.wait(of("bob")), waiting.wait(of("ana"))
        bobs_answer, her_answer = waiting.wait(of("bob", "answers.out")), waiting.wait(of("ana", "answers.out"))
        # Whose message it is, is known once its turn has come: topics are read in any order.
        waiting.came("context-packs.out", KEY, anas)
        waiting.came("answers.out", KEY, answer("m1"))
        assert await hers == anas
        assert not bobs.done()
        assert not her_answer.done()
        waiting.came("conversation.turns", KEY, turn)
        assert await her_answer == answer("m1")
        for refused in (bobs, bobs_answer, waiting.wait(of("bob")), waiting.wait(of("bob", "answers.out"))):
            with pytest.raises(RefusedRecord, match="there is no conversation 'c1' of client 'web'"):
                await refused
        assert await waiting.wait(of("ana")) == anas
        # An application speaks for everybody.
        assert await waiting.wait(ExpectedReply("context-packs.out", KEY, "m1", user="bob")) == anas

    story(told)


def test_a_refusal_is_of_the_user_who_was_refused():
    async def told() -> None:
        waiting = PendingReplies(10, CacheShare(10_000))
        bob, ana = (waiting.wait(ExpectedReply("context-packs.out", KEY, "m1", user=user)) for user in ("bob", "ana"))
        waiting.refused(KEY, "m1", "bob", RuntimeError("no"))
        with pytest.raises(RuntimeError):
            await bob
        assert not ana.done()
        assert not waiting.wait(ExpectedReply("context-packs.out", KEY, "m1", user="ana")).done()

    story(told)


def test_nothing_of_an_erased_conversation_is_given_again():
    async def told() -> None:
        waiting = PendingReplies(10, CacheShare(10_000))
        for key in (KEY, b"beta|web|c1"):
            waiting.came("context-packs.out", key, pack("m1"))
        waiting.erased(KEY)
        assert not waiting.wait(wanted("m1")).done()
        assert await waiting.wait(wanted("m1", key=b"beta|web|c1")) == pack("m1")
        assert waiting.size_bytes == len(pack("m1"))

    story(told)


def test_whoever_asks_again_gets_what_came_before():
    async def told() -> None:
        waiting = PendingReplies(1, CacheShare(10_000))
        waiting.came("context-packs.out", KEY, pack("m1"))
        waiting.came("context-packs.out", KEY, pack("m2"))
        assert await waiting.wait(wanted("m1")) == pack("m1")
        assert await waiting.wait(wanted("m2")) == pack("m2")
        assert len(waiting) == 0
        assert not waiting.wait(wanted("m3")).done()

    story(told)


@pytest.mark.parametrize(
    "value",
    [b"no json", b"[]", b"null", b"{}", b'{"message_id": "m1"}', pack("m1", 2), answer(None), b'{"meta": null}', b"1"],
)
@pytest.mark.parametrize("topic", ["context-packs.out", "answers.out"])
def test_what_is_no_answer_is_passed_over(value: bytes, topic: str):
    async def told() -> None:
        waiting = PendingReplies(1, CacheShare(10_000))
        future = waiting.wait(wanted("m1", topic))
        waiting.came(topic, KEY, value)
        assert not future.done()
        waiting.came(topic, KEY, pack("m1") if topic == "context-packs.out" else answer("m1"))
        assert future.done()

    story(told)


def test_as_many_wait_as_may_and_who_gives_up_makes_room():
    async def told() -> None:
        waiting = PendingReplies(2, CacheShare(10_000))
        first, _ = waiting.wait(wanted("m1")), waiting.wait(wanted("m2"))
        with pytest.raises(TooMany):
            waiting.wait(wanted("m3"))
        first.cancel()
        await asyncio.sleep(0)
        assert len(waiting) == 1
        waiting.wait(wanted("m3"))
        waiting.came("context-packs.out", KEY, pack("m1"))  # nobody waits for it any more

    story(told)


def test_of_what_came_the_oldest_goes_when_there_is_too_much():
    async def told() -> None:
        size = len(pack("m0", filling=100))
        waiting = PendingReplies(10, CacheShare(3 * size))
        for number in range(5):
            waiting.came("context-packs.out", b"k%d" % (number % 4), pack(f"m{number}", filling=100))
        kept = [waiting.wait(wanted(f"m{number}", key=b"k%d" % (number % 4))).done() for number in range(5)]
        # m0 goes with the fourth, then its key is the newest; m1 goes with the fifth.
        assert kept == [False, False, True, True, True]

    story(told)


def test_all_waiting_can_be_ended():
    async def told() -> None:
        waiting = PendingReplies(10, CacheShare(1_000))
        futures = [waiting.wait(wanted(name)) for name in ("m1", "m2")]
        futures[0].cancel()
        waiting.fail(RuntimeError("over"))
        with pytest.raises(RuntimeError, match="over"):
            await futures[1]
        await asyncio.sleep(0)
        assert len(waiting) == 0

    story(told)
