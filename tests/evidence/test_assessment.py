"""What an assessment saves: a simple query is neither looked up nor waited for, whatever the stores do (S3)."""

from datetime import timedelta

import pytest

from agents.core.assessment.context_needs import assess
from schemas.retrieval import MemoryClass
from schemas.topics import RETRIEVAL_PLANS
from streams.testing.pipeline import Pipeline
from tests.unit.core.assessment.test_context_needs import LABELLED, SIMPLE, right

M = MemoryClass
AT_HAND = {M.WORKING_SET, M.PERSONA}
HALF_A_SECOND = timedelta(milliseconds=500)


def asked_of_memory(queries: list[str]) -> list[tuple[set[MemoryClass], timedelta]]:
    """For each query, which classes of memory are asked for its pack, and how long the pack is waited for at most.

    Played as a caller does who assesses first and states the tier that was recommended.
    """
    with Pipeline() as fathom:
        for number, query in enumerate(queries):
            tier = assess(query).recommended_tier
            fathom.say(query, conversation=f"c{number}", headers={"tier": tier})
        plans = [received.event for received in fathom.events(RETRIEVAL_PLANS)]
        answers = fathom.parts()
    assert len(plans) == len(queries)
    asked = {plan.plan_id: set[MemoryClass]() for plan in plans}
    for part in answers:
        if part.status != "skipped":
            asked[part.plan_id].add(part.memory_class)
    return [(asked[plan.plan_id], plan.deadline_at - plan.accepted_at) for plan in plans]


@pytest.mark.covers("AC-64", "S3-02", "S3-03", "S3-04")
def test_four_of_five_simple_queries_look_nothing_up_and_are_answered_within_half_a_second():
    rows = list(LABELLED)
    simple = [row for row in rows if not row[2]]
    complicated = [row for row in rows if row[1] not in SIMPLE and row[2]]
    assert len(rows) >= 60
    assert right(simple) > 0.90
    assert right(complicated) > 0.85
    assert right(rows) > 0.85

    found = asked_of_memory([query for query, *_ in simple])
    # The pack is out at its deadline, with what came: a store that hangs costs no more.
    quick = [classes <= AT_HAND and most <= HALF_A_SECOND for classes, most in found]
    assert sum(quick) / len(quick) >= 0.8
    enriched = [classes > AT_HAND for classes, _ in asked_of_memory([query for query, *_ in complicated])]
    assert sum(enriched) / len(enriched) >= 0.8
