"""Consumer groups: joining, staying, leaving, offsets."""

import asyncio

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from tests.contract.broker_cluster import (
    GROUP_MIN_SESSION_MS,
    batch,
    consumer,
    create_topic,
    eventually,
    fresh,
    producer,
    put,
    wire,
)
from tests.contract.broker_member import Member, holds, lone_member, quick

UNKNOWN_TOPIC, OLD_GENERATION, NO_COMMON_PROTOCOL, NO_GROUP_NAME = 3, 22, 23, 24
UNKNOWN_MEMBER, BAD_SESSION, REBALANCING = 25, 26, 27


# Joining


def test_the_leader_sees_the_members_and_each_gets_what_it_assigned(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            first = await lone_member(one, name)
            second = Member(two, name)
            joining = asyncio.ensure_future(second.join(metadata=b"second"))

            async def told() -> bool:
                return await first.heartbeat() == REBALANCING

            await eventually(told)
            seen = await first.join(metadata=b"first")
            followed = await joining
            assert (seen.leader, followed.leader) == (first.id, first.id)
            assert seen.generation == followed.generation == 2
            assert {(m[0], m[2]) for m in seen.members} == {(first.id, b"first"), (second.id, b"second")}
            assert followed.members == []
            waiting = asyncio.ensure_future(second.sync())
            assert await first.sync({first.id: b"1", second.id: b"2"}) == (0, b"1")
            assert await waiting == (0, b"2")
            assert await first.heartbeat() == await second.heartbeat() == 0

    asyncio.run(scenario())


def test_a_join_that_waits_does_not_hold_up_other_connections(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as one, wire(bootstrap) as two, wire(bootstrap) as three:
            first = await lone_member(one, name)
            joining = asyncio.ensure_future(Member(two, name).join())

            async def told() -> bool:
                return await first.heartbeat() == REBALANCING

            await eventually(told)
            assert await asyncio.wait_for(put(three, topic, batch(b"x")), 2) == (0, 0)
            assert not joining.done()
            await first.leave()
            assert (await joining).code == 0

    asyncio.run(scenario())


def test_a_rebalance_ends_without_a_member_that_does_not_come_back(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            stuck = Member(one, name)
            await stuck.join(rebalance_ms=1_000, session_ms=30_000)
            await stuck.sync({stuck.id: b"all"})
            joined = await asyncio.wait_for(Member(two, name).join(rebalance_ms=1_000), 10)
            assert (joined.code, len(joined.members)) == (0, 1)
            assert await stuck.heartbeat() == UNKNOWN_MEMBER

    asyncio.run(scenario())


def test_requests_that_do_not_fit_the_group_are_refused_by_name(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            member = await lone_member(one, name)
            stranger = Member(two, name)
            assert (await stranger.join(protocol="other")).code == NO_COMMON_PROTOCOL
            assert (await Member(two, name).join(session_ms=10)).code == BAD_SESSION
            assert (await Member(two, "").join()).code == NO_GROUP_NAME
            stranger.id, stranger.generation = "nobody", member.generation
            assert await stranger.heartbeat() == UNKNOWN_MEMBER
            assert (await stranger.sync())[0] == UNKNOWN_MEMBER
            member.generation += 1
            assert await member.heartbeat() == OLD_GENERATION
            assert (await member.sync())[0] == OLD_GENERATION

    asyncio.run(scenario())


# Leaving


def test_a_member_that_leaves_hands_over_at_once(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            first = await lone_member(one, name, session_ms=30_000)
            second = Member(two, name)
            joining = asyncio.ensure_future(second.join())

            async def told() -> bool:
                return await first.heartbeat() == REBALANCING

            await eventually(told)
            assert await first.leave() == 0
            joined = await asyncio.wait_for(joining, 3)
            assert (joined.leader, len(joined.members)) == (second.id, 1)

    asyncio.run(scenario())


def test_a_silent_member_is_gone_after_its_session_timeout(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as one:
            member = await lone_member(one, name, session_ms=GROUP_MIN_SESSION_MS)
            outsider = Member(one, name)
            assert await outsider.commit(topic, 1) == UNKNOWN_MEMBER

            async def empty() -> bool:
                return await outsider.commit(topic, 1) == 0

            await eventually(empty, within=8)
            assert await member.heartbeat() == UNKNOWN_MEMBER

    asyncio.run(scenario())


def test_heartbeats_keep_a_member_beyond_its_session_timeout(bootstrap: str) -> None:
    async def scenario() -> None:
        async with wire(bootstrap) as one:
            member = await lone_member(one, fresh("group"), session_ms=GROUP_MIN_SESSION_MS)
            for _ in range(8):
                await asyncio.sleep(GROUP_MIN_SESSION_MS / 4000)
                assert await member.heartbeat() == 0

    asyncio.run(scenario())


# Offsets


def test_only_members_of_the_current_generation_commit(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            member = await lone_member(one, name)
            outsider = Member(two, name)
            assert await outsider.committed(topic) == (-1, "")
            assert await outsider.commit(topic, 5) == UNKNOWN_MEMBER
            assert await member.commit(topic, 7) == 0
            member.generation -= 1
            assert await member.commit(topic, 8) == OLD_GENERATION
            assert await outsider.committed(topic) == (7, "note")

    asyncio.run(scenario())


def test_an_empty_group_takes_offsets_from_anyone_for_topics_that_exist(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as one:
            outsider = Member(one, fresh("group"))
            assert await outsider.commit(topic, 3) == 0
            assert await outsider.committed(topic) == (3, "note")
            assert await outsider.commit(fresh("absent"), 3) == UNKNOWN_TOPIC

    asyncio.run(scenario())


# Real clients


def test_two_consumers_share_the_partitions_and_one_inherits_them(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        topic = await create_topic(bootstrap, partitions=4)
        async with consumer(bootstrap, topic, **quick(name)) as stays:
            await holds(stays, 4)
            async with consumer(bootstrap, topic, **quick(name)) as leaves:
                await holds(stays, 2)
                await holds(leaves, 2)
                assert not stays.assignment() & leaves.assignment()
            await holds(stays, 4)

    asyncio.run(scenario())


def test_a_group_goes_on_where_it_committed(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        topic = await create_topic(bootstrap)
        async with producer(bootstrap) as client:
            for i in range(10):
                await client.send_and_wait(topic, b"%d" % i)
        async with consumer(bootstrap, topic, **quick(name)) as reader:
            for _ in range(4):
                await asyncio.wait_for(reader.getone(), 10)
            await reader.commit({TopicPartition(topic, 0): 4})
        async with consumer(bootstrap, topic, **quick(name)) as reader:
            assert (await asyncio.wait_for(reader.getone(), 10)).value == b"4"

    asyncio.run(scenario())


# Describing


def test_a_group_is_described_with_its_state_and_its_members(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        try:
            async with wire(bootstrap) as one:
                member = await lone_member(one, name)
                [answer] = await admin.describe_consumer_groups([name])
                [(error, group, state, kind, _, members, *_)] = answer.groups
                assert (error, group, state, kind) == (0, name, "Stable", "by-hand")
                assert [each[0] for each in members] == [member.id]
            [answer] = await admin.describe_consumer_groups([fresh("unknown")])
            [(error, _, state, _, _, members, *_)] = answer.groups
            assert (error, state, members) == (0, "Dead", [])
        finally:
            await admin.close()

    asyncio.run(scenario())
