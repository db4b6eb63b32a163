"""The scenarios of depth and packs, through all stages in memory: messages in, packs out (AC-01 to AC-19)."""

from collections.abc import Iterator

import pytest

from schemas.depth import DepthLevel
from schemas.packs import ContextPack
from schemas.retrieval import MemoryClass
from schemas.topics import (
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    MEMORY_CLAIMS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    RETRIEVAL_PLANS,
)
from streams.testing.pipeline import Pipeline
from streams.topology import STAGES

D3_TEXTS = (
    "Identifique o que foi afirmado antes",
    "Se as fontes abaixo divergirem, diga isso",
    "Não insista na resposta anterior",
)


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def about_project_x(fathom: Pipeline) -> None:
    asked = fathom.say("Fala do projeto X")
    fathom.say("O projeto X está em execução com 3 fases.", role="assistant", answers=asked)


def about_sales(fathom: Pipeline) -> None:
    asked = fathom.say("Como foram as vendas do Q1?")
    fathom.say("As vendas do Q1 cresceram 12% em relação ao Q4.", role="assistant", answers=asked)


def handbook(fathom: Pipeline) -> None:
    fathom.document(
        "ferias",
        "Política de férias",
        "# Política de férias\n\nAs políticas de férias garantem 30 dias por ano. "
        "O saldo vence em 12 meses. Férias são o período de descanso remunerado do empregado.\n",
    )
    fathom.document(
        "reembolso",
        "Reembolso de viagem",
        "# Como solicitar reembolso de viagem\n\n1. Guarde os recibos da viagem.\n2. Preencha o formulário de "
        "reembolso.\n3. Envie ao financeiro em até 30 dias.\n",
    )


def profile(fathom: Pipeline, access: str = "internal") -> None:
    fathom.document(
        "profile-web",
        "Perfil",
        tipo="profile",
        profile={
            "user_id": "web",
            "user_role": "analista",
            "department": "RH",
            "access_level": access,
            "objectives": [{"id": "o1", "title": "Revisar as políticas de férias"}],
        },
    )


def signals(pack: ContextPack) -> set[str]:
    return {signal.name for signal in pack.signals}


@pytest.mark.covers("AC-01", "S0-01", "S0-02", "S0-18", "S0-59", "S0-60", "REQ-CDC-001", "REQ-CDC-018", "CD-05")
def test_a_look_up_that_finds_nothing_gives_the_pack_of_working_set_and_persona_only(fathom: Pipeline):
    pack = fathom.ask("Qual o email do João Silva?")
    assert pack.depth_level == DepthLevel.D0
    assert "direct_question" in signals(pack)
    assert (pack.episodic, pack.semantic, pack.procedural, pack.claims) == (None, None, None, None)
    assert pack.evidence == "none"
    assert "não invente" in pack.llm_instructions[-1]
    assert pack.query_profile_used is None
    assert pack.total_tokens_estimated < 500
    assert not pack.degraded


@pytest.mark.covers("AC-01", "S0-60")
def test_where_the_operator_says_never_a_look_up_asks_for_working_set_and_persona_only():
    with Pipeline(look_up="never") as fathom:
        pack = fathom.ask("Qual o email do João Silva?")
        plan = fathom.one(RETRIEVAL_PLANS)
        assert {s.memory_class for s in plan.sources} == {MemoryClass.WORKING_SET, MemoryClass.PERSONA}
        assert {part.memory_class for part in fathom.parts()} == {MemoryClass.WORKING_SET, MemoryClass.PERSONA}
        assert pack.evidence is None


@pytest.mark.covers("S0-03")
def test_a_look_up_is_answered_from_a_document(fathom: Pipeline):
    fathom.document("d1", "Contatos", "O email do João Silva é joao.silva@acme.com. O ramal dele é 4410.")
    pack = fathom.ask("Qual o email do João Silva?")
    assert pack.depth_level == DepthLevel.D0
    assert pack.semantic is not None
    assert ["joao.silva@acme.com" in chunk.text for chunk in pack.semantic.knowledge_chunks] == [True]
    assert pack.evidence == "found"


@pytest.mark.covers("AC-02", "CF-05")
def test_a_look_up_in_mid_conversation_is_no_change_of_topic(fathom: Pipeline):
    about_sales(fathom)
    assert fathom.ask("Qual o email do João Silva?").depth_level == DepthLevel.D0


