"""Short tests of isolation in erasing: what is one tenant's goes, what is another's stays, and nobody's is nothing."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from agents.core.conversation.erasure import Erasure
from agents.core.conversation.memory import Session, begun_anew, turn_of
from agents.core.conversation.session_state import MAX_FRAMES
from agents.stages.eraser import Eraser
from agents.stages.indexer import TurnIndexer
from agents.stages.writers import SummaryWriter
from schemas.base import PUBLIC_TENANT, Conversation, entity_key, message_key
from schemas.memory import ErasureIssued
from streams.stores.graph import queries
from streams.stores.graph.erasing import ERASABLE
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.votes import MemorySignalWeights
from streams.stores.tenant import node_id
from tests.tenants import memories
from tests.tenants.canaries import Tenant
from tests.tenants.memories import NOON, received, said
from tests.tenants.probes import ACME, BETA, LATER, NONE, refused

ALL = Erasure(99, LATER)
BOTH = (ACME, BETA)
# The message of the claims of another conversation.
ELSEWHERE = message_key("web", "c9", "m1")


async def graph(opened: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
    """An erasure covers its tenant's conversation, is known to that tenant, and keeps out that tenant's records."""
    async with opened() as store:
        await memories.remember(store, [*BOTH])
        before = {tenant.name: await _erasable(store, tenant) for tenant in BOTH}
        mine, theirs = (memories.conversation(tenant.name) for tenant in BOTH)
        found = await store.note_erasure(mine, ALL)
        assert found is not None
        assert set(found.ids) == {*ERASABLE}, found.ids
        assert (await store.note_counts(mine, ALL, {"turns": 1}))["turns"] == 1
        await store.erase(ACME.name, found)
        assert await store.note_erasure(mine, Erasure(1, NOON)) is None
        left = await _erasable(store, ACME)
        others = ("k5", "k6", "n1", "q0", ELSEWHERE)
        assert {id_ for _, id_ in left} == {node_id(ACME.name, each) for each in others}, left
        assert await _erasable(store, BETA) == before[BETA.name]
        assert await store.erased(ACME.name, [mine, theirs]) == {mine: ALL}
        assert await store.erased(BETA.name, [mine, theirs]) == {}
        await _come_late(store)
        assert await _erasable(store, ACME) == left
        assert await _erasable(store, BETA) == before[BETA.name]
        await _person(store)
        for none in (*NONE, PUBLIC_TENANT):
            nobody = Conversation.model_construct(tenant=none, client_id="web", conversation_id="c1")
            why = "public_tenant_read_only" if none == PUBLIC_TENANT else "tenant_invalid"
            await refused(lambda n=nobody: store.note_erasure(n, ALL), why)
            await refused(lambda n=nobody: store.note_counts(n, ALL, {}), why)
            await refused(lambda n=none: store.profile_nodes(n, "ana"), why)


async def _person(store: Any) -> None:
    """Who a user is goes for one tenant only, and what comes late of it is kept out for that tenant only."""
    profiles = {tenant.name: await store.profile_nodes(tenant.name, "ana") for tenant in BOTH}
    assert profiles[ACME.name].counts() == profiles[BETA.name].counts() != {}
    await store.note_erasure(_who_is(ACME.name), ALL)
    await store.erase(ACME.name, profiles[ACME.name])
    for _late in range(2):
        assert not any((await store.profile_nodes(ACME.name, "ana")).ids.values())
        assert await store.profile_nodes(BETA.name, "ana") == profiles[BETA.name]
        for tenant in BOTH:
            await store.write_knowledge([received(memories.knowledge(said(tenant)), tenant.name)])


def _who_is(tenant: str) -> Conversation:
    """Written out: a rule that gave every tenant's users one place would be asked and answered by itself."""
    return Conversation(tenant=tenant, client_id="ana", conversation_id="who-is:ana")


