"""The master key, which wraps the keys of subjects: 32 bytes, in base64 in a file of its own."""

import os
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path
from secrets import token_bytes, token_hex

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from streams.config import ConfigError
from streams.stores.keys.key_store import WrappedKey

BYTES, NONCE = 32, 12
SETTING = "FATHOM_MASTER_KEY_FILE"


class MasterKey:
    """Makes, wraps and unwraps keys of subjects; each is bound to its id."""

    def __init__(self, key: bytes, name: str) -> None:
        self._cipher = AESGCM(key)
        self._name = name

    def fresh(self) -> WrappedKey:
        """A new random key, wrapped."""
        own, nonce = token_hex(8), token_bytes(NONCE)
        return WrappedKey(own, nonce + self._cipher.encrypt(nonce, token_bytes(BYTES), own.encode()))

    def unwrapped(self, key: WrappedKey) -> bytes:
        """The key itself; raises `ConfigError` where another master key has wrapped it."""
        try:
            return self._cipher.decrypt(key.wrapped[:NONCE], key.wrapped[NONCE:], key.id.encode())
        except InvalidTag:
            raise ConfigError(
                f"{SETTING}: {self._name} is not the master key under which the key store was filled; "
                "name the file that the other workers have, or restore it from its backup"
            ) from None


def read_master_key(path: Path) -> MasterKey:
    """The master key of a file; raises `ConfigError`."""
    try:
        key = b64decode(path.read_text().strip(), validate=True)
    except OSError as error:
        raise ConfigError(f"{SETTING}={str(path)!r}: {error.strerror}; {_HOW}") from None
    except ValueError:
        key = b""
    if len(key) != BYTES:
        raise ConfigError(f"{SETTING}={str(path)!r}: it does not hold {BYTES} bytes in base64; {_HOW}")
    return MasterKey(key, str(path))


_HOW = "make one with `openssl rand -base64 32`, readable by its owner only, and keep a copy apart from all data"


def made_master_key(path: Path) -> MasterKey:
    """The master key of a file, which is made where it is not there; of several that make it at a time one wins."""
    if not path.exists():
        fresh = path.with_name(f"{path.name}.{token_hex(8)}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(b64encode(token_bytes(BYTES)) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was faster
                os.link(fresh, path)
        finally:
            fresh.unlink()
    return read_master_key(path)