@pytest.mark.covers("AC-03", "S0-19", "S0-62", "S0-63", "S0-64", "CF-09", "CF-66", "REQ-CDC-002")
def test_an_elliptical_question_continues_with_messages_and_the_conversations_summary(fathom: Pipeline):
    about_project_x(fathom)
    pack = fathom.ask("e o orçamento?")
    assert pack.depth_level == DepthLevel.D1
    assert [m.content for m in pack.working_set.recent_messages] == [
        "Fala do projeto X",
        "O projeto X está em execução com 3 fases.",
    ]
    assert pack.episodic is not None
    assert pack.episodic.conversation_summaries[0].conversation_id == "c1"
    assert pack.episodic.conversation_summaries[0].origin == "current"
    assert (pack.strategy, pack.query_profile_used) == ("continue_thread", "org_context")


@pytest.mark.covers("AC-03", "CF-66")
def test_the_last_five_messages_come_in_order(fathom: Pipeline):
    for number in range(4):
        asked = fathom.say(f"Fala da fase {number} do projeto X")
        fathom.say(f"A fase {number} do projeto X está em execução.", role="assistant", answers=asked)
    pack = fathom.ask("e o orçamento?")
    seqs = [m.seq for m in pack.working_set.recent_messages]
    assert len(seqs) == 5
    assert seqs == sorted(seqs)
    assert pack.working_set.recent_messages[-1].content == "A fase 3 do projeto X está em execução."


@pytest.mark.covers("CF-09")
def test_without_a_summary_of_its_own_a_conversation_gets_no_other_one_that_does_not_answer(fathom: Pipeline):
    about_project_x(fathom)
    fathom.say("Bom dia! Em que posso ajudar?", role="assistant", conversation="c2")
    pack = fathom.ask("e isso?", conversation="c2")
    assert pack.depth_level == DepthLevel.D1
    assert pack.episodic is not None
    assert pack.episodic.conversation_summaries == ()
    assert pack.evidence == "none"


@pytest.mark.covers("AC-04", "CF-43")
def test_english_is_answered_in_english(fathom: Pipeline):
    asked = fathom.say("Tell me about project X and its phases")
    fathom.say("Project X is in execution with 3 phases.", role="assistant", answers=asked)
    pack = fathom.ask("and the budget?")
    assert (pack.depth_level, pack.lang) == (DepthLevel.D1, "en")
    assert "Continue the current subject" in pack.llm_instructions


@pytest.mark.covers("AC-05", "CF-06", "S0-38", "S0-56")
def test_a_bare_how_question_continues_and_a_full_one_brings_the_procedure(fathom: Pipeline):
    handbook(fathom)
    about_project_x(fathom)
    assert fathom.ask("como funciona?").depth_level == DepthLevel.D1
    pack = fathom.ask("Como solicitar reembolso de viagem?", conversation="c9")
    assert pack.depth_level == DepthLevel.D2
    assert pack.procedural is not None
    assert [s.order for s in pack.procedural.playbook_steps] == [1, 2, 3]
    assert "recibos" in pack.procedural.playbook_steps[0].text


@pytest.mark.covers("AC-06", "S0-20")
@pytest.mark.parametrize("text", ["por quê?", "explica melhor"])
def test_an_explanation_brings_semantic_and_episodic_memory(fathom: Pipeline, text: str):
    about_project_x(fathom)
    pack = fathom.ask(text)
    assert pack.depth_level == DepthLevel.D2
    assert pack.semantic is not None
    assert pack.episodic is not None
    assert pack.procedural is None
    assert pack.total_tokens_estimated <= 2000


@pytest.mark.covers("AC-07", "S0-23")
def test_a_comparison_is_conceptual(fathom: Pipeline):
    pack = fathom.ask("Qual a diferença entre projeto X e projeto Y?")
    assert pack.depth_level == DepthLevel.D2
    assert "comparison" in signals(pack)


@pytest.mark.covers("AC-08", "S0-25")
@pytest.mark.parametrize("text", ["liste todos", "resuma"])
def test_a_list_or_summary_is_no_change_of_topic(fathom: Pipeline, text: str):
    about_project_x(fathom)
    pack = fathom.ask(text)
    assert pack.depth_level == DepthLevel.D2
    assert "list_summary" in signals(pack)


