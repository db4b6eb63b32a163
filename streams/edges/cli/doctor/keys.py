"""Checks of the keys of persons: whether their store answers and keeps them, and whether the master key opens them."""

from urllib.parse import urlsplit

from agents.errors import Unavailable
from streams.config import ConfigError, Settings
from streams.edges.cli.doctor.findings import DOWN, OK, SKIPPED, WARN, WRONG, Finding, found
from streams.edges.cli.doctor.stores import POLICY
from streams.encryption.opening import EMBEDDED, encryption_of
from streams.encryption.records import RecordEncryption
from streams.stores.seen.redis_seen import RedisSeen, look

CHECKS = ("master-key", "keys-policy", "keys-persistence", "keys-apart")


async def keys(settings: Settings) -> list[Finding]:
    """All findings about the keys of persons, where there are any."""
    url = settings.subject_keys
    if url is None:
        return [found(each, SKIPPED, "no FATHOM_SUBJECT_KEYS is set: records are plain") for each in ("keys", *CHECKS)]
    try:
        encryption = encryption_of(settings)
        assert encryption is not None
        opened = await opening(encryption)
        if url.startswith(EMBEDDED):
            rest = [found(each, SKIPPED, "embedded: made and set by Fathom") for each in CHECKS[1:]]
        else:
            rest = [*kept(await look(url)), apart(url, settings.redis_url)]
    except Unavailable as away:
        return [found("keys", DOWN, str(away)), *(found(each, SKIPPED, "no answer") for each in CHECKS)]
    except ConfigError as refused:
        return [found("keys", WRONG, str(refused)), *(found(each, SKIPPED, "refused") for each in CHECKS)]
    return [found("keys", OK, "the store of keys answers"), opened, *rest]


async def opening(encryption: RecordEncryption) -> Finding:
    """Whether the master key opens a key of the store; raises `Unavailable`."""
    try:
        tried = await encryption.open_some()
    except ConfigError as other:
        return found("master-key", WRONG, str(other))
    return found("master-key", OK, f"it opens key {tried}") if tried else found("master-key", SKIPPED, "no keys yet")


def kept(seen: RedisSeen) -> list[Finding]:
    """Whether a server keeps what it is given; a lost key is lost content."""
    state = OK if seen.append_only else WRONG
    return [
        found("keys-policy", OK if seen.policy == POLICY else WRONG, f"maxmemory-policy is {seen.policy}"),
        found("keys-persistence", state, f"appendonly {'yes' if seen.append_only else 'no'}"),
    ]


def apart(url: str, sessions: str) -> Finding:
    """Whether keys lie on another server than the sessions, which may be emptied at any time."""
    one, other = urlsplit(url), urlsplit(sessions)
    same = (one.hostname, one.port or 6379, one.path if one.scheme == "unix" else "") == (
        other.hostname, other.port or 6379, other.path if other.scheme == "unix" else "",
    )  # fmt: skip
    return found("keys-apart", WARN if same else OK, f"{'the' if same else 'not the'} server of FATHOM_REDIS_URL")
