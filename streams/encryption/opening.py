"""The encryption of this process by its settings: one key store, opened once for each place of it."""

import difflib
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from schemas.topics import BY_NAME
from streams.config import ConfigError, Settings, listed
from streams.encryption.records import RecordEncryption
from streams.stores.keys.key_store import KeyStore
from streams.stores.keys.master_key import SETTING, MasterKey, made_master_key, read_master_key
from streams.stores.keys.redis_keys import redis_key_store
from streams.stores.keys.sqlite_keys import SqliteKeyStore

KEYS, PLAIN = "FATHOM_SUBJECT_KEYS", "FATHOM_PLAIN_TOPICS"
EMBEDDED = "embedded"
REDIS = ("redis", "rediss", "unix")
# Where the embedded store lies below its directory, and its master key, unless that is named.
FOLDER, MASTER = "keys", "master.key"


def encryption_of(settings: Settings) -> RecordEncryption | None:
    """What encrypts the records of this process; None without `FATHOM_SUBJECT_KEYS`. Raises `ConfigError`."""
    if settings.subject_keys is None:
        for name, value in ((SETTING, settings.master_key_file), (PLAIN, settings.plain_topics)):
            if value:
                raise ConfigError(f"{name} has no use without {KEYS}; set that too, or take it out")
        return None
    return _opened(settings.subject_keys, settings.master_key_file, settings.plain_topics)


@lru_cache(maxsize=16)
def _opened(url: str, master_file: Path | None, plain: str) -> RecordEncryption:
    topics = listed(plain)
    for unknown in (each for each in topics if each not in BY_NAME):
        near = difflib.get_close_matches(unknown, BY_NAME, n=1)
        raise ConfigError(f"{PLAIN}: there is no topic {unknown!r}{f'; did you mean {near[0]}?' if near else ''}")
    store, master = _store(url, master_file)
    return RecordEncryption(store, master, plain=topics)


def _store(url: str, master_file: Path | None) -> tuple[KeyStore, MasterKey]:
    scheme, _, place = url.partition("://")
    if scheme == EMBEDDED and place:
        directory = Path(place).expanduser() / FOLDER
        store = SqliteKeyStore(directory)
        store.check()
        if master_file is not None:
            return store, read_master_key(master_file)
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            return store, made_master_key(directory / MASTER)
        except OSError as error:
            raise ConfigError(f"{KEYS}={url!r}: {directory}: {error.strerror}; name another directory") from None
    if scheme in REDIS and urlsplit(url).netloc + urlsplit(url).path:
        if master_file is None:
            raise ConfigError(f"{KEYS} on a server needs {SETTING}: the keys there are wrapped by it")
        return redis_key_store(url), read_master_key(master_file)
    raise ConfigError(f"{KEYS}: write embedded://DIR, redis://…, rediss://… or unix://…")
