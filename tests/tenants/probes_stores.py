"""Short tests of isolation in the index, the working sets and the weights, each on a fresh store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fakeredis

from agents.core.conversation.memory import Session, turn_of
from agents.core.conversation.session_state import TurnOutcome
from agents.ports.graph import Asker
from agents.ports.passages import Page, Passage, PassageQuery
from schemas.base import PUBLIC_TENANT
from schemas.tool_session import Kept, ToolSession
from streams.stores.passages import edge_search
from streams.stores.passages.index_process import IndexProcess
from streams.stores.passages.lexical import terms_of
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.points import payload_of
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.remote.client import RemoteIndex
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.redis_scripts import EPOCHS
from streams.stores.sessions.redis_working_sets import RedisWorkingSets
from streams.stores.sessions.tool_sessions import MemoryToolSessions, RedisToolSessions
from streams.stores.sessions.votes import MemorySignalWeights, RedisSignalWeights
from streams.stores.tenant import point_id
from streams.views.votes import RecoverableVotes
from streams.views.working_set_cache import HeldWorkingSets
from tests.tenants import memories
from tests.tenants.asking import LATER, Leaks, ask_all, ask_index, ask_sets
from tests.tenants.canaries import PUBLIC, Tenant, canaries
from tests.tenants.memories import NOON, passage, said
from tests.tenants.probes import ACME, BETA, GAMA, NONE, THREE, directory_of_a_probe, refused


async def index(make: Callable[[Any, bool], Any]) -> None:
    """Passages are found by whom they are; how rare a word is says nothing of others."""
    with directory_of_a_probe() as directory:
        store = make(Path(directory))
        await memories.index(store, THREE)
        leaks = Leaks()
        await ask_all(ask_index, store, THREE, leaks, others=1)
        assert leaks.found == [], leaks.found[0]
        query = PassageQuery("prazo do reembolso", "pt", 60, LATER)
        before = await store.search(ACME.name, "semantic", query)
        for number in range(4):
            more = passage(f"O prazo do reembolso {number}")
            await store.upsert(BETA.name, "semantic", [Passage(**{**_fields(more), "id": f"more{number}"})])
        after = await store.search(ACME.name, "semantic", query)
        assert [hit.scores for hit in after] == [hit.scores for hit in before], "others' texts show in scores"
        for hit in after:
            assert 0 <= hit.scores["own"] <= hit.scores["cover"] <= 1 + 1e-9, hit.scores
        await _listed_and_removed(store)
        # The same store, no administrator's any more: another one would take as long again to make.
        store._admin = False
        await _index_refusals(store)
        await _close(store)


async def _listed_and_removed(store: Any) -> None:
    for tenant in THREE:
        more = _fields(passage(said(tenant)))
        await store.upsert(tenant.name, "consultas", [Passage(**{**more, "id": each}) for each in ("one", tenant.name)])
        spoken = _fields(passage(said(tenant))) | {"conversation_id": "c7"}
        await store.upsert(tenant.name, "consultas", [Passage(**{**spoken, "id": f"of-{tenant.name}"})])
    for tenant in THREE:
        heard = await store.of_conversation(tenant.name, "consultas", "c7")
        assert [(each.id, each.text) for each in heard] == [(f"of-{tenant.name}", said(tenant))], heard
        await store.remove(tenant.name, "consultas", [f"of-{tenant.name}"])
    for number, tenant in enumerate(THREE):
        await store.remove(tenant.name, "consultas", ["one"])
        for place, other in enumerate(THREE):
            ids = set((await store.listed(other.name, "consultas")).ids)
            assert ids == ({other.name} if place <= number else {"one", other.name}), (tenant.name, other.name, ids)


def _fields(of: Any) -> dict[str, Any]:
    return {name: getattr(of, name) for name in of.__dataclass_fields__}


async def _close(store: Any) -> None:
    if hasattr(store, "close"):
        await store.close()


async def _index_refusals(store: Any) -> None:
    query = PassageQuery("x", "pt", 5, NOON)
    await refused(lambda: store.upsert(PUBLIC_TENANT, "semantic", [passage("x")]), "public_tenant_read_only")
    for none in NONE:
        await refused(lambda n=none: store.upsert(n, "semantic", [passage("x")]), "tenant_invalid")
        await refused(lambda n=none: store.search(n, "semantic", query), "tenant_invalid")
        await refused(lambda n=none: store.listed(n, "semantic"), "tenant_invalid")
        await refused(lambda n=none: store.remove(n, "semantic", ["x"]), "tenant_invalid")
        await refused(lambda n=none: store.of_conversation(n, "semantic", "c1"), "tenant_invalid")
    await refused(lambda: store.remove(PUBLIC_TENANT, "semantic", ["x"]), "public_tenant_read_only")


def edge(directory: Path) -> QdrantEdgeIndex:
    return QdrantEdgeIndex(directory, HashingEmbedder(), admin=True)


async def edge_by_codes() -> None:
    """As `index`, by the way that is taken among many passages."""
    few, edge_search.FEW = edge_search.FEW, -1
    try:
        await index(edge)
    finally:
        edge_search.FEW = few


async def edge_asked_before() -> None:
    """How rare a word is in what one has does not show to whom asks after him."""
    query = PassageQuery("prazo do reembolso", "pt", 5, LATER)

    async def told(*askers: Tenant) -> list[Any]:
        with directory_of_a_probe() as directory:
            store = edge(Path(directory))
            often = [Passage(**{**_fields(passage("o prazo")), "id": f"o{n}"}) for n in range(9)]
            await store.upsert(ACME.name, "semantic", often)
            await store.upsert(BETA.name, "semantic", [passage("o prazo do reembolso")])
            hits = [await store.search(asker.name, "semantic", query) for asker in askers][-1]
            await store.close()
        return [dict(hit.scores) for hit in hits]

    assert await told(ACME, BETA) == await told(BETA)


def index_twin(_: Path) -> MemoryPassageIndex:
    return MemoryPassageIndex(HashingEmbedder(), admin=True)


class _Http:
    """A Qdrant that notes what it is asked, and finds a tenant's passage near and everybody's by words."""

    def __init__(self) -> None:
        self.upserted: list[Any] = []
        self.searched: list[Any] = []
        self.counted: list[Any] = []
        self.erased: list[Any] = []
        self.looked_up: list[Any] = []

    async def result(self, _method: str, path: str, body: Any) -> Any:
        match path.removeprefix("/collections/fathom_semantic/"):
            case "points":
                self.looked_up += body["ids"]
                return []
            case "points?wait=true":
                self.upserted += body["points"]
                return {}
            case "points/query/batch":
                self.searched += body["searches"]
                alone = body["searches"][3:]
                found: list[list[tuple[Tenant, float]]] = [[(ACME, 0.5)], [], [(PUBLIC, 7.0)], *([] for _ in alone)]
                return [{"points": [_point(*each) for each in some]} for some in found]
            case "points/count":
                self.counted.append(body["filter"])
                return {"count": 10 if body["exact"] else 9}
            case "points/scroll":
                return {"points": [self._scrolled(*body["filter"]["must"])], "next_page_offset": None}
            case "points/delete?wait=true":
                self.erased += body["points"]
                return {}
        raise AssertionError(f"no other call is expected: {path}")

    def _scrolled(self, own: Any, *conversation: Any) -> Any:
        assert own["key"] == "tenant_id"
        whose = own["match"]["value"]
        if conversation:
            assert [each["key"] for each in conversation] == ["conversation_id"]
            return _point(Tenant(whose, whose), 0.0)
        return {"payload": {"id": whose}}


def _point(tenant: Tenant, score: float) -> Any:
    stored = passage(said(tenant))
    payload = payload_of(tenant.name, stored, terms_of(stored))
    return {"id": str(point_id(tenant.name, "ch1")), "score": score, "payload": payload}


async def edge_named() -> None:
    """Who asks among some passages asks among his own and everybody's, by their ids."""
    asked: list[Any] = []
    visible = edge_search._visible

    def noted(among: Any, query: PassageQuery) -> Any:
        asked.extend(each for each in among if hasattr(each, "point_ids"))
        return visible(among, query)

    with directory_of_a_probe() as directory:
        store = edge(Path(directory))
        await memories.index(store, THREE)
        edge_search._visible = noted
        try:
            await store.search(
                ACME.name, "semantic", PassageQuery("prazo do reembolso", "pt", 5, LATER, among=("ch1",))
            )
        finally:
            edge_search._visible = visible
            await _close(store)
    assert asked, "asked among all"
    for each in asked:
        assert {str(one) for one in each.point_ids} == {str(point_id(of, "ch1")) for of in (ACME.name, PUBLIC_TENANT)}


