"""The contract of working sets that follow the log: what is not whole says so, and is restored from outcomes."""

import pytest

from agents.core.conversation.session_state import TurnOutcome
from agents.errors import ViewIncomplete
from schemas.base import Conversation, Source
from schemas.chat import Turn
from streams.stores.sessions.redis_working_sets import KNOWN_MESSAGES
from tests.contract.working_sets import talk, turn


def following(kit, partitions=3) -> None:
    kit.store.follow(partitions, lambda conversation: len(conversation.client_id) % partitions)


def outcome(conversation: Conversation, number: int, frame="f1") -> TurnOutcome:
    """A turn as the log has it."""
    said = turn(number, frame)
    return TurnOutcome(
        turn=Turn(
            message_id=f"m{number}",
            role="assistant",
            content=said.content,
            conversation_id=conversation.conversation_id,
            client_id=conversation.client_id,
            user_id="ana",
            created_at=said.created_at,
            seq=number,
            frame_id=frame,
            lang="pt",
            source=Source(topic="messages.in", partition=0, offset=number),
        )
    )


def restored(kit, conversation, numbers, partition=0, keep=400, frame="f1") -> int:
    """Restore a partition of one conversation; how many turns were lacking."""

    async def story() -> int:
        token = await kit.store.start_restore(partition)
        found = [outcome(conversation, number, frame) for number in numbers]
        lacking = await kit.store.restore(conversation, partition, token, found, keep)
        await kit.store.complete_restore(partition, token)
        return lacking

    return kit.runner.run(story())


def emptied(kit) -> None:
    kit.store.clear() if kit.client is None else kit.runner.run(kit.client.flushall())


@pytest.mark.covers("CF-85", "AC-44")
def test_a_partition_that_was_not_restored_answers_nothing(kit):
    emptied(kit)
    following(kit)
    conversation = talk()
    calls = [
        lambda: kit.open(conversation),
        lambda: kit.append(conversation, 1),
        lambda: kit.turns(conversation),
        lambda: kit.session_turns(conversation),
        lambda: kit.frame_of(conversation, "m1"),
    ]
    for call in calls:
        with pytest.raises(ViewIncomplete, match="partition 0 is behind the log"):
            call()
    assert kit.runner.run(kit.store.incomplete_partitions({0, 1, 2})) == {0, 1, 2}
    restored(kit, conversation, [])
    assert kit.runner.run(kit.store.incomplete_partitions({0, 1, 2})) == {1, 2}
    for call in calls:
        call()


@pytest.mark.covers("CF-85", "AC-44", "S1-L2")
def test_emptied_it_is_restored_with_turns_session_and_outcomes(kit):
    following(kit)
    conversation = talk()
    assert restored(kit, conversation, range(6)) == 6
    emptied(kit)
    with pytest.raises(ViewIncomplete):
        kit.open(conversation)
    assert restored(kit, conversation, range(4)) == 4
    opened = kit.open(conversation, "m3", limit=2)
    assert [each.seq for each in opened.turns] == [2, 3]
    assert opened.turns[-1].frame_id == "f1"
    assert (opened.session.frame_id, opened.session.last_seq, opened.session.frames) == ("f1", 3, ("f1",))
    assert opened.outcome == outcome(conversation, 3).kept()
    assert kit.frame_of(conversation, "m0") == "f1"
    assert kit.session_turns(conversation) == [0, 1, 2, 3]


def test_restored_twice_nothing_changes_and_what_is_lacking_is_put_in_its_place(kit):
    following(kit)
    conversation = talk()
    assert restored(kit, conversation, [0, 1, 4]) == 3
    assert restored(kit, conversation, [0, 1, 4]) == 0
    kit.append(conversation, 5, outcome=b"lived")
    assert restored(kit, conversation, range(6)) == 2
    assert kit.turns(conversation) == kit.session_turns(conversation) == [0, 1, 2, 3, 4, 5]
    opened = kit.open(conversation, "m5")
    assert (opened.session.last_seq, opened.outcome) == (5, b"lived")
    kit.append(conversation, 2, outcome=b"again")
    assert kit.turns(conversation) == [0, 1, 2, 3, 4, 5]


def test_restored_frames_are_kept_apart_and_bounded(kit):
    following(kit)
    conversation = talk()
    restored(kit, conversation, range(5), frame="f1", keep=3)
    restored(kit, conversation, range(5, 7), frame="f2", keep=3)
    assert (kit.turns(conversation, "f1"), kit.turns(conversation, "f2")) == ([2, 3, 4], [5, 6])
    assert kit.session_turns(conversation) == list(range(7))
    assert kit.open(conversation).session.frames == ("f1", "f2")


def test_only_so_many_messages_are_told_apart_after_a_restoration(kit):
    following(kit)
    conversation = talk()
    restored(kit, conversation, range(KNOWN_MESSAGES + 3))
    assert [kit.frame_of(conversation, f"m{number}") for number in (2, 3)] == [None, "f1"]
    restored(kit, conversation, range(KNOWN_MESSAGES + 4))
    assert [kit.frame_of(conversation, f"m{number}") for number in (3, 4)] == [None, "f1"]
    assert [kit.open(conversation, f"m{number}").outcome is None for number in (3, 4)] == [True, False]


@pytest.mark.parametrize(
    "disturbed", [emptied, lambda kit: kit.runner.run(kit.store.start_restore(0))], ids=["emptied", "taken"]
)
def test_whoever_was_interrupted_cannot_say_that_a_partition_is_whole(kit, disturbed):
    following(kit)
    conversation = talk()
    token = kit.runner.run(kit.store.start_restore(0))
    kit.runner.run(kit.store.restore(conversation, 0, token, [outcome(conversation, 0)], 400))
    disturbed(kit)
    with pytest.raises(ViewIncomplete):
        kit.runner.run(kit.store.restore(conversation, 0, token, [outcome(conversation, 1)], 400))
    with pytest.raises(ViewIncomplete):
        kit.runner.run(kit.store.complete_restore(0, token))
    assert 0 in kit.runner.run(kit.store.incomplete_partitions({0}))
