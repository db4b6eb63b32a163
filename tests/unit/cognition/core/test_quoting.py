"""Which sentences of its evidence an answer quotes, and when it quotes none."""

import pytest

from agents.cognition.core import planner, reasoner
from agents.cognition.verification.asked_amounts import supplies_amount
from schemas.cognition import CognitiveState, LeafEvidence, SubAnswer
from tests.unit.cognition.core.runs import opened, passage

SURE, DOUBTFUL = 0.9, 0.5


def state(question: str, lang: str, *found: tuple[str, float, tuple[float, ...]], sure: float = SURE) -> CognitiveState:
    """A run with evidence for every leaf: texts, how they were judged, and the cosines of their sentences."""
    made = planner.planned(opened(question, lang), asked=True)
    assert made.mind_map is not None
    passages = {
        f"d{n}": passage(f"documento:{n}", said, lang=lang, uid=f"d{n}") for n, (said, _, _) in enumerate(found)
    }
    listed = tuple(LeafEvidence(chunk_uid=f"d{n}", score=each[1], similar=each[2]) for n, each in enumerate(found))
    leaves = [each.node_id for each in made.mind_map.leaves()]
    update = {
        "passages": passages,
        "refined_evidence": dict.fromkeys(leaves, listed),
        "answerable": dict.fromkeys(leaves, sure),
    }
    return made.model_copy(update=update)


def answer(asked: CognitiveState) -> SubAnswer:
    """The answer to the whole question."""
    assert asked.mind_map is not None
    return reasoner.reasoned(asked).sub_answers[asked.mind_map.root().node_id]


def quoted(asked: CognitiveState) -> list[str]:
    return [each.text for each in answer(asked).claims]


FEES = (
    "As mesas do salão são de madeira. A carteirinha custa R$ 12,00 e fica pronta na hora. O jornal fica no balcão. "
    "Bicicletas ficam no pátio."
)
REPAIRS = (
    "Ask for Joan at the gate. The boiler is repaired by our own staff. Most repairs take four days. Parts are kept."
)
CATS = "Dogs sleep in the barn. Guests may bring cats into the garden room. Milk is sold at the gate. Hay is free."


@pytest.mark.parametrize(
    ("question", "lang", "said", "near", "told"),
    [
        # What says the amount says enough.
        ("Quanto custa a carteirinha de estudante ou visitante?", "pt", FEES, (0.1, 0.4, 0.1, 0.1), ("A carteirinha",)),
        # What does not say it is told with what follows, and with nothing before that is not near it.
        (
            "How long does it take until a boiler is repaired?", "en", REPAIRS, (0.05, 0.4, 0.2, 0.1),
            ("The boiler", "Most repairs", "Parts are"),
        ),
        # So is what does not say most of what is asked; what says it is not.
        ("Cabem reboques e bicicletas grandes?", "pt", FEES, (0.1, 0.1, 0.3, 0.2), ("O jornal", "Bicicletas")),
        ("May guests bring cats into the garden room?", "en", CATS, (0.1, 0.6, 0.1, 0.1), ("Guests may",)),
        # A sentence that is as good as the best one stands beside it whatever that says.
        ("How long do repairs take?", "en", "Small repairs take two days. Large repairs take nine days.", (0.5, 0.45),
         ("Small repairs", "Large repairs")),
    ],
)  # fmt: skip
def test_sentences_around_the_best_one_are_quoted_for_what_it_lacks(
    question: str, lang: str, said: str, near: tuple[float, ...], told: tuple[str, ...]
) -> None:
    found = quoted(state(question, lang, (said, 0.5, near)))
    assert len(found) == len(told)
    assert all(text.startswith(begins) for text, begins in zip(found, told, strict=True))


@pytest.mark.parametrize(("score", "is_quoted"), [(0.03, False), (0.3, True)])
def test_a_passage_judged_far_from_the_question_is_not_quoted_beside_the_best(score: float, is_quoted: bool) -> None:
    pool, court = "The pool closes at nine.", "The tennis court has lights and closes late."
    found = (pool, 0.6, (0.6,)), (court, score, (0.25,))
    assert quoted(state("When does the pool close?", "en", *found)) == [pool, *([court] if is_quoted else [])]
    # A passage that is far from one part of a question may answer the other.
    parts = quoted(state("When does the pool close and does the garden have lights?", "en", *found))
    assert parts == [pool, court]


@pytest.mark.parametrize(
    ("sure", "near", "status"),
    [(DOUBTFUL, 0.1, "abstained"), (DOUBTFUL, 0.3, "answered"), (SURE, 0.1, "answered")],
)
@pytest.mark.parametrize(
    ("question", "lang", "said", "missing"),
    [
        ("O clube aluga raquetes de squash?", "pt", "O clube reforma a quadra.", "clube aluga raquetes de squash"),
        ("Does the shop sell marine diesel?", "en", "The shop opens on Monday.", "shop sell marine diesel"),
    ],
)
def test_what_neither_words_nor_meaning_nor_its_passages_speak_for_is_not_answered(
    question: str, lang: str, said: str, missing: str, sure: float, near: float, status: str
) -> None:
    found = answer(state(question, lang, (said, 0.5, (near,)), sure=sure))
    assert (found.status, found.missing) == (status, (missing,) if status == "abstained" else ())


def test_what_has_most_words_of_the_question_is_answered_in_doubt() -> None:
    found = answer(
        state("O clube tem quadra de areia?", "pt", ("A quadra de areia é do clube.", 0.5, (0.1,)), sure=0.5)
    )
    assert found.status == "answered"


@pytest.mark.parametrize(
    ("question", "lang", "said", "is_told"),
    [
        ("How long is the lease?", "en", "The lease runs for three years.", True),
        ("How long is the lease of 3 years?", "en", "The lease of 3 years is signed here.", False),
        ("Until when may I cancel?", "en", "Cancel by Friday.", True),
        ("When does it open?", "en", "It opens at noon on 2 May.", True),
        ("Where do we go when it rains?", "en", "Go to hall 4.", False),
        ("Who signs the lease?", "en", "Both of the 2 owners sign.", False),
        ("Qual é o prazo da defesa?", "pt", "A defesa é apresentada em quinze dias.", True),
        ("Qual é o prazo da defesa?", "pt", "A defesa segue o art. 335.", False),
        ("E quando abre a feira?", "pt", "Abre no dia 7 de maio.", True),
        ("Onde ficam os alunos quando chove?", "pt", "Ficam na sala 4.", False),
        ("Quantos sócios votam?", "pt", "Todos os sócios votam.", False),
    ],
)
def test_what_supplies_an_amount_or_a_time_that_is_asked_for(
    question: str, lang: str, said: str, is_told: bool
) -> None:
    assert supplies_amount(question, lang, said, lang) is is_told
