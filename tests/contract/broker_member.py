"""A member of a consumer group by hand: it sends what a real client would not."""

from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer
from aiokafka.protocol import commit, group

from tests.contract.broker_cluster import Wire, eventually

MEMBER_ID_REQUIRED = 79
# Not `consumer`: of those Apache Kafka reads the metadata, and ours is no subscription.
PROTOCOL_TYPE = "by-hand"


class Joined(NamedTuple):
    code: int
    generation: int
    leader: str
    member: str
    members: list[tuple[str, str | None, bytes]]


class Member:
    """One member of a group, by hand, on a connection of its own."""

    def __init__(self, connection: Wire, name: str, instance: str | None = None) -> None:
        self._connection, self.group, self.instance = connection, name, instance
        self.id, self.generation = "", -1

    async def join(
        self, session_ms: int = 10_000, metadata: bytes = b"m", protocol: str = "p", rebalance_ms: int = 10_000
    ) -> Joined:
        def request() -> Any:
            return group.JoinGroupRequest_v5(
                self.group, session_ms, rebalance_ms, self.id, self.instance, PROTOCOL_TYPE, [(protocol, metadata)]
            )

        answer = await self._connection.ask(request())
        if answer.error_code == MEMBER_ID_REQUIRED:
            self.id = answer.member_id
            answer = await self._connection.ask(request())
        if answer.error_code == 0:
            self.id, self.generation = answer.member_id, answer.generation_id
        return Joined(answer.error_code, answer.generation_id, answer.leader_id, answer.member_id, answer.members)

    async def sync(self, assignments: dict[str, bytes] | None = None) -> tuple[int, bytes]:
        request = group.SyncGroupRequest_v3(
            self.group, self.generation, self.id, self.instance, list((assignments or {}).items())
        )
        answer = await self._connection.ask(request)
        return answer.error_code, answer.member_assignment

    async def heartbeat(self) -> int:
        request = group.HeartbeatRequest_v1(self.group, self.generation, self.id)
        return (await self._connection.ask(request)).error_code

    async def leave(self) -> int:
        return (await self._connection.ask(group.LeaveGroupRequest_v1(self.group, self.id))).error_code

    async def commit(self, topic: str, offset: int) -> int:
        request = commit.OffsetCommitRequest_v2(
            self.group, self.generation, self.id, -1, [(topic, [(0, offset, "note")])]
        )
        [(_, [(_, code)])] = (await self._connection.ask(request)).topics
        return code

    async def committed(self, topic: str) -> tuple[int, str]:
        request = commit.OffsetFetchRequest_v1(self.group, [(topic, [0])])
        [(_, [(_, offset, metadata, code)])] = (await self._connection.ask(request)).topics
        assert code == 0
        return offset, metadata


async def lone_member(connection: Wire, name: str, instance: str | None = None, session_ms: int = 10_000) -> Member:
    member = Member(connection, name, instance)
    joined = await member.join(session_ms)
    assert (joined.code, joined.leader) == (0, joined.member)
    assert await member.sync({member.id: b"all"}) == (0, b"all")
    return member


def quick(name: str, **more: Any) -> dict[str, Any]:
    return {"group_id": name, "session_timeout_ms": 3_000, "heartbeat_interval_ms": 100, **more}


async def holds(client: AIOKafkaConsumer, count: int) -> None:
    async def assigned() -> bool:
        return len(client.assignment()) == count

    await eventually(assigned)
