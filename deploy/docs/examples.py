"""The golden examples: one file per message, next to the schemas; used by tests, documents and the demo.

A file holds `description`, `headers` (text), `key` and `value`; the value is the event's JSON, field for field.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

import schemas
from schemas import codec
from schemas.base import Event
from schemas.envelope import Received
from schemas.topics import TOPICS, Topic

EXAMPLES = Path(schemas.__file__).parent / "examples"


@dataclass(frozen=True, slots=True)
class Example:
    """An example message of a topic."""

    topic: Topic
    name: str
    description: str
    headers: dict[str, str]
    key: str
    value: object

    @property
    def raw(self) -> bytes:
        """The value as compact JSON bytes."""
        return orjson.dumps(self.value)

    @property
    def raw_headers(self) -> list[tuple[str, bytes]]:
        return [(name, text.encode()) for name, text in self.headers.items()]

    def received(self, *, partition: int = 0, offset: int = 0, timestamp: int = 0) -> Received[Event]:
        """The decoded record at a log position; `timestamp` in ms since the epoch. Raises `Undecodable`."""
        return codec.decode(
            self.topic,
            self.key.encode(),
            self.raw,
            self.raw_headers,
            partition=partition,
            offset=offset,
            timestamp=timestamp,
        )


def load(folder: Path = EXAMPLES, topics: Iterable[Topic] = TOPICS) -> tuple[Example, ...]:
    """Every example of these topics, by topic and then by name."""
    return tuple(_read(topic, path) for topic in topics for path in sorted((folder / topic.name).glob("*.json")))


def _read(topic: Topic, path: Path) -> Example:
    content = orjson.loads(path.read_bytes())
    return Example(topic, path.stem, content["description"], content["headers"], content["key"], content["value"])
