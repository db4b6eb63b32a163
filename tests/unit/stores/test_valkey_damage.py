"""Last words of a session server that ended at its start: what says that its files are damaged, and what does not."""

import pytest

from streams.stores.sessions.valkey import tells_damage

BAD_AOF = "Bad file format reading the append only file appendonly.aof.1.incr.aof: make a backup of your AOF file"
STOPPED = """Received SIGTERM scheduling shutdown...
User requested shutdown...
Calling fsync() on the AOF file.
Removing the unix socket file.
Valkey is now ready to exit, bye bye..."""


@pytest.mark.parametrize(
    ("said", "damaged"),
    [
        (BAD_AOF, True),
        ("Short read or OOM loading DB. Unrecoverable error, aborting now.", True),
        ("Can't open the append only file: Permission denied", False),
        (STOPPED, False),
    ],
)
def test_an_orderly_stop_and_a_full_disk_are_no_damage(said: str, damaged: bool) -> None:
    assert tells_damage(said) is damaged
