"""What an item says in the text of a pack: its line, and the source under which it stands.

Items with one source stand together under its name, so that the name is given, and counted, once.
"""

import re
from typing import NamedTuple

from agents.core.language.citations import without_citations
from agents.core.language.dates import shown, with_dates
from agents.core.language.messages import message, with_speakers
from schemas.items import (
    Chunk,
    ClaimItem,
    Concept,
    Contradiction,
    ConversationSummary,
    Item,
    Knowledge,
    MessageItem,
    Objective,
    PersonaItem,
    Process,
    SessionSummaryItem,
    Step,
    TimePoint,
)

UNKNOWN = "unknown"
OF_ONESELF = frozenset({"user", "usuário"})
INDENT = "\n  "
_BULLET = re.compile(r"[-*+•]\s+(?=\S)")
# `##` of a heading, and `[2]` of a source.
_MARKS = re.compile(r"(?<!\S)#+(?!\d)|\[\d{1,4}\]")


class PackEntry(NamedTuple):
    """An item's line, and the name of its source; no name where it needs none: the conversation itself, who asks."""

    text: str
    source: str = ""


def entry(item: Item, lang: str) -> PackEntry:
    """The line and the source of an item, in the language of the message."""
    said = _entry(item, lang)
    return said._replace(text=_as_item(said.text), source=_name(said.source))


def _as_item(text: str) -> str:
    """The text as an item of a list: a list in it is part of that list, all else is indented.

    An indented line stays part of its item: a heading in a document is no heading of the prompt.
    """
    first, *rest = text.strip().splitlines() or [""]
    if not (own := _BULLET.match(first)):
        return INDENT.join((first, *rest))
    items = (f"\n- {line[found.end() :]}" if (found := _BULLET.match(line)) else f"{INDENT}{line}" for line in rest)
    return "".join((first[own.end() :], *items))


def _name(source: str) -> str:
    """The name of a source in one line, without what would make it a heading or another source."""
    return " ".join(_MARKS.sub(" ", source).split()) or ("…" if source else "")


def line(item: Item, lang: str) -> str:
    """What an item adds to the text, and is counted as: its line, of a process its name."""
    said = entry(item, lang)
    return f"- {said.text}\n" if said.text else f"[1] {said.source}\n" if said.source else ""


def _entry(item: Item, lang: str) -> PackEntry:
    match item:
        case MessageItem():
            said = item.content if item.role == "user" else without_citations(item.content)
            return PackEntry(f"{_role(item.role, lang)}: {said}")
        case SessionSummaryItem():
            said = with_speakers(without_citations(item.text), lang)
            return PackEntry(message(lang, "text.earlier_here", text=said))
        case ConversationSummary():
            said = with_speakers(without_citations(item.text), lang)
            return PackEntry(said, f"{_talk(item.recorded_at, lang)}: {item.topic}")
        case TimePoint(kind="message"):
            role, _, said = item.label.partition(": ")
            said = with_dates(without_citations(said) if role == "assistant" else said, item.at)
            over = f" {message(lang, 'pack.replaced')}" if item.holds is False else ""
            return PackEntry(f"{_role(role, lang)}: {said}{over}", _talk(item.at, lang))
        case TimePoint():
            return PackEntry(f"{shown(item.at, item.kind)}: {item.label}", message(lang, "text.dates"))
        case Concept():
            return PackEntry(item.definition, item.name)
        case Chunk(page=None):
            return PackEntry(item.text, item.title)
        case Chunk():
            return PackEntry(item.text, f"{item.title}, {message(lang, 'text.page', page=str(item.page))}")
        case Knowledge(said_by=str()):
            return PackEntry(f"{item.title}: {item.text}", f"{item.said_by}, {item.recorded_at:%Y-%m-%d}")
        case Knowledge():
            return _known(item, lang)
        case Process():
            return PackEntry("", item.name)
        case Step():
            return PackEntry(f"{item.order}. {item.text}", item.process_name)
        case ClaimItem():
            who = message(lang, f"text.claimed_by_{item.author}")
            status = message(lang, f"text.{item.status}")
            said = with_dates(item.text if item.author == "user" else without_citations(item.text), item.recorded_at)
            value = f"{item.subject} = {item.value}; " if item.value not in item.text else ""
            return PackEntry(f"{who}: {said} ({value}{status})", _talk(item.recorded_at, lang))
        case Contradiction():
            return PackEntry(item.explanation)
        case Objective():
            return PackEntry(f"{message(lang, 'text.objective')}: {item.title} ({item.status})")
        case PersonaItem():
            return PackEntry(persona(item.user_role, item.department, lang))


def _known(item: Knowledge, lang: str) -> PackEntry:
    # Of a document nobody knows when it was written.
    told = item.text if item.provenance.topic is None else with_dates(item.text, item.recorded_at)
    # The language in which a claim was said need not be that of the pack.
    return PackEntry(told, message(lang, "text.user") if item.title in OF_ONESELF else item.title)


def persona(role: str, department: str, lang: str) -> str:
    """Who asks, as far as it is known; empty where nothing is."""
    known = (("role", role), ("department", department))
    return "; ".join(f"{message(lang, f'text.{key}')}: {value}" for key, value in known if value != UNKNOWN)


def _role(role: str, lang: str) -> str:
    return message(lang, f"text.{role}") if role in ("user", "assistant", "system") else role


def _talk(at: object, lang: str) -> str:
    return message(lang, "text.conversation_of", date=f"{at:%Y-%m-%d}")


def render_before_0_2(item: Item) -> str:
    """The text as packs before 0.2 counted it, so that a replay of their inputs gives the same packs."""
    match item:
        case MessageItem():
            return f"[{item.role} {item.created_at:%Y-%m-%d %H:%M}] {item.content}"
        case SessionSummaryItem():
            return f"[earlier in this conversation] {item.text}"
        case ConversationSummary():
            return f"[summary {item.recorded_at:%Y-%m-%d}, {item.origin} conversation: {item.topic}] {item.text}"
        case TimePoint():
            return f"[{item.kind} {item.at:%Y-%m-%d %H:%M}] {item.label}"
        case Concept():
            return f"[concept] {item.name}: {item.definition}"
        case Chunk():
            return f"[{item.title} #{item.position}] {item.text}"
        case Knowledge():
            return f"[definition] {item.title}: {item.text}"
        case Process():
            return f"[process] {item.name}"
        case Step():
            return f"{item.order}. {item.text}"
        case ClaimItem():
            when = f"{item.recorded_at:%Y-%m-%d %H:%M}"
            return f"[{item.author} said {when}, {item.status}] {item.subject} = {item.value}: {item.text}"
        case Contradiction():
            return f"[conflict, {item.status}] {item.explanation}"
        case Objective():
            return f"[objective, {item.status}] {item.title}"
        case PersonaItem():
            return f"role: {item.user_role}; department: {item.department}; access: {item.persona_access}"


_TEXT_FIELD = {
    "message": "content",
    "session_summary": "text",
    "conversation_summary": "text",
    "time_point": "label",
    "concept": "definition",
    "chunk": "text",
    "knowledge": "text",
    "process": "name",
    "step": "text",
    "claim": "text",
    "contradiction": "explanation",
    "objective": "title",
}


def text_field(item: Item) -> str | None:
    """The name of the item's text field that may be truncated to fit the budget; None where there is none."""
    return _TEXT_FIELD.get(item.type)