async def server() -> None:
    """Every point says whose it is; every list of every search, and what counts how rare a word is, has the filter."""
    http = _Http()
    store = QdrantServerIndex("http://127.0.0.1:1", HashingEmbedder())
    await store.close()
    store._client, store._prepared = http, True  # type: ignore[assignment]
    await store.upsert(ACME.name, "semantic", [passage("x")])
    assert http.looked_up == [str(point_id(ACME.name, "ch1"))]
    [point] = http.upserted
    assert (point["id"], point["payload"]["tenant_id"]) == (str(point_id(ACME.name, "ch1")), ACME.name)
    hits = await store.search(ACME.name, "semantic", PassageQuery("prazo do reembolso", "pt", 5, NOON))
    filtered = [_tenants_of(request["filter"]) for request in http.searched]
    both = [ACME.name, PUBLIC_TENANT]
    # By meaning, each tenant's; by words; and each word alone.
    assert len(filtered) > 4, filtered
    assert filtered == [[ACME.name], [PUBLIC_TENANT], *([both] * (len(filtered) - 2))]
    assert [_tenants_of(request["params"]["idf"]["corpus"]) for request in http.searched[2:]] == [both] * (
        len(filtered) - 2
    )
    assert [_tenants_of(each) for each in http.counted] == [both]
    await store.search(ACME.name, "semantic", PassageQuery("prazo do reembolso", "pt", 5, NOON, among=("ch1",)))
    named = [(_ids_of(request["filter"]), _tenants_of(request["filter"])) for request in http.searched[len(filtered) :]]
    assert [whose for _, whose in named] == filtered
    assert any(ids for ids, _ in named), "asked among all"
    assert all(ids == {str(point_id(of, "ch1")) for of in whose} for ids, whose in named if ids), named
    scores = {hit.passage.text: (hit.scores["dense"], hit.scores["bm25"]) for hit in hits}
    assert scores == {said(ACME): (0.5, 0.0), said(PUBLIC): (0.5, 7.0)}, scores
    assert (await store.listed(ACME.name, "semantic")).ids == (ACME.name,)
    [heard] = await store.of_conversation(ACME.name, "semantic", "c1")
    assert heard.text == said(Tenant(ACME.name, ACME.name))
    await store.remove(ACME.name, "semantic", ["ch1"])
    assert http.erased == [str(point_id(ACME.name, "ch1"))]
    await _index_refusals(store)
    assert (len(http.upserted), len(http.searched), len(http.erased)) == (1, len(filtered) + len(named), 1)


