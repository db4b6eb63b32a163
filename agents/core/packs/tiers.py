"""The three processing tiers: how much a query may cost."""

from collections.abc import Mapping

from schemas.assessment import ProcessingTier, TierName

PROCESSING_TIERS: Mapping[TierName, ProcessingTier] = {
    "minimal": ProcessingTier(
        name="minimal",
        description="Simple queries, greetings, clarifications",
        max_latency_ms=200,
        context_retrieval=False,
        semantic_expansion=False,
        cross_reference=False,
        llm_model="fast",
    ),
    "standard": ProcessingTier(
        name="standard",
        description="Typical queries needing some context",
        max_latency_ms=2000,
        context_retrieval=True,
        semantic_expansion=False,
        cross_reference=False,
        llm_model="standard",
    ),
    "deep": ProcessingTier(
        name="deep",
        description="Complex queries needing full analysis",
        max_latency_ms=10000,
        context_retrieval=True,
        semantic_expansion=True,
        cross_reference=True,
        llm_model="advanced",
    ),
}


def with_latencies(limits_ms: Mapping[TierName, int]) -> dict[TierName, ProcessingTier]:
    """The tiers with the given latency limits, in milliseconds."""
    return {
        name: tier.model_copy(update={"max_latency_ms": limits_ms.get(name, tier.max_latency_ms)})
        for name, tier in PROCESSING_TIERS.items()
    }