@pytest.mark.covers("AC-09", "S0-24", "CF-08")
def test_a_reference_to_another_time_needs_more_unless_it_continues(fathom: Pipeline):
    about_project_x(fathom)
    far = fathom.ask("o que decidimos na última reunião?")
    assert far.depth_level == DepthLevel.D2
    assert "temporal" in signals(far)
    about_project_x(fathom)
    assert fathom.ask("e o que isso custou na semana passada?").depth_level == DepthLevel.D1


@pytest.mark.covers(
    "AC-10", "S0-21", "S0-65", "S0-66", "S0-67", "S0-73", "CF-15", "REQ-CDC-014", "REQ-CDC-015", "CF-40"
)
def test_a_correction_brings_the_original_claim_and_marks_both_for_reconciliation(fathom: Pipeline):
    asked = fathom.say("Qual é o prazo do projeto?")
    fathom.say("O prazo é dia 15", role="assistant", answers=asked)
    pack = fathom.ask("Não, o prazo mudou para dia 20")
    claims = [r.event for r in fathom.events(MEMORY_CLAIMS)]
    [system] = [c for c in claims if c.author == "system"]
    [user] = [c for c in claims if c.author == "user"]
    assert pack.depth_level == DepthLevel.D3
    assert (user.subject, user.value) == ("prazo", "dia 20")
    assert [conflict.claim_id for conflict in user.contradicts] == [system.claim_id]
    assert pack.claims is not None
    assert "O prazo é dia 15" in {c.text for c in pack.claims.system_claims}
    assert pack.claims.contradictions[0].status == "pending_reconciliation"
    assert set(D3_TEXTS) <= set(pack.llm_instructions)
    assert pack.reconciliation is not None
    assert {system.claim_id, user.claim_id} <= set(pack.reconciliation.claim_ids)
    assert pack.reconciliation.original_claim_id == system.claim_id
    correction = fathom.one(MEMORY_CORRECTIONS)
    assert (correction.kind, correction.target_id, correction.new_value) == ("claim", system.claim_id, "dia 20")


@pytest.mark.covers("AC-11", "S0-68", "S0-77", "CF-22", "S0-84", "CF-74")
def test_an_obedient_answer_follows_the_correction_and_the_graph_shows_the_conflict(fathom: Pipeline):
    asked = fathom.say("Qual é o prazo do projeto?")
    fathom.say("O prazo é dia 15", role="assistant", answers=asked)
    corrected = fathom.say("Não, o prazo mudou para dia 20")
    pack = fathom.pack_of(corrected)
    answer = obedient_model(pack)
    fathom.say(answer, role="assistant", answers=corrected)
    after = fathom.ask("e o orçamento?")
    assert answer.startswith("Obrigado pela correção")
    assert [m.content for m in after.working_set.recent_messages][-2:] == ["Não, o prazo mudou para dia 20", answer]
    claims = fathom.nodes("Claim")
    old = next(c for c in claims if c["author"] == "system" and c["value"] == "dia 15")
    assert old["status"] == "contested"
    assert len([e for e in fathom.edges("CONTRADICTS") if e[1] == old["id"]]) == 1


@pytest.mark.covers("AC-12", "S0-75", "S0-82")
def test_a_confirmed_correction_wins_in_a_later_conversation(fathom: Pipeline):
    asked = fathom.say("Qual é o prazo do projeto?")
    fathom.say("O prazo é dia 15", role="assistant", answers=asked)
    corrected = fathom.say("Não, o prazo mudou para dia 20")
    fathom.say("Certo, o prazo é dia 20.", role="assistant", answers=corrected)
    pack = fathom.ask("Por que o prazo mudou?", conversation="later")
    assert pack.depth_level == DepthLevel.D2
    assert pack.semantic is not None
    assert pack.semantic.definitions[0].title == "prazo"
    assert pack.semantic.definitions[0].text.startswith("dia 20")
    assert not any("dia 15" in d.text for d in pack.semantic.definitions)
    claims = {c["id"]: c for c in fathom.nodes("Claim")}
    retired = {claims[old]["value"] for _, old, _ in fathom.edges("SUPERSEDES")}
    assert retired == {"dia 15"}
    assert all({"confidence", "status"} <= set(c) for c in claims.values())


