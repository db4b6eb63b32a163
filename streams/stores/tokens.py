"""Token counts of texts: o200k by a Rust tokenizer, and an estimate without one."""

from importlib import import_module
from math import ceil
from typing import Any

from agents.core.caching.texts import text_cache

OVERHEAD = 4
BYTES_PER_TOKEN = 4


class O200kTokens:
    """Counts tokens of OpenAI's o200k vocabulary; text that looks like a special token counts as plain text."""

    name = "o200k_base"

    def __init__(self) -> None:
        # rs-bpe has no type hints for its compiled module.
        self._tokenizer: Any = import_module("rs_bpe.bpe").openai.o200k_base()
        # Cached: an item is counted when found and when packed, and is found again by later questions.
        self._remembered = text_cache(4_096)(self._tokenizer.count)

    def count(self, text: str) -> int:
        """The number of tokens of the text."""
        return int(self._remembered(text))

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
    """An upper bound from the UTF-8 length, for when the tokenizer is missing: at least o200k on usual text."""

    name = "bytes/4+4"

    def count(self, text: str) -> int:
        """A quarter of the bytes, rounded up, plus four."""
        return ceil(len(text.encode()) / BYTES_PER_TOKEN) + OVERHEAD if text else 0

    def cut(self, text: str, limit: int) -> str:
        """The longest prefix of at most `limit` estimated tokens."""
        room = max(limit - OVERHEAD, 0) * BYTES_PER_TOKEN
        return text.encode()[:room].decode(errors="ignore")


def best_tokens() -> O200kTokens | EstimatedTokens:
    """The tokenizer, or the estimate on platforms without its wheel."""
    try:
        return O200kTokens()
    except ImportError:
        return EstimatedTokens()
