"""Static members: they come back without a rebalance, and their former selves are fenced."""

import asyncio

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition

from tests.contract.broker_cluster import consumer, create_topic, eventually, fresh, wire
from tests.contract.broker_member import Member, holds, lone_member, quick

NO_COMMON_PROTOCOL = 23
UNKNOWN_MEMBER = 25
FENCED_INSTANCE = 82


def test_a_static_member_comes_back_without_a_rebalance(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        async with wire(bootstrap) as one, wire(bootstrap) as two, wire(bootstrap) as three:
            leader = Member(one, name, "a")
            await leader.join()
            follower = Member(two, name, "b")
            joining = asyncio.ensure_future(follower.join())

            async def both() -> bool:
                await leader.join()
                return joining.done()

            await eventually(both)
            waiting = asyncio.ensure_future(follower.sync())
            await leader.sync({leader.id: b"for a", follower.id: b"for b"})
            await waiting
            again = Member(three, name, "b")
            back = await asyncio.wait_for(again.join(), 3)
            assert (back.code, back.generation) == (0, leader.generation)
            assert back.member != follower.id
            assert await again.sync() == (0, b"for b")
            assert await leader.heartbeat() == 0

    asyncio.run(scenario())


def test_the_former_self_of_a_static_member_is_fenced(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            old = await lone_member(one, name, "a")
            new = Member(two, name, "a")
            assert (await new.join()).code == 0
            assert (await old.sync())[0] == FENCED_INSTANCE
            assert (await old.join()).code == FENCED_INSTANCE
            assert await old.commit(topic, 1) == UNKNOWN_MEMBER
            assert await new.sync() == (0, b"all")
            assert await new.commit(topic, 2) == 0

    asyncio.run(scenario())


def test_a_static_leader_that_comes_back_is_not_asked_to_assign_again(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            old = await lone_member(one, name, "a")
            new = Member(two, name, "a")
            back = await new.join()
            assert (back.code, back.generation, back.members) == (0, old.generation, [])
            assert back.leader == old.id

    asyncio.run(scenario())


def test_a_static_member_may_change_its_subscription_but_not_its_protocol(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            old = await lone_member(one, name, "a")
            back = await Member(two, name, "a").join(metadata=b"another subscription")
            assert (back.code, back.generation) == (0, old.generation)
            assert (await Member(two, name, "a").join(protocol="q")).code == NO_COMMON_PROTOCOL

    asyncio.run(scenario())


class Watch(ConsumerRebalanceListener):
    def __init__(self) -> None:
        self.assigned: list[set[TopicPartition]] = []

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        """Nothing to do: only assignments are watched."""

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self.assigned.append(set(assigned))


def test_a_static_consumer_restarts_without_disturbing_the_other(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("group")
        topic = await create_topic(bootstrap, partitions=2)
        stays = AIOKafkaConsumer(
            bootstrap_servers=bootstrap, group_instance_id="a", **quick(name, session_timeout_ms=10_000)
        )
        watch = Watch()
        stays.subscribe([topic], listener=watch)
        await stays.start()
        options = quick(name, group_instance_id="b", session_timeout_ms=10_000)
        try:
            async with consumer(bootstrap, topic, **options) as first:
                await holds(first, 1)

                async def shared() -> bool:
                    return bool(watch.assigned) and len(watch.assigned[-1]) == 1

                await eventually(shared)
                before = len(watch.assigned)
            async with consumer(bootstrap, topic, **options) as second:
                await holds(second, 1)
                await asyncio.sleep(0.3)
                assert len(watch.assigned) == before
        finally:
            await stays.stop()

    asyncio.run(scenario())
