"""An explanation of a pack: its items with source and reason, and what was left out; pure."""

from collections.abc import Sequence

from pydantic import AwareDatetime

from schemas.base import Id, Value
from schemas.depth import DepthLevel, Signal
from schemas.items import ItemBase
from schemas.packs import ContextPack, PartReport, RepeatedItem
from schemas.retrieval import Dropped
from streams.edges.client.console_output import shortened
from streams.edges.client.console_pack import persona_text, place_of, text_of
from streams.edges.mcp.tool import filled

TEXT_CHARS = 80


class ItemShown(Value):
    """An item of a pack; `text` is its beginning, `source` a place in the log or the id of a store."""

    id: Id
    text: str
    source: str
    reason: str
    score: float
    tokens: int
    truncated: bool
    recorded_at: AwareDatetime


class SectionShown(Value):
    name: str
    tokens: int
    items: tuple[ItemShown, ...]


class Explained(Value):
    """A pack without its full texts: depth and its signals, budget, sections, the answer of each memory, omissions with
    their reasons."""

    pack_id: Id
    revision: int
    message_id: Id
    query: str
    depth_level: DepthLevel
    confidence: float
    signals: tuple[Signal, ...]
    max_tokens: int
    total_tokens: int
    sections: tuple[SectionShown, ...]
    parts: tuple[PartReport, ...]
    dropped: tuple[Dropped, ...]
    already_in_context: tuple[RepeatedItem, ...]
    missing_sections: tuple[str, ...]
    degraded_reasons: tuple[str, ...]


def explain(pack: ContextPack) -> Explained:
    """The pack, explained."""
    sections = tuple(_shown(name, items) for name, items in _sections(pack))
    return filled(
        Explained,
        pack,
        total_tokens=pack.total_tokens_estimated,
        sections=(sections[0], _persona(pack), *sections[1:]),
    )


def _sections(pack: ContextPack) -> list[tuple[str, Sequence[ItemBase]]]:
    """The sections that hold items, in the pack's order."""
    summary = pack.working_set.session_summary_item
    found: list[tuple[str, Sequence[ItemBase]]] = [
        ("working_set", (*((summary,) if summary else ()), *pack.working_set.recent_messages))
    ]
    for name in ("episodic", "semantic", "procedural", "claims"):
        section = getattr(pack, name)
        if section is not None:
            found.append((name, [item for field in type(section).model_fields for item in getattr(section, field)]))
    return found


def _persona(pack: ContextPack) -> SectionShown:
    persona = pack.persona_context
    shown = filled(
        ItemShown,
        persona,
        id=pack.user_id,
        text=persona_text(persona),
        source=place_of(persona.provenance),
        score=0.0,
        truncated=False,
        recorded_at=persona.recorded_at or pack.assembled_at,
    )
    objectives = _shown("persona", persona.current_objectives or ())
    return SectionShown(name="persona", tokens=persona.tokens + objectives.tokens, items=(shown, *objectives.items))


def _shown(name: str, items: Sequence[ItemBase]) -> SectionShown:
    shown = tuple(
        filled(ItemShown, item, text=shortened(text_of(item), TEXT_CHARS), source=place_of(item.provenance))
        for item in items
    )
    return SectionShown(name=name, tokens=sum(item.tokens for item in shown), items=shown)
