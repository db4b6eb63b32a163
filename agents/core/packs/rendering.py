"""The text of an item in a prompt. Budgets count exactly this text, metadata included."""

from agents.core.language.dates import shown
from agents.core.language.messages import message
from agents.core.language.text import identify_language
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


def render(item: Item) -> str:
    """One line (or block) of the prompt: the item's kind, time and source."""
    match item:
        case TimePoint(kind="message"):
            # On a short turn the full header would be longer than the text: author and day are enough.
            role, _, said = item.label.partition(": ")
            over = f" {message(identify_language(said, 'en'), 'pack.replaced')}" if item.holds is False else ""
            return f"[{role} {item.at:%Y-%m-%d}] {said}{over}"
        case TimePoint():
            return f"[event {shown(item.at, item.kind)}] {item.label}"
        case _:
            return render_before_0_2(item)


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
