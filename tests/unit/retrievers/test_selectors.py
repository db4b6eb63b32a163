"""What each selector brings of conversations and of who asks: the exact items of the pack (S0-32 to S0-48).

The store is filled through the whole pipeline, and the pack says what came of it.
"""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from schemas.base import Conversation
from schemas.depth import DepthLevel
from schemas.policy import ContextPolicy
from schemas.topics import CONVERSATION_TURNS
from streams.testing.pipeline import Pipeline
from tests.builders.pack_items import events, exchange, messages, objectives, phases, summaries

D0, D1, D2, D3, D4 = DepthLevel
OBJECTIVES = (
    "Entregar o projeto Orion no prazo",
    "Reduzir o custo do Orion",
    "Treinar a equipe do Orion",
    "Documentar o Orion para o cliente",
    "Revisar as políticas de férias",
)


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


@pytest.mark.covers("S0-32")
def test_a_look_up_keeps_the_last_two_of_six_messages(fathom: Pipeline):
    said = phases(fathom, 3)
    pack = fathom.ask("Qual o email do João Silva?")
    assert pack.depth_level == D0
    assert messages(pack) == said[-2:]


@pytest.mark.covers("S0-34", "S0-64")
def test_a_follow_up_keeps_the_last_five_of_eight_messages(fathom: Pipeline):
    said = phases(fathom, 4)
    pack = fathom.ask("e o orçamento?")
    assert pack.depth_level == D1
    assert messages(pack) == said[-5:]


@pytest.mark.covers("S0-36")
def test_an_explanation_keeps_the_last_three_of_eight_messages(fathom: Pipeline):
    said = phases(fathom, 4)
    pack = fathom.ask("Por que a fase 3 atrasou?")
    assert pack.depth_level == D2
    assert messages(pack) == said[-3:]


@pytest.mark.covers("S0-39")
def test_a_contestation_brings_all_messages_of_all_frames(fathom: Pipeline):
    said = phases(fathom, 4)
    changed, answer = "Mudando de assunto, como estão as vendas?", "O prazo do relatório é dia 15."
    assert fathom.ask(changed).depth_level == D4
    fathom.say(answer, role="assistant")
    pack = fathom.ask("Não, o prazo do relatório mudou para dia 20")
    assert pack.depth_level == D3
    assert messages(pack) == [*said, changed, answer]


@pytest.mark.covers("S0-39", "S1-20")
def test_a_full_session_ends_where_the_time_to_live_does(fathom: Pipeline):
    phases(fathom, 2)
    fathom.wait(2 * 3600)
    exchange(fathom, "Qual o prazo do relatório?", "O prazo do relatório é dia 15.")
    pack = fathom.ask("Não, o prazo do relatório mudou para dia 20")
    assert pack.depth_level == D3
    assert messages(pack) == ["Qual o prazo do relatório?", "O prazo do relatório é dia 15."]


@pytest.mark.covers("S1-21")
def test_what_is_appended_beyond_the_policy_pushes_the_oldest_out():
    with Pipeline(policy=ContextPolicy(max_turns=2, session_turns=6)) as fathom:
        said = phases(fathom, 5)
        conversation = Conversation(tenant="acme", client_id="web", conversation_id="c1")
        frame_id = fathom.events(CONVERSATION_TURNS)[-1].event.frame_id
        kept = asyncio.run(fathom.working_sets.turns(conversation, frame_id, up_to_seq=10**9, limit=10**6))
        assert [turn.content for turn in kept] == said[-6:]
        assert messages(fathom.ask("e o orçamento?")) == said[-2:]


@pytest.mark.covers("CF-09", "S0-64")
def test_a_follow_up_brings_this_conversations_summary_instead_of_the_previous_ones(fathom: Pipeline):
    phases(fathom, 2, "projeto Vega", "before")
    phases(fathom, 2)
    pack = fathom.ask("e o orçamento?")
    assert pack.depth_level == D1
    assert summaries(pack) == [("current", "c1")]
    assert pack.episodic is not None
    assert "Orion" in pack.episodic.conversation_summaries[0].text
    assert "Vega" not in pack.episodic.conversation_summaries[0].text


@pytest.mark.covers("CF-09")
def test_the_first_follow_up_of_a_conversation_brings_no_summary_of_another_that_does_not_answer(fathom: Pipeline):
    phases(fathom, 2, "projeto Vega", "oldest")
    phases(fathom, 2, "projeto Lira", "older")
    fathom.say("Bom dia!", role="assistant")
    pack = fathom.ask("e isso?")
    assert pack.depth_level == D1
    assert summaries(pack) == []


@pytest.mark.covers("S0-36", "REQ-CDC-012")
def test_an_explanation_has_this_conversations_summary_before_those_of_others(fathom: Pipeline):
    exchange(fathom, "Fala da auditoria fiscal", "Ela tem dois capítulos e um anexo.", "before")
    exchange(fathom, "Quem assina a auditoria fiscal?", "A diretoria, em março.", "before")
    exchange(fathom, "Fala da auditoria interna", "A auditoria interna começou ontem.")
    pack = fathom.ask("Explique o anexo e os capítulos da auditoria fiscal de março")
    assert pack.depth_level == D2
    assert summaries(pack) == [("current", "c1"), ("previous", "before")]


