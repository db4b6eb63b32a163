"""What an operator may decide about conversations, as it is written in a policy file; every key may be left out."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from schemas.assessment import QueryType
from schemas.retrieval import MemoryClass, PassageKind

_EXACT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, config=_EXACT)
class PlannerPolicy:
    """Whether what was said before may decide what a message without subject is about."""

    enabled: bool = True


@dataclass(frozen=True, config=_EXACT)
class NarratorPolicy:
    """Whether a narrator words the answers, and about which entities it sees the history; None allows all."""

    enabled: bool = True
    allowed_entities: tuple[str, ...] | None = None
    denied_entities: tuple[str, ...] = ()


@dataclass(frozen=True, config=_EXACT)
class ContextPolicy:
    """How much a conversation remembers. `session_turns` bounds what is kept for a full session."""

    enabled: bool = True
    max_turns: int = Field(default=20, ge=0)
    ttl_seconds: int = Field(default=3600, ge=0)
    max_chars: int = Field(default=8000, ge=0)
    session_turns: int = Field(default=400, ge=0)
    planner: PlannerPolicy = PlannerPolicy()
    narrator: NarratorPolicy = NarratorPolicy()


DEFAULT_POLICY = ContextPolicy()


@dataclass(frozen=True, config=_EXACT)
class KindPolicy:
    """How one kind of thing is recognised: Python regular expressions, of which a group `value` is the value.

    `near` finds what only resembles a value, `nouns` are what users call the kind: a tool call asks about either.
    """

    patterns: tuple[str, ...]
    near: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    written: Literal["as-is", "upper", "lower"] = "as-is"
    roles: tuple[Literal["user", "assistant"], ...] = ("user",)

    @field_validator("patterns", "near")
    @classmethod
    def _compile(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        return patterns


@dataclass(frozen=True, config=_EXACT)
class ReferencePolicy:
    """What is recognised in messages, so that a later one may leave it out; the first kind wins where two match."""

    kinds: Mapping[str, KindPolicy] = Field(default_factory=dict)


@dataclass(frozen=True, config=_EXACT)
class AdvisedTool:
    """For which types of query a tool of the caller's is of use, and why; `otherwise` says why it is not."""

    uses: Mapping[QueryType, str]
    otherwise: str


@dataclass(frozen=True, config=_EXACT)
class AdvicePolicy:
    """The tools that an assessment may advise a caller to call, first things first."""

    tools: Mapping[str, AdvisedTool]


@dataclass(frozen=True, config=_EXACT)
class SourceTerms:
    """What a query profile changes of one source; what is left out stays as it is shipped."""

    limit: int | None = Field(default=None, ge=1)
    share: float | None = Field(default=None, gt=0, le=1)
    kinds: tuple[PassageKind, ...] | None = Field(default=None, min_length=1)
    max_age_days: int | None = Field(default=None, ge=1, le=36_500)

    def stated(self) -> dict[str, object]:
        """What is not left out."""
        return {name: value for name, value in vars(self).items() if value is not None}


_Selectors = Mapping[str, SourceTerms]


@dataclass(frozen=True, config=_EXACT)
class ProfileTerms:
    """One query profile: by memory class and selector. Who changes a value gives it another `version`."""

    version: int = Field(ge=1)
    episodic: _Selectors = Field(default_factory=dict)
    semantic: _Selectors = Field(default_factory=dict)
    procedural: _Selectors = Field(default_factory=dict)
    claims: _Selectors = Field(default_factory=dict)

    def sources(self) -> Iterator[tuple[MemoryClass, _Selectors]]:
        """What is said of each class of memory."""
        for memory in (MemoryClass.EPISODIC, MemoryClass.SEMANTIC, MemoryClass.PROCEDURAL, MemoryClass.CLAIMS):
            yield memory, getattr(self, memory.value)


_AS_SHIPPED = ProfileTerms(version=1)


@dataclass(frozen=True, config=_EXACT)
class ProfilePolicy:
    """How much each query profile asks memory for; D0 has none."""

    org_context: ProfileTerms = _AS_SHIPPED
    document_evidence: ProfileTerms = _AS_SHIPPED
    strategy_alignment: ProfileTerms = _AS_SHIPPED


NO_KINDS = ReferencePolicy()
