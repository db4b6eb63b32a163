"""The group coordinator with a clock of ours: what expires, and when."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from streams.broker.errors import Code, RequestRefused
from streams.broker.groups import Groups, Joined, JoinRequest


@dataclass
class Hours:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def ask(member: str = "", instance: str | None = None, id_required: bool = False, protocols: str = "p") -> JoinRequest:
    known = dict.fromkeys(protocols.split(), b"m")
    return JoinRequest("g", member, instance, "me", 10.0, 60.0, "consumer", known, id_required)


def played(scene: Callable[[Groups, Hours], Awaitable[None]], settle: float = 0.0) -> None:
    async def play() -> None:
        clock = Hours()
        await scene(Groups(clock, settle), clock)

    asyncio.run(play())


async def lone(groups: Groups, clock: Hours, instance: str | None = None) -> Joined:
    joining = groups.join(ask(instance=instance))
    await asyncio.sleep(0)
    groups.tick()
    joined = await joining
    await groups.sync("g", joined.generation, joined.member, instance, [(joined.member, b"all")])
    return joined


def test_a_member_is_expired_exactly_when_its_session_is_over() -> None:
    # 0 s joined ---- 9.9 s alive ---- 10 s expired
    async def scene(groups: Groups, clock: Hours) -> None:
        await lone(groups, clock)
        clock.now = 9.9
        groups.tick()
        assert groups.by_name["g"].state == "Stable"
        clock.now = 10.0
        groups.tick()
        assert (groups.by_name["g"].state, groups.by_name["g"].members) == ("Empty", {})

    played(scene)


def test_who_waits_for_a_rebalance_is_not_expired_meanwhile() -> None:
    # 0 s first is stable -- second joins, waits -- first keeps its heart beating, joins at 30 s
    async def scene(groups: Groups, clock: Hours) -> None:
        first = await lone(groups, clock)
        joining = groups.join(ask())
        for clock.now in (9.0, 18.0, 27.0):
            with pytest.raises(RequestRefused) as told:
                groups.heartbeat("g", first.generation, first.member, None)
            assert told.value.code == Code.REBALANCE_IN_PROGRESS
            groups.tick()
        again = groups.join(ask(first.member))
        assert len((await again).members) == 2
        assert (await joining).generation == 2

    played(scene)


def test_a_rebalance_ends_at_its_timeout_without_who_did_not_come() -> None:
    async def scene(groups: Groups, clock: Hours) -> None:
        slow = await lone(groups, clock)
        joining = groups.join(ask())
        for clock.now in (9.0, 18.0, 27.0, 36.0, 45.0, 54.0, 60.0):
            if clock.now < 60:
                with pytest.raises(RequestRefused):
                    groups.heartbeat("g", slow.generation, slow.member, None)
            groups.tick()
        joined = await joining
        assert [m[0] for m in joined.members] == [joined.member]

    played(scene)


def test_an_absent_static_member_keeps_its_place_until_its_session_ends() -> None:
    async def scene(groups: Groups, clock: Hours) -> None:
        await lone(groups, clock, instance="a")
        joining = groups.join(ask())
        clock.now = 9.0
        groups.tick()
        assert not joining.done()
        clock.now = 10.0
        groups.tick()
        assert len((await joining).members) == 1

    played(scene)


def test_a_new_member_is_given_an_id_to_join_with_and_forgotten_if_it_does_not() -> None:
    async def scene(groups: Groups, clock: Hours) -> None:
        with pytest.raises(RequestRefused) as told:
            groups.join(ask(id_required=True))
        assert told.value.code == Code.MEMBER_ID_REQUIRED
        joining = groups.join(ask(told.value.message, id_required=True))
        groups.tick()
        assert (await joining).member == told.value.message
        with pytest.raises(RequestRefused) as other:
            groups.join(ask(id_required=True))
        clock.now = 10.0
        groups.tick()
        with pytest.raises(RequestRefused) as late:
            groups.join(ask(other.value.message, id_required=True))
        assert late.value.code == Code.UNKNOWN_MEMBER_ID

    played(scene)


def test_a_follower_that_asks_again_is_told_again_and_nobody_else_is_disturbed() -> None:
    async def scene(groups: Groups, clock: Hours) -> None:
        first = await lone(groups, clock)
        joining = groups.join(ask())
        await groups.join(ask(first.member))
        follower = await joining
        assert (await groups.join(ask(follower.member))) == follower
        assert groups.by_name["g"].state == "CompletingRebalance"

    played(scene)


def test_members_that_come_together_share_one_generation_and_their_favourite_protocol() -> None:
    async def scene(groups: Groups, clock: Hours) -> None:
        joining = [groups.join(ask(protocols=p)) for p in ("a b", "b a", "b a c")]
        clock.now = 4.9
        groups.tick()
        assert not any(j.done() for j in joining)
        clock.now = 5.0
        groups.tick()
        joined = [await j for j in joining]
        assert {(j.generation, j.protocol) for j in joined} == {(1, "b")}
        assert [len(j.members) for j in joined] == [3, 0, 0]

    played(scene, settle=5.0)
