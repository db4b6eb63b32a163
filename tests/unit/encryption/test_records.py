"""Encryption of records: what is read is what was sent, until a key is destroyed; nothing is ever sent in plain."""

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiokafka import ConsumerRecord, TopicPartition

from agents.core.caching.budget import share_of
from agents.errors import Unavailable
from schemas import codec
from schemas.codec import Undecodable
from schemas.envelope import ERASED, KEYS_HEADER, Erased, KeysNeeded
from schemas.topics import BY_NAME, CONVERSATION_TURNS, MESSAGES_IN
from streams.config import ConfigError
from streams.encryption.records import FRESH_S, RecordEncryption
from streams.stores.keys.master_key import made_master_key
from streams.stores.keys.sqlite_keys import SqliteKeyStore
from tests.unit.encryption.keys import AT, Clock, MemoryKeyStore

TURNS = CONVERSATION_TURNS.name
HEADERS = [("tenant", b"acme"), ("ce_id", b"1")]


def encryption(place: Path, clock: Clock | None = None, **options: Any) -> RecordEncryption:
    return RecordEncryption(SqliteKeyStore(place), made_master_key(place / "m"), clock=clock or Clock(), **options)


def said(user: str, text: str = "zircon", *others: str) -> bytes:
    items = "".join(f',"user_id":"{each}"' for each in others)
    return f'{{"content":"{text}","user_id":"{user}"{items}}}'.encode()


async def sent(own: RecordEncryption, value: bytes, topic: str = TURNS, key: bytes | None = b"acme|web|c") -> Any:
    stored, headers = await own.encrypted(topic, key, value, HEADERS)
    return ConsumerRecord(topic, 0, 5, 1000, 0, key, stored, None, 0, 0, tuple(headers))


async def read(own: RecordEncryption, *found: Any) -> Sequence[Any]:
    tp = TopicPartition(found[0].topic, 0)
    return (await own.decrypted({tp: found}))[tp]


def test_what_is_read_is_what_was_sent_and_the_log_has_nothing_of_it(tmp_path: Path):
    async def story() -> None:
        own = encryption(tmp_path)
        stored = await sent(own, said("ana"))
        assert b"zircon" not in stored.value
        assert stored.headers[-1][0] == KEYS_HEADER
        [found] = await read(own, stored)
        assert (found.value, found.headers, found.offset) == (said("ana"), tuple(HEADERS), 5)
        again = await sent(own, said("ana"))
        assert (again.headers, again.value == stored.value) == (stored.headers, False)
        plain = await sent(own, b'{"number":1}', "audit.heads")
        assert (plain.value, plain.headers) == (b'{"number":1}', tuple(HEADERS))
        assert await read(own, plain) == [plain]

    asyncio.run(story())


@pytest.mark.covers("B24")
def test_a_record_is_erased_with_the_key_of_anybody_whom_it_quotes(tmp_path: Path):
    async def story() -> None:
        clock = Clock()
        own = encryption(tmp_path, clock)
        both, hers = await sent(own, said("ana", "x", "bia")), await sent(own, said("bia"))
        assert [each.value for each in await read(own, both, hers)] == [said("ana", "x", "bia"), said("bia")]
        await own.store.destroy("acme|ana", AT)
        clock.now += FRESH_S
        gone, there = await read(own, both, hers)
        assert (gone.value is ERASED, there.value) == (True, said("bia"))
        with pytest.raises(Erased):
            codec.decode_record(CONVERSATION_TURNS, gone)
        with pytest.raises(ValueError, match="cannot be sent"):
            await own.encrypted("dead-letters.depth", b"k", gone.value, gone.headers)

    asyncio.run(story())


def test_a_person_who_comes_back_gets_another_key_and_only_the_old_records_are_erased(tmp_path: Path):
    async def story() -> None:
        clock = Clock()
        own = encryption(tmp_path, clock)
        old = await sent(own, said("ana", "old"))
        assert await own.store.destroy("acme|ana", AT) is not None
        clock.now += FRESH_S
        new = await sent(own, said("ana", "new"))
        assert [each.value for each in await read(own, old, new)] == [ERASED, said("ana", "new")]
        assert new.headers[-1] != old.headers[-1]
        assert await own.store.destroy("acme|nobody", AT) is None

    asyncio.run(story())


def test_a_destroyed_key_is_out_of_another_process_within_seconds_and_not_before_it_asks(tmp_path: Path):
    async def story() -> None:
        clock = Clock()
        one, other = encryption(tmp_path, clock), encryption(tmp_path, clock)
        stored = await sent(one, said("ana"))
        assert (await read(other, stored))[0].value == said("ana")
        await one.store.destroy("acme|ana", AT)
        clock.now += FRESH_S - 0.01
        assert (await read(other, stored))[0].value == said("ana")
        clock.now += 0.01
        assert (await read(other, stored))[0].value is ERASED
        assert FRESH_S <= 60

    asyncio.run(story())


