"""Deep answers from what the asker said, or was told, in conversations: quoted word for word, and nobody else's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.cognition.core import memory_store
from agents.errors import Unavailable
from schemas.chat import AnswerGiven
from schemas.cognition import DEEP, CognitionStep, Node
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, MEMORY_CONSULTATIONS, MESSAGES_IN
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.testing.pipeline import Pipeline

ON: dict[str, Any] = {
    "rag_enable_cograg": True,
    "rag_cograg_verification_enabled": True,
    "rag_cograg_evidence_refinement_enabled": True,
    "rag_cograg_memory_enabled": True,
}
ANA, BEA = ({"headers": {"user_id": each}} for each in ("ana", "bea"))
SAID = "O laudo da ponte foi entregue à prefeitura em março. A vistoria da ponte custou 4.300 reais."
COST = "A vistoria da ponte custou 4.300 reais."
QUESTION = "Quanto custou a vistoria da ponte?"


class NoTalks(MemoryPassageIndex):
    """An index whose searches of conversations fail; it counts them."""

    asked = 0

    async def search(self, tenant: str, collection: str, *rest: Any) -> Any:
        if collection == "episodic":
            self.asked += 1
            raise Unavailable("index", "it is away")
        return await super().search(tenant, collection, *rest)


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(**ON) as made:
        yield made


def tell(fathom: Pipeline, text: str = SAID, conversation: str = "old", **whose: Any) -> None:
    whose = whose or ANA
    fathom.say("Podemos falar da ponte agora.", conversation=conversation, **whose)
    fathom.say(text, conversation=conversation, **whose)
    fathom.clock.advance(60)


def asked(fathom: Pipeline, question: str = QUESTION, **fields: Any) -> AnswerGiven:
    """The deep answer to a question in a conversation of its own."""
    whose = fields or ANA
    message_id = fathom.say(question, conversation=f"new-{len(fathom.events(ANSWERS_OUT))}", deep=True, **whose)
    return next(
        e.event
        for e in fathom.events(ANSWERS_OUT)
        if e.event.meta.intent == DEEP and e.event.meta.answers == message_id
    )


def claims(answer: AnswerGiven) -> list[str]:
    return [claim["text"] for each in answer.results["sub_answers"] for claim in each["claims"]]


def last(fathom: Pipeline) -> CognitionStep:
    return fathom.events(COGNITION_STEPS)[-1].event


@pytest.mark.covers("S2-38", "S2-45")
def test_what_the_user_said_is_quoted_with_where_it_was_said(fathom: Pipeline) -> None:
    tell(fathom)
    answer = asked(fathom)
    assert answer.status == "answered"
    assert COST in claims(answer)
    [source] = answer.results["sources"]
    assert source["cite"].startswith(f"conversa:{fathom.clock.now():%Y-%m-%d}-")
    assert answer.results["citations"] == [f"[{source['cite']}]"]
    assert source["turn"] == {"role": "user", "client_id": "web", "conversation_id": "old"}
    for each in answer.results["sub_answers"]:
        assert all(source["text"][claim["start"] : claim["end"]] == claim["text"] for claim in each["claims"])
    # What was said is no law and no ruling.
    assert [each["title"] for each in answer.results["sections"]] == ["Análise", "Conclusão"]
    judged = [each for found in last(fathom).state.verifications.values() for each in found.claims]
    assert judged
    assert {check.verdict for each in judged for check in each.checks} == {"pass"}


@pytest.mark.covers("S2-38")
@pytest.mark.parametrize(
    ("said", "question", "quoted"),
    [
        ("My sister Ines moved to Porto in May. She teaches chemistry there.", "Where did my sister move to?", "Porto"),
        ("Meu cachorro se chama Trovão. Ele tem medo de fogos.", "Como se chama meu cachorro?", "Trovão"),
    ],
)
def test_it_holds_in_both_languages(fathom: Pipeline, said: str, question: str, quoted: str) -> None:
    tell(fathom, said)
    assert any(quoted in each for each in claims(asked(fathom, question)))


@pytest.mark.covers("B19")
@pytest.mark.parametrize("asker", [BEA, {"tenant": "beta", **ANA}], ids=["another user", "another tenant"])
def test_nobody_else_is_answered_from_it(fathom: Pipeline, asker: dict[str, Any]) -> None:
    tell(fathom)
    answer = asked(fathom, **asker)
    assert answer.status == "abstained"
    assert "4.300" not in last(fathom).model_dump_json()


def test_a_replaced_value_is_not_quoted_and_a_later_one_is_unknown_before_it_is_said(fathom: Pipeline) -> None:
    tell(fathom, "A entrega da maquete é dia 12 de maio.")
    before = fathom.clock.now()
    tell(fathom, "A entrega da maquete mudou para dia 20 de maio.", "newer")
    question = "Qual é o dia da entrega da maquete?"
    assert claims(asked(fathom, question)) == ["A entrega da maquete mudou para dia 20 de maio."]
    assert claims(asked(fathom, question, created_at=before, **ANA)) == ["A entrega da maquete é dia 12 de maio."]


def test_nothing_of_a_forgotten_conversation_is_quoted(fathom: Pipeline) -> None:
    tell(fathom)
    where = fathom.conversation("old")
    value = {"conversation_id": "old", "client_id": where.client_id, "forgotten": True}
    fathom.publish(MESSAGES_IN, value, {"tenant": where.tenant, "user_id": "ana"}, where.key().encode())
    assert asked(fathom).status == "abstained"
    assert "4.300" not in last(fathom).model_dump_json()


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("A vistoria da ponte ficou com a Denise, ela assina o laudo.", "Qual é o telefone da Denise?"),
        ("Quem vai pagar a vistoria da ponte?", "Quem vai pagar a vistoria da ponte velha?"),
    ],
    ids=["it only names who is asked about", "it asks the same"],
)
def test_what_only_mentions_or_asks_is_no_answer(fathom: Pipeline, said: str, question: str) -> None:
    tell(fathom, f"{said} Depois eu vejo isso.")
    assert asked(fathom, question).status == "abstained"


def test_what_is_asked_within_a_turn_is_not_quoted_and_what_it_says_is(fathom: Pipeline) -> None:
    tell(fathom, f"{COST} Quanto custou a vistoria da ponte nova?")
    assert claims(asked(fathom)) == [COST]


def test_a_message_is_no_answer_to_itself(fathom: Pipeline) -> None:
    tell(fathom, "O jardim ficou bonito.")
    fathom.say("Voltemos às obras da cidade.", conversation="new-0", **ANA)
    asked(fathom, f"{COST} Quanto custou a vistoria da ponte e quem assina o laudo da ponte?")
    assert last(fathom).state.passages == {}


def test_turns_that_do_not_answer_make_no_document_surer() -> None:
    sure = []
    for said in ("O jardim ficou bonito.", "A calha da ponte ficou verde, a calha da ponte."):
        with Pipeline(**ON) as fathom:
            fathom.document("d", "Obras", "# Obras\n\n## Reparos\n\nReparos de telhado e calha demoram nove dias.\n")
            tell(fathom, said)
            answer = asked(fathom, "Quantos dias demora o conserto da calha da ponte?")
            sure.append(answer.results["confidence"])
            assert not any(each.get("turn") for each in answer.results["sources"])
    assert sure[0] == sure[1] > 0


def test_a_message_that_needs_no_memory_is_not_answered_from_talks(fathom: Pipeline) -> None:
    tell(fathom, "Bom dia, Denise. Hoje o café é por minha conta.")
    assert asked(fathom, "Bom dia, Denise!").status == "abstained"
    assert last(fathom).state.talks_since is None
    assert "conversations" not in {each.source for each in last(fathom).state.sources}


@pytest.mark.parametrize("limits", [{"look_up": "never"}, {"headers": {"user_id": "ana", "tier": "minimal"}}])
def test_what_a_caller_keeps_out_of_the_pack_is_no_evidence(fathom: Pipeline, limits: dict[str, Any]) -> None:
    tell(fathom)
    assert asked(fathom, **{**ANA, **limits}).status == "abstained"


def test_what_a_profile_keeps_out_of_the_pack_is_no_evidence(tmp_path: Path) -> None:
    policy = tmp_path / "profiles.yaml"
    terms = "{version: 2, episodic: {recent_summaries: {max_age_days: 2}}}"
    policy.write_text(f"profiles: {{document_evidence: {terms}}}", "utf-8")
    with Pipeline(profile_policy=policy, **ON) as fathom:
        tell(fathom)
        assert COST in claims(asked(fathom))
        fathom.clock.advance(3 * 86_400)
        assert asked(fathom).status == "abstained"


def test_documents_answer_where_conversations_cannot_be_searched() -> None:
    index = NoTalks(HashingEmbedder())
    with Pipeline(replace={"index": index}, **ON) as fathom:
        fathom.document("d", "Obras", f"# Obras\n\n## Ponte\n\n{COST}\n")
        for _ in range(4):
            assert COST in claims(asked(fathom))
            of = {each.source: each.status for each in last(fathom).state.sources}
            assert (of["conversations"], of["lexical"]) == ("error", "ok")
        packs = len(fathom.packs())
        before = index.asked
        assert COST in claims(asked(fathom))
        # The pack asks, and cognition does so no more.
        assert index.asked - before == len(fathom.packs()) - packs == 1


def test_a_document_and_a_talk_that_disagree_are_both_cited(fathom: Pipeline) -> None:
    fathom.document("d", "Obras", "# Obras\n\n## Ponte\n\nA vistoria da ponte custou 5.100 reais.\n")
    tell(fathom)
    answer = asked(fathom)
    assert {"A vistoria da ponte custou 5.100 reais.", COST} <= {*claims(answer)}
    assert [each["type"] for each in answer.results["conflicts"]] == ["number"]


@pytest.mark.covers("S2-93")
def test_what_one_user_said_is_kept_in_no_consultation_of_the_tenant(fathom: Pipeline) -> None:
    fathom.document("d", "Obras", "# Obras\n\n## Túnel\n\nA vistoria do túnel custou 9.900 reais.\n")
    tell(fathom)
    assert COST in claims(asked(fathom))
    assert fathom.events(MEMORY_CONSULTATIONS) == []
    talk = last(fathom).state
    assert asked(fathom, "Quanto custou a vistoria do túnel?", **BEA).status == "answered"
    [kept] = [each.event for each in fathom.events(MEMORY_CONSULTATIONS)]
    # With a turn among what was read and not cited, the same is kept.
    state = last(fathom).state
    turns = [each for listed in talk.refined_evidence.values() for each in listed if talk.passages[each.chunk_uid].turn]
    assert turns
    both = {node: (*listed, *turns) for node, listed in state.refined_evidence.items()}
    read = state.model_copy(update={"refined_evidence": both, "passages": {**talk.passages, **state.passages}})
    assert memory_store.consultation(read) == kept


def test_the_retriever_reads_conversations_once_and_the_log_is_read_again_with_the_same_answer(
    fathom: Pipeline,
) -> None:
    tell(fathom)
    first = asked(fathom)
    tell(fathom, "A vistoria da ponte custou 6.000 reais, afinal.", "later")
    fathom.crash("cognition")
    fathom.settle()
    answers = [each.event for each in fathom.events(ANSWERS_OUT) if each.event.meta.answers == first.meta.answers]
    assert {each.model_dump_json() for each in answers} == {first.model_dump_json()}
    retrieved = [each.event for each in fathom.events(COGNITION_STEPS) if each.event.node is Node.DUAL_RETRIEVER]
    assert len(retrieved) == 1
