"""Sentence vectors: the multilingual Universal Sentence Encoder, and a hashing twin for tests."""

import asyncio
import contextlib
import logging
import math
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any
from zlib import crc32

from agents.concurrency import MicroBatcher
from agents.core.caching.lru import ByteCache
from agents.core.language.text import words
from agents.ports.models import Embedder

MAX_CHARS = 4_000
# A float, and its place in a list.
NUMBER_BYTES = 32
# A batch of the second kind is what a question may have to wait for.
MAX_URGENT, MAX_LATER = 8, 4
INLINE_CHARS = 1_600
BLAS_THREADS, BLAS_KERNELS = "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE"
# What OpenBLAS's kernels of that name execute.
WIDE_VECTORS = frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"})

logger = logging.getLogger(__name__)


class UseEmbedder:
    """Universal Sentence Encoder v3, 16 languages, 512 numbers, less than a millisecond a sentence.

    The model is loaded by `warm`, or else by the first text. Vectors of recent single texts are remembered.
    """

    size = 512

    def __init__(self) -> None:
        self._model: Any = None
        self._loading = threading.Lock()
        self._recent: ByteCache[str, list[float]] = ByteCache("vectors")

    def warm(self) -> None:
        """Load the model now, so that no message waits for it."""
        self.encode(["aquecer o modelo"])

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text; blocking, safe from any thread. Recent texts are not computed again."""
        texts = [_ends(text) for text in texts]
        known = {text: vector for text in texts if (vector := self._recent.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(missing, self._compute(missing), strict=True))
        for text in missing:
            self._recent.put(text, known[text], NUMBER_BYTES * self.size)
        return [known[text] for text in texts]

    def _compute(self, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        vectors: list[list[float]] = self._loaded().encode(list(texts)).tolist()
        return vectors

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                one_blas_thread()
                self._model = import_module("streams.stores.passages.sentence_encoder").SentenceEncoder()
            return self._model


def _ends(text: str) -> str:
    """What a vector is made of: of a long text its beginning and its end, where what is asked or said stands.

    A vector is the mean of its tokens: that of sixty thousand characters tells nothing, and takes seconds in which
    others' questions wait.
    """
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS // 2]}\n{text[-MAX_CHARS // 2 :]}"


def one_blas_thread() -> None:
    """Before numpy is first imported, by whomever: the model computes with one thread."""
    # BLAS threads spin for each other: with the default four, a sentence takes 200 ms on two busy cores.
    # They are counted once, when numpy is first imported.
    if "numpy" in sys.modules and os.environ.get(BLAS_THREADS) != "1":
        logger.warning("numpy was imported before %s=1 was set: embedding will be slow under load", BLAS_THREADS)
    os.environ.setdefault(BLAS_THREADS, "1")
    if _has_wide_vectors(_cpu()):
        os.environ.setdefault(BLAS_KERNELS, "SkylakeX")


def _cpu() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as told:
        return told.read().partition("\n\n")[0]
    return ""


def _has_wide_vectors(cpu: str) -> bool:
    """Whether it is an AMD processor with AVX-512, where OpenBLAS chooses kernels of half that width by itself."""
    return "AuthenticAMD" in cpu and set(cpu.split()) >= WIDE_VECTORS


class BatchingEmbedder:
    """Vectors that several callers ask for at one time, computed together: one among eight costs half of one alone.

    Urgent texts (questions) go first, and do not wait for others to be computed with them.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._batches: MicroBatcher[str, list[float]] = MicroBatcher(
            self._encoded, MAX_LATER, max_urgent=MAX_URGENT, shared_errors=(Exception,)
        )

    async def encode(self, texts: Sequence[str], *, urgent: bool = False) -> list[list[float]]:
        """One unit vector per text; raises what the embedder raises."""
        return await self._batches.add(texts, urgent=urgent)

    async def encode_but(self, known: Mapping[str, list[float]], texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, computed for those whose vector is not known."""
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        vectors = dict(known)
        if missing:
            vectors.update(zip(missing, await self.encode(missing), strict=True))
        return [vectors[text] for text in texts]

    async def _encoded(self, texts: Sequence[str]) -> list[list[float]]:
        # Sentences are a few milliseconds, less than a thread's turn would cost those who wait; long texts go to one.
        if sum(map(len, texts)) <= INLINE_CHARS:
            return self._embedder.encode(texts)
        return await asyncio.to_thread(self._embedder.encode, texts)


class HashingEmbedder:
    """Words and their beginnings hashed into 64 numbers: no meaning, but the same words give the same vector."""

    size = 64

    def warm(self) -> None:
        """Nothing to load."""

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.size
        for word in words(text):
            for part in (word, word[:4]):
                mark = crc32(part.encode())
                vector[mark % self.size] += 1.0 if mark & 0x8000_0000 else -1.0
        length = math.sqrt(sum(number * number for number in vector))
        # A text without words still needs a direction: cosine with a zero vector is undefined.
        return [number / length for number in vector] if length else [1.0] + [0.0] * (self.size - 1)
