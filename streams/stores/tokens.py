"""How many tokens a text is: o200k by a Rust tokenizer, and an estimate that needs none."""

from functools import lru_cache
from importlib import import_module
from math import ceil
from typing import Any

MAX_CACHED_CHARS = 2_000
OVERHEAD = 4
BYTES_PER_TOKEN = 4


class O200kTokens:
    """Counts as OpenAI's o200k vocabulary does; text that looks like a special token is plain text."""

    def __init__(self) -> None:
        # rs-bpe ships no types for its compiled module.
        self._tokenizer: Any = import_module("rs_bpe.bpe").openai.o200k_base()
        # An item is counted by who finds it and by who packs it, and is found again by the next question.
        self._remembered = lru_cache(maxsize=4_096)(self._tokenizer.count)

    def count(self, text: str) -> int:
        """How many tokens the text is."""
        return int((self._remembered if len(text) <= MAX_CACHED_CHARS else self._tokenizer.count)(text))

    def cut(self, text: str, limit: int) -> str:
        """The longest prefix of whole tokens and whole characters of at most `limit` tokens."""
        if limit <= 0:
            return ""
        tokens = self._tokenizer.encode(text)
        if len(tokens) <= limit:
            return text
        for end in range(limit, 0, -1):
            prefix = self._tokenizer.decode(tokens[:end])
            # None: a character lies across the cut. A prefix alone may split into more tokens than within the text.
            if prefix is not None and self.count(prefix) <= limit:
                return str(prefix)
        return ""


class EstimatedTokens:
    """A bound from the UTF-8 length, for where the tokenizer is missing: never less than o200k on usual text."""

    def count(self, text: str) -> int:
        """A quarter of the bytes, rounded up, and four."""
        return ceil(len(text.encode()) / BYTES_PER_TOKEN) + OVERHEAD if text else 0

    def cut(self, text: str, limit: int) -> str:
        """The longest prefix of at most `limit` estimated tokens."""
        room = max(limit - OVERHEAD, 0) * BYTES_PER_TOKEN
        return text.encode()[:room].decode(errors="ignore")


def best_tokens() -> O200kTokens | EstimatedTokens:
    """The tokenizer, or the estimate where its wheel does not exist."""
    try:
        return O200kTokens()
    except ImportError:
        return EstimatedTokens()
