"""Whether a message needs the turns before it, decided apart from its level; tables that say how sure they are."""

import json
from pathlib import Path

import pytest

import agents.core
from agents.core.conversation.memory import Turns
from agents.core.depth.levels import classify, is_follow_up
from agents.core.language.linear_models import LinearTable, table
from schemas.depth import DepthLevel
from tests.builders.dialogues import ATLAS, CONTRACT, NOTHING, PROJECT, SALES, talk
from tests.checkout import ROOT

D0, D1, D2, D3, D4 = DepthLevel
BEES = talk("Tell me about beekeeping", "Beekeeping needs hives, gear and patience.")
BEES_PT = talk("Me fala de apicultura", "A apicultura exige colmeias, equipamento e paciência.")
DOGS = talk("I love dogs", "Dogs are wonderful companions.")
PAPER = talk("Fala do PETR4", "PETR4 fechou em alta de 1%.")
SINGER = talk("Who is Clara Nunes?", "Clara Nunes was a Brazilian samba singer.")

NEEDS = (
    ("What does the gear cost?", BEES, "en"),
    ("What is the drone good for?", BEES, "en"),
    ("What are the drawbacks for neighbours?", BEES, "en"),
    ("Which breed is best for small flats?", DOGS, "en"),
    ("Where was the second album recorded?", SINGER, "en"),
    ("Did she win any prizes?", SINGER, "en"),
    ("what were her biggest hits", SINGER, "en"),
    ("and in winter?", BEES, "en"),
    ("how much is that?", BEES, "en"),
    ("Is it dangerous?", BEES, "en"),
    ("Quanto custa o equipamento?", BEES_PT, "pt"),
    ("Quais as desvantagens?", BEES_PT, "pt"),
    ("e no inverno?", BEES_PT, "pt"),
    ("Onde ela nasceu?", talk("Quem é Clara Nunes?", "Clara Nunes foi uma cantora de samba."), "pt"),
    ("isso é perigoso?", BEES_PT, "pt"),
    ("Quais são os principais riscos?", PROJECT, "pt"),
    ("qual o P/L e o dividend yield?", PAPER, "pt"),
    ("e se eu rescindir antes?", CONTRACT, "pt"),
    ("explica melhor", PROJECT, "pt"),
    ("who leads them?", ATLAS, "en"),
)
STANDS_ALONE = (
    ("How is paella made in Valencia?", BEES, "en"),
    ("What causes gout?", BEES, "en"),
    ("Can you recommend a good restaurant in Lisbon?", BEES, "en"),
    ("Who wrote Don Quixote?", DOGS, "en"),
    ("What is the capital of Peru?", SINGER, "en"),
    ("Tell me about the history of Lisbon", ATLAS, "en"),
    ("Define inflation", ATLAS, "en"),
    ("When did Marie Curie win the Nobel Prize?", ATLAS, "en"),
    ("Qual o email do João Silva?", SALES, "pt"),
    ("Como funciona o seguro desemprego no Brasil?", BEES_PT, "pt"),
    ("Quem escreveu Dom Casmurro?", BEES_PT, "pt"),
    ("O que é inflação?", PROJECT, "pt"),
    ("Qual é a capital do Peru?", BEES_PT, "pt"),
    ("Me recomenda um restaurante em Lisboa?", BEES_PT, "pt"),
    ("Quando Marie Curie ganhou o Nobel?", PROJECT, "pt"),
)


@pytest.mark.covers("S0-30")
def test_most_messages_that_lean_are_follow_ups_and_most_that_do_not_are_none() -> None:
    missed = [text for text, history, _ in NEEDS if not is_follow_up(text, history)]
    false = [text for text, history, _ in STANDS_ALONE if is_follow_up(text, history)]
    assert len(missed) <= 0.15 * len(NEEDS), missed
    assert len(false) <= 0.2 * len(STANDS_ALONE), false


@pytest.mark.covers("S0-30", "S0-89")
@pytest.mark.parametrize(("text", "history", "lang"), NEEDS)
def test_the_level_of_what_leans_keeps_the_thread(text: str, history: Turns, lang: str) -> None:
    assert classify(text, history, lang=lang).level in (D1, D2)


@pytest.mark.covers("S0-30")
@pytest.mark.parametrize("text", [text for text, _, _ in NEEDS])
def test_nothing_follows_where_nothing_was_said(text: str) -> None:
    assert not is_follow_up(text, NOTHING)


def test_a_table_weighs_what_it_knows_and_stays_a_probability() -> None:
    few = LinearTable(-1.0, {"a": 2.0, "b": -0.5})
    assert few.probability(["unknown"]) == pytest.approx(0.2689, abs=1e-4)
    assert few.probability(["a", "b"]) == pytest.approx(0.6225, abs=1e-4)
    assert 0 < LinearTable(0.0, {"a": 1e9}).probability(["a"]) <= 1


@pytest.mark.parametrize(
    "path",
    # The other tables have a form of their own, and tests.
    [
        path
        for path in sorted((Path(agents.core.__file__).parent / "weights").glob("*.json"))
        if path.stem not in ("acts", "contradiction", "needs_nothing", "relevance")
    ],
    ids=lambda path: path.stem,
)
def test_a_table_says_where_its_weights_come_from_and_nothing_restricted_is_among_them(path: Path) -> None:
    says = json.loads(path.read_text("utf-8"))
    # Our own texts are under the licence of the project.
    assert set(says["fitted_on"].values()) <= {"MIT", "CC BY 3.0", "CC BY 4.0", "Apache-2.0"}
    assert not {"sgd", "canard", "locomo", "repairqa"} & set(says["fitted_on"])
    assert (ROOT / says["script"]).is_file()
    assert says["cross_validated"]
    assert len(table(path.stem).weights) == len(says["weights"]) <= 150
