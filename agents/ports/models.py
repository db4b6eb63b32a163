"""Ports besides the stores: language and text models, document readers, a clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, get_args

from agents.core.documents.kinds import DocumentKind
from schemas.assessment import ModelTier

# What a language model may do beside judging depths and needs: complete follow-ups, choose passages, find facts.
ModelUse = Literal["rewrite", "rerank", "extract"]
MODEL_USES: tuple[ModelUse, ...] = get_args(ModelUse)


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, UTC."""


class TokenCounter(Protocol):
    """A tokenizer, known by its `name`."""

    name: str

    def count(self, text: str) -> int:
        """The number of tokens of the text."""

    def cut(self, text: str, limit: int) -> str:
        """The longest prefix of the text of at most `limit` tokens."""


@dataclass(frozen=True, slots=True)
class ExpansionContext:
    """The context for an expansion engine; no user where the request names none."""

    user_id: str | None
    metadata: Mapping[str, object]
    session_id: str = "assessment"


class ExpansionEngine(Protocol):
    """A caller-supplied engine that decides whether a statement needs expansion."""

    async def check_if_expansion_needed(self, statement: str, context: ExpansionContext) -> tuple[bool, str]:
        """Whether to expand, and why; may be slow and raise anything."""


class LanguageModel(Protocol):
    """A model that completes a prompt, within the caller's time limit."""

    async def complete(self, prompt: str, *, tier: ModelTier, max_tokens: int, temperature: float) -> str:
        """The raw completion; raises `Unavailable` for any failure."""


class Narrator(Protocol):
    """An operator-supplied model that words an answer."""

    async def narrate(self, meta: Mapping[str, object]) -> str:
        """The answer as worded by the model; may be slow and raise anything."""


class Embedder(Protocol):
    size: int

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector of `size` numbers per text; pure computation, blocking."""


class DocumentReader(Protocol):
    async def read(self, kind: DocumentKind, data: bytes) -> str:
        """The text of a document of a parsed kind as Markdown, pages ended by form feeds; raises `Rejected`."""