@pytest.mark.covers("S0-36", "S0-53", "REQ-CDC-012")
def test_an_explanation_brings_what_was_said_in_another_conversation_in_its_order(fathom: Pipeline):
    exchange(fathom, "O fornecedor Delta atrasou a entrega", "Delta pediu duas semanas de prazo.", "before")
    exchange(fathom, "Qual a cor da parede?", "A parede da recepção é verde.", "other")
    pack = fathom.ask("Por que o fornecedor Delta atrasou a entrega?")
    assert pack.depth_level == D2
    assert events(pack) == [
        "user: O fornecedor Delta atrasou a entrega",
        "assistant: Delta pediu duas semanas de prazo.",
    ]


@pytest.mark.covers("S0-39", "S0-53", "REQ-CDC-012")
def test_a_contestation_brings_what_another_conversation_said_of_it(fathom: Pipeline):
    fathom.say("O prazo do projeto Orion é dia 18 de março", conversation="before")
    exchange(fathom, "Qual o prazo do projeto Orion?", "O prazo do projeto Orion é dia 15 de março.")
    pack = fathom.ask("Não, o prazo do projeto Orion mudou para dia 20 de março")
    assert pack.depth_level == D3
    assert events(pack) == ["user: O prazo do projeto Orion é dia 18 de março"]


def profile(fathom: Pipeline) -> None:
    known = [{"id": f"o{place}", "title": title} for place, title in enumerate(OBJECTIVES)]
    about = {"user_id": "web", "user_role": "analista", "department": "TI", "access_level": "internal"}
    fathom.document("profile-web", "Perfil", tipo="profile", profile={**about, "objectives": known})


@pytest.mark.covers("AC-23", "CF-16", "CF-70")
def test_a_user_whom_nobody_knows_has_no_role_and_sees_what_is_public(fathom: Pipeline):
    known = fathom.ask("Qual o email do João Silva?").persona_context
    assert (known.user_role, known.department, known.access_level) == ("unknown", "unknown", "public")


@pytest.mark.covers("CF-16", "S0-34")
def test_a_follow_up_has_three_of_the_objectives_of_its_thread(fathom: Pipeline):
    profile(fathom)
    phases(fathom, 1)
    pack = fathom.ask("e o orçamento do Orion?")
    assert pack.depth_level == D1
    assert objectives(pack) == list(OBJECTIVES[:3])


@pytest.mark.covers("CF-16")
def test_a_follow_up_on_another_thread_has_the_objective_of_that_one_only(fathom: Pipeline):
    profile(fathom)
    exchange(fathom, "Fala das férias", "As férias são de 30 dias.")
    pack = fathom.ask("e as férias dos estagiários?")
    assert pack.depth_level == D1
    assert objectives(pack) == ["Revisar as políticas de férias"]


@pytest.mark.covers("CF-16", "S0-44")
def test_a_change_of_subject_has_all_objectives_and_an_explanation_none(fathom: Pipeline):
    profile(fathom)
    phases(fathom, 1)
    explained = fathom.ask("Por que a fase 0 do projeto Orion atrasou?")
    changed = fathom.ask("Mudando de assunto, quem aprova a compra de notebooks?")
    assert (explained.depth_level, changed.depth_level) == (D2, D4)
    assert explained.persona_context.user_role == changed.persona_context.user_role == "analista"
    assert objectives(explained) == []
    assert objectives(changed) == list(OBJECTIVES)


@pytest.mark.covers("CF-12", "S0-44")
def test_a_new_anchor_brings_summaries_of_its_own_subject_only():
    # Beside a look-up, which knows no anchor, the selector would not be seen.
    with Pipeline(look_up="never") as fathom:
        exchange(fathom, "Fala da auditoria fiscal", "Ela tem dois capítulos e um anexo.", "before")
        exchange(fathom, "Fala do projeto Orion", "Orion tem três fases.")
        pack = fathom.ask("Mudando de assunto, explique os capítulos da auditoria fiscal")
        assert pack.depth_level == D4
        assert summaries(pack) == [("previous", "before")]
        assert events(pack) == []


@pytest.mark.covers("S0-44", "S0-71", "CF-14")
def test_an_announced_change_of_subject_keeps_no_message_and_a_likely_one_the_last_exchange(fathom: Pipeline):
    exchange(fathom, "Tell me about project Atlas", "Project Atlas has three phases.")
    exchange(fathom, "and the budget?", "The budget of Atlas is 90k.")
    likely = fathom.ask("Can you recommend a good restaurant in Lisbon?")
    assert likely.depth_level == D4
    assert messages(likely) == ["and the budget?", "The budget of Atlas is 90k."]
    announced = fathom.ask("by the way, something else: who orders paper?")
    assert announced.depth_level == D4
    assert messages(announced) == []


def test_a_message_within_the_time_to_live_is_recent_and_one_beyond_is_not(fathom: Pipeline):
    exchange(fathom, "Fala do projeto Orion", "O projeto Orion tem três fases.")
    fathom.clock.advance(timedelta(minutes=59).total_seconds())
    said = phases(fathom, 1)
    assert messages(fathom.ask("e o orçamento?")) == [
        "Fala do projeto Orion", "O projeto Orion tem três fases.", *said,
    ]  # fmt: skip
    fathom.clock.advance(timedelta(minutes=2).total_seconds())
    assert messages(fathom.ask("e a equipe?")) == [*said, "e o orçamento?"]
