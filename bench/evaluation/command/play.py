"""Memory and questions in over Kafka, packs out: the measurement of `fathom eval packs`, as a client would see it."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import orjson

from bench.evaluation.pack_figures import PackAnswer
from bench.evaluation.questions import ANYONE, Material, PackQuestion, Utterable
from schemas.base import JsonObject
from schemas.memory import DocumentSubmitted
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS, DOCUMENTS_IN, PACKS_PARTIAL
from streams.edges.client import clients, records
from streams.edges.client.clients import Connected
from streams.edges.client.deep_answers import OFF, answer_of
from streams.edges.client.errors import CONFIG, DOWN, CommandFailed
from streams.edges.client.records import Identity, OutgoingRecord
from streams.edges.client.send import deliver, hand_over
from streams.topology import STAGES

CLIENT = "eval"
POLL_S, CALM_S, LOOKS = 0.05, 1.0, 3
PACK_TIMEOUT_S, ANSWER_TIMEOUT_S = 60.0, 180.0
# The maximum of awaited packs: a slow machine is asked more slowly.
CONCURRENCY = 16
SECOND, MINUTE, LONG_AGO = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=30)
Say = Callable[[str], None]


@dataclass(slots=True)
class PackPlayer:
    """Plays on one broker; every run has its own tenants, named by `run`; `rate` is in questions per second.

    `alone` dates each question before the one asked earlier, so that none finds another: records later than a message
    are not in its memory. `deep`: the last turn of each is asked for its answer by cognition, too.
    """

    broker: Connected
    run: str
    rate: float
    alone: bool
    deep: bool = False
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENCY))
    _packs: dict[str, asyncio.Future[JsonObject]] = field(default_factory=dict)
    _answers: dict[str, asyncio.Future[JsonObject]] = field(default_factory=dict)
    _numbers: dict[int, str] = field(default_factory=dict)
    _parts: defaultdict[str, list[JsonObject]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    @asynccontextmanager
    async def on(
        cls, bootstrap: str, *, run: str, rate: float, alone: bool, deep: bool = False
    ) -> "AsyncIterator[PackPlayer]":
        """A player that reads every pack from now on."""
        async with clients.connected(bootstrap, (CONTEXT_PACKS.name, PACKS_PARTIAL.name, ANSWERS_OUT.name)) as broker:
            player = cls(broker, run, rate, alone, deep)
            reading = asyncio.create_task(player._read())
            try:
                yield player
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading

    @property
    def packs(self) -> dict[str, JsonObject]:
        """The packs of this run by id."""
        return {pack["pack_id"]: pack for future in self._packs.values() if future.done() for pack in [future.result()]}

    async def teach(self, materials: Iterable[Material]) -> int:
        """Send documents and conversations; returns the number of records."""
        sent = [
            await hand_over(self.broker.producer, each) for material in materials for each in self.memory_of(material)
        ]
        await asyncio.gather(*sent)
        return len(sent)

    def memory_of(self, material: Material) -> Iterable[OutgoingRecord]:
        """The records of documents and conversations, oldest first."""
        tenant, past = self._tenant(material.tenant), self.began - LONG_AGO
        for number, (title, text) in enumerate(material.documents):
            document = DocumentSubmitted(document_id=f"{tenant}-{number}", title=title, text=text, created_at=past)
            yield records.record_of(
                DOCUMENTS_IN, document.model_dump_json(exclude_none=True).encode(), Identity(tenant)
            )
        for name, turns in material.talks:
            for position, turn in enumerate(turns):
                # Turns of a session have one time: seconds keep them in order.
                at = (turn.at or past) + position * SECOND
                yield _turn(Identity(tenant, ANYONE), f"talk-{name}", f"{tenant}-{name}-{position}", turn, at)

    def _tenant(self, name: str) -> str:
        return f"{name}-{self.run}"

    async def settle(self, patience: float) -> None:
        """Wait until every group has caught up, several times in a row; raises `CommandFailed`."""
        deadline, calm = time.monotonic() + patience, 0
        while calm < LOOKS:
            await asyncio.sleep(CALM_S)
            behind = await self._behind()
            calm = 0 if behind else calm + 1
            if behind and time.monotonic() > deadline:
                raise CommandFailed(
                    f"memory has not settled within {patience:g} s: {', '.join(behind)} lag behind; "
                    "is a worker running on this broker? give it more time with --patience",
                    DOWN,
                )

    async def _behind(self) -> list[str]:
        """The groups that have not committed the ends of their topics."""
        reads: defaultdict[str, set[str]] = defaultdict(set)
        for stage in STAGES:
            reads[stage.consumer_group] |= {topic.name for topic in stage.consumes} & self.broker.counts.keys()
        return [group for group, topics in reads.items() if not await self.broker.committed(group, sorted(topics))]

    async def ask(self, questions: Sequence[PackQuestion], say: Say) -> list[PackAnswer]:
        """Ask every question in a conversation of its own, after its earlier turns, each user's turn with its pack."""
        done = 0

        async def one(number: int, question: PackQuestion) -> PackAnswer:
            nonlocal done
            async with self._room:
                answer = await self.converse(number, question)
            done += 1
            if done % 50 == 0:
                say(f"{done} of {len(questions)} asked")
            return answer

        asking = []
        for number, each in enumerate(questions):
            # Paced like people: at full speed no question would find the ones before it in memory.
            asking.append(asyncio.create_task(one(number, each)))
            await asyncio.sleep(1 / self.rate)
        return list(await asyncio.gather(*asking))

    async def converse(self, number: int, question: PackQuestion) -> PackAnswer:
        """Ask one, after its earlier turns, each user's turn with its pack."""
        whose, name = Identity(self._tenant(question.tenant), question.user), f"{self.run}-{number}"
        for position, turn in enumerate((*question.turns, Utterable("user", question.text))):
            message_id = f"{name}-{position}"
            at = self.began - number * MINUTE + position * SECOND if self.alone else datetime.now(UTC)
            pack = self._packs[message_id] = asyncio.get_running_loop().create_future()
            deep = self.deep and position == len(question.turns)
            await deliver(self.broker.producer, _turn(whose, f"q-{name}", message_id, turn, at, deep=deep))
            if turn.role == "user":
                await asyncio.wait((pack,), timeout=PACK_TIMEOUT_S)
            if deep:
                await self._answered(number, message_id, pack)
        return PackAnswer(question, pack.result() if pack.done() else None, tuple(self._parts[message_id]))

    async def _answered(self, number: int, message_id: str, pack: "asyncio.Future[JsonObject]") -> None:
        """Wait for the deep answer to a question; raises `CommandFailed` where cognition is off."""
        if pack.done() and "deep" in (pack.result().get("options") or {}).get("clamped", ()):
            raise CommandFailed(OFF, CONFIG)
        answer = self._answers.setdefault(message_id, asyncio.get_running_loop().create_future())
        self._numbers[number] = message_id
        await asyncio.wait((answer,), timeout=ANSWER_TIMEOUT_S)

    def answer_to(self, number: int) -> JsonObject | None:
        """The deep answer to the question of this number; None where none came."""
        future = self._answers.get(self._numbers.get(number, ""))
        return future.result() if future is not None and future.done() else None

    async def _read(self) -> None:
        while True:
            for record in await clients.poll(self.broker.consumer, POLL_S):
                if record.topic == ANSWERS_OUT.name:
                    self._take_answer(record.value or b"")
                    continue
                event = orjson.loads(record.value) if record.value else {}
                pack = self._packs.get(str(event.get("message_id")))
                if pack is None:
                    continue  # another run's, or a turn of the memory
                if record.topic == PACKS_PARTIAL.name:
                    if event.get("kind") in ("part", "parts", "inputs"):
                        self._parts[event["message_id"]] += event.get("parts") or [event]
                elif not pack.done():
                    pack.set_result(event)

    def _take_answer(self, value: bytes) -> None:
        answer = answer_of(value)
        if answer is None or answer.message_id not in self._packs:
            return
        future = self._answers.setdefault(answer.message_id, asyncio.get_running_loop().create_future())
        if not future.done():
            future.set_result(answer.model_dump(mode="json"))


def _turn(
    whose: Identity, conversation: str, message_id: str, turn: Utterable, at: datetime, *, deep: bool = False
) -> OutgoingRecord:
    said = {"client": CLIENT, "conversation": conversation, "message_id": message_id, "role": turn.role}
    return records.turn(turn.text, whose, **said, at=at, deep=deep or None)
