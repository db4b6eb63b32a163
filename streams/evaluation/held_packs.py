"""The content of context packs, read from their JSON: texts, items, searched memory classes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.base import JsonObject
from streams.evaluation.questions import Evidence, PackQuestion
from streams.evaluation.words import spelled, spelled_all, trigrams

# Fields that are not content: the message itself, titles, and explanations for people.
NO_TEXT = ("query", "title", "reason")
NO_CONTENT = ("signals", "dropped", "already_in_context", "parts")
ALWAYS_THERE = ("working_set", "persona_context", "persona")
WITHOUT_LOOKING = ("working_set", "persona")
# The share of a passage's trigrams that counts as containing it, since packs carry parts of documents.
WORDING = 0.6
NO_LONGER = ("superseded", "retracted")


@dataclass(frozen=True, slots=True)
class Content:
    """Texts prepared for the search for evidence."""

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


def content(pack: JsonObject, earlier: Mapping[str, JsonObject]) -> Content:
    """The texts of a pack, including items delivered by an earlier pack that it refers to (`earlier`, by pack id)."""
    found = [text for text in strings(pack) if text != pack["query"]]
    return Content.of([*found, *_already(pack, earlier)])


def strings(value: object, key: str = "") -> Iterator[str]:
    """All texts in a JSON value, without metadata about the pack."""
    if isinstance(value, str):
        if key not in NO_TEXT:
            yield value
    elif isinstance(value, dict):
        yield from (text for name, each in value.items() if name not in NO_CONTENT for text in strings(each, name))
    elif isinstance(value, list):
        yield from (text for each in value for text in strings(each, key))


def _already(pack: JsonObject, earlier: Mapping[str, JsonObject]) -> Iterator[str]:
    for reference in pack.get("already_in_context") or ():
        carried = earlier.get(reference["pack_id"])
        for item in items(carried) if carried else ():
            if item["id"] == reference["id"]:
                yield from strings(item)


def items(pack: JsonObject) -> list[JsonObject]:
    """The retrieved items: those with a provenance, without the conversation itself and the persona."""
    return [
        item for name, section in pack.items() if name not in (*ALWAYS_THERE, *NO_CONTENT) for item in _within(section)
    ]


def _within(value: object) -> Iterator[JsonObject]:
    if isinstance(value, dict):
        if "provenance" in value:
            yield value
        else:
            yield from (item for each in value.values() for item in _within(each))
    elif isinstance(value, list):
        yield from (item for each in value for item in _within(each))


def looked(pack: JsonObject) -> bool:
    """Whether any memory beyond the working set and the persona was searched."""
    return bool(asked_of(pack))


def asked_of(pack: JsonObject) -> frozenset[str]:
    """The memory classes that were searched, beyond the working set and the persona."""
    asked = {part["memory_class"] for part in pack.get("parts") or () if part["status"] != "skipped"}
    return frozenset(asked.difference(WITHOUT_LOOKING))


def first_right(pack: JsonObject, question: PackQuestion) -> bool:
    """Whether the item with the highest score contains evidence."""
    ranked = sorted(items(pack), key=lambda item: -float(item.get("score", 0.0)))
    return bool(ranked) and Content.of(strings(ranked[0])).holds_any(question)


def newer_marked(pack: JsonObject, held: Content, question: PackQuestion) -> bool:
    """Whether the pack identifies the newer value: it is there, and the older one is absent or marked as replaced."""
    if question.holds is None or question.was is None or not held.says(question.holds):
        return False
    if not held.says(question.was):
        return True
    found = items(pack)
    current = {str(item["current"]) for item in found if item.get("current")}
    return any(_over(item, question.was) or _current(item, question.holds, current) for item in found)


def _over(item: JsonObject, was: str) -> bool:
    return item.get("status") in NO_LONGER and Content.of(strings(item)).says(was)


def _current(item: JsonObject, holds: str, current: set[str]) -> bool:
    marked = item.get("holds") is True or item.get("claim_id") in current or item.get("status") == "confirmed"
    return marked and Content.of(strings(item)).says(holds)


def found_content(parts: Sequence[JsonObject]) -> Content:
    """The texts of all items from the retrieval stages, before any were dropped."""
    return Content.of(text for part in parts for item in part.get("items") or () for text in strings(item))
