"""What of a conversation becomes a passage: what tells something, with its neighbours, a task with its answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.core.assessment.question import context_of
from agents.core.conversation.erasure import Erasure
from agents.core.conversation.memory import ConversationTurn
from agents.core.depth.levels import classify
from agents.errors import Unavailable
from streams.testing.pipeline import EPOCH, Pipeline

TASK = (
    "Um advogado foi contratado por uma empresa que atua em três estados e precisa saber, à luz das normas vigentes, "
    "em qual deles deve manter inscrição suplementar, considerando que pretende atuar em mais de cinco causas por ano. "
    "Assinale a alternativa correta."
)


ANSWER = "A inscrição suplementar é devida nos estados em que passar de cinco causas."


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def indexed(fathom: Pipeline) -> list[str]:
    passages = [each.passage for (kept_in, *_), each in fathom.index._indexed.items() if kept_in == "episodic"]
    return [passage.text for passage in passages if passage.kind == "message"]


def test_what_is_told_is_indexed_at_once_and_a_mere_question_never(fathom: Pipeline) -> None:
    fathom.say("O contrato da Beta vence em maio.")
    fathom.say("Quem assina o contrato?")
    fathom.say("Obrigado!")
    assert indexed(fathom) == ["O contrato da Beta vence em maio."]


def test_what_opens_a_conversation_is_indexed_at_once_however_long_or_short_it_is(fathom: Pipeline) -> None:
    told = [TASK, "Locker: 88", "Can you remember that the bins go out on Mondays?"]
    asked, *_ = (fathom.say(each, conversation=f"c{number}") for number, each in enumerate(told))
    assert sorted(indexed(fathom)) == sorted(told)
    fathom.say(ANSWER, role="assistant", answers=asked)
    assert sorted(indexed(fathom)) == sorted([*told, ANSWER])


def test_an_answer_that_says_nothing_leaves_what_it_answers_indexed(fathom: Pipeline) -> None:
    asked = fathom.say("Rita feeds the horses.")
    fathom.say("Ok.", role="assistant", answers=asked)
    pack = fathom.ask("Who feeds the horses?", conversation="c2")
    assert "Rita feeds the horses." in pack.text


@pytest.mark.parametrize("said", ["Noted.", "Got it, thanks!", "Anotado!", "Sure, I have saved it."])
def test_what_the_assistant_has_noted_is_never_found(fathom: Pipeline, said: str) -> None:
    asked = fathom.say("Rita feeds the horses.")
    fathom.say(said, role="assistant", answers=asked)
    assert indexed(fathom) == ["Rita feeds the horses."]


def test_a_short_answer_comes_with_the_question_it_answers(fathom: Pipeline) -> None:
    asked = fathom.say("I paint the hull in May. How many litres of varnish does the hull need?", conversation="c1")
    fathom.say("It needs 14 litres.", role="assistant", conversation="c1", answers=asked)
    text = fathom.ask("How many litres of varnish does it need?", conversation="c2").text
    assert "assistant: It needs 14 litres. (to: How many litres of varnish does the hull need?)" in text


def test_the_end_of_a_long_turn_is_found_and_only_its_part_is_shown(fathom: Pipeline) -> None:
    log = " ".join(f"Row {number} is as it was." for number in range(1_500))
    fathom.say(f"This is the list: {log} The spare fuse lies in drawer seven.", conversation="c1")
    pack = fathom.ask("Where does the spare fuse lie?", conversation="c2")
    assert "drawer seven" in pack.text
    assert len(pack.text) < 3_000


def test_a_turn_is_found_by_the_words_of_the_turn_before_it(fathom: Pipeline) -> None:
    fathom.say("O que decidimos sobre o fornecedor Delta?", conversation="c1")
    fathom.say("Fica para a reunião de abril.", role="assistant", conversation="c1")
    fathom.say("O café acabou.", conversation="c3")
    pack = fathom.ask("Explica o que houve com o fornecedor Delta", conversation="c2")
    assert pack.episodic is not None
    assert ["Fica para a reunião de abril." in event.label for event in pack.episodic.relevant_events] == [True]


def turn(role: str, text: str) -> ConversationTurn:
    return ConversationTurn(role, text, EPOCH)  # type: ignore[arg-type]


HISTORY = [turn("user", "How long is the warranty of the Sweep S2?"), turn("assistant", "Two years.")]


@pytest.mark.parametrize(
    ("query", "completed"),
    [("And the S4?", True), ("Why?", True), ("Explain the refund policy for opened bags of coffee beans", False)],
)
def test_only_what_leans_on_the_conversation_is_searched_with_it(query: str, completed: bool) -> None:
    decision = classify(query, HISTORY, lang="en")
    context = context_of(query, HISTORY, decision, "en")
    assert ("warranty of the Sweep S2" in (context or "")) == completed
    assert context_of(query, [], classify(query, [], lang="en"), "en") is None


@pytest.mark.parametrize("fails", ["second look", "removal"])
def test_an_erased_passage_never_stays_though_its_writer_failed_after_the_deletion(
    fathom: Pipeline, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """The erasure comes between storing and looking again; then one call fails, and the record is handled again."""
    monkeypatch.setattr("streams.runtime.stage_sender.FIRST_WAIT", 0.0)
    where = fathom.conversation("c1")
    index, graph, left = type(fathom.index), type(fathom.graph), {"upsert": 1, "erased": 0, "remove": 0}
    upsert, erased, remove = index.upsert, graph.erased, index.remove

    async def storing(self: Any, tenant: str, collection: str, passages: Any) -> None:
        await upsert(self, tenant, collection, passages)
        if collection == "episodic" and left["upsert"] and len(passages) == 2:
            left["upsert"] = 0
            erasure = Erasure(99, fathom.clock.now())
            await fathom.graph.note_erasure(where, erasure)
            # The eraser, which listed before the passages were stored, has nothing to remove.
            left["erased" if fails == "second look" else "remove"] = 1

    async def looking(self: Any, *arguments: Any) -> Any:
        if left["erased"]:
            left["erased"] = 0
            raise Unavailable("graph")
        return await erased(self, *arguments)

    async def removing(self: Any, *arguments: Any) -> None:
        if left["remove"]:
            left["remove"] = 0
            raise Unavailable("index")
        await remove(self, *arguments)

    monkeypatch.setattr(index, "upsert", storing)
    monkeypatch.setattr(graph, "erased", looking)
    monkeypatch.setattr(index, "remove", removing)
    fathom.say("O contrato da Beta vence em maio.", conversation="c1")
    fathom.say("O contrato da Gama vence em junho.", conversation="c1")
    assert left == {"upsert": 0, "erased": 0, "remove": 0}
    assert indexed(fathom) == []


def test_who_finds_what_was_corrected_finds_the_correction_and_the_older_marked(fathom: Pipeline) -> None:
    fathom.say("The ferry to the island leaves at 7:15.")
    fathom.say("Understood.", role="assistant")
    fathom.say("*7:45")
    pack = fathom.ask("When does the ferry to the island leave?", conversation="c2")
    lines = [line for line in pack.text.splitlines() if "7:" in line]
    assert [line for line in lines if "7:45" in line]
    assert not [line for line in lines if "7:15" in line and "(replaced later)" not in line and "7:45" not in line]
