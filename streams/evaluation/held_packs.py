"""What a context pack holds for whoever reads it, read from its JSON: its texts, its items, what was looked up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streams.evaluation.questions import Evidence, PackQuestion
from streams.evaluation.words import spelled, spelled_all, trigrams

Json = Mapping[str, Any]
# Neither the message itself, nor names of things, nor what people are told about an item.
NO_TEXT = ("query", "title", "reason")
NO_CONTENT = ("signals", "dropped", "already_in_context", "parts")
ALWAYS_THERE = ("working_set", "persona_context", "persona")
WITHOUT_LOOKING = ("working_set", "persona")
# A passage counts as held with so much of its wording: packs carry parts of documents.
WORDING = 0.6
NO_LONGER = ("superseded", "retracted")


@dataclass(frozen=True, slots=True)
class Content:
    """Texts to look for evidence in."""

    spelled: str
    trigrams: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Content":
        kept = list(texts)
        return cls(spelled_all(kept), frozenset().union(*map(trigrams, kept)) if kept else frozenset())

    def holds(self, evidence: Evidence) -> bool:
        if spelled(evidence.text) in self.spelled:
            return True
        if not evidence.passage:
            return False
        wanted = trigrams(evidence.text)
        return len(wanted & self.trigrams) >= WORDING * len(wanted)

    def holds_any(self, question: PackQuestion) -> bool:
        return any(map(self.holds, question.evidence))

    def holds_all(self, question: PackQuestion) -> bool:
        return bool(question.evidence) and all(map(self.holds, question.evidence))

    def says(self, phrase: str) -> bool:
        return bool(phrase.strip()) and spelled(phrase) in self.spelled


def content(pack: Json, earlier: Mapping[str, Json]) -> Content:
    """The texts of a pack, with those that it names as delivered by the pack before it (`earlier`, by pack id)."""
    found = [text for text in strings(pack) if text != pack["query"]]
    return Content.of([*found, *_already(pack, earlier)])


def strings(value: object, key: str = "") -> Iterator[str]:
    """Every text within, but for what is about the pack rather than in it."""
    if isinstance(value, str):
        if key not in NO_TEXT:
            yield value
    elif isinstance(value, dict):
        yield from (text for name, each in value.items() if name not in NO_CONTENT for text in strings(each, name))
    elif isinstance(value, list):
        yield from (text for each in value for text in strings(each, key))


def _already(pack: Json, earlier: Mapping[str, Json]) -> Iterator[str]:
    for reference in pack.get("already_in_context") or ():
        carried = earlier.get(reference["pack_id"])
        for item in items(carried) if carried else ():
            if item["id"] == reference["id"]:
                yield from strings(item)


def items(pack: Json) -> list[Json]:
    """Everything that was retrieved: what has a provenance and is neither the conversation itself nor who asks."""
    return [
        item for name, section in pack.items() if name not in (*ALWAYS_THERE, *NO_CONTENT) for item in _within(section)
    ]


def _within(value: object) -> Iterator[Json]:
    if isinstance(value, dict):
        if "provenance" in value:
            yield value
        else:
            yield from (item for each in value.values() for item in _within(each))
    elif isinstance(value, list):
        yield from (item for each in value for item in _within(each))


def looked(pack: Json) -> bool:
    """Whether anything beyond the working set and the persona was asked for."""
    return bool(asked_of(pack))


def asked_of(pack: Json) -> frozenset[str]:
    """The classes of memory that were looked into, beyond the working set and the persona."""
    asked = {part["memory_class"] for part in pack.get("parts") or () if part["status"] != "skipped"}
    return frozenset(asked.difference(WITHOUT_LOOKING))


def first_right(pack: Json, question: PackQuestion) -> bool:
    """Whether the item of the highest score holds evidence."""
    ranked = sorted(items(pack), key=lambda item: -float(item.get("score", 0.0)))
    return bool(ranked) and Content.of(strings(ranked[0])).holds_any(question)


def newer_marked(pack: Json, held: Content, question: PackQuestion) -> bool:
    """Whether a reader can tell the newer value: it is there, and the older one is absent or marked as over."""
    if question.holds is None or question.was is None or not held.says(question.holds):
        return False
    if not held.says(question.was):
        return True
    found = items(pack)
    current = {str(item["current"]) for item in found if item.get("current")}
    return any(_over(item, question.was) or _current(item, question.holds, current) for item in found)


def _over(item: Json, was: str) -> bool:
    return item.get("status") in NO_LONGER and Content.of(strings(item)).says(was)


def _current(item: Json, holds: str, current: set[str]) -> bool:
    marked = item.get("holds") is True or item.get("claim_id") in current or item.get("status") == "confirmed"
    return marked and Content.of(strings(item)).says(holds)


def found_content(parts: Sequence[Json]) -> Content:
    """The texts of all items that the retrieval stages answered with, before anything was dropped."""
    return Content.of(text for part in parts for item in part.get("items") or () for text in strings(item))