@pytest.mark.covers("S0-75")
def test_what_only_the_assistant_said_is_not_offered_as_known(fathom: Pipeline):
    asked = fathom.say("Qual é o prazo do projeto?")
    fathom.say("O prazo é dia 15", role="assistant", answers=asked)
    pack = fathom.ask("Por que o prazo mudou?", conversation="later")
    assert pack.semantic is not None
    assert pack.semantic.definitions == ()


def obedient_model(pack: ContextPack) -> str:
    """A model that does what it is told: it acknowledges a correction when the instructions and the data say so."""
    told = "Não insista na resposta anterior" in pack.llm_instructions
    return "Obrigado pela correção, vou considerar." if told and pack.reconciliation else "O prazo é dia 15."


@pytest.mark.covers("AC-13")
@pytest.mark.parametrize(
    "text", ["No, the deadline moved to the 20th", "Actually, it's the 20th", "I disagree with that number"]
)
def test_english_corrections_are_contestations(fathom: Pipeline, text: str):
    asked = fathom.say("When is the deadline of the project?")
    fathom.say("The deadline is the 15th.", role="assistant", answers=asked)
    assert fathom.ask(text).depth_level == DepthLevel.D3


@pytest.mark.covers("AC-14", "CF-07")
@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Não entendi, explica melhor", DepthLevel.D2),
        ("O que está errado no contrato?", DepthLevel.D1),
        ("Não, obrigado", DepthLevel.D0),
    ],
)
def test_words_of_disagreement_that_contest_nothing(fathom: Pipeline, text: str, level: DepthLevel):
    asked = fathom.say("Fala do contrato com a Beta")
    fathom.say("O contrato com a Beta vale por 12 meses.", role="assistant", answers=asked)
    assert fathom.ask(text).depth_level == level


@pytest.mark.covers("AC-15", "S0-22", "S0-69", "S0-70", "S0-71", "CF-14", "CF-12", "S0-16")
def test_a_new_subject_opens_a_frame_and_keeps_only_the_persona(fathom: Pipeline):
    profile(fathom)
    handbook(fathom)
    about_sales(fathom)
    before = fathom.ask("e o lucro?").frame_id
    pack = fathom.ask("Quais são as políticas de férias?")
    plan = next(r.event for r in fathom.events(RETRIEVAL_PLANS) if r.event.message_id == pack.message_id)
    assert pack.depth_level == DepthLevel.D4
    assert pack.working_set.recent_messages == ()
    assert pack.working_set.session_summary is None
    assert pack.frame_id != before
    assert {"políticas", "férias"} <= set(plan.anchor.terms)
    assert plan.reset_frame
    assert [o.title for o in pack.persona_context.current_objectives or ()] == ["Revisar as políticas de férias"]
    assert pack.semantic is not None
    assert any("30 dias" in c.text for c in pack.semantic.knowledge_chunks)
    assert "Reconheça a mudança de assunto" in pack.llm_instructions
    assert pack.episodic is not None
    assert not any("vendas" in s.text.lower() for s in pack.episodic.conversation_summaries)


@pytest.mark.covers("AC-16", "CF-14")
def test_after_a_change_the_new_frame_has_only_its_own_messages(fathom: Pipeline):
    about_sales(fathom)
    changed = fathom.ask("Quais são as políticas de férias?")
    pack = fathom.ask("e para estagiários?")
    assert pack.depth_level == DepthLevel.D1
    assert pack.frame_id == changed.frame_id
    assert [m.content for m in pack.working_set.recent_messages] == ["Quais são as políticas de férias?"]


@pytest.mark.covers("CF-83")
def test_a_late_answer_is_filed_in_the_frame_of_its_question(fathom: Pipeline):
    about_sales(fathom)
    asked = fathom.say("e o lucro?")
    fathom.say("Mudando de assunto, quem aprova férias?")
    fathom.say("O lucro foi de 8%.", role="assistant", answers=asked)
    turns = {r.event.content: r.event for r in fathom.events(CONVERSATION_TURNS)}
    assert turns["O lucro foi de 8%."].frame_id == turns["e o lucro?"].frame_id
    assert turns["Mudando de assunto, quem aprova férias?"].frame_id != turns["e o lucro?"].frame_id
    assert [m.content for m in fathom.ask("e para estagiários?").working_set.recent_messages] == [
        "Mudando de assunto, quem aprova férias?"
    ]


