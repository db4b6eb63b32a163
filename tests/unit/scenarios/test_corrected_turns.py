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
