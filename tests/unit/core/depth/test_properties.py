"""What holds for every message: total, deterministic, bounded, never losing a contestation."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.core.conversation.memory import Turns
from agents.core.depth.levels import classify, warm
from agents.core.language.text import fold
from schemas.depth import DepthLevel
from tests.builders.dialogues import ATLAS, CONTRACT, NOTHING, OFFER, PROJECT, SALES, talk
from tests.builders.examples import examples
from tests.unit.core.depth.test_messages import MESSAGES

PIECES = (
    *(text for text, _, _, _ in MESSAGES),
    *(
        "não",
        "No,",
        "e",
        "isso",
        "?",
        "!",
        "...",
        ",",
        '"',
        "\n",
        "that",
        "what is",
        "é",
        "rel_456",
    ),
)
ANYTHING = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join),
)
PASTS = st.sampled_from((NOTHING, SALES, PROJECT, ATLAS, CONTRACT, OFFER, talk("", ""), talk("?")))
LANGUAGES = st.sampled_from(("pt", "en", "es", ""))
ROLES = st.sampled_from((None, "", "analyst", "auditora", "vendas"))


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    warm()


@settings(max_examples=examples(150), deadline=None)
@given(ANYTHING, PASTS, LANGUAGES, ROLES)
def test_every_message_gets_one_sound_decision(text: str, past: Turns, lang: str, role: str | None) -> None:
    decision = classify(text, past, lang=lang, user_role=role)
    assert decision == classify(text, past, lang=lang, user_role=role)
    assert 0 <= decision.confidence <= 1
    assert decision.level == decision.candidates[0]
    assert decision.raised_from is None or decision.raised_from in decision.candidates[1:]
    assert decision.level != DepthLevel.D4 or past


@settings(max_examples=examples(100), deadline=None)
@given(ANYTHING, PASTS, LANGUAGES)
def test_evidence_is_words_of_the_message_each_said_once(text: str, past: Turns, lang: str) -> None:
    signals = classify(text, past, lang=lang).signals
    said = fold(text)
    assert all(fold(part) in said for sign in signals for part in sign.evidence.split(", "))
    assert len({(s.name, s.evidence, s.level) for s in signals}) == len(signals)


@pytest.mark.covers("CF-20")
@settings(max_examples=examples(80), deadline=None)
@given(ANYTHING, PASTS, ROLES)
def test_a_contestation_is_never_lowered(text: str, past: Turns, role: str | None) -> None:
    contested = f"Não concordo. {text}"
    assert classify(contested, past, lang="pt", user_role=role).level == DepthLevel.D3


@settings(max_examples=examples(80), deadline=None)
@given(ANYTHING, PASTS, LANGUAGES)
def test_a_role_never_lowers_the_level(text: str, past: Turns, lang: str) -> None:
    ladder = (DepthLevel.D4, *tuple(DepthLevel)[:4])
    plain = classify(text, past, lang=lang).level
    checked = classify(text, past, lang=lang, user_role="auditor").level
    assert ladder.index(checked) >= ladder.index(plain)


HOSTILE = {
    "long letter": "Qual o prazo do contrato, e por que não concordo com isso? " * 900,
    "nos": "não, " * 10_000,
    "one word": "a" * 50_000,
    "stops": "a." * 25_000,
    "quotes": '"' * 50_000,
    "open quote": '"' + "palavra " * 6_000,
    "hyphens": "a-" * 25_000,
    "accents": "e\u0301" * 25_000,
    "wild phrases": "mais a a a do que " * 2_800,
    "what is": "what is the " * 4_200,
    "is not": "is not , " * 5_500,
    "capitals": "Aa De " * 8_000,
    "identifiers": "rel_4 " * 8_000,
}


@pytest.mark.covers("REQ-CDC-005")
@pytest.mark.parametrize("kind", HOSTILE)
def test_fifty_thousand_hostile_characters_stay_far_below_the_limit(kind: str) -> None:
    past = talk(*[HOSTILE[kind][: 2_000 + at] for at in range(10)])
    took, counted = [], []
    for marks in range(1, 6):
        began = time.process_time()
        sum(number for number in range(1_000_000))
        counted.append(time.process_time() - began)
        began = time.process_time()
        classify(HOSTILE[kind] + "?" * marks, past, lang="pt")
        took.append(time.process_time() - began)
        if min(took) < min(counted) / 2:
            break
    # The best of five, where the first leave a doubt: what the rules cost, not what a collection in between does.
    # Counting to a million takes 50 ms where a classification may take 100.
    assert min(took) < min(counted)


@pytest.mark.covers("REQ-CDC-005", "S0-90", "CF-02")
def test_a_usual_message_after_ten_turns_takes_milliseconds_at_most() -> None:
    past = talk(*[f"Turno {at}: o contrato de fornecimento tem multa de {at}%." for at in range(10)])
    took = []
    for text, _, lang, _ in MESSAGES * 2:
        began = time.process_time()
        classify(text, past, lang=lang)
        took.append(time.process_time() - began)
    took = sorted(took[len(MESSAGES) :])
    assert took[int(len(took) * 0.99)] < 0.01
