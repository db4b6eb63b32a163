"""Progress beside the pipeline: every message's, once, and none where it is off."""

from collections.abc import Iterator

import pytest

from agents.core.progress.reduction import snapshot
from schemas.progress import ProgressMade
from schemas.topics import CONTEXT_PACKS, PROGRESS_EVENTS
from streams.testing.pipeline import Pipeline
from tests.builders.progress_job import LAW, ON, RULINGS

QUESTION = "O adicional de insalubridade é devido ao empregado do frigorífico e quanto dura o intervalo de almoço?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(**ON) as made:
        made.document("clt", "CLT", LAW)
        made.document("julgados", "Julgados", RULINGS)
        yield made


def events(fathom: Pipeline) -> list[ProgressMade]:
    return [each.event for each in fathom.events(PROGRESS_EVENTS)]


@pytest.mark.covers("S2-135", "AC-80")
def test_a_message_is_told_of_under_its_conversation(fathom: Pipeline) -> None:
    message = fathom.say(QUESTION)
    made = fathom.events(PROGRESS_EVENTS)
    assert {each.event.message_id for each in made} == {message}
    assert {each.key for each in made} == {fathom.conversation("c1").key()}
    assert {each.envelope.tenant for each in made} == {"acme"}
    assert len({each.envelope.id for each in made}) == len(made)
    assert next(each.event.type for each in made if each.event.stage == "pack") == "PACK_PLANNED"
    state = snapshot(message, events(fathom))
    assert (state["pack"]["status"], state["cognition"]["status"]) == ("complete", "complete")


@pytest.mark.covers("AC-68")
def test_with_cognition_off_there_is_no_event_of_it(fathom: Pipeline) -> None:
    with Pipeline(**{**ON, "rag_enable_cograg": False}) as plain:
        plain.document("clt", "CLT", LAW)
        plain.document("julgados", "Julgados", RULINGS)
        plain.say(QUESTION)
        fathom.say(QUESTION)
        assert {event.stage for event in events(plain)} == {"pack"}
        [planned] = [event for event in events(plain) if event.type == "PACK_PLANNED"]
        assert planned.data["cognition"] is False
        [told] = [event for event in events(fathom) if event.type == "PACK_PLANNED"]
        assert told.data["cognition"] is True
        packs = [[each.event.model_dump_json() for each in one.events(CONTEXT_PACKS)] for one in (plain, fathom)]
        assert packs[0] == packs[1]


def test_where_it_is_off_no_record_is_made_and_the_pack_is_the_same(fathom: Pipeline) -> None:
    with Pipeline(**{**ON, "progress": False}) as silent:
        silent.document("clt", "CLT", LAW)
        silent.document("julgados", "Julgados", RULINGS)
        silent.say(QUESTION)
        fathom.say(QUESTION)
        assert events(silent) == []
        packs = [[each.event.model_dump_json() for each in one.events(CONTEXT_PACKS)] for one in (silent, fathom)]
        assert packs[0] == packs[1]


def test_a_group_that_dies_tells_nothing_twice(fathom: Pipeline) -> None:
    fathom.say(QUESTION)
    fathom.crash("progress")
    fathom.settle()
    fathom.say("Obrigado!")
    packs = [event for event in events(fathom) if event.stage == "pack"]
    assert len({(event.job_id, event.seq) for event in packs}) == len(packs)
    again = [event for event in events(fathom) if event.type == "PACK_PLANNED"]
    assert [event.data["cognition"] for event in again] == [True, False]


def test_two_tenants_with_the_same_message_have_events_of_their_own(fathom: Pipeline) -> None:
    for tenant in ("acme", "beta"):
        fathom.say("Bom dia!", tenant=tenant, message_id="m1")
    made = fathom.events(PROGRESS_EVENTS)
    jobs = {each.envelope.tenant: each.event.job_id for each in made}
    assert len(set(jobs.values())) == 2
    assert all(each.key.startswith(f"{each.envelope.tenant}|") for each in made)
