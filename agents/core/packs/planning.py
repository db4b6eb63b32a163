"""Retrieval plans: which sources a classified message fetches, with which limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agents.core.packs import instructions, profiles
from agents.core.packs.sources import (
    CROSS_REFERENCE,
    IMPLICIT_D4,
    LOOK_UP,
    OVERLOAD,
    QUERY_PROFILE,
    SOURCES,
    STATE,
    SourceSpec,
)
from agents.core.packs.tiers import PROCESSING_TIERS
from schemas.assessment import ProcessingTier, TierName
from schemas.base import Conversation, derive
from schemas.depth import DepthClassified, DepthLevel
from schemas.retrieval import JoinOpened, MemoryClass, PlanTerms, QueryProfile, RetrievalPlan, SourceRequest

D0, D1, D2, D3, D4 = DepthLevel
M = MemoryClass


@dataclass(frozen=True, slots=True)
class Limits:
    """Token budget and deadline (ms) of each level, from the settings.

    `look_up`: whether levels whose plan has no search source search memory nevertheless. `profiles`: one for each name
    in `QUERY_PROFILE`.
    """

    max_tokens: Mapping[DepthLevel, int] = field(
        default_factory=lambda: {D0: 500, D1: 700, D2: 2000, D3: 2000, D4: 1000}
    )
    deadline_ms: Mapping[DepthLevel, int] = field(
        default_factory=lambda: {D0: 1000, D1: 1000, D2: 2000, D3: 2000, D4: 2000}
    )
    tiers: Mapping[TierName, ProcessingTier] = field(default_factory=lambda: PROCESSING_TIERS)
    look_up: bool = True
    profiles: Mapping[str, QueryProfile] = field(default_factory=lambda: profiles.SHIPPED)

    def profile(self, level: DepthLevel) -> QueryProfile | None:
        """The query profile of a level; None for D0."""
        name = QUERY_PROFILE[level]
        return None if name is None else self.profiles[name]


STRATEGY = {
    D0: "direct_answer",
    D1: "continue_thread",
    D2: "explain_with_context",
    D3: "verify_and_reconcile",
    D4: "fresh_start_with_context",
}
TIER = "tier"
# What sources have at least in an overload: a late pack with its parts is worth more than one without.
LEAST_IN_OVERLOAD = timedelta(seconds=2)


def pack_id_of(conversation: Conversation, message_id: str) -> str:
    """The id of a message's pack, distinct for each tenant."""
    return derive("pack", conversation.key(), message_id)


def make_plan(classified: DepthClassified, conversation: Conversation, limits: Limits) -> RetrievalPlan:
    """The retrieval plan of a classified message; the same classification always gives the same plan."""
    level = classified.depth_level
    budget = (classified.options and classified.options.max_tokens) or limits.max_tokens[level]
    profile = limits.profile(level)
    tier = limits.tiers[classified.tier] if classified.tier else None
    latency = (classified.options and classified.options.wait_ms) or limits.deadline_ms[level]
    if tier is not None:
        latency = min(latency, tier.max_latency_ms)
    return RetrievalPlan(
        plan_id=derive("plan", conversation.key(), classified.message_id),
        pack_id=pack_id_of(conversation, classified.message_id),
        message_id=classified.message_id,
        conversation_id=classified.conversation_id,
        client_id=classified.client_id,
        user_id=classified.user_id,
        query=classified.query,
        lang=classified.lang,
        seq=classified.seq,
        source=classified.source,
        frame_id=classified.frame_id,
        as_of=classified.as_of,
        accepted_at=classified.accepted_at,
        depth_level=level,
        strategy=STRATEGY[level],
        query_profile=profile and profile.name,
        query_profile_version=profile and profile.version,
        max_tokens=budget,
        special_instructions=() if is_implicit(classified) else instructions.special(level),
        deadline_at=_deadline(classified, timedelta(milliseconds=latency)),
        tier=classified.tier,
        request_id=classified.request_id,
        options=classified.options,
        sources=_sources(classified, budget, tier, limits),
        reset_frame=level == D4 and not is_implicit(classified),
        anchor=classified.anchor,
        parameters=classified.parameters,
        context=classified.context,
    )


def _deadline(classified: DepthClassified, latency: timedelta) -> datetime:
    # Of the classification alone: a record of it that is sent again has another time, and makes the same plan.
    return classified.accepted_at + (max(latency, LEAST_IN_OVERLOAD) if classified.overload else latency)


def is_implicit(classified: DepthClassified) -> bool:
    """Whether a change of subject is only probable; in records before 0.2 all are certain."""
    return classified.depth_level == D4 and classified.resets is False


def _sources(
    classified: DepthClassified, budget: int, tier: ProcessingTier | None, limits: Limits
) -> tuple[SourceRequest, ...]:
    profile = limits.profile(classified.depth_level)
    return tuple(
        profiles.applied(
            SourceRequest(
                memory_class=want.memory_class,
                selector=want.selector,
                limit=want.limit,
                max_tokens=int(budget * want.share),
                added_by=want.added_by,
                skip=_skip(want, tier, classified),
                narrow=True if tier is not None and _is_narrow(tier, want) else None,
            ),
            profile,
            budget,
            classified.as_of,
        )
        for want in (IMPLICIT_D4 if is_implicit(classified) else SOURCES[classified.depth_level])
        if _is_wanted(want, classified, limits)
    )


def _is_wanted(want: SourceSpec, classified: DepthClassified, limits: Limits) -> bool:
    never = classified.options is not None and classified.options.look_up == "never"
    if (classified.needs_nothing or never) and want.memory_class not in STATE:
        return False
    if want.selector == LOOK_UP and not limits.look_up:
        return False
    return classified.how_to or not want.how_to_only


def _skip(want: SourceSpec, tier: ProcessingTier | None, classified: DepthClassified) -> str | None:
    """Why a source is not asked; it stays in the plan and is answered as skipped.

    In an overload nothing is looked up for deep messages, so that there is time for the simple ones behind them.
    """
    if tier is not None and _is_beyond(tier, want):
        return TIER
    shed = classified.overload and classified.depth_level in (D2, D3, D4) and want.memory_class not in STATE
    return OVERLOAD if shed else None


def _is_beyond(tier: ProcessingTier, want: SourceSpec) -> bool:
    if want.selector == CROSS_REFERENCE and not tier.cross_reference:
        return True
    return want.memory_class not in STATE and not tier.context_retrieval


def _is_narrow(tier: ProcessingTier, want: SourceSpec) -> bool:
    return want.memory_class == M.SEMANTIC and not tier.semantic_expansion


def open_join(plan: RetrievalPlan, classified: DepthClassified, profile: QueryProfile | None = None) -> JoinOpened:
    """The plan's terms for the assembler: wanted classes, budget, absolute deadline."""
    terms = {name: getattr(plan, name) for name in PlanTerms.model_fields}
    wanted = dict.fromkeys(source.memory_class for source in plan.sources)
    return JoinOpened(
        **terms,
        wanted=tuple(wanted),
        confidence=classified.confidence,
        classifier=classified.classifier,
        signals=classified.signals,
        profile=profile,
        looks_up=any(source.memory_class not in STATE and source.skip is None for source in plan.sources),
        selection=1,
        states=classified.states,
    )