def _ids_of(condition: Any) -> set[str]:
    return {each for one in condition["must"] for each in one.get("has_id", ())}


def _tenants_of(condition: Any) -> list[str]:
    [tenants] = [each["match"]["any"] for each in condition["must"] if each.get("key") == "tenant_id"]
    return list(tenants)


async def process() -> None:
    """What goes to the index process is for the tenant that asked, and nothing goes for one that is none."""
    sent: list[Any] = []

    class Apart(IndexProcess):
        async def _linked(self) -> Any:
            return self

        async def ask(self, method: str, tenant: str, *_: Any, **__: Any) -> Any:
            sent.append((method, tenant))
            return Page((), None) if method == "listed" else ()

    store = Apart(Path("nowhere"), "hashing")
    await store.upsert(ACME.name, "semantic", [passage("x")])
    await store.search(ACME.name, "semantic", PassageQuery("x", "pt", 5, NOON))
    await store.listed(ACME.name, "semantic")
    await store.remove(ACME.name, "semantic", ["x"])
    await store.of_conversation(ACME.name, "semantic", "c1")
    await _index_refusals(store)
    methods = ("upsert", "search", "listed", "remove", "of_conversation")
    assert sent == [(method, ACME.name) for method in methods]


async def remote() -> None:
    """What a command asks of a running `up`'s index is for the tenant that it was asked for."""
    sent: list[Any] = []

    class Apart:
        async def ask(self, method: str, tenant: str, *_: Any, **__: Any) -> Any:
            sent.append((method, tenant))
            return Page((), None)

    store = RemoteIndex(Apart())  # type: ignore[arg-type]
    await store.listed(ACME.name, "semantic")
    await store.upsert(ACME.name, "semantic", [passage("x")])
    await store.remove(ACME.name, "semantic", ["x"])
    assert sent == [(f"index.{method}", ACME.name) for method in ("listed", "upsert", "remove")]


async def sets(make: Callable[[], Any]) -> None:
    """Conversations of one name are different conversations."""
    store = make()
    await memories.file(store, THREE)
    leaks = Leaks()
    await ask_all(ask_sets, store, THREE, leaks, others=1)
    assert leaks.found == [], leaks.found[0]
    for tenant in THREE:
        meta = {"message_id": f"of-{tenant.name}", "seq": 1}
        turn = turn_of("user", said(tenant), NOON, meta)
        place = memories.conversation(tenant.name)
        await store.append(place, tenant.name, turn, Session(frame_id=tenant.name), b"", 9)
        frames = [await store.frame_of(place, f"of-{each.name}") for each in THREE]
        assert frames == [each.name if each == tenant else None for each in THREE], frames
    for number, tenant in enumerate(THREE):
        own = memories.conversation(tenant.name, name=f"c{number + 5}")
        assert (await store.open(own, "m1", 9)).turns == ()
        assert await store.frame_of(own, "m1") is None
        assert await store.frame_of(memories.conversation(tenant.name), "m1") == "f1"


