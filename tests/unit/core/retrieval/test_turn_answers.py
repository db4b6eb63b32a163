"""Whether turns of a talk answer a question, on texts of no data set."""

from datetime import UTC, datetime

import pytest

from agents.core.retrieval.turn_answers import may_answer
from agents.core.retrieval.turn_currency import PastTurn

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
REPAIR = "How much did the boiler repair cost?"


def turns(lang: str, *said: str) -> list[PastTurn]:
    return [PastTurn(f"m{number}", "user", each, lang, NOON) for number, each in enumerate(said)]


@pytest.mark.parametrize(
    ("lang", "question", "said"),
    [
        ("en", "How heavy is Rosa's suitcase?", ("Rosa's suitcase is so heavy, 31 kilos.",)),
        ("en", REPAIR, ("The boiler took 240 euros to get going.",)),
        ("en", REPAIR, ("The boiler was the whole day's work.", "Such a repair has its cost.")),
        ("en", "When does the ferry to Bergen leave?", ("The ferry is booked for 3 June.",)),
        ("en", "Who is Rosa Prado?", ("Rosa Prado flies on Monday.",)),
        ("pt", "Quanto custou o conserto da caldeira?", ("A caldeira ficou por 240 reais.",)),
    ],
)
def test_turns_answer_that_say_most_of_what_is_asked_or_a_value_of_its_kind(
    lang: str, question: str, said: tuple[str, ...]
) -> None:
    assert may_answer(question, lang, turns(lang, *said))


@pytest.mark.parametrize(
    ("lang", "question", "said"),
    [
        ("en", REPAIR, ()),
        ("en", "How heavy is Rosa Prado's suitcase?", ("Rosa Prado flies on Monday.",)),
        ("en", REPAIR, ("The boiler is noisy.",)),
        ("en", REPAIR, ("Lunch with Tom was 18 euros.",)),
        ("en", REPAIR, (REPAIR, "How much did the repair cost, 240 euros?")),
        ("pt", "Quanto custou o conserto da caldeira?", ("A caldeira faz barulho.",)),
        ("pt", "Qual é o telefone da Denise Prado?", ("A Denise Prado assina o laudo.",)),
    ],
)
def test_turns_that_only_name_or_ask_do_not(lang: str, question: str, said: tuple[str, ...]) -> None:
    assert not may_answer(question, lang, turns(lang, *said))
