"""Working sets on a real Redis: what survives its restarts, and what a worker hears when it cannot be used."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from agents.core.conversation.memory import Session, turn_of
from agents.errors import Unavailable, ViewIncomplete
from schemas.base import Conversation
from streams.runtime.stores import StoreSettings, open_stores
from streams.stores.guard import CircuitBreaker
from streams.stores.sessions.redis_calls import RedisView, is_outage
from streams.stores.sessions.redis_working_sets import RedisWorkingSets, connect
from tests.servers.fault_proxy import HOST, FaultProxy, Mode
from tests.servers.redis import RedisServer

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TALK = Conversation(tenant="acme", client_id="web", conversation_id="c1")


def talk(number: int) -> Conversation:
    return Conversation(tenant="acme", client_id="web", conversation_id=f"c{number}")


async def file(sets: RedisWorkingSets, number: int, conversation: Conversation = TALK) -> None:
    turn = turn_of("user", f"pergunta {number}", NOON, {"message_id": f"m{number}", "seq": number})
    session = Session(frame_id="f1", last_seq=number)
    await sets.append(conversation, "f1", turn, session, b"decided %d" % number, 400)


async def filed(sets: RedisWorkingSets, conversation: Conversation = TALK) -> list[int]:
    found = await sets.turns(conversation, "f1", up_to_seq=10**6, limit=400)
    return [turn.seq for turn in found]


@asynccontextmanager
async def opened(url: str):
    sets = RedisWorkingSets(connect(url))
    try:
        yield sets
    finally:
        await sets.close()


async def persist(call: Callable[[], Awaitable[None]], within: float = 20.0) -> list[str]:
    """Repeat a call until it succeeds, as a writer does; what it heard until then."""
    heard: list[str] = []
    async with asyncio.timeout(within):
        while True:
            try:
                await call()
            except Unavailable as unavailable:
                heard.append(str(unavailable))
                await asyncio.sleep(0.05)
            else:
                return heard


@pytest.mark.covers("S1-L2", "AC-44")
def test_a_restart_keeps_everything_and_the_same_client_goes_on(own_redis: RedisServer):
    async def story() -> None:
        async with opened(own_redis.url) as sets:
            for number in range(20):
                await file(sets, number)
            await asyncio.to_thread(own_redis.restart)
            await persist(lambda: file(sets, 20))
            assert await filed(sets) == list(range(21))
            assert (await sets.open(TALK, "m7", 5)).outcome == b"decided 7"

    own_redis.start()
    asyncio.run(story())


@pytest.mark.covers("S1-L2", "AC-44")
def test_a_kill_in_the_midst_of_writes_loses_none_that_was_acknowledged(own_redis: RedisServer):
    acknowledged: dict[int, list[int]] = {writer: [] for writer in range(4)}
    enough = asyncio.Event()

    async def write(sets: RedisWorkingSets, writer: int) -> None:
        for number in range(10_000):
            try:
                await file(sets, number, talk(writer))
            except Unavailable:
                return
            acknowledged[writer].append(number)
            if sum(map(len, acknowledged.values())) >= 300:
                enough.set()

    async def story() -> None:
        async with opened(own_redis.url) as sets:
            writers = [asyncio.create_task(write(sets, writer)) for writer in acknowledged]
            await enough.wait()
            await asyncio.to_thread(own_redis.kill)
            await asyncio.gather(*writers)
            await asyncio.to_thread(own_redis.start)
            await persist(sets.ping)
            for writer, numbers in acknowledged.items():
                assert set(numbers[-300:]) <= set(await filed(sets, talk(writer)))

    own_redis.start()
    asyncio.run(story())
    assert sum(map(len, acknowledged.values())) >= 300


@pytest.mark.parametrize(
    ("login", "said"), [(":s3cr3t-wrong@", "invalid username-password pair"), ("", "[Aa]uthentication required")]
)
def test_a_wrong_password_is_one_error_that_says_so_and_repeats_no_secret(tmp_path: Path, login: str, said: str):
    async def story(url: str) -> None:
        async with opened(url) as sets:
            with pytest.raises(Unavailable, match=f"working_set is unavailable: .*{said}") as refused:
                await sets.open(TALK, "m1", 5)
            assert "s3cr3t" not in str(refused.value)
            with pytest.raises(Unavailable, match=said):
                await sets.ping()

    with RedisServer(tmp_path, password="s3cr3t-right") as server:
        asyncio.run(story(server.url.replace(":s3cr3t-right@", login)))


@pytest.mark.parametrize(
    ("broken", "mended", "said"),
    [
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "read only replica"),
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "maxmemory"),
        ("ACL SETUSER default -evalsha -eval", "ACL SETUSER default +@all", "permissions"),
    ],
    ids=["a replica", "full", "forbidden"],
)
def test_a_redis_that_may_not_be_written_is_waited_for_and_nothing_is_lost(
    own_redis: RedisServer, broken: str, mended: str, said: str
):
    async def story() -> None:
        async with opened(own_redis.url) as sets:
            await file(sets, 1)
            admin.execute_command(*broken.split())
            with pytest.raises(Unavailable, match=said):
                await file(sets, 2)
            admin.execute_command(*mended.split())
            assert all(said in heard for heard in await persist(lambda: file(sets, 2)))
            assert await filed(sets) == [1, 2]

    own_redis.start()
    with Redis.from_url(own_redis.url) as admin:
        asyncio.run(story())


def test_a_redis_that_still_loads_its_file_is_waited_for(own_redis: RedisServer):
    async def story() -> None:
        async with opened(own_redis.url) as sets:
            for number in range(1200):
                await file(sets, number)
            own_redis.stop()
            # As slow as one that holds gigabytes: it looks at its connections every 1,024 commands.
            own_redis.settings.append("key-load-delay 150")
            own_redis.launch()
            heard = await persist(lambda: file(sets, 1200))
            assert any("loading the dataset" in each for each in heard), set(heard)
            assert await filed(sets) == list(range(801, 1201))

    own_redis.start()
    asyncio.run(story())


def test_a_worker_opens_its_stores_on_a_redis_server(redis_url: str, tmp_path: Path):
    async def story() -> None:
        assert (await stores.ready())["working_set"] is None
        assert isinstance(stores.working_sets, RedisWorkingSets)
        await stores.close()

    settings = StoreSettings(tmp_path, redis_url=redis_url, qdrant_url="memory://", neo4j_url="memory://")
    stores = open_stores(settings)
    asyncio.run(story())


@pytest.mark.covers("S1-L2", "AC-44", "CF-85")
@pytest.mark.parametrize("ended", ["kill", "stop"])
def test_a_redis_that_was_started_again_may_have_lost_writes_and_is_not_taken_for_whole(
    own_redis: RedisServer, ended: str
):
    async def story() -> None:
        async with opened(own_redis.url) as sets, opened(own_redis.url) as other:
            for each in (sets, other):
                each.follow(2, lambda _: 0)
            for partition in (0, 1):
                await sets.complete_restore(partition, await sets.start_restore(partition))
            await file(sets, 1)
            assert await other.incomplete_partitions({0, 1}) == frozenset()
            await asyncio.to_thread(getattr(own_redis, ended))
            await asyncio.to_thread(own_redis.start)
            await persist(other.ping)
            with pytest.raises(ViewIncomplete):
                await other.open(TALK, "m1", 5)
            await persist(sets.ping)
            with pytest.raises(ViewIncomplete):
                await file(sets, 2)
            assert await sets.incomplete_partitions({0, 1}) == {0, 1}
            await sets.complete_restore(0, await sets.start_restore(0))
            assert (await other.open(TALK, "m1", 5)).outcome == b"decided 1"
            await asyncio.to_thread(lambda: admin.script_flush())
            assert await other.incomplete_partitions({0, 1}) == {1}

    own_redis.start()
    with Redis.from_url(own_redis.url) as admin:
        asyncio.run(story())


def test_a_server_that_ends_what_it_accepts_gets_one_connection_a_call_once_it_is_known(own_redis: RedisServer):
    async def story() -> list[int]:
        opened_by: list[int] = []
        async with FaultProxy(own_redis.port) as way, opened(f"redis://{HOST}:{way.port}/0") as sets:
            guard = CircuitBreaker("tools", timeout=1.0, errors=(RedisError,), is_outage=is_outage, pause=0)
            view = RedisView(sets._client, guard, what="tools")
            await file(sets, 1)
            await way.be(Mode.RESET)
            for call in (*[lambda: view.incomplete_partitions([0])] * 3, sets.ping):
                way.cut()
                before = way.connections
                with pytest.raises(Unavailable):
                    await call()
                opened_by.append(way.connections - before)
            await way.be(Mode.OPEN)
            await persist(lambda: file(sets, 2))
            assert await filed(sets) == [1, 2]
        return opened_by

    own_redis.start()
    first, *later = asyncio.run(story())
    assert first <= 2  # one more where the loop saw the end of the connection before the call
    assert later == [1, 1, 1]


def test_a_server_that_was_restarted_costs_no_call_though_every_connection_is_gone(own_redis: RedisServer):
    async def story() -> None:
        async with FaultProxy(own_redis.port) as way, opened(f"redis://{HOST}:{way.port}/0") as sets:
            await asyncio.gather(*(file(sets, number, talk(number)) for number in range(8)))
            assert way.connections > 4
            way.cut()
            for number in range(8):
                await file(sets, number + 8, talk(number))
            assert [await filed(sets, talk(number)) for number in range(8)] == [[n, n + 8] for n in range(8)]

    own_redis.start()
    asyncio.run(story())
