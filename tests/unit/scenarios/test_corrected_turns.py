"""What was corrected, asked again in another talk: the newer turn is there, the older one is marked or gone."""

import pytest

from schemas.packs import ContextPack
from streams.testing.pipeline import Pipeline

TALKS = (
    ("The gate code is 4417.", "Sorry, I meant 4471.", "What is the gate code?", "4417", "4471"),
    ("O código do portão é 4417.", "Desculpa, quis dizer 4471.", "Qual é o código do portão?", "4417", "4471"),
)


def turns(pack: ContextPack) -> list[tuple[str, bool | None]]:
    """The past turns of a pack, each with whether it holds."""
    found = pack.episodic.relevant_events if pack.episodic else ()
    return [(item.label, item.holds) for item in found]


@pytest.mark.parametrize(("said", "corrected", "asked", "old", "new"), TALKS, ids=["en", "pt"])
def test_a_correction_in_a_few_words_comes_with_what_it_corrects(
    said: str, corrected: str, asked: str, old: str, new: str
) -> None:
    with Pipeline() as fathom:
        for text in (said, corrected):
            fathom.say(text, conversation="before", headers={"user_id": "ana"})
            fathom.clock.advance(60)
        fathom.clock.advance(7200)
        pack = fathom.ask(asked, conversation="after", headers={"user_id": "ana"})
    assert new in (pack.text or "")
    assert [holds for text, holds in turns(pack) if old in text] in ([], [False])


RESTATED = (
    ("The pool costs 29 euros a month.", "The pool costs 34 euros a month.", "What does the pool cost?", "29", "34"),
    ("A piscina custa 29 euros por mês.", "A piscina custa 34 euros por mês.", "Quanto custa a piscina?", "29", "34"),
    ("The Brisa bike weighs 14.2 kg.", "I weighed the bike: 12.8 kg, not 14.2.", "What does the Brisa bike weigh?",
     "weighs 14.2", "12.8"),
)  # fmt: skip


@pytest.mark.parametrize(("said", "later", "asked", "old", "new"), RESTATED, ids=["en", "pt", "denied"])
def test_a_value_said_anew_or_denied_in_another_talk_is_marked(
    said: str, later: str, asked: str, old: str, new: str
) -> None:
    with Pipeline() as fathom:
        for number, text in enumerate((said, later)):
            fathom.say(text, conversation=f"before-{number}", headers={"user_id": "ana"})
            fathom.clock.advance(7200)
        pack = fathom.ask(asked, conversation="after", headers={"user_id": "ana"})
    assert new in (pack.text or "")
    assert [holds for text, holds in turns(pack) if old in text] in ([], [False])
    assert f"\n- {old}" not in (pack.text or "")
