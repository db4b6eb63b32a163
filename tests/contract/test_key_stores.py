"""Key stores: a file and a server keep one key per person, and nothing of a destroyed one but its note."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from agents.errors import Unavailable
from streams import config
from streams.config import ConfigError
from streams.encryption.opening import encryption_of
from streams.stores.keys.key_store import DestroyedKey, KeyStore, WrappedKey
from streams.stores.keys.master_key import made_master_key
from streams.stores.keys.redis_keys import RedisKeyStore
from streams.stores.keys.sqlite_keys import FILE, SqliteKeyStore
from tests.unit.encryption.keys import AT

Open = Callable[[], KeyStore]
ANA, BIA = "acme|ana", "acme|bia"


@pytest.fixture(params=["file", "server"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    if request.param == "file":
        return lambda: SqliteKeyStore(tmp_path)
    url = request.getfixturevalue("redis_url")

    async def emptied() -> None:
        async with Redis.from_url(url) as client:
            await client.flushdb()

    asyncio.run(emptied())
    return lambda: RedisKeyStore(lambda: Redis.from_url(url, protocol=2))


def run(opened: Open, story: Callable[[KeyStore], Awaitable[None]]) -> None:
    @asynccontextmanager
    async def store() -> AsyncIterator[KeyStore]:
        found = opened()
        yield found
        await found.close()

    async def whole() -> None:
        async with store() as found:
            await found.ping()
            await story(found)

    asyncio.run(whole())


def key(number: int) -> WrappedKey:
    return WrappedKey(f"{number:016x}", bytes([0, 255, number]) * 20)


def test_some_key_is_found_while_there_is_one(opened: Open):
    async def story(store: KeyStore) -> None:
        assert await store.any() is None
        await store.add(ANA, key(1))
        await store.add(BIA, key(2))
        assert await store.any() in (key(1), key(2))
        for subject in (ANA, BIA):
            await store.destroy(subject, AT)
        assert await store.any() is None

    run(opened, story)


def test_the_first_key_of_a_person_wins_and_is_found_by_person_and_by_id(opened: Open):
    async def story(store: KeyStore) -> None:
        assert await store.current([ANA]) == {}
        assert await store.add(ANA, key(1)) == key(1)
        assert await store.add(ANA, key(2)) == key(1)
        assert await store.add(BIA, key(3)) == key(3)
        assert await store.current([ANA, BIA, "acme|eva"]) == {ANA: key(1), BIA: key(3)}
        assert await store.by_id([key(1).id, key(2).id, "no such"]) == {key(1).id: key(1)}
        assert await store.by_id([]) == await store.current([]) == {}

    run(opened, story)


def test_many_processes_that_make_the_first_key_at_once_have_one(opened: Open):
    async def story(_: KeyStore) -> None:
        stores = [opened() for _ in range(8)]
        won = await asyncio.gather(*(store.add(ANA, key(number)) for number, store in enumerate(stores)))
        assert len({each.id for each in won}) == 1
        assert await stores[0].current([ANA]) == {ANA: won[0]}
        for store in stores:
            await store.close()

    run(opened, story)


def test_a_destroyed_key_leaves_a_note_and_the_next_one_is_another(opened: Open):
    async def story(store: KeyStore) -> None:
        await store.add(ANA, key(1))
        await store.add(BIA, key(9))
        first = DestroyedKey(key(1).id, AT)
        assert await store.destroy(ANA, AT) == first
        assert await store.destroy(ANA, AT) is None
        assert await store.by_id([key(1).id]) == {key(1).id: first}
        assert await store.current([ANA, BIA]) == {BIA: key(9)}
        assert await store.add(ANA, key(2)) == key(2)
        second = await store.destroy(ANA, AT + timedelta(days=1))
        assert await store.destroyed(ANA) == (first, second)
        assert await store.destroyed(BIA) == ()

    run(opened, story)


def test_the_file_has_no_bytes_of_a_destroyed_key(tmp_path: Path):
    async def story(store: KeyStore) -> None:
        for number in range(50):
            await store.add(f"acme|u{number}", WrappedKey(f"{number:016x}", b"key-%03d-" % number * 8))
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"key-007-" in held
        await store.destroy("acme|u7", AT)
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert (b"key-007-" in held, b"acme|u7\0" in held, b"key-008-" in held) == (False, False, True)
        assert oct((tmp_path / FILE).stat().st_mode & 0o777) == "0o600"

    run(lambda: SqliteKeyStore(tmp_path), story)


def test_a_store_that_does_not_answer_is_unavailable(tmp_path: Path):
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    servers = (SqliteKeyStore(tmp_path), RedisKeyStore(lambda: Redis.from_url("redis://127.0.0.1:1", protocol=2)))
    for store in servers:
        with pytest.raises(Unavailable, match="keys is unavailable"):
            asyncio.run(store.current([ANA]))


def test_the_master_key_is_made_once_for_its_owner_only(tmp_path: Path):
    path = tmp_path / "master.key"
    made = made_master_key(path)
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    fresh = made.fresh()
    assert made_master_key(path).unwrapped(fresh) == made.unwrapped(fresh)
    assert [each.name for each in tmp_path.iterdir()] == ["master.key"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"SUBJECT_KEYS": "http://x"}, "write embedded://DIR, redis://"),
        ({"SUBJECT_KEYS": "embedded://"}, "write embedded://DIR, redis://"),
        ({"SUBJECT_KEYS": "redis://127.0.0.1:6379/3"}, "on a server needs FATHOM_MASTER_KEY_FILE"),
        ({"SUBJECT_KEYS": "embedded://{dir}", "MASTER_KEY_FILE": "{dir}/none"}, "No such file"),
        ({"SUBJECT_KEYS": "embedded://{dir}", "MASTER_KEY_FILE": "{dir}/short"}, "does not hold 32 bytes in base64"),
        ({"MASTER_KEY_FILE": "{dir}/short"}, "has no use without FATHOM_SUBJECT_KEYS"),
        ({"PLAIN_TOPICS": "answers.out"}, "has no use without FATHOM_SUBJECT_KEYS"),
        ({"SUBJECT_KEYS": "embedded://{dir}", "PLAIN_TOPICS": "answer.out"}, "no topic 'answer.out'"),
    ],
)
def test_settings_that_cannot_be_used_are_told_in_a_sentence(tmp_path: Path, given: dict[str, str], says: str):
    (tmp_path / "short").write_text("YWJj\n")
    environment = {f"FATHOM_{name}": value.format(dir=tmp_path) for name, value in given.items()}
    with pytest.raises(ConfigError) as told:
        encryption_of(config.load(environment))
    assert says in str(told.value)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda raw: b"", id="emptied"),
        pytest.param(lambda raw: b"\x17" * len(raw), id="overwritten"),
        pytest.param(lambda raw: raw[: len(raw) // 2], id="halved"),
        pytest.param(lambda raw: raw[:4200] + b"\x17" * 4000 + raw[8200:], id="a-page"),
    ],
)
def test_damaged_keys_are_refused_and_left_as_they_are(tmp_path: Path, damage: Callable[[bytes], bytes]):
    async def story(store: KeyStore) -> None:
        for number in range(200):
            await store.add(f"acme|{number}", key(number))

    run(lambda: SqliteKeyStore(tmp_path / "keys"), story)
    path = tmp_path / "keys" / FILE
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=r"are damaged.*subjects\.sqlite.*put its backup in its place"):
        encryption_of(config.load(subject_keys=f"embedded://{tmp_path}"))
    assert path.read_bytes() == before
