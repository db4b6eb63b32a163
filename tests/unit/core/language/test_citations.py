"""Numbers of sources in an assistant's answers: neither claimed nor shown beside the numbers of another pack."""

import pytest

from agents.core.language.citations import without_citations
from schemas.topics import MEMORY_CLAIMS
from streams.testing.pipeline import Pipeline

MANUAL = "# Refunds\n\n## Deadline\n\nThe deadline of a refund is 14 days.\n"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("The head of finance [1].", "The head of finance."),
        ("14 days [2], as agreed [1][3]", "14 days, as agreed"),
        ("O prazo é de 14 dias.[1]", "O prazo é de 14 dias."),
        ("Both say so [1, 2]; see also «Prazo» [4]!", "Both say so; see also «Prazo»!"),
        ("values = [1]", "values = [1]"),
        ("rows[2] is empty", "rows[2] is empty"),
        ("use `rows [2]` here [1]", "use `rows [2]` here [1]"),
        ("In [2024] it was so", "In [2024] it was so"),
        ("[1] opens the list", "[1] opens the list"),
        ("- [ ] to do", "- [ ] to do"),
    ],
)
def test_marks_of_sources_go_and_code_stays(said: str, left: str):
    assert without_citations(said) == left


def test_an_answer_that_cites_claims_its_value_alone():
    with Pipeline() as fathom:
        pack = fathom.ask("What is the deadline of a refund?")
        fathom.say("The deadline of a refund is 14 days [2].", role="assistant", answers=pack.message_id)
        assert [each.event.value for each in fathom.events(MEMORY_CLAIMS)] == ["14 days"]


def test_an_answer_that_agrees_with_its_source_is_no_conflict():
    with Pipeline() as fathom:
        fathom.document("refunds", "Refunds", MANUAL)
        pack = fathom.ask("What is the deadline of a refund?")
        fathom.say("The deadline of a refund is 14 days [1].", role="assistant", answers=pack.message_id)
        text = fathom.ask("No, the deadline of a refund is 20 days now.").text
    assert "the assistant said «14 days» on" in text
    assert "«14 days [1]»" not in text


def test_the_text_numbers_its_own_sources_only():
    with Pipeline() as fathom:
        fathom.document("refunds", "Refunds", MANUAL)
        pack = fathom.ask("What is the deadline of a refund?")
        fathom.say("It is 14 days [7], see [1] and the law [9].", role="assistant", answers=pack.message_id)
        told = fathom.ask("And what is the deadline of a refund for travel?")
    assert "assistant: It is 14 days, see and the law." in told.text or "assistant: It is 14 days, see" in told.text
    assert "[7]" not in told.text
    assert "[9]" not in told.text


def test_a_conflict_is_told_in_the_language_of_the_message_with_a_readable_time():
    with Pipeline() as fathom:
        fathom.document("refunds", "Refunds", MANUAL)
        fathom.say("The deadline of a refund is 14 days.", role="assistant")
        text = fathom.ask("No, the deadline of a refund is 20 days now.").text
    [mine] = [line for line in text.splitlines() if "the document «Refunds › Deadline» says «14 days»" in line]
    assert mine == (
        "- deadline of refund (duration): the user said «20 days» on 2026-03-02 09:00; "
        'the document «Refunds › Deadline» says «14 days» ("The deadline of a refund is 14 days."); not yet reconciled.'
    )
    [said] = [line for line in text.splitlines() if "the assistant said" in line]
    assert said == (
        "- deadline of refund (duration): the assistant said «14 days» on 2026-03-02 09:00; "
        "the user said «20 days» on 2026-03-02 09:00; not yet reconciled."
    )
