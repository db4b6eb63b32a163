"""What a message has reached, read from the topics of its pack and its run while somebody watches it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from deploy.docs.examples import load
from schemas import codec
from schemas.base import Conversation
from schemas.envelope import Outgoing
from schemas.retrieval import RetrievalPlan
from schemas.topics import (
    COGNITION_STEPS,
    CONTEXT_PACKS,
    MEMORY_ERASURES,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    Topic,
)
from streams.edges.http.events import progress_tail
from streams.edges.http.events.message_progress import MessageProgress
from streams.edges.http.events.progress_tail import ProgressTail
from streams.kafka.records import Record
from streams.testing.pipeline import Pipeline
from tests.builders.http_server import until
from tests.builders.progress_job import LAW, ON, RULINGS, events

QUESTION = "O adicional de insalubridade é devido ao empregado do frigorífico e quanto dura o intervalo de almoço?"
TOPICS = (RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS, COGNITION_STEPS)
Watched = MessageProgress | None
Story = Callable[[ProgressTail], Awaitable[Any]]


@pytest.fixture(scope="module")
def fathom() -> Iterator[Pipeline]:
    with Pipeline(**ON) as made:
        made.document("clt", "CLT", LAW)
        made.document("julgados", "Julgados", RULINGS)
        made.say(QUESTION, message_id="m1")
        made.say(QUESTION, message_id="m1", conversation="c2")
        made.say("Obrigado!", message_id="m2")
        yield made


class Log:
    """The records that a reader finds in the log; each search says of which topic and key."""

    def __init__(self, records: list[Record], monkeypatch: pytest.MonkeyPatch) -> None:
        self.records = records
        self.searched: list[tuple[str, str | None]] = []
        self.erased: dict[Conversation, int] = {}

        async def newest_first(
            _: str, topic: Topic, __: float, key: str | None
        ) -> AsyncGenerator[tuple[list[Any], bool], None]:
            self.searched.append((topic.name, key))
            yield [record for record in self.records if record.topic == topic.name], True

        async def erased_up_to(_: str, where: Conversation, __: float) -> int:
            return self.erased.get(where, -1)

        monkeypatch.setattr(progress_tail.log_lookup, "newest_first", newest_first)
        monkeypatch.setattr(progress_tail.log_lookup, "erased_up_to", erased_up_to)


def records(fathom: Pipeline) -> list[Record]:
    return [record for topic in TOPICS for record in fathom.log.of(topic.name)]


def anybody(_: RetrievalPlan) -> bool:
    return True


def following(fathom: Pipeline, story: Story) -> Any:
    async def whole() -> Any:
        tail = ProgressTail(lambda: "broker", fathom.settings.cognition())
        tail._following.set()
        return await story(tail)

    return asyncio.run(whole())


async def watched(
    tail: ProgressTail, message: str = "m1", seconds: float = 0.01, **more: Any
) -> MessageProgress | None:
    asked = {"sees": anybody, "stated": None, **more}
    return await tail.watch("acme", message, until=asyncio.get_running_loop().time() + seconds, **asked)


def told(progress: Watched) -> list[Any]:
    assert progress is not None
    return [each.told.event for each in progress.events]


def of_conversation(fathom: Pipeline, conversation: str) -> list[Any]:
    return [event for event in events(fathom) if (event.message_id, event.conversation_id) == ("m1", conversation)]


def in_c1(plan: RetrievalPlan) -> bool:
    return plan.conversation_id == "c1"


def test_of_an_id_the_newest_message_is_told_that_is_not_erased(fathom: Pipeline, monkeypatch: pytest.MonkeyPatch):
    log = Log(records(fathom), monkeypatch)
    assert {event.conversation_id for event in told(following(fathom, watched))} == {"c2"}
    log.erased[fathom.conversation("c2")] = 10**6
    assert {event.conversation_id for event in told(following(fathom, watched))} == {"c1"}
    log.erased[fathom.conversation("c1")] = 10**6
    assert following(fathom, watched) is None


def test_what_comes_while_it_is_watched_is_told_once(fathom: Pipeline, monkeypatch: pytest.MonkeyPatch):
    came = records(fathom)
    log = Log([], monkeypatch)

    async def story(tail: ProgressTail) -> Any:
        watching = asyncio.create_task(watched(tail, seconds=5, sees=in_c1))
        await until(lambda: tail._awaited and log.searched)
        for record in came[:1]:  # the plan
            tail._take(record)  # type: ignore[arg-type]
        log.records = came[: len(came) // 2]
        progress = await watching
        for record in came[1:]:  # half of them for the second time
            tail._take(record)  # type: ignore[arg-type]
        also = await watched(tail, sees=in_c1)
        assert also is progress
        tail.leave(progress)
        tail.leave(progress)
        return progress, tail

    progress, tail = following(fathom, story)
    assert sorted(told(progress), key=order) == sorted(of_conversation(fathom, "c1"), key=order)
    assert (tail._watchers, tail._watched, tail._awaited) == (0, {}, {})


def order(event: Any) -> tuple[str, int]:
    return event.stage, event.seq


@pytest.mark.parametrize(("conversation", "ends"), [("c1", True), ("c2", False)])
def test_a_stream_ends_when_its_conversation_is_erased(
    fathom: Pipeline, monkeypatch: pytest.MonkeyPatch, conversation: str, ends: bool
):
    Log(records(fathom), monkeypatch)
    example, *_ = load(topics=[MEMORY_ERASURES])
    said = {"client_id": "web", "conversation_id": conversation, "up_to_seq": 10**6}
    erased = example.received().event.model_copy(update=said)

    async def story(tail: ProgressTail) -> bool:
        progress = await watched(tail, sees=in_c1)
        assert progress is not None
        cause = fathom.events(RETRIEVAL_PLANS)[0].envelope
        key, value, headers = codec.encode(Outgoing(MEMORY_ERASURES, "k", erased, cause, "e"), "test")
        tail._take(Record(MEMORY_ERASURES.name, 0, 0, 0, key, value, tuple(headers)))  # type: ignore[arg-type]
        return progress.ending

    assert following(fathom, story) is ends


def test_a_server_that_ends_ends_its_streams_and_those_who_wait(fathom: Pipeline, monkeypatch: pytest.MonkeyPatch):
    Log(records(fathom), monkeypatch)

    async def story(tail: ProgressTail) -> Any:
        progress = await watched(tail)
        assert progress is not None
        assert not progress.ending
        waiting = asyncio.create_task(watched(tail, "later", seconds=60))
        await until(lambda: tail._awaited)
        tail.stop()
        return progress.ending, await waiting

    assert following(fathom, story) == (True, None)


def test_a_message_that_nobody_sent_is_none_after_its_time(fathom: Pipeline, monkeypatch: pytest.MonkeyPatch):
    Log(records(fathom), monkeypatch)

    async def story(tail: ProgressTail) -> Any:
        return await watched(tail, "nosuch"), tail._watchers, tail._awaited

    assert following(fathom, story) == (None, 0, {})
    assert following(fathom, lambda tail: watched(tail, sees=lambda _: False)) is None
