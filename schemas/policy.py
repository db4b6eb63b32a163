"""The operator's policy on conversations, as in a policy file; every key is optional."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from schemas.assessment import QueryType
from schemas.depth import LEAST_WAIT_MS, DepthLevel, LookUp
from schemas.retrieval import MemoryClass, PassageKind

_EXACT = ConfigDict(extra="forbid", strict=True)
# Below it the instructions of some levels and the newest message do not fit; above it a pack outgrows its record.
LEAST_TOKENS, MOST_TOKENS = 300, 100_000


@dataclass(frozen=True, config=_EXACT)
class PlannerPolicy:
    """Whether earlier turns may determine the subject of a message without one."""

    enabled: bool = True


@dataclass(frozen=True, config=_EXACT)
class NarratorPolicy:
    """Whether a narrator words the answers, and for which entities it sees the history; None allows all."""

    enabled: bool = True
    allowed_entities: tuple[str, ...] | None = None
    denied_entities: tuple[str, ...] = ()


@dataclass(frozen=True, config=_EXACT)
class ClaimsPolicy:
    """Who may read what a user says: `author` and those who were there, or the whole `tenant`.

    Of the tenant only claims of these `attributes`, and only those of users with these `roles`; empty: of all. What
    users say about themselves stays theirs.
    """

    share: Literal["author", "tenant"] = "author"
    attributes: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, config=_EXACT)
class ContextPolicy:
    """The limits of a conversation's memory. `session_turns` limits the turns kept for a full session.

    `lang` is the language of a conversation whose first message tells none and states none.
    """

    enabled: bool = True
    max_turns: int = Field(default=20, ge=0)
    ttl_seconds: int = Field(default=3600, ge=0)
    max_chars: int = Field(default=8000, ge=0)
    session_turns: int = Field(default=400, ge=0)
    lang: Literal["pt", "en"] = "en"
    planner: PlannerPolicy = PlannerPolicy()
    narrator: NarratorPolicy = NarratorPolicy()
    claims: ClaimsPolicy = ClaimsPolicy()


DEFAULT_POLICY = ContextPolicy()


@dataclass(frozen=True, config=_EXACT)
class KindPolicy:
    """The recognition of one kind of reference: Python regular expressions, with the value in a group `value`.

    `near` finds lookalikes of values, `nouns` are the users' words for the kind: a tool call asks about either.
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
    """The references recognised in messages, which later ones may leave out; the first kind wins where two match."""

    kinds: Mapping[str, KindPolicy] = Field(default_factory=dict)


@dataclass(frozen=True, config=_EXACT)
class AdvisedTool:
    """The query types for which a tool of the caller's is useful, and why; `otherwise` says why it is not."""

    uses: Mapping[QueryType, str]
    otherwise: str


@dataclass(frozen=True, config=_EXACT)
class AdvicePolicy:
    """The tools that an assessment may advise a caller to call, in order of priority."""

    tools: Mapping[str, AdvisedTool]


@dataclass(frozen=True, config=_EXACT)
class SourceTerms:
    """The overrides of one source in a query profile; omitted values keep their defaults."""

    limit: int | None = Field(default=None, ge=1)
    share: float | None = Field(default=None, gt=0, le=1)
    kinds: tuple[PassageKind, ...] | None = Field(default=None, min_length=1)
    max_age_days: int | None = Field(default=None, ge=1, le=36_500)

    def stated(self) -> dict[str, object]:
        """The values that are set."""
        return {name: value for name, value in vars(self).items() if value is not None}


_Selectors = Mapping[str, SourceTerms]


@dataclass(frozen=True, config=_EXACT)
class ProfileTerms:
    """The overrides of one query profile, by memory class and selector; changed values need another `version`."""

    version: int = Field(ge=1)
    episodic: _Selectors = Field(default_factory=dict)
    semantic: _Selectors = Field(default_factory=dict)
    procedural: _Selectors = Field(default_factory=dict)
    claims: _Selectors = Field(default_factory=dict)

    def sources(self) -> Iterator[tuple[MemoryClass, _Selectors]]:
        """The overrides of each class of memory."""
        for memory in (MemoryClass.EPISODIC, MemoryClass.SEMANTIC, MemoryClass.PROCEDURAL, MemoryClass.CLAIMS):
            yield memory, getattr(self, memory.value)


DEFAULT_TEMPLATE, CONTEXT_TEMPLATE = "default", "context"
SHIPPED_TEMPLATES = (DEFAULT_TEMPLATE, CONTEXT_TEMPLATE)
_AS_SHIPPED = ProfileTerms(version=1)


@dataclass(frozen=True, config=_EXACT)
class ProfilePolicy:
    """The overrides of the query profiles, which determine the amounts asked of memory; D0 has none."""

    org_context: ProfileTerms = _AS_SHIPPED
    document_evidence: ProfileTerms = _AS_SHIPPED
    strategy_alignment: ProfileTerms = _AS_SHIPPED


@dataclass(frozen=True, config=_EXACT)
class OptionBounds:
    """What callers may ask for; an option beyond is limited to the bound, a `look_up` not listed becomes `auto`."""

    highest_min_depth: DepthLevel = DepthLevel.D4
    lowest_max_depth: DepthLevel = DepthLevel.D0
    smallest_max_tokens: int = Field(default=LEAST_TOKENS, ge=LEAST_TOKENS)
    largest_max_tokens: int = Field(default=16_000, ge=LEAST_TOKENS, le=MOST_TOKENS)
    look_up: tuple[LookUp, ...] = ("auto", "always", "never")
    longest_wait_ms: int = Field(default=30_000, ge=LEAST_WAIT_MS)


@dataclass(frozen=True, config=_EXACT)
class OptionOverrides:
    """The bounds of one tenant; omitted ones are those of all."""

    highest_min_depth: DepthLevel | None = None
    lowest_max_depth: DepthLevel | None = None
    smallest_max_tokens: int | None = Field(default=None, ge=LEAST_TOKENS)
    largest_max_tokens: int | None = Field(default=None, ge=LEAST_TOKENS, le=MOST_TOKENS)
    look_up: tuple[LookUp, ...] | None = None


@dataclass(frozen=True, config=_EXACT)
class TenantPacks:
    """What is different for the packs of one tenant."""

    options: OptionOverrides = OptionOverrides()
    template: str | None = None


@dataclass(frozen=True, config=_EXACT)
class PackPolicy:
    """The operator's policy on packs. `templates` lay out their text, by name, beside the shipped ones."""

    options: OptionBounds = OptionBounds()
    template: str = DEFAULT_TEMPLATE
    templates: Mapping[str, str] = Field(default_factory=dict)
    tenants: Mapping[str, TenantPacks] = Field(default_factory=dict)

    def template_of(self, tenant: str) -> str:
        """The name of the template of a tenant's packs."""
        own = self.tenants.get(tenant)
        return (own and own.template) or self.template

    def may_choose(self, tenant: str) -> frozenset[str]:
        """The templates that a tenant's callers may name: the shipped ones, and those that are used for them."""
        return frozenset({*SHIPPED_TEMPLATES, self.template, self.template_of(tenant)})

    def bounds(self, tenant: str) -> OptionBounds:
        """The bounds for a tenant's callers."""
        own = self.tenants.get(tenant)
        stated = {name: value for name, value in vars(own.options).items() if value is not None} if own else {}
        return replace(self.options, **stated)


NO_KINDS = ReferencePolicy()
DEFAULT_PACKS = PackPolicy()
