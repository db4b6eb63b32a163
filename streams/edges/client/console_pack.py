"""A context pack as console text: section by section, each item with its tokens, source and reason."""

from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import NamedTuple

from rich.console import RenderableType
from rich.text import Text

from schemas.depth import AppliedOptions, Signal
from schemas.items import (
    Chunk,
    ClaimItem,
    Concept,
    Contradiction,
    ConversationSummary,
    Item,
    ItemBase,
    Knowledge,
    MessageItem,
    Objective,
    Process,
    Provenance,
    SessionSummaryItem,
    Step,
    TimePoint,
)
from schemas.packs import ContextPack, PersonaContext
from streams.edges.client.console_output import shortened, width

TEXT_CHARS = 200
REASON_CHARS = 90
ID_CHARS = 44
LEFT_OUT_SHOWN = 6
# The sections after session and persona, and the fields that hold their items, in order.
SECTIONS = {
    "episodic": ("conversation_summaries", "relevant_events"),
    "semantic": ("concepts", "definitions", "knowledge_chunks"),
    "procedural": ("relevant_processes", "playbook_steps"),
    "claims": ("user_claims", "system_claims", "contradictions"),
}
# What an item says, by its type.
TEXTS: dict[type, str] = {
    MessageItem: "{0.role}: {0.content}",
    SessionSummaryItem: "earlier: {0.text}",
    ConversationSummary: "{0.origin} conversation, {0.topic}: {0.text}",
    TimePoint: "{0.at:%Y-%m-%d}: {0.label}",
    Concept: "{0.name}: {0.definition}",
    Chunk: "{0.title}: {0.text}",
    Knowledge: "{0.title}: {0.text}",
    Process: "{0.name}",
    Step: "{0.order}. {0.text}",
    ClaimItem: "{0.author} said: {0.subject} · {0.attribute} = {0.value} ({0.status})",
    Contradiction: "{0.explanation} ({0.status})",
    Objective: "objective: {0.title} ({0.status})",
}


class Entry(NamedTuple):
    """One item as displayed."""

    text: str
    tokens: int
    place: str
    reason: str


def pack_lines(pack: ContextPack, *, most: int | None = None) -> Iterator[RenderableType]:
    """The pack as lines for a console: heading, sections with up to `most` items, omissions, instructions."""
    yield line(1, _heading(pack), "bold")
    for name, entries in sections(pack):
        empty = "" if entries else ": nothing"
        yield line(2, f"{name} · {sum(entry.tokens for entry in entries)} tokens{empty}", "cyan")
        for entry in entries[:most]:
            yield line(3, f"- {entry.text}")
            yield line(3, f"  {entry.tokens} tokens · {entry.place} · {entry.reason}", "dim")
        if most is not None and (rest := entries[most:]):
            yield line(3, f"- and {len(rest)} more, {sum(entry.tokens for entry in rest)} tokens", "dim")
    yield from _left_out(pack)
    if pack.llm_instructions:
        yield line(2, "instructions", "cyan")
        for instruction in pack.llm_instructions:
            yield line(3, f"- {instruction}")


def signal_lines(signals: Iterable[Signal]) -> Iterator[RenderableType]:
    """Each signal with the words that show it."""
    for signal in signals:
        yield line(
            2, f"{signal.name} “{signal.evidence}” speaks for {signal.level.value} with {signal.weight:.2f}", "dim"
        )


def options_text(options: AppliedOptions) -> str:
    """The options in force, those that were limited, and what they changed."""
    stated = ", ".join(f"{name} {_option(value)}" for name, value in options.stated().items())
    limited = f"; limited: {', '.join(options.clamped)}" if options.clamped else ""
    return f"asked for: {stated}{limited}{f'; {options.reason}' if options.reason else ''}"


def _option(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def sections(pack: ContextPack) -> Iterator[tuple[str, list[Entry]]]:
    """The sections of the pack, in order; the persona is in every one."""
    session, persona = pack.working_set, pack.persona_context
    summary = () if session.session_summary_item is None else (session.session_summary_item,)
    yield "working set", [_entry(item) for item in (*summary, *session.recent_messages)]
    itself = Entry(
        persona_text(persona), persona.tokens, place_of(persona.provenance), shortened(persona.reason, REASON_CHARS)
    )
    yield "persona", [itself, *map(_entry, persona.current_objectives or ())]
    for name, parts in SECTIONS.items():
        if (section := getattr(pack, name)) is not None:
            yield name, [_entry(item) for part in parts for item in getattr(section, part)]


def persona_text(persona: PersonaContext) -> str:
    """Who asks, in one line."""
    return f"role {persona.user_role}, department {persona.department}, may see {persona.access_level}"


def place_of(provenance: Provenance | None) -> str:
    """`topic[partition]@offset`, or `store:id`."""
    if provenance is None:
        return "nowhere yet"
    if provenance.topic is not None:
        return f"{provenance.topic}[{provenance.partition}]@{provenance.offset}"
    return f"{provenance.store}:{shortened(provenance.id or '', ID_CHARS)}"


def line(level: int, text: str, style: str = "") -> RenderableType:
    """One paragraph of the console, indented by two blanks per level."""
    margin = "  " * level
    return Text(fill(text, width(), initial_indent=margin, subsequent_indent=margin), style=style)


def _heading(pack: ContextPack) -> str:
    settled = "complete" if pack.settled_by == "complete" else "at its deadline"
    said = f"pack {pack.depth_level.value} {pack.strategy} · {pack.total_tokens_estimated} of {pack.max_tokens} tokens"
    said += f" · {pack.latency_ms:.0f} ms, {settled}"
    return said + (f" · degraded: {', '.join(pack.degraded_reasons)}" if pack.degraded else "")


def _entry(item: ItemBase) -> Entry:
    cut = " (cut to fit)" if item.truncated else ""
    text = shortened(text_of(item) + cut, TEXT_CHARS)
    return Entry(text, item.tokens, place_of(item.provenance), shortened(item.reason, REASON_CHARS))


def text_of(item: Item | ItemBase) -> str:
    """The text of an item, in one line."""
    return TEXTS.get(type(item), "{0.id}").format(item)


def _left_out(pack: ContextPack) -> Iterator[RenderableType]:
    if pack.dropped:
        yield line(2, f"left out · {len(pack.dropped)} items", "cyan")
        for dropped in pack.dropped[:LEFT_OUT_SHOWN]:
            which = f"{dropped.memory_class.value} {shortened(dropped.id, ID_CHARS)}"
            yield line(3, f"- {which}, {dropped.tokens} tokens: {dropped.reason}", "dim")
        if len(pack.dropped) > LEFT_OUT_SHOWN:
            yield line(3, f"  and {len(pack.dropped) - LEFT_OUT_SHOWN} more", "dim")
    if pack.already_in_context:
        yield line(2, f"already in context · {len(pack.already_in_context)} items of the pack before", "cyan")
        for reference in pack.already_in_context[:LEFT_OUT_SHOWN]:
            yield line(3, f"- {reference.memory_class.value} {shortened(reference.id, ID_CHARS)}", "dim")
    if pack.missing_sections:
        yield line(2, f"missing: {', '.join(pack.missing_sections)}", "red")
