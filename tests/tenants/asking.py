"""Every read of every port, as one tenant, for what is its own and for what is others'."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from agents.core.language.dates import Span
from agents.ports.graph import Asker, NodeFound
from agents.ports.passages import PassageQuery
from schemas.base import MAX_ID_CHARS, entity_key
from tests.tenants.canaries import PUBLIC, Tenant, canaries, foreign
from tests.tenants.memories import NOON, conversation, said

TOGETHER = 8
LATER = NOON + timedelta(days=30)


@dataclass
class Leaks:
    """What was asked, and what came that should not have, or did not that should have."""

    queries: int = 0
    found: list[str] = field(default_factory=list)

    def judge(self, tenant: Tenant, what: str, shown: object, *, own: bool = True, public: bool = False) -> None:
        """One answer: nobody else's mark; one's own where it is asked for; everybody's where it is everybody's."""
        self.queries += 1
        marks = canaries(shown)
        if wrong := foreign(tenant, shown):
            self.found.append(f"{tenant.name!r} was shown {sorted(wrong)[:3]} by {what}")
        if own and tenant.canary not in marks:
            self.found.append(f"{tenant.name!r} was not shown its own by {what}")
        if public != (PUBLIC.canary in marks):
            self.found.append(f"{tenant.name!r} was {'not ' if public else ''}shown what is everybody's by {what}")


def guesses(tenant: Tenant, others: Sequence[Tenant]) -> list[str]:
    """Ids by which somebody might reach another's things."""
    wild = ["*", "%", "|", "ana*", "\uff41na", f"{tenant.name}|ana"]
    made = [*wild, *(f"{other.name}|ana" for other in others), *(entity_key(other.name, "ana") for other in others)]
    return [guess[:MAX_ID_CHARS].strip() for guess in (made if others else made[:2])]


async def ask_graph(store: Any, tenant: Tenant, others: Sequence[Tenant], leaks: Leaks) -> None:
    async for what, shown, own, public in reading(store, tenant, others):
        leaks.judge(tenant, what, shown, own=own, public=public)


async def reading(store: Any, tenant: Tenant, others: Sequence[Tenant]) -> AsyncIterator[tuple[str, Any, bool, bool]]:
    """Each read: what it is, what it shows, whether that is the tenant's own, whether everybody's too."""
    name = tenant.name
    limited: dict[str, Any] = {"as_of": LATER, "limit": 10}
    yield "persona", await store.persona(name, "ana", LATER), True, False
    # Who changed since: what is known of then.
    yield "persona then", await store.persona(name, "bia", LATER), True, False
    yield "decision", await store.decision(name, "p1", LATER), True, False
    for of in (None, "c1"):
        shown = await store.summaries(name, user_id="ana", conversation_id=of, **limited)
        yield "summaries", shown, True, False
    for between in (None, Span(NOON, LATER)):
        yield "events", await store.events(name, user_id="ana", between=between, **limited), True, False
    yield "claims", await store.claims(name, client_id="web", conversation_id="c1", **limited), True, False
    yield "claims_about", await store.claims_about(name, reader="ana", subjects=["prazo"], **limited), True, False
    yield "claim", await store.claim(name, "k1", LATER), True, False
    yield "consultation", await store.consultation(name, "q1", LATER), True, False
    yield "retired", await store.retired(name, document_id="d2", as_of=LATER), True, False
    stretch: dict[str, Any] = {"whose": Asker(), "since": NOON - timedelta(days=1), "as_of": LATER, "limit": 10}
    made = await store.decisions(name, **stretch)
    yield "decisions", _as_many(tenant, made, 1), True, False
    yield "corrections", _as_many(tenant, await store.corrections(name, **stretch), 2), True, False
    yield "unanswered", await store.unanswered(name, **stretch), True, False
    yield "questions", await store.questions(name, [each.decision_id for each in made], LATER), True, False
    [traced] = await store.decisions_on(name, "m1", LATER)
    yield "decision on", _as_many(tenant, traced.decision_ids, 1), True, False
    yield "claims_of", await store.claims_of(name, user_id="ana", **limited), True, False
    page = await store.claims_of(name, user_id="ana", as_of=NOON, after="k0", limit=10)
    yield "claims_of behind", page, True, False
    yield "contested", await store.contested(name, ["k3"], LATER), True, False
    found = await store.documents(name, **limited)
    yield "documents", found, True, False
    counted = await store.passages_of(name, [each.document_id for each in found], LATER)
    yield "passages of documents", _as_many(tenant, ["x"] * sum(counted.values()), 2), True, False
    for label in ("Claim", "Chunk"):
        yield f"listed {label}", _strangers(tenant, await store.listed(name, label, limit=50)), False, False
    shared: dict[str, Any] = {"terms": ["praz", "prazo"], "access_level": "public", **limited}
    yield "playbooks", await store.playbooks(name, **shared), True, True
    named = await store.named(name, reader="ana", **shared, subjects=["prazo"], max_claims=10)
    yield "concepts", named.concepts, True, True
    yield "named claims", named.claims, True, False
    for guess in guesses(tenant, others):
        yield f"persona of {guess!r}", await store.persona(name, guess, LATER), False, False
        shown = await store.summaries(name, user_id=guess, conversation_id=None, **limited)
        yield f"summaries of {guess!r}", shown, False, False
        yield f"events of {guess!r}", await store.events(name, user_id=guess, between=None, **limited), False, False
        shown = await store.claims(name, client_id=guess, conversation_id="c1", **limited)
        yield f"claims of {guess!r}", shown, False, False
        yield f"claim {guess!r}", await store.claim(name, guess, LATER), False, False


