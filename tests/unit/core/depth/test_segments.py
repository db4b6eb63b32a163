"""A new segment and a reset are two decisions: a score for every message, and on the record whether it forgets."""

from collections.abc import Iterator

import pytest

from agents.core.depth.levels import classify
from schemas.depth import DepthClassified, DepthLevel
from schemas.topics import DEPTH_CLASSIFIED
from streams.testing.pipeline import Pipeline
from tests.builders.dialogues import NOTHING, talk

LICENCE = talk(
    "How do I renew my licence?",
    "You renew it online or by mail with form MV-44.",
    "Thanks. How much is the fee?",
    "The fee is 64 dollars for eight years.",
)
NEW = (
    "Can I also change the address of my registration by post?",
    "What documents do I need to surrender my plates?",
    "Ok, and how do I report a stolen vehicle?",
)
OLD = (
    "Yes, by mail please",
    "yes it is",
    "No, I paid it in cash",
    "eight years",
)


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def test_a_new_question_after_an_answer_opens_a_segment_and_an_answer_does_not() -> None:
    new = [classify(text, LICENCE, lang="en").segment for text in NEW]
    asked = (*LICENCE, *talk("hm", "Do you want it by mail?")[1:])
    old = [classify(text, asked, lang="en").segment for text in OLD]
    assert min(new) > 0.5 > max(old)


def test_the_first_message_opens_no_segment() -> None:
    assert classify(NEW[0], NOTHING, lang="en").segment == 0


@pytest.mark.covers("CF-14", "S0-71")
def test_the_record_says_whether_what_was_said_is_forgotten(fathom: Pipeline) -> None:
    asked = fathom.say("Fala do projeto X")
    fathom.say("O projeto X está em execução com 3 fases.", role="assistant", answers=asked)
    goes_on, implied, said = (
        fathom.one(DEPTH_CLASSIFIED, message_id=fathom.say(text))
        for text in ("e o orçamento?", "Qual restaurante serve peixe em Lisboa?", "Mudando de assunto, e as férias?")
    )
    assert [event.resets for event in (goes_on, implied, said)] == [False, False, True]
    assert said.depth_level == DepthLevel.D4
    assert all(0 <= event.segment <= 1 for event in (goes_on, implied, said))


def test_a_record_of_before_is_read_and_written_as_it_was(fathom: Pipeline) -> None:
    event = fathom.one(DEPTH_CLASSIFIED, message_id=fathom.say("Fala do projeto X"))
    before = event.model_copy(update={"resets": None, "segment": None}).model_dump_json()
    assert "resets" not in before
    assert "segment" not in before
    assert DepthClassified.model_validate_json(before).model_dump_json() == before
