"""Assistants' turns on their way to `messages.in`, after their callers have them."""

import asyncio
import logging

from schemas.topics import MESSAGES_IN
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.openai.answer import SpokenAnswer
from streams.edges.http.openai.context import GivenContext
from streams.edges.http.request_reply import Exchange, NotReachable
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.ask")
# A broker that is away for longer loses the answer to the conversation, which is logged.
PAUSES_S = (0, 1, 2, 4, 8, 16)


class AnswerFiling:
    """Files answers; a response ends with it, so that a server that ends waits for both."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def file(self, given: GivenContext, spoken: SpokenAnswer) -> None:
        """File what was said, if it answers a question of the conversation."""
        if given.turn is None or not given.filed or spoken.calls_tools or not spoken.text.strip():
            return
        await self._sent(given.turn.answered(spoken.text, given.pack_id, whole=spoken.whole))

    async def _sent(self, record: OutgoingRecord) -> None:
        fits = len(record.value) <= MESSAGES_IN.max_bytes
        why = "this server is ending" if fits else f"it has more than {MESSAGES_IN.max_bytes:,} bytes"
        try:
            for pause in PAUSES_S if fits else ():
                await asyncio.sleep(pause)
                try:
                    await self._exchange.send(record)
                except NotReachable as error:
                    why = str(error)
                else:
                    why = ""
                    return
        finally:
            if why:
                metrics.log(LOG, logging.WARNING, "chat.not_filed", message_id=record.name, why=why)