def _as_many(tenant: Tenant, found: Sequence[object], own: int) -> str:
    """The tenant's mark where it is shown as many as are its own, else everybody's: such rows have no marks."""
    return tenant.canary if len(found) == own else f"{PUBLIC.canary} {len(found)}"


def _strangers(tenant: Tenant, nodes: Sequence[NodeFound]) -> list[str]:
    """A mark for every node that is not the tenant's, and for its links to such: ids have none."""
    ids = [id_ for node in nodes for id_ in (node.id, *(other for _, other in node.links))]
    assert ids, "nothing is listed"
    return [f"{PUBLIC.canary} {id_}" for id_ in ids if unquote(id_.partition("|")[0]) != tenant.name]


async def ask_index(index: Any, tenant: Tenant, others: Sequence[Tenant], leaks: Leaks) -> None:
    texts = [said(tenant), "qual é o prazo do reembolso?", *(said(other) for other in others)]
    for text in texts:
        query = PassageQuery(text, "pt", 60, LATER, "confidential")
        leaks.judge(tenant, f"semantic {text!r}", await index.search(tenant.name, "semantic", query), public=True)
        query = PassageQuery(text, "pt", 60, LATER, "confidential", user_id="ana")
        leaks.judge(tenant, f"episodic {text!r}", await index.search(tenant.name, "episodic", query))


async def ask_sets(sets: Any, tenant: Tenant, others: Sequence[Tenant], leaks: Leaks) -> None:
    own = conversation(tenant.name)
    leaks.judge(tenant, "open", await sets.open(own, "m1", 20))
    leaks.judge(tenant, "turns", await sets.turns(own, "f1", up_to_seq=9, limit=20))
    leaks.judge(tenant, "session_turns", await sets.session_turns(own, up_to_seq=9, limit=20))
    leaks.judge(tenant, "frame_of", await sets.frame_of(own, "m1"), own=False)
    for guess in guesses(tenant, others):
        for strange in (conversation(tenant.name, guess), conversation(tenant.name, "web", guess)):
            leaks.judge(tenant, f"open {guess!r}", await sets.open(strange, "m1", 20), own=False)
        leaks.judge(tenant, f"turns {guess!r}", await sets.turns(own, guess, up_to_seq=9, limit=9), own=False)
        leaks.judge(tenant, f"frame_of {guess!r}", await sets.frame_of(own, guess), own=False)


async def ask_all(ask: Any, store: Any, everyone: Sequence[Tenant], leaks: Leaks, *, others: int = 2) -> None:
    """Every tenant asks a store in the given way, also by the names of some others; some tenants at a time."""

    async def one(place: int) -> None:
        near = [everyone[(place + step) % len(everyone)] for step in range(1, others + 1)]
        await ask(store, everyone[place], near, leaks)

    for start in range(0, len(everyone), TOGETHER):
        await asyncio.gather(*(one(place) for place in range(start, min(start + TOGETHER, len(everyone)))))
