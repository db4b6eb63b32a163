"""What issues no correction: a user's own newer value, and a denial after a change of subject."""

import pytest

from agents.core.claims.lifecycle import heard, session_claims
from schemas.topics import MEMORY_CLAIMS, MEMORY_CORRECTIONS
from streams.testing.pipeline import Pipeline
from tests.builders.claims import said


@pytest.mark.covers("S0-75", "CF-40")
@pytest.mark.parametrize(
    ("first", "then"),
    [("O prazo é dia 15.", "O prazo é dia 20."), ("The deadline is 15 May.", "The deadline is 20 May.")],
)
def test_a_users_own_newer_value_replaces_the_old_one_without_a_correction(first: str, then: str) -> None:
    with Pipeline() as fathom:
        fathom.say(first)
        fathom.say(then)
        old, new = (each.event for each in fathom.events(MEMORY_CLAIMS))
        assert [conflict.claim_id for conflict in new.contradicts] == [old.claim_id]
        assert fathom.events(MEMORY_CORRECTIONS) == []
        fathom.say("Anotado.", role="assistant")
        fathom.say("O prazo é dia 25.", role="assistant")
        fathom.say("Não, o prazo é dia 30.")
        assert len(fathom.events(MEMORY_CORRECTIONS)) == 1


@pytest.mark.covers("S0-66")
def test_a_value_without_a_subject_is_about_a_claim_of_its_own_frame() -> None:
    earlier = session_claims([said(0, "system", "O prazo é dia 15.")])
    here, after = (heard(said(1, "user", "Não, dia 20.", frame_id=frame), earlier) for frame in ("f1", "f2"))
    assert here.original == earlier[0]
    assert [(each.subject, each.value) for each in here.claims] == [("prazo", "dia 20")]
    assert (after.original, after.claims, after.correction) == (None, (), None)