@pytest.mark.covers("AC-17", "CF-21")
def test_without_history_nothing_changes_topic(fathom: Pipeline):
    assert fathom.ask("Quais são as políticas de férias?").depth_level == DepthLevel.D2


@pytest.mark.covers("AC-18")
def test_an_announced_change_of_subject_is_one(fathom: Pipeline):
    about_project_x(fathom)
    assert fathom.ask("Mudando de assunto, quem aprova férias?").depth_level == DepthLevel.D4


@pytest.mark.covers("AC-19", "S0-89", "CF-04", "CF-76")
def test_between_two_close_levels_the_one_with_more_context_wins(fathom: Pipeline):
    about_project_x(fathom)
    fathom.ask("e por que isso atrasou o projeto X?")
    raised = [r.event for r in fathom.events(DEPTH_CLASSIFIED) if r.event.raised_from is not None]
    order = [DepthLevel.D0, DepthLevel.D1, DepthLevel.D2, DepthLevel.D3]
    for event in raised:
        assert order.index(event.depth_level) > order.index(event.raised_from)
    assert all(len(r.event.candidates) >= 1 for r in fathom.events(DEPTH_CLASSIFIED))


@pytest.mark.covers("AC-25", "REQ-CDC-019", "S0-79", "S0-80", "S0-81", "S0-78", "CF-18", "CF-19")
def test_every_pack_has_one_decision_and_one_node_with_all_its_fields(fathom: Pipeline):
    d0 = fathom.ask("Qual o email do João Silva?")
    d2 = fathom.ask("Qual a diferença entre projeto X e projeto Y?", conversation="c2")
    decisions = {r.event.message_id: r.event for r in fathom.events(MEMORY_DECISIONS) if r.event.kind == "pack"}
    nodes = {node["message_id"]: node for node in fathom.nodes("CDCDecision")}
    assert set(decisions) == set(nodes) == {d0.message_id, d2.message_id}
    fields = {
        "id", "conversation_id", "message_id", "detected_signals", "depth_level", "sources_retrieved", "tokens_used",
        "latency_ms", "created_at",
    }  # fmt: skip
    assert fields <= set(nodes[d2.message_id])
    assert "comparison" in nodes[d2.message_id]["detected_signals"]
    assert set(nodes[d2.message_id]["detected_signals"]) == {signal.name for signal in d2.signals}
    assert nodes[d2.message_id]["query_profile_used"] == "document_evidence"
    assert nodes[d0.message_id].get("query_profile_used") is None
    assert nodes[d2.message_id]["tokens_used"] == d2.total_tokens_estimated
    assert {e[0] for e in fathom.edges("FOR_MESSAGE")} == {node["id"] for node in nodes.values()}
    assert {e[0] for e in fathom.edges("USED_PROFILE")} == {nodes[d2.message_id]["id"]}


@pytest.mark.covers("AC-86", "CF-85")
def test_an_answer_is_seen_by_the_next_question_at_once(fathom: Pipeline):
    about_project_x(fathom)
    asked = fathom.say("e a fase 2?")
    fathom.say("A fase 2 termina em maio.", role="assistant", answers=asked)
    pack = fathom.ask("e a fase 3?")
    assert pack.working_set.recent_messages[-1].content == "A fase 2 termina em maio."


@pytest.mark.covers("AC-87", "CF-86")
def test_the_original_claim_is_there_before_any_writer_ran():
    without_writers = [s for s in STAGES if not s.group_name.endswith("writers") and s.group_name != "learning"]
    with Pipeline(stages=without_writers) as fathom:
        asked = fathom.say("Qual é o prazo do projeto?")
        fathom.say("O prazo é dia 15", role="assistant", answers=asked)
        pack = fathom.ask("Não, o prazo mudou para dia 20")
        assert pack.claims is not None
        assert [c.text for c in pack.claims.system_claims] == ["O prazo é dia 15"]
        assert fathom.nodes("Claim") == []
