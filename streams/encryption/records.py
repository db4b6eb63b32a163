"""Encryption of records at the boundary of Kafka's clients: AES-256-GCM under the keys of their subjects.

A value is a nonce of 12 bytes and the ciphertext with its tag; topic, record key and key ids are authenticated, offset
and partition are not, since the broker gives them. Of several subjects all keys are needed: the record's key is derived
from all (HKDF-SHA-256), so that it can be read while all exist.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from secrets import token_bytes
from typing import TypeVar

from aiokafka import ConsumerRecord, TopicPartition
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from agents.core.caching.lru import ByteCache
from schemas.envelope import ERASED, KEYS_HEADER, ErasedValue
from streams.encryption.subjects import REPLAYED, subjects_of
from streams.stores.keys.key_store import DestroyedKey, KeyStore, WrappedKey
from streams.stores.keys.master_key import BYTES, NONCE, MasterKey

V = TypeVar("V")
Headers = Sequence[tuple[str, bytes]]
Batches = Mapping[TopicPartition, Sequence[ConsumerRecord]]
# After so long a destroyed key is in no process any more; every key in use is asked for again as often.
FRESH_S = 5.0
CIPHER_BYTES = 1_000
VERSION = b"fathom.record.v1"


class _Fresh(ByteCache[str, tuple[V, float]]):
    """The last used entries, each for a time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__("person_keys")
        self._clock = clock

    def known(self, name: str) -> V | None:
        """The entry, while it is fresh."""
        found = self.get(name)
        return None if found is None or found[1] <= self._clock() else found[0]


class RecordEncryption:
    """Encrypts and decrypts records of one process; keys are cached for `FRESH_S`."""

    def __init__(
        self,
        store: KeyStore,
        master: MasterKey,
        *,
        plain: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self._master = master
        self._plain = frozenset(plain)
        self._clock = clock
        self._ids: _Fresh[str] = _Fresh(clock)  # by subject
        self._ciphers: _Fresh[AESGCM | DestroyedKey] = _Fresh(clock)  # by the header

    async def encrypted(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Headers
    ) -> tuple[bytes | None, Headers]:
        """Value and headers to send; as they are for a record of nobody, or one that is encrypted already.

        Raises `Unavailable`; never falls back to plain text.
        """
        if value is None or topic.partition(REPLAYED)[0] in self._plain:
            return value, headers
        if isinstance(value, ErasedValue):
            raise ValueError(f"an erased record cannot be sent to {topic}")
        if any(name == KEYS_HEADER for name, _ in headers):
            return value, headers
        subjects = subjects_of(topic, key, value, headers)
        if not subjects:
            return value, headers
        said, cipher = await self._current(subjects)
        nonce = token_bytes(NONCE)
        sealed = nonce + cipher.encrypt(nonce, value, _bound(said, topic, key))
        return sealed, [*headers, (KEYS_HEADER, said.encode())]

    async def decrypted(self, found: Batches) -> dict[TopicPartition, list[ConsumerRecord]]:
        """The records in plain, without the header of their keys; an erased one has the value `ERASED`.

        One under unknown keys, or changed since, stays as it is: the codec refuses it. Raises `Unavailable`.
        """
        wanted = {said for records in found.values() for each in records if (said := keys_of(each.headers)) is not None}
        if not wanted:
            return {tp: [*records] for tp, records in found.items()}
        ciphers = await self._ciphers_of(wanted)
        return {tp: [_opened(each, ciphers) for each in records] for tp, records in found.items()}

    async def subjects_key(self, subject: str) -> str | None:
        """The id of a subject's key; None where it has none."""
        found = (await self.store.current([subject])).get(subject)
        return None if found is None else found.id

    async def open_some(self) -> str | None:
        """The id of a key of the store, which the master key opens; None where the store has none.

        Raises `ConfigError` where the master key is another one, `Unavailable`.
        """
        key = await self.store.any()
        if key is None:
            return None
        self._master.unwrapped(key)
        return key.id

    async def _current(self, subjects: Sequence[str]) -> tuple[str, AESGCM]:
        """The header and the cipher of these subjects; keys that are missing are made."""
        while True:
            said = ",".join(sorted([self._ids.known(each) or await self._id_of(each) for each in subjects]))
            cipher = self._ciphers.known(said) or (await self._ciphers_of([said])).get(said)
            if isinstance(cipher, AESGCM):
                return said, cipher
            for each in subjects:  # a key was destroyed since the subject was last asked for: it gets another one
                self._ids.pop(each)

    async def _id_of(self, subject: str) -> str:
        until = self._clock() + FRESH_S
        key = (await self.store.current([subject])).get(subject)
        own = (key or await self.store.add(subject, self._master.fresh())).id
        self._ids.put(subject, (own, until))
        return own

    async def _ciphers_of(self, wanted: Iterable[str]) -> dict[str, AESGCM | DestroyedKey]:
        """The cipher of each header, or the destroyed key of those that it names; none for unknown keys."""
        found = {said: self._ciphers.known(said) for said in wanted}
        missing = [said for said, cipher in found.items() if cipher is None]
        if missing:
            until = self._clock() + FRESH_S
            keys = await self.store.by_id({own for said in missing for own in said.split(",")})
            for said in missing:
                found[said] = made = self._made([keys.get(own) for own in said.split(",")])
                if made is not None:
                    self._ciphers.put(said, (made, until), CIPHER_BYTES)
        return {said: cipher for said, cipher in found.items() if cipher is not None}

    def _made(self, keys: Sequence[WrappedKey | DestroyedKey | None]) -> AESGCM | DestroyedKey | None:
        there = [each for each in keys if isinstance(each, WrappedKey)]
        if len(there) < len(keys):
            return next((each for each in keys if isinstance(each, DestroyedKey)), None)
        parts = [self._master.unwrapped(each) for each in there]
        if len(parts) == 1:
            return AESGCM(parts[0])
        return AESGCM(HKDF(SHA256(), BYTES, salt=None, info=VERSION).derive(b"".join(parts)))


def keys_of(headers: Headers) -> str | None:
    """The ids of the keys that a record is encrypted under, with commas, by its headers; None for a plain one."""
    # From the end: it is the last header that a record gets.
    return next((value.decode(errors="replace") for name, value in reversed(headers) if name == KEYS_HEADER), None)


def _opened(record: ConsumerRecord, ciphers: Mapping[str, AESGCM | DestroyedKey]) -> ConsumerRecord:
    said, value = keys_of(record.headers), record.value
    cipher = ciphers.get(said) if said is not None else None
    if said is None or cipher is None or value is None:
        return record
    headers = tuple(each for each in record.headers if each[0] != KEYS_HEADER)
    if isinstance(cipher, DestroyedKey):
        return replace(record, value=ERASED, headers=headers)
    try:
        plain = cipher.decrypt(value[:NONCE], value[NONCE:], _bound(said, record.topic, record.key))
    except (InvalidTag, ValueError):
        return record
    return replace(record, value=plain, headers=headers)


def _bound(said: str, topic: str, key: bytes | None) -> bytes:
    return b"\0".join((VERSION, said.encode(), topic.encode(), b"-" if key is None else b"+" + key))
