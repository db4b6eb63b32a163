"""The items of a pack as an explanation lists them; pure."""

from collections.abc import Iterator, Sequence

from agents.core.packs.rendering import entry
from schemas.items import Item, ItemBase
from schemas.packs import ContextPack
from streams.explanations.build import TEXT_CHARS, place_text
from streams.explanations.explanation import ItemExplained

SECTIONS = ("episodic", "semantic", "procedural", "claims")


def items_of(pack: ContextPack) -> tuple[ItemExplained, ...]:
    """Every item of the pack, in its order, with its section; the persona is one, too."""
    return tuple(_items(pack))


def _items(pack: ContextPack) -> Iterator[ItemExplained]:
    session, persona = pack.working_set, pack.persona_context
    summary = () if session.session_summary_item is None else (session.session_summary_item,)
    yield from _of_section("working_set", (*summary, *session.recent_messages), pack.lang)
    said = f"role {persona.user_role}, department {persona.department}, may see {persona.access_level}"
    yield ItemExplained(
        section="persona", id=pack.user_id, text=said, source=place_text(persona.provenance) or "nothing is stored",
        reason=persona.reason, score=0.0, tokens=persona.tokens,
    )  # fmt: skip
    yield from _of_section("persona", persona.current_objectives or (), pack.lang)
    for name in SECTIONS:
        if (section := getattr(pack, name)) is not None:
            for part in type(section).model_fields:
                yield from _of_section(name, getattr(section, part), pack.lang)


def _of_section(name: str, items: Sequence[ItemBase], lang: str) -> Iterator[ItemExplained]:
    for item in items:
        yield ItemExplained(
            section=name, id=item.id, text=_text(item, lang), source=place_text(item.provenance) or "",
            reason=item.reason, score=item.score, tokens=item.tokens, truncated=item.truncated,
        )  # fmt: skip


def _text(item: Item | ItemBase, lang: str) -> str:
    said = entry(item, lang)  # type: ignore[arg-type]  # every item of a section is of the union
    text = " ".join(f"{said.source}: {said.text}".strip(" :").split()) if said.source else " ".join(said.text.split())
    return text if len(text) <= TEXT_CHARS else f"{text[: TEXT_CHARS - 1]}…"
