"""The contract of the working sets, on the twin, fakeredis, the embedded Valkey, and a real Redis."""

import asyncio
from uuid import uuid4

import pytest

from agents.core.conversation.memory import Session, turn_of
from agents.errors import Rejected
from schemas.depth import Anchor, Reference
from streams.stores.sessions.redis_working_sets import EXPIRE_S, KNOWN_MESSAGES
from tests.contract.working_sets import NOON, talk, turn


def test_an_unknown_conversation_opens_empty(kit):
    opened = kit.open(talk())
    assert (opened.session, opened.turns, opened.outcome) == (Session(), (), None)


@pytest.mark.covers("S1-02", "AC-38")
def test_what_was_filed_comes_back_the_same(kit):
    conversation = talk()
    session = Session(
        frame_id="f1",
        frames=("f0", "f1"),
        anchor=Anchor(topic="férias", terms=("políticas", "férias")),
        lang="pt",
        last_seq=3,
        last_intent="direct_question",
        last_entity="PETR4",
        references=(Reference(kind="ticker", value="PETR4", message_id="m1", at=NOON),),
    )
    kit.append(conversation, 3, session=session, outcome=b"\x00\xffdecided")
    opened = kit.open(conversation, "m3")
    assert opened.session == session
    assert opened.turns == (turn(3),)
    assert opened.outcome == b"\x00\xffdecided"


def test_only_the_message_itself_gets_its_outcome(kit):
    conversation = talk()
    kit.append(conversation, 0, outcome=b"first")
    kit.append(conversation, 1, outcome=b"second")
    assert [kit.open(conversation, each).outcome for each in ("m0", "m1", "m2")] == [b"first", b"second", None]


@pytest.mark.covers("AC-29")
def test_redelivered_message_changes_nothing(kit):
    conversation = talk()
    kit.append(conversation, 0, outcome=b"first")
    kit.append(conversation, 1)
    kit.append(conversation, 0, frame="f9", outcome=b"again")
    opened = kit.open(conversation, "m0")
    assert opened.session.last_seq == 1
    assert [each.seq for each in opened.turns] == [0, 1]
    assert opened.outcome == b"first"
    assert kit.frame_of(conversation, "m0") == "f1"
    assert kit.turns(conversation, "f9") == []


def test_open_gives_the_newest_turns_of_the_current_frame_oldest_first(kit):
    conversation = talk()
    for number in range(6):
        kit.append(conversation, number)
    assert [each.seq for each in kit.open(conversation, limit=4).turns] == [2, 3, 4, 5]
    assert kit.open(conversation, limit=0).turns == ()


@pytest.mark.covers("CF-14", "AC-16")
def test_a_new_frame_starts_empty_and_the_old_one_stays(kit):
    conversation = talk()
    kit.append(conversation, 0)
    kit.append(conversation, 1)
    kit.append(conversation, 2, frame="f2")
    assert [each.seq for each in kit.open(conversation).turns] == [2]
    assert kit.turns(conversation, "f1") == [0, 1]
    assert kit.session_turns(conversation) == [0, 1, 2]


@pytest.mark.covers("CF-83")
def test_a_late_answer_is_filed_in_the_frame_of_its_question(kit):
    conversation = talk()
    kit.append(conversation, 0)
    now = Session(frame_id="f2", frames=("f1", "f2"), last_seq=1)
    kit.append(conversation, 1, frame="f2", session=now)
    assert kit.frame_of(conversation, "m0") == "f1"
    kit.append(conversation, 2, frame="f1", session=now)
    assert kit.turns(conversation, "f1") == [0, 2]
    assert [each.seq for each in kit.open(conversation).turns] == [1]
    assert kit.session_turns(conversation) == [0, 1, 2]


@pytest.mark.covers("CF-85")
def test_turns_after_the_place_that_is_read_are_not_seen(kit):
    conversation = talk()
    for number in range(40):
        kit.append(conversation, number)
    assert kit.turns(conversation, up_to_seq=30, limit=3) == [28, 29, 30]
    assert kit.turns(conversation, up_to_seq=2, limit=3) == [0, 1, 2]
    assert kit.session_turns(conversation, up_to_seq=2, limit=10) == [0, 1, 2]
    assert kit.turns(conversation, up_to_seq=-1, limit=3) == []


def test_a_frame_keeps_its_last_turns_only(kit):
    conversation = talk()
    for number in range(8):
        kit.append(conversation, number, keep=5)
    assert kit.turns(conversation) == [3, 4, 5, 6, 7]


