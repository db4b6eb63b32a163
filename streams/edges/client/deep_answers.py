"""An answer by cognition beside the pack of its question: read from their topics, awaited together."""

import asyncio
from dataclasses import dataclass
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer
from pydantic import ValidationError

from schemas.base import Id, Value
from schemas.chat import AnswerGiven
from schemas.cognition import DEEP, AnswerStatus, DeepAnswer
from schemas.packs import ContextPack
from schemas.progress import ProgressMade
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS, PROGRESS_EVENTS, dead_letter_topic
from streams.edges.client import clients
from streams.edges.client.ask import POLL_S, check_refusal
from streams.edges.client.errors import CONFIG, DOWN, FAILURE, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import deliver

OFF = (
    "Deep answers are switched off on these workers. Set RAG_ENABLE_COGRAG=on and RAG_COGRAG_VERIFICATION_ENABLED=on "
    "there, or ask without `deep`"
)
FAILED = b'"COGRAG_FAILED"'
LETTERS_OF_DEPTH = dead_letter_topic("depth")
LETTERS = f"`fathom tail {dead_letter_topic('cognition')} --from-beginning` shows it"


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


def failure_of(value: bytes, message_id: str) -> str | None:
    """Why a value of `progress.events` says that there will be no deep answer to a message; None for any other."""
    if FAILED not in value:
        return None
    try:
        told = ProgressMade.model_validate_json(value, extra="ignore")
    except ValidationError:
        return None
    if told.type != "COGRAG_FAILED" or told.message_id != message_id:
        return None
    why = told.data.get("why", "its run has failed")
    return (
        f"there will be no deep answer to message {message_id}: {why} ({LETTERS}); its pack is made all the same: ask "
        "without `deep`"
    )


def is_refused(pack: ContextPack) -> bool:
    """Whether the deep answer that a question asked for is not made, since cognition is off."""
    return pack.options is not None and "deep" in pack.options.clamped


async def reply_to(prepared: OutgoingRecord, bootstrap: str, seconds: float) -> RawReply:
    """Send a question with `deep`, and wait for its pack and its answer.

    Raises `CommandFailed` where cognition is off, where its run fails, where the question is refused, and on a timeout.
    """
    topics = (CONTEXT_PACKS.name, ANSWERS_OUT.name, PROGRESS_EVENTS.name, LETTERS_OF_DEPTH)
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
                elif record.key == self._prepared.key and record.value is not None:
                    self._take(record.topic, bytes(record.value))
        return RawReply(self._pack, self._answer)

    def _take(self, topic: str, value: bytes) -> None:
        name = self._prepared.name
        if topic == PROGRESS_EVENTS.name:
            if (why := failure_of(value, name)) is not None:
                raise CommandFailed(why, FAILURE)
            return
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

    def late(self, seconds: float) -> str:
        """The sentence of a timeout: what did not come, and where to look."""
        what, stage = ("pack", "depth") if self._pack is None else ("deep answer", "cognition")
        return (
            f"no {what} came within {seconds:g} s for message {self._prepared.name}; is a worker with the stage "
            f"{stage} running? look at `fathom tail dead-letters.{stage} --from-beginning`, or wait longer with "
            "--timeout"
        )
