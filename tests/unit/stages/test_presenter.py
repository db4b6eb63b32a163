"""What a client is told of an answer: four fields, in the narrator's words or in those of the deterministic flow."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson
import pytest

from agents.context import ContextManager
from agents.core.conversation import answers as presenting
from agents.errors import Unavailable
from agents.stages.presenter import Presenter
from schemas.chat import AnswerGiven
from schemas.policy import ContextPolicy, NarratorPolicy
from schemas.topics import ANSWERS_OUT, CONVERSATION_TURNS
from streams.testing.pipeline import Pipeline
from tests.builders.events import CONVERSATION

ASKED, LEGACY, NARRATED = "Qual o preço de PETR4?", "PETR4: 38,12", "A PETR4 fechou a R$ 38,12."
OFF = ContextPolicy(narrator=NarratorPolicy(enabled=False))


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def answered(fathom: Pipeline, text: str = NARRATED, **fields: Any) -> AnswerGiven:
    """What comes out for one answer to the question before it."""
    question = fathom.say(ASKED)
    fathom.say(text, role="assistant", answers=question, **fields)
    answers = [received.event for received in fathom.events(ANSWERS_OUT)]
    return answers[-1]


@pytest.mark.covers("S1-32", "S1-33", "AC-43")
def test_an_answer_has_exactly_four_fields_and_no_text_of_the_conversation(fathom: Pipeline):
    fathom.say("O orçamento secreto é 70 mil")
    answered(fathom, intent="quote", entity="PETR4", results=[{"price": 38.12}], status="ok")
    [record] = fathom.log.of(ANSWERS_OUT.name)
    value = orjson.loads(record.value)
    assert list(value) == ["status", "results", "meta", "answer"]
    assert (value["status"], value["results"], value["answer"]) == ("ok", [{"price": 38.12}], NARRATED)
    assert not [said for said in ("secreto", ASKED, NARRATED) if said in orjson.dumps(value["meta"]).decode()]
    assert record.key == b"acme|web|c1"


@pytest.mark.covers("S1-L5")
def test_the_meta_says_what_the_answer_is_about_how_deep_and_in_which_frame(fathom: Pipeline):
    meta = answered(fathom, intent="quote", entity="PETR4", pack_id="p1").meta
    question, answer = fathom.events(CONVERSATION_TURNS)
    assert (meta.intent, meta.entity, meta.pack_id, meta.lang) == ("quote", "PETR4", "p1", "pt")
    assert meta.answers == question.event.message_id
    assert (meta.depth_level, meta.frame_id) == (question.event.depth_level, answer.event.frame_id)
    assert meta.depth_level is not None


def test_a_late_answer_has_the_depth_of_its_own_question(fathom: Pipeline):
    question = fathom.say("explica melhor o que é o desdobramento de ações")
    fathom.say("ok")
    fathom.say("É a divisão de cada ação em várias.", role="assistant", answers=question)
    [given] = fathom.events(ANSWERS_OUT)
    assert given.event.meta.depth_level == "D2"


@pytest.mark.covers("S1-14", "S1-27", "AC-43")
@pytest.mark.parametrize(
    ("fields", "policy", "expected"),
    [
        ({"legacy_answer": LEGACY}, ContextPolicy(), NARRATED),
        ({"legacy_answer": LEGACY, "narrator_failed": False}, ContextPolicy(), NARRATED),
        ({"legacy_answer": LEGACY, "narrator_failed": True}, ContextPolicy(), LEGACY),
        ({"legacy_answer": LEGACY}, OFF, LEGACY),
        ({"legacy_answer": LEGACY, "text": " "}, ContextPolicy(), LEGACY),
        ({"legacy_answer": ""}, OFF, ""),
        ({"narrator_failed": True}, ContextPolicy(), NARRATED),
        ({}, OFF, NARRATED),
    ],
    ids=["narrated", "said-so", "failed", "off", "nothing-said", "off-empty", "failed-alone", "off-alone"],
)
def test_without_the_narrator_the_deterministic_answer_stands(fields, policy, expected):
    with Pipeline(policy=policy) as fathom:
        assert answered(fathom, **fields).answer == expected


@pytest.mark.covers("S1-15", "AC-38")
@pytest.mark.parametrize(
    ("fields", "status", "final"),
    [
        ({"legacy_answer": LEGACY, "narrator_failed": True}, "ok", LEGACY),
        ({"unroutable": True}, "unroutable", ""),
        ({"unroutable": True, "legacy_answer": LEGACY, "status": "no_route"}, "no_route", ""),
    ],
)
def test_what_is_remembered_is_what_was_answered_in_the_end(fathom: Pipeline, fields, status, final):
    given = answered(fathom, **fields)
    assert (given.status, given.answer) == (status, final)
    context = fathom.dependencies().context
    [_, remembered] = fathom._run(context.load_recent(CONVERSATION, fathom.clock.now()))
    assert (remembered.role, remembered.content) == ("assistant", final)


def test_only_an_assistant_is_presented(fathom: Pipeline):
    fathom.say(ASKED)
    fathom.say("Responda em português.", role="system")
    assert fathom.events(ANSWERS_OUT) == []


@pytest.mark.covers("S1-28", "S1-34", "CF-59")
def test_what_was_said_before_changes_nothing_of_an_answer():
    def published(before: tuple[str, ...], policy: ContextPolicy) -> Any:
        with Pipeline(policy=policy) as fathom:
            for text in before:
                fathom.say(text)
                fathom.say("Anotado.", role="assistant")
            return answered(fathom, legacy_answer=LEGACY, results={"price": 38.12}).model_dump(exclude={"meta"})

    alone = published((), ContextPolicy())
    assert published(("Qual o prazo do contrato?", "explica melhor"), ContextPolicy()) == alone
    assert published(("Qual o prazo do contrato?",), ContextPolicy(enabled=False)) == alone


def test_redelivered_answer_is_the_same_event(fathom: Pipeline):
    answered(fathom)
    fathom.crash("depth")
    [turn] = [received for received in fathom.events(CONVERSATION_TURNS) if received.event.role == "assistant"]
    again = presented(fathom, None, turn)
    [first] = fathom.events(ANSWERS_OUT)
    assert (again.event, again.envelope("presenter").id) == (first.event, first.envelope.id)


class Words:
    """A narrator that keeps what it was told."""

    def __init__(self, says: Callable[[], Any] = lambda: NARRATED, seconds: float = 0) -> None:
        self.told: list[Mapping[str, Any]] = []
        self._says, self._seconds = says, seconds

    async def narrate(self, meta: Mapping[str, Any]) -> str:
        self.told.append(meta)
        await asyncio.sleep(self._seconds)
        return self._says()  # type: ignore[no-any-return]


def presented(fathom: Pipeline, narrator: Words | None, record: Any, context: ContextManager | None = None) -> Any:
    async def one() -> Any:
        presenter = Presenter(context or fathom.dependencies().context, narrator, seconds=0.05)
        [outgoing] = await presenter.handle(record)
        return outgoing

    return fathom._run(one())


def narrated(policy: ContextPolicy, words: Words, *, said: tuple[str, ...] = (), **fields: Any) -> AnswerGiven:
    """The answer to the third message, of which the deterministic flow has the words, as a narrator gives it."""
    with Pipeline(policy=policy) as fathom:
        fathom.say("Bom dia!")
        fathom.say("Bom dia, como posso ajudar?", role="assistant")
        answered(fathom, **{"text": "", "legacy_answer": LEGACY, "entity": "PETR4", "results": [38.12], **fields})
        [*_, turn] = fathom.events(CONVERSATION_TURNS)
        fathom.say("e o dividendo?")
        return presented(fathom, words, turn).event  # type: ignore[no-any-return]


@pytest.mark.covers("S1-11", "S1-12", "S1-13", "S1-25", "S1-26", "AC-42")
def test_a_narrator_is_told_what_was_said_up_to_the_question():
    words = Words()
    assert narrated(ContextPolicy(), words, intent="quote").answer == NARRATED
    [told] = words.told
    assert (told["intent"], told["entity"]) == ("quote", "PETR4")
    assert told["compute"] == {"status": "ok", "results": [38.12], "legacy_answer": LEGACY, "lang": "pt"}
    assert [turn["content"] for turn in told["history"]] == ["Bom dia!", "Bom dia, como posso ajudar?", ASKED]
    assert [set(turn) for turn in told["history"]] == [{"role", "content", "created_at", "meta"}] * 3


@pytest.mark.covers("S1-11", "S1-25", "AC-42")
@pytest.mark.parametrize(
    "policy",
    [
        ContextPolicy(narrator=NarratorPolicy(denied_entities=("petr4",))),
        ContextPolicy(narrator=NarratorPolicy(allowed_entities=("cadastro",))),
        ContextPolicy(enabled=False),
    ],
    ids=["denied", "not-allowed", "no-memory"],
)
def test_a_narrator_that_may_not_see_the_history_has_none_to_see(policy):
    words = Words()
    assert narrated(policy, words).answer == NARRATED
    [told] = words.told
    assert "history" not in told


def broken() -> str:
    raise ValueError("the model is gone")


@pytest.mark.covers("S1-27")
@pytest.mark.parametrize(
    "words",
    [Words(broken), Words(lambda: "  "), Words(seconds=5)],
    ids=["raises", "nothing", "late"],
)
def test_a_narrator_that_fails_leaves_the_deterministic_answer(words):
    assert narrated(ContextPolicy(), words).answer == LEGACY
    assert len(words.told) == 1


def away() -> str:
    raise Unavailable("narrator")


def test_where_a_narrator_raised_is_logged_and_not_what_it_quotes(caplog: pytest.LogCaptureFixture):
    for words in (Words(broken), Words(away)):
        assert narrated(ContextPolicy(), words).answer == LEGACY
    [told] = [vars(each)["fields"] for each in caplog.records if each.getMessage() == "call.failed"]
    assert told["error"] == "ValueError"
    assert told["at"] == f"{__file__}:{broken.__code__.co_firstlineno + 1}"
    assert "the model is gone" not in caplog.text


@pytest.mark.covers("S1-14", "S1-27")
@pytest.mark.parametrize(
    ("policy", "fields", "answer"),
    [
        (OFF, {}, LEGACY),
        (ContextPolicy(), {"text": "Já dito com outras palavras."}, "Já dito com outras palavras."),
        (ContextPolicy(), {"narrator_failed": True}, LEGACY),
        (ContextPolicy(), {"unroutable": True}, ""),
    ],
    ids=["off", "worded-outside", "failed-outside", "unroutable"],
)
def test_a_narrator_is_not_asked_where_there_is_nothing_for_it_to_word(policy, fields, answer):
    words = Words()
    assert (narrated(policy, words, **fields).answer, words.told) == (answer, [])


def test_a_narrator_goes_without_history_while_the_working_set_is_away(fathom: Pipeline):
    answered(fathom, text="", legacy_answer=LEGACY)
    [*_, turn] = fathom.events(CONVERSATION_TURNS)

    class Away:
        async def turns(self, *_: Any, **__: Any) -> Any:
            raise Unavailable("redis", "gone")

    words = Words()
    away = ContextManager(Away(), ContextPolicy())  # type: ignore[arg-type]
    assert presented(fathom, words, turn, away).event.answer == NARRATED
    assert "history" not in words.told[0]


@pytest.mark.covers("S1-29")
def test_identifiers_and_aggregates_come_apart_from_the_context(fathom: Pipeline):
    answered(fathom, results={"sum": 1}, pack_id="p1")
    [*_, turn] = fathom.events(CONVERSATION_TURNS)
    assert set(presenting.identifiers(turn.event)) == {"answers", "pack_id", "frame_id", "depth_level"}
    given = presenting.present(turn.event, "São 76,24.", {"frame_id": "f1", "answers": "q1"}, {"sum": 76.24})
    assert (given.results, given.meta.frame_id, given.meta.answers) == ({"sum": 76.24}, "f1", "q1")
    assert given.meta.pack_id is None
