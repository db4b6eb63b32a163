"""A broken connection of aiokafka is a connection error, also under uvloop.

aiokafka expects an `OSError` of a write to a transport that has ended. uvloop raises `RuntimeError`, which nobody there
catches: the task that keeps the metadata ends with it, and the client waits for its coordinator for ever.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from aiokafka.conn import AIOKafkaConnection, CloseReason
from aiokafka.errors import KafkaConnectionError

from streams.stores.guard import is_closed_transport

STOCK_SEND: Final = AIOKafkaConnection.send


def sends(stock: Callable[..., Any]) -> Callable[..., Any]:
    """The method that sends a request, with a connection that has ended told as aiokafka expects it."""

    @wraps(stock)
    def send(self: AIOKafkaConnection, *args: Any, **options: Any) -> Any:
        try:
            return stock(self, *args, **options)
        except RuntimeError as error:
            if not is_closed_transport(error):
                raise
            self.close(reason=CloseReason.CONNECTION_BROKEN)
            raise KafkaConnectionError(f"Connection at {self.host}:{self.port} broken: {error}") from error

    return send


def patch_aiokafka() -> None:
    """From now on all clients of this process; again without effect."""
    if AIOKafkaConnection.send is STOCK_SEND:
        AIOKafkaConnection.send = sends(STOCK_SEND)