@pytest.mark.parametrize("change", ["key", "topic", "value", "ids"])
def test_a_record_that_was_changed_or_moved_is_not_read(tmp_path: Path, change: str):
    async def story() -> None:
        own = encryption(tmp_path)
        stored, other = await sent(own, said("ana")), await sent(own, said("bia"))
        match change:
            case "key":
                stored.key = b"acme|web|other"
            case "topic":
                stored.topic = "retrieval.plans"
            case "value":
                stored.value = stored.value[:-1] + bytes([stored.value[-1] ^ 1])
            case "ids":
                stored.headers = other.headers
        [found] = await read(own, stored)
        assert found == stored
        with pytest.raises(KeysNeeded, match=r"FATHOM_SUBJECT_KEYS"):
            codec.decode_record(BY_NAME[found.topic], found)

    asyncio.run(story())


def test_without_the_keys_our_own_topics_stop_and_a_producers_forged_header_is_its_dead_letter(tmp_path: Path):
    async def story() -> None:
        stored = await sent(encryption(tmp_path / "one"), said("ana"))
        with pytest.raises(KeysNeeded, match=r"conversation.turns\[0\]@5 is encrypted"):
            codec.decode_record(CONVERSATION_TURNS, stored)
        [unknown] = await read(encryption(tmp_path / "two"), stored)
        assert unknown == stored
        with pytest.raises(Undecodable, match="keys_needed"):
            codec.decode_record(MESSAGES_IN, stored)

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    asyncio.run(story())


class Away(SqliteKeyStore):
    async def current(self, subjects: Any) -> Any:
        raise Unavailable("keys", "away")

    by_id = current


def test_nothing_goes_out_in_plain_and_nothing_is_erased_while_the_store_is_away(tmp_path: Path):
    async def story() -> None:
        stored = await sent(encryption(tmp_path), said("ana"))
        away = RecordEncryption(Away(tmp_path), made_master_key(tmp_path / "m"))
        with pytest.raises(Unavailable):
            await sent(away, said("ana"))
        with pytest.raises(Unavailable):
            await read(away, stored)

    asyncio.run(story())


def test_topics_that_stay_plain_and_records_that_are_encrypted_already(tmp_path: Path):
    async def story() -> None:
        own = encryption(tmp_path, plain=["answers.out"])
        assert (await sent(own, said("ana"), "answers.out")).value == said("ana")
        assert (await sent(own, said("ana"), "answers.out.replay.x")).value == said("ana")
        stored = await sent(own, said("ana"))
        assert await own.encrypted(TURNS, stored.key, stored.value, stored.headers) == (stored.value, stored.headers)
        assert await own.encrypted(TURNS, b"k", None, HEADERS) == (None, HEADERS)

    asyncio.run(story())


def test_another_master_key_is_told_and_reads_nothing(tmp_path: Path):
    async def story() -> None:
        stored = await sent(encryption(tmp_path), said("ana"))
        wrong = RecordEncryption(SqliteKeyStore(tmp_path), made_master_key(tmp_path / "another"))
        with pytest.raises(ConfigError, match=r"another is not the master key"):
            await read(wrong, stored)

    asyncio.run(story())


def test_many_persons_take_no_more_than_their_share_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(share_of("person_keys"), "allowed", 10_000)

    async def story() -> None:
        own = encryption(tmp_path)
        for number in range(30):
            assert (await read(own, await sent(own, said(f"u{number}"))))[0].value == said(f"u{number}")
        assert 1 <= len(own._ciphers) <= 10
        assert share_of("person_keys").used <= 10_000

    asyncio.run(story())


@pytest.mark.covers("B24")
def test_of_a_thousand_persons_three_hundred_are_erased_and_nobody_else(tmp_path: Path):
    """0 misses and 0 over-deletes: own records, and such that quote two persons."""
    rng = random.Random(24)

    async def story() -> None:
        clock = Clock()
        own = RecordEncryption(MemoryKeyStore(), made_master_key(tmp_path / "m"), clock=clock)
        users = [f"u{number}" for number in range(1_000)]
        quoted = {user: rng.choice(users) for user in users}
        stored = {user: (await sent(own, said(user)), await sent(own, said(user, "x", quoted[user]))) for user in users}
        gone = set(rng.sample(users, 300))
        for user in gone:
            await own.store.destroy(f"acme|{user}", AT)
        clock.now += FRESH_S
        for user, found in stored.items():
            single, pair = await read(own, *found)
            assert (single.value is ERASED) == (user in gone), user
            assert (pair.value is ERASED) == (user in gone or quoted[user] in gone), user
            assert single.value in (ERASED, said(user))
        notes = [len(await own.store.destroyed(f"acme|{user}")) for user in users]
        assert sum(notes) == 300

    asyncio.run(story())