async def restored(make: Callable[[], Any]) -> None:
    """What is restored of one tenant's conversation is in no other's of that name, and holds nothing of it."""
    store = make()
    for tenant in (ACME, BETA):
        meta = {"message_id": "m1", "seq": 0}
        spoken = turn_of("user", said(tenant), NOON, meta)
        await store.append(memories.conversation(tenant.name), "f1", spoken, Session(frame_id="f1"), b"own", 9)
    before = [await _seen(store, tenant) for tenant in (ACME, BETA)]
    token = await store.start_restore(0)
    later = memories.turn(said(GAMA)).model_copy(update={"message_id": "m2", "seq": 1})
    assert await store.restore(memories.conversation(GAMA.name), 0, token, [TurnOutcome(turn=later)], 9) == 1
    assert [await _seen(store, tenant) for tenant in (ACME, BETA)] == before
    opened, frame, every, frames = await _seen(store, GAMA)
    assert opened.session.frame_id == "f1"
    assert [turn.content for turn in frame] == [turn.content for turn in every] == [said(GAMA)]
    assert frames == [None, "f1"]
    assert (await store.open(memories.conversation(GAMA.name), "m2", 9)).outcome is not None
    # Known by now: nothing is lacking.
    assert await store.restore(memories.conversation(GAMA.name), 0, token, [TurnOutcome(turn=later)], 9) == 0


async def _seen(store: Any, tenant: Tenant) -> tuple[Any, ...]:
    place = memories.conversation(tenant.name)
    frames = [await store.frame_of(place, message) for message in ("m1", "m2")]
    turns = await store.turns(place, "f1", up_to_seq=9, limit=9)
    return await store.open(place, "m1", 9), turns, await store.session_turns(place, up_to_seq=9, limit=9), frames


async def weights() -> None:
    """Votes are the tenant's own, also in the copy that is kept, which is as old as it may be and no older."""
    await _voted(MemorySignalWeights())
    now, asked, client = [0.0], [], fakeredis.FakeAsyncRedis()

    class Counted:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(client, name)

    store = RedisSignalWeights(Counted(), fresh=2.0, clock=lambda: now[0])  # type: ignore[arg-type]
    await _voted(store)
    keys = {key.decode().partition(":votes")[0] for key in await client.keys("*")}
    assert keys == {EPOCHS, *(f"fathom:{{{tenant.name}}}" for tenant in THREE)}, keys
    before = len(asked)
    assert canaries(await store.votes(ACME.name)) == {ACME.canary}
    assert len(asked) == before, "a fresh copy was not taken"
    elsewhere = RedisSignalWeights(client)
    for tenant in THREE:
        await elsewhere.add(tenant.name, memories.vote(f"more {tenant.canary}").model_copy(update={"id": "v2"}))
    now[0] = 3.0
    for tenant in THREE:
        found = await store.votes(tenant.name)
        assert canaries(found) == {tenant.canary}
        assert sum(map(len, found.values())) == 2, "an old copy was taken"


async def votes_restored() -> None:
    """A vote that is read back from the log counts for its tenant."""

    class Log:
        async def read(self, partitions: Any, _span: Any) -> Any:
            for number in partitions:
                yield {number: [(tenant.name, memories.vote(f"said {tenant.canary}")) for tenant in THREE]}

    store = MemorySignalWeights()
    following = RecoverableVotes(store, Log(), partitions=1)
    await following.on_assigned({0})
    await following.restore_incomplete()
    for tenant in THREE:
        found = await store.votes(tenant.name)
        assert (canaries(found), sum(map(len, found.values()))) == ({tenant.canary}, 1)


async def _voted(store: Any) -> None:
    for none in (*NONE, PUBLIC_TENANT):
        for call in (lambda n: store.votes(n), lambda n: store.add(n, memories.vote("x"))):
            await refused(lambda c=call, n=none: c(n), "tenant_invalid|public_tenant_read_only")
    assert await store.votes(ACME.name) == {}
    for tenant in THREE:
        # Not read before: there is no copy to be made old.
        await store.add(tenant.name, memories.vote(said(tenant)))
        assert canaries(await store.votes(tenant.name)) == {tenant.canary}
    for tenant in THREE:
        assert canaries(await store.votes(tenant.name)) == {tenant.canary}


