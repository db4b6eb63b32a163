"""Claims held against each other and against a statement: a pure rule over what the log has."""

from datetime import timedelta

from agents.core.claims.checks import MAX_CLAIMS, of_statement, on_subject, with_corrections
from agents.core.claims.lifecycle import claims_of
from schemas.base import Conversation
from schemas.memory import ClaimAsserted, CorrectionIssued
from tests.builders.claims import NOON, said, session


def elsewhere(number: int, text: str, **fields: object) -> tuple[ClaimAsserted, ...]:
    other = Conversation(tenant="acme", client_id="web", conversation_id=f"other-{number}")
    return claims_of(said(number, "user", text, conversation=other, **fields))


def test_claims_of_different_conversations_about_one_named_thing_contradict_each_other():
    known = [*elsewhere(1, "O prazo do projeto Falcão é dia 15."), *elsewhere(2, "O prazo do projeto Falcão é dia 20.")]
    found = on_subject(known, "Projeto FALCÃO", "ana")
    assert [claim.value for claim in found.considered] == ["dia 20", "dia 15"]
    [conflict] = found.contradictions
    assert (conflict.claim_id, conflict.contradicts) == (known[1].claim_id, known[0].claim_id)
    assert conflict.current == known[1].claim_id


def test_a_subject_is_all_its_words():
    known = elsewhere(1, "O prazo do projeto Falcão é dia 15.")
    assert on_subject(known, "prazo falcao", "ana").considered == known
    for other in ("projeto Gavião", "orçamento do projeto Falcão", "?"):
        assert on_subject(known, other, "ana").considered == ()


def test_a_statement_is_held_against_what_is_known_and_not_against_what_says_the_same():
    known = session(("user", "O prazo do projeto Falcão é dia 15."), ("user", "O gerente do projeto Falcão é Rui."))
    against = of_statement(known, said(9, "user", "O prazo do projeto Falcão é dia 20."))
    [conflict] = against.contradictions
    assert [claim.value for claim in against.stated] == ["dia 20"]
    assert [claim.value for claim in against.considered] == ["dia 15"]
    assert (conflict.claim_id, conflict.contradicts) == (against.stated[0].claim_id, known[0].claim_id)
    assert of_statement(known, said(9, "user", "O prazo do projeto Falcão é dia 15.")).contradictions == ()


def test_a_statement_that_is_not_made_yet_supersedes_nothing():
    known = session(("user", "O prazo do projeto Falcão é dia 15."), ("user", "O prazo do projeto Falcão é dia 20."))
    newer, older = of_statement(known, said(9, "user", "O prazo do projeto Falcão é dia 25.")).contradictions
    assert (newer.contradicts, newer.status, newer.current) == (
        known[1].claim_id, "pending_reconciliation", known[1].claim_id,
    )  # fmt: skip
    assert (older.contradicts, older.status, older.current) == (known[0].claim_id, "resolved", None)


def test_a_statement_that_claims_nothing_contradicts_nothing():
    known = session(("user", "O prazo do projeto Falcão é dia 15."))
    found = of_statement(known, said(9, "user", "Bom dia!"))
    assert (found.stated, found.considered, found.contradictions) == ((), (), ())


def test_what_somebody_said_of_themselves_is_for_them_only():
    known = elsewhere(1, "Meu prazo é dia 15.", user_id="bob")
    assert known
    assert on_subject(known, "prazo", "ana").considered == ()
    assert on_subject(known, "prazo", "bob").considered == known


def test_a_correction_contests_the_claim_and_a_claim_that_is_there_twice_counts_once():
    [claim] = elsewhere(1, "O prazo do projeto Falcão é dia 15.")
    contested = CorrectionIssued(
        correction_id="k", kind="claim", target_id=claim.claim_id, text="não", user_id="ana", correction_kind="factual",
        issued_at=NOON + timedelta(hours=1),
    )  # fmt: skip
    assert [one.status for one in with_corrections([claim, claim], [])] == ["asserted"]
    assert [one.status for one in with_corrections([claim, claim], [contested])] == ["contested"]


def test_of_very_many_claims_the_newest_are_held_against_each_other():
    known = [
        claim
        for number in range(MAX_CLAIMS + 20)
        for claim in elsewhere(number, f"O prazo do projeto P{number} é dia 15.")
    ]
    found = on_subject(known, "prazo", "ana").considered
    assert (len(found), found[0]) == (MAX_CLAIMS, known[-1])
