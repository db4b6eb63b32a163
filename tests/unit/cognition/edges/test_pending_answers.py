"""Deep answers that calls over HTTP wait for."""

from dataclasses import replace

import pytest

from agents.core.caching.budget import CacheShare
from streams.edges.client.deep_answers import RunFailed, failure_of
from streams.edges.http.pending_replies import ExpectedReply, PendingReplies
from tests.builders.deep_answers import failure, pack_and_answer, renamed
from tests.unit.edges.http.test_pending_replies import KEY, answer, story, wanted


def test_a_deep_answer_is_told_from_that_of_an_assistant():
    value = pack_and_answer()[1]
    assert value is not None

    async def told() -> None:
        waiting = PendingReplies(10, CacheShare(100_000))
        deep = waiting.wait(ExpectedReply("answers.out", KEY, "m1", deep=True))
        waiting.came("answers.out", KEY, answer("m1"))
        assert not deep.done()
        waiting.came("answers.out", KEY, renamed(value, "m1"))
        assert await deep == renamed(value, "m1")

    story(told)


def test_a_run_that_failed_ends_the_wait_for_its_answer_until_there_is_one():
    value, failed = pack_and_answer()[1], failure_of(failure("m1"))
    assert value is not None
    assert failed is not None
    deep = ExpectedReply("answers.out", KEY, "m1", deep=True)

    async def told() -> None:
        waiting = PendingReplies(10, CacheShare(100_000))
        first, assistant = waiting.wait(deep), waiting.wait(wanted("m1", "answers.out"))
        others = [waiting.wait(replace(deep, key=b"beta|web|c1")), waiting.wait(replace(deep, message_id="m2"))]
        waiting.failed(*failed)
        for future in (first, waiting.wait(deep)):
            with pytest.raises(RunFailed, match=r"no deep answer to message m1: .*division by zero"):
                await future
        assert not any(future.done() for future in (assistant, *others))
        # Sent again, the run goes on.
        waiting.came("answers.out", KEY, renamed(value, "m1"))
        assert await waiting.wait(deep) == renamed(value, "m1")

    story(told)