async def overtaken(opened: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
    """What is erased while it is written goes, with the decision that came before it, and what is another's stays."""
    async with opened() as store:
        await memories.remember(store, [BETA])
        before = await _erasable(store, BETA)
        put, where = store.engine.write, memories.conversation(ACME.name)

        async def erased_meanwhile(rows: Any) -> None:
            await put(rows)
            store.engine.write = put
            await store.note_erasure(where, ALL)

        await store.write_decisions([received(memories.decision(said(ACME)), ACME.name)])
        store.engine.write = erased_meanwhile
        await store.write_turns([received(memories.turn(said(ACME)), ACME.name)])
        assert store.engine.write is put or store.engine.write == put
        assert await _erasable(store, ACME) == set()
        assert await _erasable(store, BETA) == before


async def _come_late(store: Any) -> None:
    """A decision whose message is not there yet, then everything again, of both."""
    for tenant in BOTH:
        named = {"message_id": "m9", "id": f"late-{tenant.name}", "conversation_id": "c1", "seq": None}
        unplaced = memories.decision(said(tenant)).model_copy(update=named)
        if tenant is ACME:
            await store.write_decisions([received(unplaced, tenant.name)])
            late = memories.turn(said(tenant)).model_copy(update={"message_id": "m9"})
            await store.write_turns([received(late, tenant.name)])
        await store.write_turns([received(memories.turn(said(tenant)), tenant.name)])
        await store.write_decisions([received(memories.decision(said(tenant)), tenant.name)])
        await store.write_claims([received(memories.claim(1, said(tenant)), tenant.name)])


async def _erasable(store: Any, tenant: Tenant) -> set[tuple[str, str]]:
    rows = await store.engine.read(queries.ALL_NODES, {})
    own = [row for row in rows if row["props"]["tenant_id"] == tenant.name and row["label"] in ERASABLE]
    # A later version of a profile is kept as an audit, and stems from no conversation.
    return {(row["label"], row["id"]) for row in own if row["props"].get("kind") != "profile"}


async def sets(make: Callable[[], Any]) -> None:
    """A working set is forgotten for one tenant only, with all its frames; none holds more than that tenant's."""
    store = make()
    frames_of = {tenant.name: [f"{tenant.name}-{number}" for number in range(MAX_FRAMES + 2)] for tenant in BOTH}
    for tenant in BOTH:
        names = frames_of[tenant.name]
        place = memories.conversation(tenant.name)
        for number, name in enumerate(names):
            turn = turn_of("user", said(tenant), NOON, {"message_id": f"m{number}", "seq": number})
            frames = tuple(names[: number + 1][-MAX_FRAMES:])
            await store.append(place, name, turn, Session(frame_id=name, frames=frames, last_seq=number), b"x", 9)
    mine, theirs = (memories.conversation(tenant.name) for tenant in BOTH)
    await store.forget(mine, 99)
    assert (await store.open(mine, "m1", 9)).session == begun_anew(99)
    assert await store.frame_of(mine, "m1") is None
    assert await store.session_turns(mine, up_to_seq=99, limit=99) == ()
    for name in frames_of[ACME.name]:
        assert await store.turns(mine, name, up_to_seq=99, limit=9) == ()
    for name in frames_of[BETA.name]:
        assert len(await store.turns(theirs, name, up_to_seq=99, limit=9)) == 1
    assert (await store.open(theirs, "m1", 9)).outcome == b"x"
    await store.forget(theirs, 200)
    await store.forget(mine, 150)
    assert (await store.open(mine, "m1", 9)).session.forgotten == 150


class _LateGraph:
    """A graph in which a conversation is erased while one of its records is indexed."""

    def __init__(self, index: MemoryPassageIndex) -> None:
        self._index = index
        self.asked: list[str] = []

    async def erased(self, tenant: str, conversations: Any) -> Mapping[Conversation, Erasure]:
        self.asked.append(tenant)
        is_begun = any(id_ != "earlier" for *_, id_ in self._index._indexed)
        return dict.fromkeys(conversations, ALL) if is_begun else {}

    async def write_summaries(self, rows: Any) -> None: ...


async def stages() -> None:
    """What was indexed while its conversation was erased is taken out again, for whom it was said."""
    index = MemoryPassageIndex(HashingEmbedder())
    late = _LateGraph(index)
    for tenant in BOTH:
        await memories.index(MemoryPassageIndex(HashingEmbedder(), admin=True), [tenant])
    for tenant in BOTH:
        turn = memories.turn(said(tenant))
        # Of the same conversation, indexed before.
        passage = memories.passage(said(tenant), "message", user_id="ana", conversation_id="c1")
        fields = {"id": "earlier", "fields": {"client_id": "web", "seq": 0}}
        await index.upsert(tenant.name, "episodic", [type(passage)(**{**_fields(passage), **fields})])
        kept = await TurnIndexer(index, MemoryWorkingSets(), late).handle(received(turn, tenant.name))  # type: ignore[arg-type]
        assert kept == ()
        await SummaryWriter(late, index).handle(received(memories.summary(said(tenant)), tenant.name))  # type: ignore[arg-type]
    assert not index._indexed
    assert late.asked == [ACME.name] * 7 + [BETA.name] * 7


async def eraser(opened: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
    """The eraser asks both stores for the conversation's tenant, and files its audit under that tenant."""
    async with opened() as store:
        index = MemoryPassageIndex(HashingEmbedder(), admin=True)
        await memories.remember(store, [*BOTH])
        for tenant in BOTH:
            named = {"client_id": "web", "seq": 0}
            for collection, id_ in (("episodic", "m1"), ("episodic", f"only-{tenant.name}"), ("consultas", "q1")):
                passage = memories.passage(said(tenant), "message", user_id="ana", conversation_id="c1")
                await index.upsert(
                    tenant.name, collection, [type(passage)(**{**_fields(passage), "id": id_, "fields": named})]
                )
        where = memories.conversation(ACME.name)
        issued = ErasureIssued(
            erasure_id="e1", conversation_id="c1", client_id="web", asked_by="ana", up_to_seq=99, issued_at=LATER,
            source=memories.PLACE,
        )  # fmt: skip
        before = await _erasable(store, BETA)
        [audit] = await Eraser(store, index, MemorySignalWeights()).handle(received(issued, ACME.name))
        assert audit.key == entity_key(ACME.name, where.key())
        assert {owner for _, owner, _ in index._indexed} == {BETA.name}
        assert len(index._indexed) == 3
        assert await _erasable(store, BETA) == before
        messages = {id_ for label, id_ in await _erasable(store, ACME) if label == "Message"}
        assert messages == {node_id(ACME.name, ELSEWHERE)}


async def eraser_of_persons(opened: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
    """Who a user is and how they voted goes for the tenant that erases them, the one after the other."""
    async with opened() as store:
        votes = MemorySignalWeights()
        await memories.remember(store, [*BOTH])
        for tenant in BOTH:
            await votes.add(tenant.name, memories.vote(said(tenant)))
        for tenant, left in ((BETA, {ACME}), (ACME, set[Tenant]())):
            issued = ErasureIssued(
                erasure_id="e1", conversation_id="who-is:ana", client_id="ana", asked_by="ops", up_to_seq=0,
                user_id="ana", issued_at=LATER, source=memories.PLACE,
            )  # fmt: skip
            await Eraser(store, MemoryPassageIndex(HashingEmbedder()), votes).handle(received(issued, tenant.name))
            known = {each for each in BOTH if any((await store.profile_nodes(each.name, "ana")).ids.values())}
            assert known == left
            assert {each for each in BOTH if await votes.votes(each.name)} == left


def _fields(of: Any) -> dict[str, Any]:
    return {name: getattr(of, name) for name in of.__dataclass_fields__}
