"""What is shown of a pack: each memory class with its answer, what was kept and left out, each with its reason."""

from collections.abc import Iterator, Mapping
from typing import Literal

from schemas.base import JsonObject
from schemas.items import ItemBase, Provenance
from schemas.packs import ContextPack, PartReport
from schemas.retrieval import MemoryClass, PartFound, RetrievalPlan

MAX_TITLE = 120
TITLES = ("title", "name", "label", "process_name", "topic", "content", "text", "subject", "explanation")
Asked = Literal["planned", "asked", "ok", "empty", "late", "failed", "skipped"]
ANSWERS: Mapping[str, Asked] = {
    "ok": "ok",
    "empty": "empty",
    "timeout": "late",
    "missing": "late",
    "error": "failed",
    "skipped": "skipped",
}
NO_ANSWER = "no answer by the deadline"


def planned_nodes(plan: RetrievalPlan) -> dict[str, JsonObject]:
    """The memory classes of a plan, asked or skipped."""
    found: dict[str, JsonObject] = {}
    for source in plan.sources:
        name = source.memory_class.value
        known = found.get(name)
        label = f"{known['label']}, {source.selector}" if known else source.selector
        is_skipped = source.skip is not None and (known is None or known["state"] == "skipped")
        found[name] = _node(name, label, "skipped" if is_skipped else "asked", source.skip if is_skipped else None)
    return found


def answered_node(part: PartFound, before: JsonObject, latency_ms: float) -> JsonObject:
    """A memory class with its answer."""
    name = part.memory_class.value
    state = ANSWERS[part.status.value]
    label = str(before.get("label", name))
    return _node(name, label, state, part.error, latency_ms, len(part.items), part.tokens)


def final_nodes(pack: ContextPack, before: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    """All memory classes as the pack reports them, with the tokens of what was kept of each."""
    tokens: dict[str, int] = {}
    for section, item in kept_items(pack):
        tokens[section] = tokens.get(section, 0) + item.tokens
    tokens["persona"] = tokens.get("persona", 0) + pack.persona_context.tokens
    return {each.memory_class.value: _reported(each, before, tokens) for each in pack.parts}


def _reported(report: PartReport, before: Mapping[str, JsonObject], tokens: Mapping[str, int]) -> JsonObject:
    name = report.memory_class.value
    label = str(before.get(name, {}).get("label", name))
    why = report.error or (NO_ANSWER if report.status == "missing" else None)
    return _node(name, label, ANSWERS[report.status], why, report.latency_ms, report.items, tokens.get(name, 0))


def _node(
    name: str,
    label: str,
    state: Asked,
    why: str | None = None,
    latency_ms: float | None = None,
    items: int = 0,
    tokens: int = 0,
) -> JsonObject:
    waited = None if latency_ms is None else round(latency_ms, 1)
    return {
        "node_id": name,
        "label": label,
        "state": state,
        "why": why,
        "latency_ms": waited,
        "items": items,
        "tokens": tokens,
    }


def kept_items(pack: ContextPack) -> Iterator[tuple[str, ItemBase]]:
    """The items of a pack with their sections, in order."""
    session = pack.working_set
    if session.session_summary_item is not None:
        yield MemoryClass.WORKING_SET.value, session.session_summary_item
    for item in session.recent_messages:
        yield MemoryClass.WORKING_SET.value, item
    for objective in pack.persona_context.current_objectives or ():
        yield MemoryClass.PERSONA.value, objective
    for memory in (MemoryClass.EPISODIC, MemoryClass.SEMANTIC, MemoryClass.PROCEDURAL, MemoryClass.CLAIMS):
        section = getattr(pack, memory.value)
        for name in type(section).model_fields if section is not None else ():
            for item in getattr(section, name):
                yield memory.value, item


def kept(pack: ContextPack) -> dict[str, JsonObject]:
    """What the pack holds, by id: its section, tokens, rank, why it was kept and where it comes from."""
    persona = pack.persona_context
    own = {
        "item_id": pack.user_id,
        "section": MemoryClass.PERSONA.value,
        "title": persona.user_role,
        "tokens": persona.tokens,
        "score": 0.0,
        "reason": persona.reason,
        "source": _source(persona.provenance),
    }
    found: dict[str, JsonObject] = {pack.user_id: own}
    for section, item in kept_items(pack):
        found[item.id] = {
            "item_id": item.id,
            "section": section,
            "title": title(item),
            "tokens": item.tokens,
            "score": item.score,
            "reason": item.reason,
            "source": _source(item.provenance),
        }
    return found


def dropped(pack: ContextPack, titles: Mapping[str, str]) -> dict[str, JsonObject]:
    """What was found and left out, by id, with the reason; what the caller still holds is among it.

    `titles` are those of the items that a memory class sent.
    """
    found: dict[str, JsonObject] = {
        each.id: {
            "item_id": each.id,
            "section": each.memory_class.value,
            "reason": each.reason,
            "tokens": each.tokens,
            "score": each.score,
        }
        for each in pack.dropped
    }
    repeated = {
        each.id: {
            "item_id": each.id,
            "section": each.memory_class.value,
            "reason": f"the caller still holds it, from pack {each.pack_id}",
            "tokens": 0,
        }
        for each in pack.already_in_context
    }
    found |= repeated
    return {name: {**each, "title": titles[name]} if name in titles else each for name, each in found.items()}


def contradictions(pack: ContextPack) -> dict[str, JsonObject]:
    """The claims of a pack that cannot both hold, by the id of their contradiction."""
    names = {"claim_id", "contradicts", "kind", "status", "current", "explanation"}
    found = pack.claims.contradictions if pack.claims is not None else ()
    return {each.id: each.model_dump(mode="json", include=names) for each in found}


def _source(provenance: Provenance | None) -> JsonObject:
    return provenance.model_dump(mode="json") if provenance is not None else {}


def title(item: ItemBase) -> str:
    """A line that names an item to a person."""
    named = next((text for name in TITLES if isinstance(text := getattr(item, name, None), str) and text), item.id)
    line = " ".join(named.split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"
