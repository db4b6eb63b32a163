"""An answer by cognition beside the pack of its question: read from their topics, awaited together."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, ConsumerRecord
from pydantic import ValidationError

from schemas.base import Id, Value
from schemas.chat import AnswerGiven
from schemas.cognition import DEEP, AnswerStatus, DeepAnswer
from schemas.envelope import header_map
from schemas.packs import ContextPack
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS, dead_letter_topic
from streams.edges.client import clients
from streams.edges.client.ask import POLL_S, check_refusal, refusal_of
from streams.edges.client.errors import CONFIG, DOWN, FAILURE, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import deliver

OFF = (
    "Deep answers are switched off on these workers. Set RAG_ENABLE_COGRAG=on and RAG_COGRAG_VERIFICATION_ENABLED=on "
    "there, or ask without `deep`"
)
LETTERS_OF_DEPTH, LETTERS_OF_RUNS = dead_letter_topic("depth"), dead_letter_topic("cognition")


class DeepAnswerShown(DeepAnswer):
    """A deep answer: its sections with their citations, what is missing for it, how sure it is, and its sources.

    `text` is the whole as Markdown; `answered` where nothing is missing, `abstained` where nothing was found.
    """

    message_id: Id
    status: AnswerStatus
    lang: str
    text: str


class DeepReply(Value):
    """The pack of a question, and the answer to it."""

    pack: ContextPack
    answer: DeepAnswerShown


@dataclass(frozen=True, slots=True)
class RawReply:
    """A pack as on its topic, and the answer to the same question."""

    pack: bytes
    answer: DeepAnswerShown

    def dumped(self) -> bytes:
        """The JSON of a `DeepReply`; the pack byte for byte."""
        return orjson.dumps({"pack": orjson.Fragment(self.pack), "answer": self.answer.model_dump(mode="json")})


def answer_of(value: bytes) -> DeepAnswerShown | None:
    """The deep answer of a value of `answers.out`; None for any other, such as that of an assistant."""
    try:
        given = AnswerGiven.model_validate_json(value, extra="ignore")
        if given.meta.intent != DEEP or given.meta.answers is None or not isinstance(given.results, dict):
            return None
        own = {"message_id": given.meta.answers, "status": given.status, "lang": given.meta.lang, "text": given.answer}
        return DeepAnswerShown.model_validate({**given.results, **own}, extra="ignore")
    except ValidationError:
        return None


class RunFailed(CommandFailed):
    """The cognitive run of a message has failed; the text says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, FAILURE)


def failure_of(headers: Iterable[tuple[str, bytes | None]]) -> tuple[str, str, RunFailed] | None:
    """The tenant and the message of a dead letter of cognition, and why there will be no deep answer; None for a mark.

    The records of a run are correlated with the message.
    """
    found = header_map(headers)
    refused = refusal_of(headers)
    tenant, message_id = found.get("tenant"), found.get("ce_correlationid")
    if refused is None or not tenant or not message_id:
        return None
    why = RunFailed(
        f"there will be no deep answer to message {message_id}: its run could not go on: {refused[-1]} (`fathom tail "
        f"{LETTERS_OF_RUNS} --from-beginning` shows it); its pack is made all the same: ask without `deep`"
    )
    return tenant, message_id, why


def is_refused(pack: ContextPack) -> bool:
    """Whether the deep answer that a question asked for is not made, since cognition is off."""
    return pack.options is not None and "deep" in pack.options.clamped


async def reply_to(prepared: OutgoingRecord, bootstrap: str, seconds: float) -> RawReply:
    """Send a question with `deep`, and wait for its pack and its answer.

    Raises `CommandFailed` where cognition is off, where its run fails, where the question is refused, and on a timeout.
    """
    topics = (CONTEXT_PACKS.name, ANSWERS_OUT.name, LETTERS_OF_RUNS, LETTERS_OF_DEPTH)
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), topics)
    async with clients.reading(bootstrap, partitions) as consumer, clients.producing(bootstrap) as producer:
        await deliver(producer, prepared)
        waiting = _Waiting(prepared)
        try:
            async with asyncio.timeout(seconds):
                return await waiting.read(consumer)
        except TimeoutError:
            raise CommandFailed(waiting.late(seconds), DOWN) from None


class _Waiting:
    """What has come of a question's pack and answer."""

    def __init__(self, prepared: OutgoingRecord) -> None:
        self._prepared = prepared
        self._pack: bytes | None = None
        self._answer: DeepAnswerShown | None = None

    async def read(self, consumer: AIOKafkaConsumer) -> RawReply:
        while self._pack is None or self._answer is None:
            for record in await clients.poll(consumer, POLL_S):
                if record.topic == LETTERS_OF_DEPTH:
                    check_refusal(record, self._prepared)
                elif record.topic == LETTERS_OF_RUNS:
                    self._check_run(record)
                elif record.key == self._prepared.key and record.value is not None:
                    self._take(record.topic, bytes(record.value))
        return RawReply(self._pack, self._answer)

    def _take(self, topic: str, value: bytes) -> None:
        name = self._prepared.name
        if topic == ANSWERS_OUT.name:
            answer: Any = answer_of(value)
            if answer is not None and answer.message_id == name:
                self._answer = answer
            return
        pack = ContextPack.model_validate_json(value, extra="ignore")
        if pack.message_id == name and self._pack is None:
            if is_refused(pack):
                raise CommandFailed(OFF, CONFIG)
            self._pack = value

    def _check_run(self, letter: ConsumerRecord) -> None:
        failed = failure_of(letter.headers)
        if failed is not None and failed[:2] == (header_map(self._prepared.headers).get("tenant"), self._prepared.name):
            raise failed[2]

    def late(self, seconds: float) -> str:
        """The sentence of a timeout: what did not come, and where to look."""
        what, stage = ("pack", "depth") if self._pack is None else ("deep answer", "cognition")
        return (
            f"no {what} came within {seconds:g} s for message {self._prepared.name}; is a worker with the stage "
            f"{stage} running? look at `fathom tail dead-letters.{stage} --from-beginning`, or wait longer with "
            "--timeout"
        )
