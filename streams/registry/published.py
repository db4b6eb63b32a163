"""The JSON Schemas of this version and of released ones, and the rule of compatibility of each topic."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.base import Event
from schemas.json_schema import file_name, schema_of
from schemas.topics import TOPICS, Topic
from streams.registry.compatibility import Breaks, SchemaChange, changes

RELEASED = Path(__file__).resolve().parents[2] / "schemas" / "released"
SUFFIX = ".schema.json"
Schemas = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class PublishedSchema:
    """The schema of an event on its topic."""

    topic: Topic
    event: type[Event]

    @property
    def name(self) -> str:
        """Its `ce_type`."""
        return self.event.TYPE

    @property
    def file(self) -> str:
        return file_name(self.event)

    @property
    def subject(self) -> str:
        """Its name in a registry: Confluent's TopicRecordNameStrategy, for a topic may have several events."""
        return f"{self.topic.name}-{self.name}"

    @property
    def rule(self) -> str:
        """Its compatibility in the words of registries.

        Outsiders read what goes out with the schema of their day. Elsewhere readers are upgraded before writers.
        """
        return "FULL_TRANSITIVE" if self.topic.name.endswith(".out") else "BACKWARD_TRANSITIVE"

    def content(self) -> Mapping[str, Any]:
        return schema_of(self.event, self.topic)

    def breaking(self, found: SchemaChange) -> bool:
        """Whether the rule forbids a change."""
        forbidden = Breaks.BOTH if self.rule.startswith("FULL") else Breaks.BACKWARD
        return bool(found.breaks & forbidden)


PUBLISHED: tuple[PublishedSchema, ...] = tuple(
    PublishedSchema(topic, event) for topic in TOPICS for event in topic.events
)
BY_TYPE: Mapping[str, PublishedSchema] = {each.name: each for each in PUBLISHED}


def released() -> tuple[str, ...]:
    """The versions whose schemas are kept, the newest last."""
    return tuple(sorted((path.stem for path in RELEASED.glob("*.json")), key=lambda name: [*map(int, name.split("."))]))


def read(place: str) -> Schemas:
    """The schemas, by `ce_type`, of a released version, or of a folder that `fathom schema gen` wrote.

    Raises `OSError` for a place that cannot be read, `ValueError` for a file that is no schema.
    """
    if place in released():
        found: Schemas = json.loads((RELEASED / f"{place}.json").read_text(encoding="utf-8"))
        return found
    files = sorted(Path(place).glob(f"*{SUFFIX}"))
    if not files:
        raise FileNotFoundError(2, f"no {SUFFIX} files, and no version of {', '.join(released())}", place)
    return {path.name.removesuffix(SUFFIX): _of_file(path) for path in files}


def _of_file(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: no schema: it is no object")
    return found


def since(old: Schemas) -> dict[str, list[SchemaChange]]:
    """What changed from these schemas to this version's, by `ce_type`; those that are new or alike are left out."""
    found = {name: changes(schema, BY_TYPE[name].content()) for name, schema in old.items() if name in BY_TYPE}
    return {name: found[name] for name in sorted(found) if found[name]}
