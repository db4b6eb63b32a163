"""What a language model may add to the rules, by scripted answers: and that nothing changes where it gives none."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agents.core.retrieval.evidence import JudgedHit
from agents.errors import Unavailable
from agents.model_help import TimedModel, chosen
from agents.ports.passages import Hit, Passage
from schemas.topics import DEPTH_CLASSIFIED, MEMORY_CLAIMS
from streams import config
from streams.config import ConfigError
from streams.models.open import Models, chat_completions
from streams.testing.pipeline import EPOCH, Pipeline

Answer = Callable[[str], Any]
FARE = "# Fares\n\nThe night train to Rome costs 79 euros in a couchette."
HISTORY = "# History\n\nThe night train to Rome has run since 1957, and its costs were long paid by the state."


class Script:
    """A model that answers each purpose by a script, and keeps what it was asked."""

    def __init__(self, **answers: Answer | str) -> None:
        self._answers = answers
        self.asked: dict[str, list[str]] = {}

    def of(self, purpose: str) -> Any:
        return _Purpose(self, purpose)

    async def say(self, purpose: str, prompt: str) -> str:
        self.asked.setdefault(purpose, []).append(prompt)
        answer = self._answers.get(purpose)
        if answer is None:
            raise Unavailable("model", "no script")
        return answer if isinstance(answer, str) else await answer(prompt)


class _Purpose:
    def __init__(self, script: Script, purpose: str) -> None:
        self._script, self._purpose = script, purpose

    async def complete(self, prompt: str, **_: Any) -> str:
        return await self._script.say(self._purpose, prompt)


def pipeline(script: Script, uses: str | None, **settings: Any) -> Pipeline:
    named = {"llm_url": "http://model.test/v1", "llm_model_fast": "small", "llm_uses": uses}
    return Pipeline(replace={"models": Models(script.of)}, **named, **settings)


async def never(_: str) -> str:
    await asyncio.sleep(60)
    return ""


def test_a_follow_up_is_searched_for_as_the_model_completes_it() -> None:
    script = Script(rewrite="<question>What does the night train to Rome cost?</question>")
    with pipeline(script, "rewrite") as fathom:
        fathom.say("Is there a night train to Rome?")
        fathom.say("Yes, every evening.", role="assistant")
        fathom.say("And what does it cost?")
        contexts = [each.event.context for each in fathom.events(DEPTH_CLASSIFIED)]
    assert contexts == [None, "What does the night train to Rome cost?"]
    [prompt] = script.asked["rewrite"]
    assert '<turn role="assistant">Yes, every evening.</turn>' in prompt
    assert "<message>And what does it cost?</message>" in prompt


@pytest.mark.parametrize("answer", [None, "It costs 79 euros.", "<question>  </question>", never])
def test_a_follow_up_that_the_model_does_not_complete_is_searched_for_as_without_it(answer: Any) -> None:
    script = Script() if answer is None else Script(rewrite=answer)
    with pipeline(script, "rewrite", llm_wait_ms=30) as fathom:
        fathom.say("Is there a night train to Rome?")
        fathom.say("And what does it cost?")
        contexts = [each.event.context for each in fathom.events(DEPTH_CLASSIFIED)]
    assert contexts == [None, "Is there a night train to Rome?"]
    assert len(script.asked["rewrite"]) == 1


def documents(fathom: Pipeline) -> list[str]:
    fathom.document("fares", "Fares", FARE)
    fathom.document("history", "History", HISTORY)
    pack = fathom.ask("What does the night train to Rome cost?")
    assert pack.semantic is not None
    return [chunk.document_id for chunk in pack.semantic.knowledge_chunks]


def test_passages_are_kept_as_the_model_chooses() -> None:
    with Pipeline() as fathom:
        assert documents(fathom) == ["fares", "history"]
        [pack] = fathom.packs()
        assert pack.semantic is not None
        by_rules = {each.document_id: each.score for each in pack.semantic.knowledge_chunks}

    async def the_fare(prompt: str) -> str:
        places = {line.split('"')[1]: line for line in prompt.splitlines() if line.startswith("<passage ")}
        [number] = [number for number, line in places.items() if "79 euros" in line]
        return f"<helpful>{number}</helpful>"

    with pipeline(Script(rerank=the_fare), "rerank") as fathom:
        assert documents(fathom) == ["fares"]
        [pack] = fathom.packs()
        assert pack.semantic is not None
        assert pack.semantic.knowledge_chunks[0].score == by_rules["fares"]
        assert [each.reason for each in pack.dropped if each.memory_class == "semantic"] == ["irrelevant"]


@pytest.mark.parametrize("answer", [None, "none", "<helpful>none</helpful>", "<helpful>99, 0</helpful>", never])
def test_passages_stay_where_the_model_chooses_none(answer: Any) -> None:
    with Pipeline() as fathom:
        before = documents(fathom)
    script = Script() if answer is None else Script(rerank=answer)
    with pipeline(script, "rerank", llm_wait_ms=30) as fathom:
        assert documents(fathom) == before
    assert len(script.asked["rerank"]) == 1


def test_what_the_rules_put_first_stays_whatever_a_passage_makes_the_model_say() -> None:
    async def the_history(prompt: str) -> str:
        [line] = [line for line in prompt.splitlines() if line.startswith("<passage ") and "1957" in line]
        number = line.split('"')[1]
        return f"<helpful>{number}</helpful>"

    with pipeline(Script(rerank=the_history), "rerank") as fathom:
        assert documents(fathom) == ["fares", "history"]


def test_where_the_rules_keep_no_passage_the_model_is_not_asked() -> None:
    script = Script(rerank="<helpful>1, 2</helpful>")
    passages = [Passage(id=name, kind="chunk", text=name, lang="en", recorded_at=EPOCH) for name in ("a", "b")]
    left_out = [JudgedHit(Hit(each, 0.1, {}), 0.001, "irrelevant") for each in passages]
    model = TimedModel(script.of("rerank"), 1.0)
    assert asyncio.run(chosen(model, "What?", "", [], left_out, 1.0)) == ([], left_out)
    assert script.asked == {}
    kept, others = asyncio.run(chosen(model, "What?", "", left_out[:1], left_out[1:], 1.0))
    assert ([each.hit.passage.id for each in kept], others) == (["a", "b"], [])


def test_a_model_is_waited_for_no_longer_than_its_pack() -> None:
    script = Script(rerank=never, rewrite=never)
    with pipeline(script, "rewrite, rerank", llm_wait_ms=60_000) as fathom:
        fathom.say("Is there a night train to Rome?", wait_ms=300)
        fathom.say("And what does it cost?", wait_ms=300)
        assert len(fathom.events(DEPTH_CLASSIFIED)) == 2
        fathom.say("And the fare of it?", tier="minimal")
    assert len(script.asked["rewrite"]) == 1


SAID = "Between us, these days Marta takes her coffee with oat milk, ever since the trip."


def test_facts_that_the_rules_do_not_read_are_claims_where_the_statement_has_their_values() -> None:
    found = (
        '<fact subject="Marta" attribute="coffee" value="oat milk" single="yes"/>'
        '<fact subject="Marta" attribute="age" value="44" single="yes"/><fact subject="" attribute="x" value="trip"/>'
        # Neither is a word of what was said: a part of one, another's name, an accent alone.
        '<fact subject="Marta" attribute="drink" value="milk, eve"/><fact subject="Bob" attribute="a" value="trip"/>'
        '<fact subject="Marta" attribute="b" value="\u0301"/><fact subject="Marta" attribute="c\u202e" value="trip"/>'
    )
    with Pipeline() as fathom:
        fathom.say(SAID)
        assert fathom.events(MEMORY_CLAIMS) == []
    with pipeline(Script(extract=found), "extract") as fathom:
        fathom.say(SAID)
        fathom.say("Does Marta take oat milk?")
        [claim] = [each.event for each in fathom.events(MEMORY_CLAIMS)]
        pack = fathom.ask("How does Marta take her coffee?", conversation="c2")
    assert (claim.subject, claim.attribute, claim.value, claim.functional) == ("Marta", "coffee", "oat milk", True)
    assert (claim.author, claim.confidence) == ("user", 0.7)
    assert "oat milk" in (pack.text or "")


def test_the_model_is_asked_for_facts_only_where_the_rules_find_none_and_nothing_is_asked() -> None:
    script = Script(extract="nothing here")
    with pipeline(script, "extract") as fathom:
        fathom.say("The deadline is 20 May.")
        fathom.say("Can you help me with the trip?")
        fathom.say("Sure.", role="assistant")
        fathom.say(SAID)
        claims = [each.event.value for each in fathom.events(MEMORY_CLAIMS)]
    assert [prompt.split("<message>")[1].split("<")[0] for prompt in script.asked["extract"]] == [SAID]
    assert claims == ["20 May"]


def test_by_default_a_model_does_none_of_it() -> None:
    script = Script()
    with pipeline(script, None) as fathom:
        fathom.say(SAID)
        documents(fathom)
    assert script.asked.keys() <= {"depth"}


def test_uses_that_are_none_are_refused_by_name() -> None:
    named = {"llm_url": "http://model.test/v1", "llm_model_fast": "small"}
    with pytest.raises(ConfigError, match="FATHOM_LLM_USES is a list of rewrite, rerank, extract, not 'summarise'"):
        chat_completions(config.load({}, **named, llm_uses="rerank, summarise"))
    with pytest.raises(ConfigError, match="FATHOM_LLM_USES has no use without FATHOM_LLM_URL"):
        chat_completions(config.load({}, llm_uses="rerank"))