async def unvoted() -> None:
    """A user's votes are removed for one tenant only, at once for who has just read them; nobody's are nothing."""
    for store in (MemorySignalWeights(), RedisSignalWeights(fakeredis.FakeAsyncRedis())):
        for none in (*NONE, PUBLIC_TENANT):
            await refused(lambda n=none, s=store: s.remove(n, "ana"), "tenant_invalid|public_tenant_read_only")
        for tenant in THREE:
            await store.add(tenant.name, memories.vote(said(tenant)))
            assert canaries(await store.votes(tenant.name)) == {tenant.canary}
        assert await store.remove("never-read", "ana") == 0
        assert await store.remove(ACME.name, "bia") == 0
        assert await store.remove(ACME.name, "ana") == 1
        assert [canaries(await store.votes(tenant.name)) for tenant in THREE] == [set(), {BETA.canary}, {GAMA.canary}]
        assert await store.remove(ACME.name, "ana") == 0
        assert [canaries(await store.votes(tenant.name)) for tenant in THREE] == [set(), {BETA.canary}, {GAMA.canary}]


async def tools() -> None:
    """What a session keeps for tools is the tenant's own, whoever else has a session of that name."""
    client, everybody = fakeredis.FakeAsyncRedis(), memories.conversation(PUBLIC_TENANT)
    for store, elsewhere in (
        (own := MemoryToolSessions(), own),
        (RedisToolSessions(client), RedisToolSessions(client)),
    ):
        for call in (lambda s=store: s.load(everybody), lambda s=store: s.save(everybody, ToolSession(), "")):
            await refused(call, "public_tenant_read_only")
        for tenant in THREE:
            kept = ToolSession(values={"active_report_id": Kept(value=tenant.canary, at=NOON, call_id="c1")})
            assert await store.save(memories.conversation(tenant.name), kept, ""), "another's session is in the way"
        for asked in (store, elsewhere):
            for tenant in THREE:
                found, _ = await asked.load(memories.conversation(tenant.name))
                assert canaries(found) == {tenant.canary}
    for store in (MemoryToolSessions(), RedisToolSessions(fakeredis.FakeAsyncRedis())):
        store.follow(1, lambda _: 0)
        token = await store.start_restore(0)
        await refused(
            lambda s=store, t=token: s.restore(everybody, 0, t, lambda known: known), "public_tenant_read_only"
        )
        for tenant in THREE:
            kept = ToolSession(values={"active_report_id": Kept(value=tenant.canary, at=NOON, call_id="c1")})
            whose = memories.conversation(tenant.name)
            await store.restore(whose, 0, token, lambda known, kept=kept: kept if known == ToolSession() else known)
        await store.complete_restore(0, token)
        for tenant in THREE:
            found, _ = await store.load(memories.conversation(tenant.name))
            assert canaries(found) == {tenant.canary}


def redis() -> RedisWorkingSets:
    return RedisWorkingSets(fakeredis.FakeAsyncRedis())


def held() -> HeldWorkingSets:
    """Copies of every conversation, as the owner of all partitions has them."""
    store = HeldWorkingSets(MemoryWorkingSets())
    store.own([0])
    return store


async def decided(opened: Any) -> None:
    """Of three tenants with one, two and three decisions and corrections, each counts its own."""
    stretch: dict[str, Any] = {"whose": Asker(), "since": NOON, "as_of": LATER, "limit": 10}
    async with opened() as store:
        for number, tenant in enumerate(THREE, 1):
            for made in range(number):
                decision = memories.decision("x").model_copy(update={"id": f"d{made}", "message_id": f"m{made}"})
                correction = memories.correction("x").model_copy(update={"correction_id": f"x{made}"})
                await store.write_decisions([memories.received(decision, tenant.name)])
                await store.write_corrections([memories.received(correction, tenant.name)])
        for number, tenant in enumerate(THREE, 1):
            assert len(await store.decisions(tenant.name, **stretch)) == number
            assert len(await store.corrections(tenant.name, **stretch)) == number
            assert len(await store.decisions_on(tenant.name, f"m{number - 1}", LATER)) == 1
            assert await store.decisions_on(tenant.name, f"m{number}", LATER) == ()
        for none in NONE:
            await refused(lambda n=none: store.decisions(n, **stretch), "tenant_invalid")
            await refused(lambda n=none: store.corrections(n, **stretch), "tenant_invalid")
            await refused(lambda n=none: store.questions(n, ["d1"], LATER), "tenant_invalid")
