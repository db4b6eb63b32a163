"""Calls of methods over a private socket to a process of the same user: pickled, and framed by their length.

`(number, method, arguments, options)` goes one way and `(number, error, answer)` the other; number 0 is the greeting.
"""

import asyncio
import logging
import pickle
from collections.abc import Mapping
from typing import Any

from agents.errors import FathomError

GREETING = 0
# The method that takes a call back, by its number.
CANCEL = "cancel"

LOGGER = logging.getLogger("fathom.stores")

# An error on the socket: its class, its `args` and its attributes.
Told = tuple[type[Exception], tuple[object, ...], Mapping[str, object]]


class Link:
    """The client end of the socket: requests carry numbers, answers may come in any order.

    `gone` says of the other process that it has ended.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: str) -> None:
        self._reader = reader
        self._writer = writer
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._gone = gone
        self.broken = False
        self._reading = asyncio.create_task(self._read())

    async def ask(self, method: str, *arguments: object, **options: object) -> Any:
        """The answer; raises what the other process raised, or `ConnectionError` when it is gone."""
        if self.broken:
            raise ConnectionResetError(self._gone)
        self._number += 1
        number, answer = self._number, asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        self._writer.write(framed((number, method, arguments, options)))
        try:
            return await answer
        except asyncio.CancelledError:
            # Nobody waits for it any more: computed all the same, it would make the next ones late, too.
            if not self.broken:
                self._writer.write(framed((number, CANCEL, (), {})))
            raise
        finally:
            self._asked.pop(number, None)

    async def close(self) -> None:
        self._reading.cancel()
        self._writer.close()

    async def _read(self) -> None:
        try:
            while True:
                number, error, found = await received(self._reader)
                answer = self._asked.get(number)
                if answer is None or answer.done():
                    continue  # the caller has timed out
                if error is None:
                    answer.set_result(found)
                else:
                    answer.set_exception(restored(error))
        except Exception as error:  # a frame that cannot be read ends the link as a closed socket does
            if not isinstance(error, OSError | EOFError):
                LOGGER.error("link.bug", exc_info=error)
            self.broken = True
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(ConnectionResetError(self._gone))


def framed(message: object) -> bytes:
    """A message as it goes over the socket."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(4) + body


async def received(reader: asyncio.StreamReader) -> Any:
    """The next message; raises `EOFError` at the end."""
    return pickle.loads(await reader.readexactly(int.from_bytes(await reader.readexactly(4))))


def told(error: Exception, where: str) -> Told:
    """An error as it goes over the socket; one of no class of ours is a bug, and becomes `RuntimeError`."""
    if not isinstance(error, FathomError):
        error = RuntimeError(f"in {where}: {error!r}")
    return type(error), error.args, vars(error)


def restored(told: Told) -> Exception:
    """The error that the other process raised."""
    kind, arguments, attributes = told
    error = kind.__new__(kind, *arguments)  # `args` are not what `__init__` takes
    vars(error).update(attributes)
    return error
