"""Questions for several things: which documents there are, what one has said, what was said on a day."""

from collections.abc import Iterator

import pytest

from agents.core.language.interrogatives import asks_for_documents, asks_for_own_list
from streams.testing.pipeline import Pipeline


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


@pytest.mark.parametrize(
    ("said", "documents", "own"),
    [
        ("What files have you got?", True, False),
        ("Name the handbooks you know", True, False),
        ("Tell me everything you have on file", True, False),
        ("What can I ask you about?", True, False),
        ("What documents do you have access to?", True, False),
        ("list the available documents", True, False),
        ("which files are available?", True, False),
        ("Quais são os manuais?", True, False),
        ("Que documentos vocês têm?", True, False),
        ("A que documentos você tem acesso?", True, False),
        ("Liste os documentos disponíveis", True, False),
        ("What have I given you so far?", True, False),
        ("show me all the manuals please", True, False),
        ("Can you give me the titles of everything?", True, False),
        ("Dá-me uma lista dos manuais que te mandei", True, False),
        ("mostra tudo que tem no sistema", True, False),
        ("O que eu já enviei?", True, False),
        ("What have I given Rosa?", False, False),
        ("O que mandei fazer na oficina?", False, False),
        ("Que documentos devo enviar?", False, False),
        ("What documents do I need to bring?", False, False),
        ("Mostra-me tudo o que tens", True, False),
        ("O que sabes sobre o manual da bomba?", False, False),
        ("Which documents do I need for a boat licence?", False, False),
        ("What's on my packing list?", False, True),
        ("Which museums have I visited?", False, True),
        ("Que museus já visitei?", False, True),
        ("Quanto paguei este mês?", False, True),
        ("What is the fee?", False, False),
        ("Que horas são?", False, False),
    ],
)
def test_a_question_for_a_list_is_told_by_its_form(said: str, documents: bool, own: bool) -> None:
    assert (asks_for_documents(said), asks_for_own_list(said)) == (documents, own)


def test_which_documents_there_are_is_answered_with_their_titles(fathom: Pipeline) -> None:
    for number, title in enumerate(("Kiln manual", "Glaze recipes", "Lease of the workshop")):
        fathom.document(f"d{number}", title, f"# Part {number}\n\n{'The clay is dry. ' * 60}")
    pack = fathom.ask("Which documents do you have?")
    assert [f"{title}\n" in pack.text for title in ("Kiln manual", "Glaze recipes", "Lease of the workshop")] == [
        True
    ] * 3
    assert len(pack.text) < 900
    assert "Glaze" not in fathom.ask("How many manuals are there?").text


def test_all_that_a_user_said_comes_as_one_line_each(fathom: Pipeline) -> None:
    said = ("I must mend the gate.", "Remind me to oil the hinges.", "I need to order sand.")
    for number, each in enumerate(said):
        asked = fathom.say(each, conversation=f"c{number}")
        fathom.say("All right, the gate and the hinges.", role="assistant", conversation=f"c{number}", answers=asked)
    fathom.say("Somebody else has to paint the fence.", conversation="other", headers={"user_id": "someone"})
    text = fathom.ask("What is on my to-do list?", conversation="new").text
    assert all(f"user: {each}\n" in f"{text}\n" for each in said)
    assert "fence" not in text
    assert "All right" not in text


def test_what_was_said_on_a_day_is_found_by_the_day(fathom: Pipeline) -> None:
    fathom.say("The kiln reached 1,240 degrees.", conversation="c1", created_at="2026-01-11T10:00:00Z")
    fathom.say("The kiln cracked.", conversation="c2", created_at="2026-01-12T10:00:00Z")
    text = fathom.ask("What did I tell you on 11 January 2026?", conversation="c3").text
    assert "1,240 degrees" in text
    assert "cracked" not in text
