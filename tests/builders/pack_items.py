"""What a pack holds, as texts: for tests that say exactly which items came, how many and in which order."""

from schemas.items import Item
from schemas.packs import ContextPack
from streams.testing.pipeline import Pipeline


def messages(pack: ContextPack) -> list[str]:
    """The texts of the working set, oldest first."""
    return [message.content for message in pack.working_set.recent_messages]


def summaries(pack: ContextPack) -> list[tuple[str, str]]:
    """Origin and conversation of each summary."""
    found = pack.episodic.conversation_summaries if pack.episodic else ()
    return [(summary.origin, summary.conversation_id) for summary in found]


def events(pack: ContextPack) -> list[str]:
    """The points in time, as they are shown."""
    return [event.label for event in pack.episodic.relevant_events] if pack.episodic else []


def passages(pack: ContextPack) -> list[str]:
    """The texts of the passages."""
    return [chunk.text for chunk in pack.semantic.knowledge_chunks] if pack.semantic else []


def objectives(pack: ContextPack) -> list[str]:
    """The titles of the asker's objectives."""
    return [objective.title for objective in pack.persona_context.current_objectives or ()]


def evidence(pack: ContextPack) -> list[Item]:
    """All that came of documents and talks."""
    sections = [each for each in (pack.episodic, pack.semantic, pack.procedural) if each is not None]
    return [item for each in sections for name in type(each).model_fields for item in getattr(each, name) or ()]


def exchange(fathom: Pipeline, asked: str, answered: str, conversation: str = "c1") -> None:
    """A question and its answer."""
    question = fathom.say(asked, conversation=conversation)
    fathom.say(answered, role="assistant", answers=question, conversation=conversation)


def phases(fathom: Pipeline, count: int, of: str = "projeto Orion", conversation: str = "c1") -> list[str]:
    """Exchanges about the phases of a project; their texts."""
    said = [(f"Fala da fase {n} do {of}", f"A fase {n} do {of} está em execução.") for n in range(count)]
    for asked, answered in said:
        exchange(fathom, asked, answered, conversation)
    return [text for pair in said for text in pair]
