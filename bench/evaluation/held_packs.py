"""The content of context packs, read from their JSON: texts, items, searched memory classes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agents.core.language.text import content_set
from bench.evaluation.questions import Evidence, PackQuestion
from bench.evaluation.words import spelled_all, tokens, trigrams
from schemas.base import JsonObject
from streams.edges.cli.demo.plain_search import spelled

# Fields that are not content: the message itself, titles, and explanations for people.
NO_TEXT = ("query", "title", "reason")
NO_CONTENT = ("signals", "dropped", "already_in_context", "parts")
# What an item says, apart from ids, times, titles and explanations.
SAID = (
    "text",
    "content",
    "label",
    "name",
    "definition",
    "how_to_terms",
    "subject",
    "attribute",
    "value",
    "explanation",
)
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
        return cls(spelled_all(kept), frozenset().union(*map(trigrams, kept)))

    def holds(self, evidence: Evidence) -> bool:
        if spelled(evidence.text) in self.spelled:
            return True
        wanted = trigrams(evidence.text)
        return evidence.passage and len(wanted & self.trigrams) >= WORDING * len(wanted)

    def holds_any(self, question: PackQuestion) -> bool:
        return any(map(self.holds, question.evidence))

    def holds_all(self, question: PackQuestion) -> bool:
        return bool(question.evidence) and all(map(self.holds, question.evidence))

    def says(self, phrase: str) -> bool:
        return bool(phrase.strip()) and spelled(phrase) in self.spelled


def content(pack: JsonObject, earlier: Mapping[str, JsonObject]) -> Content:
    """What a pack gives to a model, including items delivered by an earlier pack that it refers to (`earlier`, by id).

    That is its `text`; of packs before they had one, whatever they hold.
    """
    found = [pack["text"]] if pack.get("text") else [text for text in strings(pack) if text != pack["query"]]
    for reference in pack.get("already_in_context") or ():
        carried = items(earlier.get(reference["pack_id"], {}))
        found += [text for item in carried if item["id"] == reference["id"] for text in strings(item)]
    return Content.of(found)


def strings(value: object, key: str = "") -> Iterator[str]:
    """All texts in a JSON value, without metadata about the pack."""
    if isinstance(value, str):
        if key not in NO_TEXT:
            yield value
    elif isinstance(value, dict):
        yield from (text for name, each in value.items() if name not in NO_CONTENT for text in strings(each, name))
    elif isinstance(value, list):
        yield from (text for each in value for text in strings(each, key))


def items(pack: JsonObject) -> list[JsonObject]:
    """The retrieved items: those with a provenance, without the conversation itself and the persona."""
    return [
        item for name, section in pack.items() if name not in (*ALWAYS_THERE, *NO_CONTENT) for item in _within(section)
    ]


def _within(value: object) -> Iterator[JsonObject]:
    if isinstance(value, dict) and "provenance" in value:
        yield value
    elif isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        yield from (item for each in inner for item in _within(each))


def source_tokens(item: JsonObject) -> int:
    """The tokens of a retrieved item: as the pack counted them, else estimated."""
    return int(item.get("tokens") or tokens(_saying(item)))


def needed_words(question: PackQuestion) -> frozenset[str]:
    """The stems of the content words of the answers, or without any of the evidence."""
    answers = _stems(question.answers, question.lang)
    return answers or _stems((each.text for each in question.evidence), question.lang)


def needless(pack: JsonObject, question: PackQuestion) -> list[JsonObject]:
    """The retrieved items that hold no needed word."""
    needed = needed_words(question)
    return [item for item in items(pack) if needed.isdisjoint(_stems([_saying(item)], question.lang))]


def _saying(item: JsonObject) -> str:
    return "\n".join(text for name in SAID for text in strings(item.get(name)))


def _stems(texts: Iterable[str], lang: str) -> frozenset[str]:
    return frozenset().union(*(content_set(text, lang) for text in texts))


def asked_of(pack: JsonObject) -> frozenset[str]:
    """The memory classes that were searched, beyond the working set and the persona."""
    asked = {part["memory_class"] for part in pack.get("parts") or () if part["status"] != "skipped"}
    return frozenset(asked.difference(WITHOUT_LOOKING))


def looked(pack: JsonObject) -> bool:
    """Whether any memory beyond the working set and the persona was searched."""
    return bool(asked_of(pack))


def first_right(pack: JsonObject, question: PackQuestion) -> bool:
    """Whether the item with the highest score contains evidence."""
    best = max(items(pack), key=lambda item: float(item.get("score", 0.0)), default=None)
    return best is not None and Content.of(strings(best)).holds_any(question)


def newer_marked(pack: JsonObject, held: Content, question: PackQuestion) -> bool:
    """Whether the pack identifies the newer value: it is there, and the older one is absent or marked as replaced."""
    if question.holds is None or question.was is None or not held.says(question.holds):
        return False
    if not held.says(question.was):
        return True
    found = items(pack)
    older = [item for item in found if Content.of(strings(item)).says(question.was)]
    # One message that names both values tells by itself which of them holds.
    if older and all(
        each.get("type") == "time_point" and Content.of(strings(each)).says(question.holds) for each in older
    ):
        return True
    current = {str(item["current"]) for item in found if item.get("current")}
    for item in found:
        status, texts = item.get("status"), Content.of(strings(item))
        marked = item.get("holds") is True or item.get("claim_id") in current or status == "confirmed"
        over = status in NO_LONGER or item.get("holds") is False
        if (over and texts.says(question.was)) or (marked and texts.says(question.holds)):
            return True
    return False
