"""Port of how far writers are: what is in the log may not be in the stores yet."""

from datetime import datetime
from typing import Protocol

from schemas.topics import Topic


class WriterProgress(Protocol):
    async def behind(self, topic: Topic, by: datetime) -> str | None:
        """Why a record that a topic had at a time may not be stored yet; None once all of them are.

        Raises `Unavailable`.
        """
