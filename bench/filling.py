"""Memory that was never lived: passages with vectors near each other by subject, claims, summaries, knowledge, turns.

Texts are made of a vocabulary in which, as in speech, few words are frequent and most are rare.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.ports.passages import Passage
from schemas.base import Event, Source
from schemas.envelope import Envelope, Received
from schemas.memory import (
    ClaimAsserted,
    ConceptEntry,
    KnowledgeRecorded,
    ObjectiveEntry,
    ProcessEntry,
    Profile,
    ProfileEntry,
    StepEntry,
    SummaryMade,
)

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
# A tenant of "the others" has this many items.
EACH = 1_000
# So many people share it, and so much is said in one conversation.
PEOPLE, SAID = 50, 40
USER, CLIENT, CONVERSATION = "u0", "web", "c-1"
VOCABULARY, FREQUENT, WORDS = 30_000, 100, 60
SUBJECTS, SPREAD = 500, 0.6


class UseEmbedder:
    """Vectors without a model, near each other by subject; named as the one whose index it fills, for it reads it."""

    size = 512

    def __init__(self, seed: int = 1) -> None:
        # Only here: numpy counts its threads when it is first imported, and the model wants one.
        import numpy

        self._random = numpy.random.default_rng(seed)
        self._norm = numpy.linalg.norm
        self._subjects = self._random.standard_normal((SUBJECTS, self.size), dtype=numpy.float32)
        self._type = numpy.float32

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text."""
        noise = self._random.standard_normal((len(texts), self.size), dtype=self._type)
        vectors = self._subjects[self._random.integers(0, SUBJECTS, len(texts))] + SPREAD * noise
        unit: list[list[float]] = (vectors / self._norm(vectors, axis=1, keepdims=True)).tolist()
        return unit

    def warm(self) -> None:
        """Nothing to load."""


class Texts:
    """Sentences of made-up words, one seed one sequence."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        letters = "aaaeeeiooubcdfglmnprstv"
        self._words = ["".join(self._random.choices(letters, k=3 + n % 6)) for n in range(VOCABULARY)]
        self._weights = list(itertools.accumulate(1 / (n + 1) for n in range(VOCABULARY)))

    def sentence(self, words: int = WORDS) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))

    def question(self, words: int = 6) -> str:
        """Of words that are not the most frequent: those carry no meaning, and are not searched."""
        return " ".join(self._random.choices(self._words[FREQUENT : VOCABULARY // 3], k=words))

    def rare(self) -> str:
        return self._random.choice(self._words[FREQUENT:])


def others(first: int, last: int) -> Iterator[tuple[str, int, int]]:
    """Tenants and how many items each has of the range: (tenant, first, last)."""
    while first < last:
        until = min((first // EACH + 1) * EACH, last)
        yield f"bench-other-{first // EACH}", first, until
        first = until


def user(n: int) -> str:
    return f"u{n % PEOPLE}"


def talk(n: int) -> str:
    return f"c-{n // SAID}"


def passages(texts: Texts, first: int, last: int) -> list[Passage]:
    return [
        Passage(
            id=f"p{n}",
            kind="chunk",
            text=texts.sentence(),
            lang="pt",
            recorded_at=NOON + timedelta(seconds=n % 100_000),
            conversation_id=talk(n),
        )
        for n in range(first, last)
    ]


def _received(event: Event, tenant: str, number: int) -> Received[Any]:
    envelope = Envelope(f"e{number}", event.TYPE, "urn:bench", NOON, tenant, f"e{number}")
    return Received(event, envelope, "k", "bench", 0, number, 0)


def claim(texts: Texts, tenant: str, n: int) -> Received[Any]:
    said = texts.rare()
    event = ClaimAsserted(
        claim_id=f"k{n}",
        author="user",
        text=f"{said} {n}",
        subject=said,
        attribute="prazo",
        value=str(n),
        functional=True,
        lang="pt",
        message_id=f"m{n}",
        conversation_id=talk(n),
        client_id=CLIENT,
        user_id=user(n),
        frame_id="f1",
        seq=n,
        confidence=0.9,
        status="asserted",
        asserted_at=NOON + timedelta(seconds=n % 100_000),
        source=Source(topic="messages.in", partition=0, offset=n),
    )
    return _received(event, tenant, n)


def summary(texts: Texts, tenant: str, n: int) -> Received[Any]:
    event = SummaryMade(
        summary_id=f"s{n}",
        conversation_id=talk(n),
        client_id=CLIENT,
        user_id=user(n),
        frame_id="f1",
        text=texts.sentence(20),
        topic=texts.rare(),
        terms=(texts.rare(),),
        lang="pt",
        from_message=f"m{n}",
        to_message=f"m{n}",
        from_seq=n,
        to_seq=n,
        made_at=NOON + timedelta(seconds=n % 100_000),
    )
    return _received(event, tenant, n)


def knowledge(texts: Texts, tenant: str, n: int) -> Received[Any]:
    """A concept; each tenth also a process, and a person with an objective."""
    common: dict[str, Any] = {"document_id": f"d{n}", "recency": NOON, "lang": "pt"}
    name = f"{texts.rare()} {texts.rare()}"
    entries: list[Any] = [ConceptEntry(id=f"n{n}", name=name, definition=texts.sentence(12), **common)]
    if n % 10 == 0:
        step = StepEntry(id=f"st{n}", order=1, text=texts.sentence(8))
        process = ProcessEntry(id=f"pr{n}", name=name, how_to_terms=(texts.rare(),), steps=(step,), **common)
        entries.append(process)
        goals = (ObjectiveEntry(id="o1", title=texts.sentence(4)),)
        person = Profile(user_id=f"u{n // 10}", user_role="dev", department="it", objectives=goals)
        entries.append(ProfileEntry(profile=person, id=f"u{n}", **common))
    event = KnowledgeRecorded(
        document_id=f"d{n}", title=name, content_hash=str(n), batch=0, entries=tuple(entries), recorded_at=NOON
    )
    return _received(event, tenant, n)


def in_batches(
    make: Callable[[Texts, str, int], Received[Any]], texts: Texts, tenant: str, first: int, last: int, size: int
) -> Iterator[list[Received[Any]]]:
    """What is made of a range of numbers, in batches."""
    for start in range(first, last, size):
        yield [make(texts, tenant, n) for n in range(start, min(start + size, last))]
