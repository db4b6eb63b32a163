"""What the agents need beside stores: models of language and text, readers, a clock. In the agents' own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from agents.core.documents.kinds import DocumentKind
from schemas.assessment import ModelTier


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, UTC."""


class TokenCounter(Protocol):
    def count(self, text: str) -> int:
        """How many tokens the text is."""

    def cut(self, text: str, limit: int) -> str:
        """The longest prefix of the text of at most `limit` tokens."""


@dataclass(frozen=True, slots=True)
class ExpansionContext:
    """The least that an engine is told; no user where the request names none."""

    user_id: str | None
    metadata: Mapping[str, Any]
    session_id: str = "assessment"


class ExpansionEngine(Protocol):
    """An engine of the caller's that decides whether a statement needs expansion."""

    async def check_if_expansion_needed(self, statement: str, context: ExpansionContext) -> tuple[bool, str]:
        """Whether to expand, and why; may take its time and raise anything."""


class LanguageModel(Protocol):
    """A model that completes a prompt: it may improve a result, within its caller's limit of time."""

    async def complete(self, prompt: str, *, tier: ModelTier, max_tokens: int, temperature: float) -> str:
        """The text it answers with, as it came; raises `Unavailable`, whatever kept it from answering."""


class Narrator(Protocol):
    """A model of the operator's that words an answer."""

    async def narrate(self, meta: Mapping[str, Any]) -> str:
        """The answer in its words; may take its time and raise anything."""


class LanguageIdentifier(Protocol):
    def identify(self, text: str, default: str) -> str:
        """`pt` or `en`; `default` where the text is too short to tell."""


class Embedder(Protocol):
    size: int

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector of `size` numbers per text; pure computation, blocking."""


class DocumentReader(Protocol):
    async def read(self, kind: DocumentKind, data: bytes) -> str:
        """The text of a PDF or HTML document as Markdown, pages ended by form feeds; raises `Rejected`."""
