"""Whether a broker answers: one small request now and then, on a connection of its own.

The other connections cannot tell: their requests wait for half a minute and more, behind each other and behind data.
"""

import asyncio
from collections.abc import Callable

from aiokafka.conn import AIOKafkaConnection, collect_hosts, create_conn
from aiokafka.errors import KafkaError
from aiokafka.protocol.metadata import MetadataRequest

from agents.concurrency import timeout
from agents.errors import Unavailable
from streams.kafka import aiokafka_private
from streams.kafka.security import PLAINTEXT, Security

# A broker may be slow: connecting and asking are two round trips, with SASL four.
KEPT_S, NEW_S = 5.0, 8.0


class BrokerProbe:
    """Asks the brokers at `bootstrap` for nothing but an answer; one is enough."""

    def __init__(self, bootstrap: Callable[[], str], security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._security = security
        self._kept: AIOKafkaConnection | None = None

    async def ask(self) -> None:
        """Return once a broker has answered, that of last time first; raises `Unavailable` after 13 s."""
        if self._kept is None or not await self._answers_again(self._kept):
            self._kept = await self._first_to_answer(self._bootstrap())

    def close(self) -> None:
        """Close the connection."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    async def _answers_again(self, kept: AIOKafkaConnection) -> bool:
        answered = False
        try:
            async with timeout(KEPT_S):
                await kept.send(MetadataRequest([]))
            answered = True
        except (KafkaError, OSError):
            pass
        finally:
            if not answered:
                # Also when cancelled: an answer that comes late would be taken for the next one's.
                self.close()
        return answered

    async def _first_to_answer(self, bootstrap: str) -> AIOKafkaConnection:
        why = f"no answer in {NEW_S:g} s"
        asking = [asyncio.ensure_future(self._opened(host, port)) for host, port, _ in collect_hosts(bootstrap)]
        try:
            async with timeout(NEW_S):
                for each in asyncio.as_completed(asking):
                    try:
                        return await each
                    except (KafkaError, OSError) as error:
                        why = str(error) or type(error).__name__
        except TimeoutError:
            pass
        finally:
            for left in asking:
                left.cancel()
                left.add_done_callback(self._close_unless_kept)
        raise Unavailable("broker", f"{bootstrap}: {why}")

    async def _opened(self, host: str, port: int) -> AIOKafkaConnection:
        aiokafka_private.prepare()
        patience_ms = int(2 * NEW_S * 1000)
        connection = await create_conn(
            host, port, request_timeout_ms=patience_ms, client_id="fathom-probe", **self._security.client_options()
        )
        try:
            await connection.send(MetadataRequest([]))
        except BaseException:
            connection.close()
            raise
        return connection

    def _close_unless_kept(self, asked: "asyncio.Future[AIOKafkaConnection]") -> None:
        if not asked.cancelled() and asked.exception() is None and asked.result() is not self._kept:
            asked.result().close()
