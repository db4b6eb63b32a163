"""A client that comes back to a server it had left looks its views up as if they might lack something."""

import asyncio
from typing import Any

from streams.stores.sessions.redis_calls import SameServer
from streams.stores.sessions.redis_scripts import CHANGED, EPOCHS, NOTICE


class Connection:
    """A connection to the server of a run id, which notes what it is asked."""

    def __init__(self, run: bytes) -> None:
        self.run = run
        self.asked: tuple[Any, ...] = ()

    async def on_connect(self) -> None:
        self.asked = ("prepared",)

    async def send_command(self, *command: Any) -> None:
        assert self.asked == ("prepared",)
        self.asked = command

    async def read_response(self) -> bytes:
        return self.run


def test_each_new_connection_says_which_server_the_last_one_was_to() -> None:
    same, servers = SameServer(), [Connection(run) for run in (b"a", b"a", b"b", b"a")]

    async def story() -> None:
        for connection in servers:
            await same.connected(connection)  # type: ignore[arg-type]

    asyncio.run(story())
    first, *others = [connection.asked for connection in servers]
    assert first == ("EVAL", NOTICE, 1, EPOCHS)
    assert others == [("EVAL", CHANGED, 1, EPOCHS, run) for run in (b"a", b"a", b"b")]