def test_the_oldest_of_many_outcomes_are_forgotten(kit):
    conversation = talk()
    for number in range(KNOWN_MESSAGES + 3):
        kit.append(conversation, number, keep=3, outcome=b"x")
    assert [kit.frame_of(conversation, f"m{number}") for number in (2, 3)] == [None, "f1"]
    assert [kit.open(conversation, f"m{number}").outcome for number in (2, 3)] == [None, b"x"]


@pytest.mark.covers("AC-46", "CF-61", "S1-16")
def test_ids_cannot_imitate_another_conversation(kit):
    tenant = f"t{uuid4().hex[:8]}"
    kit.append(talk(tenant, "a:b", "c"), 0)
    kit.append(talk(tenant, "a|b", "c"), 1)
    kit.append(talk(tenant, "a", "b|c}:turns"), 2)
    assert kit.session_turns(talk(tenant, "a:b", "c")) == [0]
    assert kit.session_turns(talk(tenant, "a", "b:c")) == []
    assert kit.session_turns(talk(tenant, "a", "b|c")) == []
    assert kit.session_turns(talk(tenant, "a", "b|c}")) == []


@pytest.mark.covers("AC-36", "CF-60")
@pytest.mark.parametrize("other", ["ACME", "acme%", "acm", "acme*", "acme|web", "аcme", "acme}", "acme%7Cweb"])
def test_another_tenant_with_the_same_ids_sees_nothing(kit, other):
    mine = f"acme-{uuid4().hex[:8]}"
    kit.append(talk(mine), 0, outcome=b"secret")
    theirs = talk(mine.replace("acme", other))
    assert kit.open(theirs, "m0").turns == ()
    assert kit.open(theirs, "m0").outcome is None
    assert kit.frame_of(theirs, "m0") is None
    assert kit.session_turns(theirs) == []
    assert kit.turns(theirs) == []


def test_frames_cannot_imitate_other_keys(kit):
    conversation = talk()
    kit.append(conversation, 0, frame="f1")
    kit.append(conversation, 1, frame="f1:x")
    assert kit.turns(conversation, "f1") == [0]
    assert kit.turns(conversation, "f1:x") == [1]


def test_nobody_talks_as_the_public_tenant(kit):
    with pytest.raises(Rejected, match="public_tenant_read_only"):
        kit.append(talk("_public"), 0)


def test_a_turn_without_a_message_id_is_refused(kit):
    nameless = turn_of(role="user", content="oi", created_at=NOON, meta={"seq": 1})
    with pytest.raises(ValueError, match="message_id"):
        kit.runner.run(kit.store.append(talk(), "f1", nameless, Session(), b"", 5))


@pytest.mark.parametrize("kit", ["fakeredis", "valkey", "redis-server"], indirect=True)
def test_every_key_carries_the_tenant_and_expires(kit):
    conversation = talk()
    kit.append(conversation, 0)
    keys = [key.decode() for key in kit.runner.run(kit.client.keys(f"*{conversation.tenant}*"))]
    assert len(keys) == 6
    for key in keys:
        assert key.startswith(f"fathom:{{{conversation.key()}}}:")
        assert EXPIRE_S - 60 < kit.runner.run(kit.client.ttl(key)) <= EXPIRE_S


def test_scripts_the_server_has_forgotten_are_sent_again(kit):
    conversation = talk()
    for number in range(3):
        forget_scripts(kit)
        kit.append(conversation, number)
        forget_scripts(kit)
        assert kit.turns(conversation) == list(range(number + 1))


def forget_scripts(kit):
    if kit.client is not None:
        kit.runner.run(kit.client.script_flush())


def test_two_that_append_the_same_message_at_once_file_it_once(kit):
    conversation = talk()
    session = Session(frame_id="f1", last_seq=0)

    async def race():
        await asyncio.gather(
            *(kit.store.append(conversation, "f1", turn(0), session, b"%d" % each, 9) for each in range(8))
        )

    kit.runner.run(race())
    assert kit.turns(conversation) == [0]


def test_cancelled_calls_never_give_somebody_elses_answer(kit):
    conversations = [talk() for _ in range(4)]
    for number, conversation in enumerate(conversations):
        kit.append(conversation, number)

    async def read(number: int) -> None:
        found = await kit.store.open(conversations[number], f"m{number}", 5)
        assert [each.seq for each in found.turns] == [number]

    async def storm() -> None:
        for round_ in range(150):
            tasks = [asyncio.create_task(read(number)) for number in range(4)]
            for _ in range(round_ % 12):
                await asyncio.sleep(0)
            for task in tasks[: round_ % 4]:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(each is None or isinstance(each, asyncio.CancelledError) for each in done)

    kit.runner.run(storm())
