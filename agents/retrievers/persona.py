"""The persona of the user: role, department, access level, objectives; in every pack.

reads   retrieval.plans  key conversation
writes  packs.partial    class persona
state   the graph (read)
"""

from datetime import datetime

from agents.core.language import text
from agents.ports.graph import GraphReader, Persona
from agents.ports.models import Clock, TokenCounter
from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever
from schemas.items import Objective, PersonaItem, Provenance
from schemas.retrieval import MemoryClass


class PersonaRetriever(Retriever):
    memory = MemoryClass.PERSONA

    def __init__(self, tokens: TokenCounter, clock: Clock, graph: GraphReader) -> None:
        super().__init__(tokens, clock)
        self._graph = graph

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """The persona, with as many objectives as the level's selector allows."""
        persona = await self._graph.persona(ask.tenant, ask.plan.user_id, ask.plan.as_of)
        if persona is None:
            return RetrievalResult([unknown_persona(ask.plan.user_id, ask.plan.as_of)])
        return RetrievalResult([persona.person, *_objectives(persona, ask)])


def _objectives(persona: Persona, ask: RetrievalRequest) -> tuple[Objective, ...]:
    if ask.source.selector == "full_with_objectives":
        return persona.objectives
    if ask.source.selector != "with_context":
        return ()
    anchor = " ".join(ask.plan.anchor.terms) if ask.plan.anchor else ""
    thread = set(text.content_words(f"{ask.plan.query} {anchor}", ask.plan.lang))
    linked = [o for o in persona.objectives if thread & set(text.content_words(o.title, ask.plan.lang))]
    return tuple(linked[: ask.source.limit])


def unknown_persona(user_id: str, as_of: datetime) -> PersonaItem:
    """The persona of an unknown user: no role, no department, public access."""
    return PersonaItem(
        id=f"persona:{user_id}",
        provenance=Provenance(store="graph", id=f"persona:{user_id}"),
        recorded_at=as_of,
        reason="the user has no profile: unknown role, public access",
        user_id=user_id,
        user_role="unknown",
        department="unknown",
        persona_access="public",
    )
