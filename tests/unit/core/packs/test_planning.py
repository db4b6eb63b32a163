"""A depth becomes exactly the sources of its level and the look-up, nothing more (S0-32 to S0-48)."""

import pytest

from agents.core.packs.planning import Limits, make_plan, open_join
from schemas.depth import DepthLevel
from schemas.retrieval import MemoryClass
from tests.builders.events import CONVERSATION, after, classified, opened, plan

D0, D1, D2, D3, D4 = DepthLevel


LOOKED_UP = {("semantic", "look_up"), ("episodic", "look_up")}
NEVER = Limits(look_up=False)


def selectors(level: DepthLevel, limits: Limits | None = None, **fields: object) -> set[tuple[str, str]]:
    return {(source.memory_class.value, source.selector) for source in plan(level, limits, **fields).sources}


@pytest.mark.covers("S0-07", "S0-33", "REQ-CDC-006", "REQ-CDC-007")
def test_d0_asks_for_two_messages_the_basic_profile_and_what_answers_it():
    made = plan(D0)
    to_the_letter = {("working_set", "last_2_messages"), ("persona", "basic")}
    assert selectors(D0) == to_the_letter | LOOKED_UP
    assert selectors(D0, NEVER) == to_the_letter
    assert opened(D0).looks_up
    assert not open_join(plan(D0, NEVER), classified(D0)).looks_up
    assert (made.max_tokens, made.query_profile, made.strategy) == (500, None, "direct_answer")


@pytest.mark.covers("S0-08", "S0-35")
def test_d1_continues_the_thread():
    made = plan(D1)
    expected = {
        ("working_set", "last_5_messages"),
        ("episodic", "last_conversation_summary"),
        ("persona", "with_context"),
    }
    assert selectors(D1) == expected | LOOKED_UP
    assert selectors(D1, NEVER) == expected
    assert (made.max_tokens, made.query_profile, made.strategy) == (700, "org_context", "continue_thread")


@pytest.mark.covers("S0-09", "S0-37", "S0-38")
def test_d2_explains_and_asks_for_procedures_only_on_a_how_to_question():
    made = plan(D2)
    expected = {
        ("working_set", "last_3_messages"),
        ("episodic", "recent_summaries"),
        ("semantic", "related_concepts"),
        ("persona", "basic"),
    }
    assert selectors(D2) == expected
    assert selectors(D2, how_to=True) == expected | {("procedural", "if_how_to_question")}
    assert (made.max_tokens, made.query_profile, made.strategy) == (2000, "document_evidence", "explain_with_context")


@pytest.mark.covers("S0-10", "S0-40", "S0-41", "S0-42", "S0-43", "CF-11", "CF-13")
def test_d3_verifies_and_reconciles_with_a_little_semantic_memory_added():
    made = plan(D3)
    assert selectors(D3) == {
        ("working_set", "full_session"),
        ("claims", "user_claims_in_session"),
        ("claims", "check_knowledge_conflicts"),
        ("episodic", "relevant_past_discussions"),
        ("semantic", "claim_related_concepts"),
        ("persona", "basic"),
    }
    semantic = made.wants(MemoryClass.SEMANTIC)
    assert semantic is not None
    assert semantic.added_by == "REQ-CDC-013"
    assert semantic.max_tokens <= 0.15 * made.max_tokens
    assert (made.max_tokens, made.query_profile, made.strategy) == (2000, "document_evidence", "verify_and_reconcile")
    assert made.special_instructions == (
        "Identificar claim original",
        "Buscar evidências conflitantes",
        "Não defender posição anterior cegamente",
    )


@pytest.mark.covers("S0-11", "S0-44", "S0-45", "S0-46", "S0-47", "S0-48", "CF-14")
def test_d4_resets_the_frame_and_keeps_the_persona():
    made = plan(D4)
    assert selectors(D4) == {
        ("working_set", "clear_and_reset"),
        ("semantic", "new_topic_anchor"),
        ("episodic", "new_anchor_only"),
        ("episodic", "look_up"),
        ("persona", "full_with_objectives"),
    }
    assert made.reset_frame
    assert (made.max_tokens, made.query_profile, made.strategy) == (
        1000,
        "strategy_alignment",
        "fresh_start_with_context",
    )
    assert made.special_instructions == (
        "Reconhecer mudança de tema",
        "Manter apenas contexto de persona",
        "Iniciar nova âncora semântica",
    )


@pytest.mark.covers("S0-15", "CF-16")
@pytest.mark.parametrize("level", list(DepthLevel))
def test_every_level_asks_for_working_set_and_persona(level: DepthLevel):
    wanted = set(open_join(plan(level, NEVER), classified(level)).wanted)
    assert {MemoryClass.WORKING_SET, MemoryClass.PERSONA} <= wanted
    assert (MemoryClass.EPISODIC in wanted) == (level != D0)
    assert (MemoryClass.SEMANTIC in wanted) == (level in (D2, D3, D4))
    assert (MemoryClass.CLAIMS in wanted) == (level == D3)


@pytest.mark.parametrize("level", list(DepthLevel))
def test_what_needs_nothing_asks_memory_for_nothing(level: DepthLevel):
    wanted = {source.memory_class for source in plan(level, needs_nothing=True).sources}
    assert wanted == {MemoryClass.WORKING_SET, MemoryClass.PERSONA}
    assert not opened(level, needs_nothing=True).looks_up


@pytest.mark.covers("REQ-CDC-007")
def test_a_plan_says_how_much_of_its_budget_each_source_may_take():
    shares = {(source.memory_class.value, source.selector): source.max_tokens for source in plan(D3).sources}
    assert shares[("working_set", "full_session")] == 1200
    assert shares[("claims", "user_claims_in_session")] == 2000
    assert shares[("semantic", "claim_related_concepts")] == 300
    assert shares[("persona", "basic")] == 200


@pytest.mark.covers("REQ-CDC-008", "AC-21")
def test_budgets_and_deadlines_are_configurable_per_level():
    limits = Limits(max_tokens={**Limits().max_tokens, D2: 800}, deadline_ms={**Limits().deadline_ms, D2: 300})
    made = plan(D2, limits)
    assert made.max_tokens == 800
    assert made.deadline_at == after(300)
    assert all(source.max_tokens <= 800 for source in made.sources)


@pytest.mark.covers("S0-04", "CF-68")
def test_the_join_opens_with_the_plans_own_terms():
    made, join = plan(D3), opened(D3)
    assert (join.pack_id, join.plan_id, join.deadline_at, join.max_tokens) == (
        made.pack_id,
        made.plan_id,
        made.deadline_at,
        made.max_tokens,
    )
    assert list(join.wanted) == list(dict.fromkeys(source.memory_class for source in made.sources))


def test_redelivered_classification_gives_the_same_plan_byte_for_byte():
    assert plan(D2).model_dump_json() == plan(D2).model_dump_json()


def test_the_pack_id_depends_on_tenant_conversation_and_message():
    other_tenant = CONVERSATION.model_copy(update={"tenant": "beta"})
    ids = {
        make_plan(classified(), CONVERSATION, Limits()).pack_id,
        make_plan(classified(), other_tenant, Limits()).pack_id,
        make_plan(classified(message_id="m2"), CONVERSATION, Limits()).pack_id,
    }
    assert len(ids) == 3


@pytest.mark.covers("S0-46", "S0-48", "S0-71")
def test_a_change_of_subject_that_is_only_probable_announces_and_resets_nothing():
    made = plan(D4, resets=False)
    assert (made.special_instructions, made.reset_frame) == ((), False)
    assert ("working_set", "clear_and_reset") not in selectors(D4, resets=False)
