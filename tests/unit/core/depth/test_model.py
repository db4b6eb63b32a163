"""A model that is asked where words leave a depth in doubt: what it may change, and that it never holds anything up."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.core.depth import prompt as depth_prompt
from agents.core.depth.levels import classify
from agents.core.depth.prompt import Chosen
from schemas.depth import DepthClassified, DepthLevel
from schemas.topics import DEPTH_CLASSIFIED
from streams.models.open import Models
from streams.testing.pipeline import Pipeline
from tests.builders.examples import examples

D0, D1, D2, D3, D4 = DepthLevel
DOUBTFUL, SURE = "não entendi", "Não, o prazo mudou para dia 20"
# Far above what any step takes: only what must be too late is.
LONG = 60_000


def answer(level: str, confidence: str = "0.9") -> str:
    return f"<depth>\n  <level>{level}</level>\n  <confidence>{confidence}</confidence>\n</depth>"


class Model:
    """Answers one after the other as it is told, and keeps what it was asked."""

    def __init__(self, *answers: str | Callable[[], str], seconds: float = 0.0) -> None:
        self._answers, self._seconds = list(answers), seconds
        self.asked: list[dict[str, Any]] = []

    async def complete(self, prompt: str, **how: Any) -> str:
        self.asked.append({"prompt": prompt, **how})
        await asyncio.sleep(self._seconds)
        said = self._answers[min(len(self.asked), len(self._answers)) - 1]
        return said if isinstance(said, str) else said()


def pipeline(model: Any, **settings: Any) -> Pipeline:
    models = Models(model=lambda purpose: model) if model else Models()
    return Pipeline(replace={"models": models}, **{"classify_timeout_ms": LONG, **settings})


def decided(model: Any, text: str = DOUBTFUL, **settings: Any) -> DepthClassified:
    """The depth of a message after a question and its answer; what was asked before it is forgotten."""
    with pipeline(model, **settings) as fathom:
        fathom.say("Qual o prazo do contrato com a Acme?")
        fathom.say("O prazo é dia 15.", role="assistant")
        if isinstance(model, Model):
            model.asked.clear()
        message = fathom.say(text)
        return fathom.one(DEPTH_CLASSIFIED, message_id=message)  # type: ignore[no-any-return]


def without_time(event: DepthClassified, **also: Any) -> DepthClassified:
    return event.model_copy(update={"latency_ms": 0.0, **also})


@pytest.mark.covers("AC-20", "CF-01", "CF-02", "REQ-CDC-004")
def test_a_model_that_sleeps_costs_its_limit_and_the_raised_level_stands():
    by_words = decided(None)
    assert (by_words.depth_level, by_words.raised_from, by_words.classifier) == (D2, D1, "heuristic")
    late = decided(Model(answer("D4"), seconds=5), classify_timeout_ms=60)
    assert without_time(late) == without_time(by_words, classifier="heuristic_timeout")


@pytest.mark.covers("CF-02")
def test_a_model_is_not_asked_when_no_time_is_left():
    model = Model(answer("D3"))
    assert decided(model, classify_timeout_ms=20).classifier == "heuristic_timeout"
    assert model.asked == []


@pytest.mark.covers("REQ-CDC-004", "CF-01")
def test_in_doubt_a_model_decides():
    model = Model(answer("D3"))
    event = decided(model)
    assert (event.depth_level, event.classifier, event.confidence, event.raised_from) == (D3, "llm", 0.9, None)
    assert event.candidates == (D3, D2, D1)
    assert event.signals == decided(None).signals
    [asked] = model.asked
    assert (asked["tier"], asked["temperature"]) == ("fast", 0.0)
    assert f"<message>{DOUBTFUL}</message>" in asked["prompt"]
    assert '<turn role="assistant">O prazo é dia 15.</turn>' in asked["prompt"]


@pytest.mark.covers("CF-01")
def test_without_doubt_no_model_is_asked():
    model = Model(answer("D0"))
    event = decided(model, SURE)
    assert (event.depth_level, event.classifier, model.asked) == (D3, "heuristic", [])
    model = Model(answer("D0"))
    assert decided(model, llm_min_confidence=0.0).classifier == "heuristic"
    assert model.asked == []


def raises() -> str:
    raise ValueError("the model is gone")


@pytest.mark.covers("REQ-CDC-004")
@pytest.mark.parametrize(
    "said",
    [raises, "", "<depth><level>D7</level></depth>", answer("D0|D1|D2|D3|D4"), answer("D1") + "<level>D2</level>" * 2],
    ids=["raises", "nothing", "no-level", "template", "several"],
)
def test_a_model_that_fails_changes_nothing(said: Any):
    if isinstance(said, str) and said.endswith("<level>D2</level>"):
        said = said.replace("</depth>", "")
    assert without_time(decided(Model(said))) == without_time(decided(None))


def test_the_first_message_leaves_no_topic():
    with pipeline(Model(answer("D4")), llm_min_confidence=1.0) as fathom:
        first = fathom.one(DEPTH_CLASSIFIED, message_id=fathom.say("Férias coletivas"))
    assert (first.depth_level == D4, first.frame_opened, first.classifier) == (False, False, "heuristic")


@pytest.mark.covers("CF-04")
@pytest.mark.parametrize(
    ("chosen", "confidence", "level", "raised_from"),
    [
        *((D1, 0.9, D1, None), (D1, 0.3, D2, D1), (D3, 0.3, D3, D2), (D4, 0.9, D4, None), (D4, 0.3, D2, D4)),
        *((D2, 0.3, D2, None), (D3, None, D3, None)),
    ],
)
def test_where_the_model_is_not_sure_either_more_context_wins(
    chosen: DepthLevel, confidence: float | None, level: DepthLevel, raised_from: DepthLevel | None
):
    decision = classify(DOUBTFUL, (), lang="pt")
    assert decision.level is D2
    made = depth_prompt.decided(decision, Chosen(chosen, confidence), least=0.6)
    assert (made.level, made.raised_from) == (level, raised_from)
    assert made.candidates[0] is level
    assert {chosen, D2} <= set(made.candidates)
    assert len(set(made.candidates)) == len(made.candidates)


@settings(max_examples=examples(100), deadline=None)
@given(st.text(st.sampled_from("<>/&;{}message é\x00\ud800"), max_size=80))
def test_a_message_cannot_leave_its_element(text: str):
    made = depth_prompt.prompt(f"{text}</message><level>", ())
    assert made.count("<message>") == made.count("</message>") == 1
    made.encode()


@settings(max_examples=examples(100), deadline=None)
@given(st.text(st.sampled_from("<>/depthlvD0123 .&;\ud800\x00"), max_size=80))
def test_whatever_is_answered_is_a_level_or_nothing(said: str):
    chosen = depth_prompt.read(said)
    assert chosen is None or chosen.level in DepthLevel


@pytest.mark.covers("CF-01", "CF-67")
def test_redelivered_message_has_the_depth_that_the_model_gave_the_first_time():
    model = Model(answer("D3"), answer("D0"))
    with pipeline(model) as fathom:
        fathom.say("O prazo do contrato é dia 15.", role="assistant")
        fathom.say(DOUBTFUL)
        before = [record.value for record in fathom.log.of(DEPTH_CLASSIFIED.name)]
        for tp in fathom.log.records:
            fathom._members["depth"].acked[tp].clear()
        fathom.crash("depth")
        fathom.clock.advance(5)
        fathom.settle()
        assert [record.value for record in fathom.log.of(DEPTH_CLASSIFIED.name)] == before * 2
        assert fathom.events(DEPTH_CLASSIFIED)[-1].event.classifier == "llm"
    assert len(model.asked) == 1
