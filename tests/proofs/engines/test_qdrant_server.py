"""The index of a Qdrant server: what a server can do to us that an embedded engine cannot."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from agents.errors import FathomError, Rejected, Unavailable
from agents.ports.passages import Hit, Passage, PassageQuery
from streams import config
from streams.runtime import up
from streams.runtime.stores import open_stores
from streams.stores.passages.index_process import IndexProcess
from streams.stores.passages.points import IncompatibleIndex
from streams.stores.passages.qdrant_connection import QdrantRefusal
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import AccessRefused, QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.settings import QdrantServer as Address
from streams.stores.settings import StoreSettings
from streams.stores.tenant import point_id
from streams.topology import STAGES
from tests.servers.kafka_secure import make_certificates
from tests.servers.process import HOST, free_port
from tests.servers.proxy import Proxy
from tests.servers.qdrant import QdrantAddress, QdrantServer

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUERY = PassageQuery("qual é o prazo do reembolso?", "pt", 10, NOON)
PATIENCE = 60.0
PAUSE = 1.1  # a little longer than the guard's
SENTENCES = (
    "O prazo do reembolso é de dez dias",
    "O projeto tem três fases e um prazo",
    "Ela correu até a estação de São Paulo",
    "The refund is paid within ten days",
    "A política de férias mudou em março",
    "O contrato foi assinado ontem por todos",
)


class WiderEmbedder(HashingEmbedder):
    size = 32


class OtherEmbedder(HashingEmbedder):
    """Another model whose vectors are as long."""


@pytest.fixture
def server(own_qdrant) -> QdrantServer:
    """A server of the test's own, to be killed and looked into; it asks for a key."""
    own_qdrant.start()
    return own_qdrant


@asynccontextmanager
async def index_of(
    server: QdrantServer | QdrantAddress, embedder: Any = None, **fields: Any
) -> AsyncIterator[QdrantServerIndex]:
    index = QdrantServerIndex(server.url, embedder or HashingEmbedder(), **{"api_key": server.api_key, **fields})
    try:
        await index.open()
        yield index
    finally:
        await index.close()


@asynccontextmanager
async def client_of(server: QdrantServer) -> AsyncIterator[AsyncQdrantClient]:
    client = AsyncQdrantClient(url=server.url, headers={"api-key": server.api_key}, check_compatibility=False)
    yield client
    await client.close()


def passage(number: int, text: str = "O prazo do reembolso é de dez dias", **fields: Any) -> Passage:
    return Passage(**{"id": f"p{number}", "kind": "chunk", "text": text, "lang": "pt", "recorded_at": NOON, **fields})


def ids(hits: tuple[Hit, ...]) -> set[str]:
    return {hit.passage.id for hit in hits}


async def until_it_answers(index: QdrantServerIndex) -> None:
    """Callers are refused until a probe has found the server back."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while True:
        try:
            await index.search("acme", "semantic", QUERY)
            return
        except Unavailable:
            assert asyncio.get_running_loop().time() < deadline
            await asyncio.sleep(0.1)


def test_eight_workers_at_once_make_the_collections_once_and_all_can_use_them(server):
    async def worker(number: int) -> None:
        async with index_of(server) as index:
            await index.upsert("acme", "semantic", [passage(number)])
            assert f"p{number}" in ids(await index.search("acme", "semantic", QUERY))

    async def story() -> None:
        await asyncio.gather(*(worker(number) for number in range(8)))
        async with index_of(server) as index, client_of(server) as client:
            assert ids(await index.search("acme", "semantic", QUERY)) == {f"p{number}" for number in range(8)}
            names = {each.name for each in (await client.get_collections()).collections}
            assert names == {"fathom_semantic", "fathom_episodic", "fathom_consultas"}

    asyncio.run(story())


def test_a_collection_has_the_indexes_the_filters_need_and_refuses_other_filters(server):
    async def story() -> None:
        async with index_of(server), client_of(server) as client:
            found = await client.get_collection("fathom_episodic")
            assert {name: field.data_type for name, field in found.payload_schema.items()} == {
                **dict.fromkeys(("tenant_id", "user_id", "conversation_id", "kind"), "keyword"),
                **dict.fromkeys(("access", "recorded_at", "retired_at"), "integer"),
            }
            assert found.payload_schema["tenant_id"].params.is_tenant is True
            # A graph for each tenant that is large, none over everybody.
            assert (found.config.hnsw_config.m, found.config.hnsw_config.payload_m) == (0, 16)
            by_text = models.FieldCondition(key="text", match=models.MatchValue(value="x"))
            with pytest.raises(UnexpectedResponse, match="ndex required"):
                await client.scroll("fathom_episodic", models.Filter(must=[by_text]))

    asyncio.run(story())


@pytest.mark.parametrize(
    ("made", "embedder", "says"),
    [
        (None, WiderEmbedder(), "no vector `dense` of 32 numbers"),
        (None, OtherEmbedder(), "written with HashingEmbedder 64, not OtherEmbedder 64"),
        ({"dense": models.VectorParams(size=64, distance=models.Distance.DOT)}, None, "compared by cosine"),
        ({"dense": models.VectorParams(size=64, distance=models.Distance.COSINE)}, None, "lacks the sparse vector"),
        (models.VectorParams(size=64, distance=models.Distance.COSINE), None, "no vector `dense`"),
    ],
    ids=["size", "embedder", "distance", "sparse", "unnamed"],
)
def test_a_collection_made_for_something_else_is_refused_with_what_to_do(server, made, embedder, says):
    async def story() -> None:
        if made is None:
            async with index_of(server):
                pass
        else:
            async with client_of(server) as client:
                await client.create_collection("fathom_semantic", vectors_config=made)
        with pytest.raises(IncompatibleIndex, match=f"collection fathom_semantic .*{says}.*rebuild the views"):
            async with index_of(server, embedder):
                raise AssertionError("opened")

    asyncio.run(story())


def test_a_collection_that_becomes_another_one_holds_records_back_instead_of_losing_them(server):
    async def story() -> None:
        async with index_of(server) as index, client_of(server) as client:
            await client.delete_collection("fathom_semantic")
            wrong = {"dense": models.VectorParams(size=8, distance=models.Distance.COSINE)}
            await client.create_collection("fathom_semantic", vectors_config=wrong)
            with pytest.raises(Unavailable, match="no vector `dense` of 64 numbers"):
                await index.ping()

    asyncio.run(story())


def test_a_removed_collection_begins_again_empty(server):
    async def story() -> None:
        async with index_of(server) as index, client_of(server) as client:
            await index.upsert("acme", "semantic", [passage(1)])
            await client.delete_collection("fathom_semantic")
            assert await index.search("acme", "semantic", QUERY) == ()
            await client.delete_collection("fathom_semantic")
            await index.upsert("acme", "semantic", [passage(2)])
            assert ids(await index.search("acme", "semantic", QUERY)) == {"p2"}

    asyncio.run(story())


@pytest.mark.parametrize("key", [None, "wrong"])
def test_a_wrong_key_is_one_error_that_names_the_setting_and_not_the_key(server, key):
    async def story() -> None:
        with pytest.raises(AccessRefused, match=r"refuses our API key \(401.*FATHOM_QDRANT_API_KEY_FILE") as refused:
            async with index_of(server, api_key=key):
                raise AssertionError("opened")
        assert "wrong" not in str(refused.value)
        index = QdrantServerIndex(server.url, HashingEmbedder(), api_key=key)
        for call in (index.ping(), index.search("acme", "semantic", QUERY)):
            with pytest.raises(Unavailable, match="refuses our API key"):
                await call
        await index.close()

    asyncio.run(story())


@pytest.mark.covers("AC-36")
def test_every_query_carries_the_whole_filter_in_each_of_its_lists(server):
    async def story() -> None:
        async with index_of(server, admin=True) as index:
            sent = spied(index)
            await index.upsert("acme", "semantic", [passage(1)])
            asked = replace(QUERY, user_id="ana", kinds=("chunk",), since=NOON)
            await index.search("acme", "semantic", asked)
            await index.search("acme", "episodic", replace(QUERY, text=""))
            await index.search("_public", "episodic", QUERY)
            await index.ping()
        searched = [(path, body) for path, body in sent if "/points" in path and not path.endswith("/count")]
        looked_up, _, *searches = [body for _, body in searched]
        assert looked_up["ids"] == [str(point_id("acme", passage(1).id))]
        assert [path for path, _ in searched] == [
            "/collections/fathom_semantic/points",  # what is there already is not embedded again
            "/collections/fathom_semantic/points?wait=true",  # else the next search might not find it
            "/collections/fathom_semantic/points/query/batch",
            "/collections/fathom_episodic/points/query/batch",
            "/collections/fathom_episodic/points/query/batch",
        ]
        counted = [body["filter"]["must"] for path, body in sent if path.endswith("/count")]
        assert [must[0]["match"]["any"] for must in counted] == [["acme", "_public"], ["acme", "_public"], ["_public"]]
        # How rare a word is: of what both have, whoever may read it.
        alone = [one for body in searches for one in body["searches"] if one["limit"] == 1]
        assert alone
        assert all([each["key"] for each in one["filter"]["must"]] == ["tenant_id"] for one in alone)
        assert not any(one["with_payload"] for one in alone)
        lists = [(one, body) for body in searches for one in body["searches"] if one["limit"] > 1]
        lists = [(one, sum(each["limit"] > 1 for each in body["searches"])) for one, body in lists]
        # Of each tenant its near ones, and of both the named ones, where the question has words.
        both = ["acme", "_public"]
        whose = [["acme"], ["_public"], both, ["acme"], ["_public"], ["_public"], ["_public"]]
        assert [count for _, count in lists] == [3, 3, 3, 2, 2, 2, 2]
        for number, (one, _) in enumerate(lists):
            fields = {condition["key"]: condition for condition in one["filter"]["must"]}
            assert {"tenant_id", "access", "recorded_at", "user_id"} <= fields.keys()
            assert fields["tenant_id"]["match"]["any"] == whose[number]
            assert "prefetch" not in one

    asyncio.run(story())


def spied(index: QdrantServerIndex) -> list[tuple[str, Any]]:
    """What the index sends from now on: path with query, and body."""
    sent: list[tuple[str, Any]] = []
    answer = index._client.answer

    async def noted(method: str, path: str, body: Any = None) -> dict[str, Any]:
        sent.append((path, body))
        return await answer(method, path, body)

    index._client.answer = noted  # type: ignore[method-assign]
    return sent


def test_passages_that_come_while_others_are_stored_go_together_and_a_wrong_one_fails_alone(server):
    async def story() -> None:
        async with index_of(server) as index:
            sent = spied(index)
            tenants = ("acme", "beta", "gama")
            await asyncio.gather(*(index.upsert(tenants[n % 3], "semantic", [passage(n)]) for n in range(30)))
            stored = [body["points"] for path, body in sent if path.endswith("/points?wait=true")]
            assert sum(map(len, stored)) == 30
            assert len(stored) < 10
            for number, tenant in enumerate(tenants):
                page = await index.listed(tenant, "semantic")
                assert sorted(page.ids) == sorted(passage(n).id for n in range(number, 30, 3))

            wrong = replace(passage(90), recorded_at=datetime.max.replace(tzinfo=UTC), fields={"x": 10**400})
            said = await asyncio.gather(
                index.upsert("acme", "semantic", [passage(91)]),
                index.upsert("acme", "semantic", [wrong]),
                index.upsert("beta", "semantic", [passage(92)]),
                return_exceptions=True,
            )
            assert [each is None for each in said] == [True, False, True]
            assert passage(92).id in (await index.listed("beta", "semantic")).ids

    asyncio.run(story())


def test_a_server_gives_the_hits_of_the_embedded_engine(server, tmp_path):
    async def story() -> None:
        embedded = QdrantEdgeIndex(tmp_path / "edge", HashingEmbedder())
        stored = [passage(number, text) for number, text in enumerate(SENTENCES * 4)]
        async with index_of(server) as index:
            for each in (embedded, index):
                await each.upsert("acme", "semantic", stored)
            for text in (*SENTENCES, "prazo", "refund", "reembolso do contrato", "nada"):
                for lang in ("pt", "en"):
                    asked = replace(QUERY, text=text, lang=lang, limit=24)
                    ours = await embedded.search("acme", "semantic", asked)
                    theirs = await index.search("acme", "semantic", asked)
                    assert [hit.passage for hit in theirs] == [hit.passage for hit in ours]
                    for one, other in zip(theirs, ours, strict=True):
                        assert dict(one.scores) == pytest.approx(dict(other.scores), rel=1e-4, abs=1e-5)
        await embedded.close()

    asyncio.run(story())


def test_below_1_19_another_tenants_words_show_in_what_weighs_words_and_in_nothing_else(server):
    async def story() -> None:
        async with index_of(server) as index, client_of(server) as client:
            await index.upsert("acme", "semantic", [passage(n, text) for n, text in enumerate(SENTENCES)])
            alone = await index.search("acme", "semantic", QUERY)
            await index.upsert("beta", "semantic", [passage(n) for n in range(150)])
            crowded = await index.search("acme", "semantic", QUERY)
            older = int((await client.info()).version.split(".")[1]) < 19
        assert (crowded != alone) == older
        meant = {hit.passage.id: (hit.passage, hit.scores["dense"], hit.scores["unknown"]) for hit in alone}
        assert {hit.passage.id: (hit.passage, hit.scores["dense"], hit.scores["unknown"]) for hit in crowded} == meant

    asyncio.run(story())


def test_a_server_killed_and_started_again_has_every_passage_it_acknowledged(server):
    async def story() -> None:
        async with index_of(server) as index:
            stored, under_way = 0, asyncio.Event()

            async def write() -> None:
                nonlocal stored
                for number in range(1_000):
                    await index.upsert("acme", "semantic", [passage(number)])
                    stored = number + 1
                    if stored == 50:
                        under_way.set()

            writing = asyncio.create_task(write())
            await under_way.wait()
            server.kill()
            with pytest.raises(Unavailable, match="index is unavailable"):
                await writing
            with pytest.raises(Unavailable):
                await index.search("acme", "semantic", QUERY)
            server.start()
            await until_it_answers(index)
            found = ids(await index.search("acme", "semantic", replace(QUERY, limit=1_000)))
            assert {f"p{number}" for number in range(stored)} <= found

    asyncio.run(story())


def test_a_server_that_comes_later_than_the_worker_is_used_when_it_is_there(own_qdrant):
    late = own_qdrant

    async def story() -> None:
        async with index_of(late) as index:
            with pytest.raises(Unavailable, match=f"index is unavailable: {late.url}"):
                await index.search("acme", "semantic", QUERY)
            late.start()
            await until_it_answers(index)
            await index.upsert("acme", "semantic", [passage(1)])
            assert ids(await index.search("acme", "semantic", QUERY)) == {"p1"}

    asyncio.run(story())


def test_a_connection_that_the_server_just_gave_up_costs_no_call(server):
    """It ends those that were silent for five seconds, also while a request is on its way."""

    async def story() -> None:
        async with (
            Proxy(server.url) as proxy,
            index_of(replace(server.address, url=proxy.url)) as index,
        ):
            await index.upsert("acme", "semantic", [passage(1)])
            for call in (
                index.search("acme", "semantic", QUERY),
                index.upsert("acme", "semantic", [passage(2)]),
                index.remove("acme", "semantic", ["p1"]),
            ):
                proxy.tire()
                await call
            assert [hit.passage.id for hit in await index.search("acme", "semantic", QUERY)] == ["p2"]

    asyncio.run(story())


def test_a_server_with_tls_is_used_where_its_certificate_is_trusted_and_only_there(own_qdrant, tmp_path, monkeypatch):
    certificates = make_certificates(tmp_path / "certificates", f"IP:{HOST}")
    tls = {"SERVICE__ENABLE_TLS": "true", "TLS__CERT": certificates.server, "TLS__KEY": certificates.server}
    server = QdrantServer(tmp_path / "qdrant", api_key="k", settings={f"QDRANT__{n}": str(v) for n, v in tls.items()})
    address = replace(server.address, url=server.url.replace("http:", "https:"))

    async def story() -> None:
        async with index_of(address) as index:
            await until_it_answers(index)
            await index.upsert("acme", "semantic", [passage(1)])
            assert ids(await index.search("acme", "semantic", QUERY)) == {"p1"}

    async def refused() -> None:
        async with index_of(address) as index:
            with pytest.raises(Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
                await index.search("acme", "semantic", QUERY)

    server.launch()
    try:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates.ca))
        asyncio.run(story())
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates.stranger_ca))
        asyncio.run(refused())
    finally:
        server.kill()


def test_a_server_that_hangs_is_unavailable_within_the_limit_and_heals(server):
    async def story() -> None:
        async with index_of(server, timeout=0.4) as index:
            loop = asyncio.get_running_loop()
            os.kill(server.pid, signal.SIGSTOP)
            try:
                asked_at = loop.time()
                with pytest.raises(Unavailable, match=r"no answer in 0\.4 s"):
                    await index.search("acme", "semantic", QUERY)
                with pytest.raises(Unavailable):
                    await index.search("acme", "semantic", QUERY)  # at once
                assert loop.time() - asked_at < 1.0
            finally:
                os.kill(server.pid, signal.SIGCONT)
            await until_it_answers(index)
            assert await index.search("acme", "semantic", QUERY) == ()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        *((status, Unavailable) for status in ("429 x", "500 x", "503 x", "507 x", "403 Forbidden", "200 OK")),
        ("429 x\r\nretry-after: 3", Unavailable),
        ("400 Bad Request", QdrantRefusal),
    ],
)
def test_what_a_server_answers_instead_decides_whether_it_is_asked_again(status, raised):
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status}\r\ncontent-length: 6\r\n\r\n<html>".encode())
        await writer.drain()
        writer.close()

    async def story() -> None:
        port = free_port()
        async with await asyncio.start_server(refuse, "127.0.0.1", port):
            index = QdrantServerIndex(f"http://127.0.0.1:{port}", HashingEmbedder())
            with pytest.raises(raised):
                await index.search("acme", "semantic", QUERY)
            await index.close()

    asyncio.run(story())


def started(place: Address, **fields: Any) -> IndexProcess:
    index = IndexProcess(place, "hashing", **fields)
    index.wait()
    return index


def address_of(server: QdrantServer, directory: Path) -> Address:
    key_file = directory / "key"
    key_file.write_text(f"{server.api_key}\n")
    return Address(server.url, key_file)


def test_two_workers_processes_share_a_server_and_its_key_stays_in_its_file(server, tmp_path):
    async def story() -> None:
        first, second = started(address_of(server, tmp_path)), started(address_of(server, tmp_path))
        await first.upsert("acme", "semantic", [passage(1)])
        await second.upsert("acme", "semantic", [passage(2)])
        for each in (first, second):
            assert ids(await each.search("acme", "semantic", QUERY)) == {"p1", "p2"}
            command = Path(f"/proc/{each.pid}/cmdline").read_bytes() + Path(f"/proc/{each.pid}/environ").read_bytes()
            assert server.url.encode() in command
            assert server.api_key.encode() not in command
        with pytest.raises(Rejected, match="public_tenant_read_only"):
            await first.upsert("_public", "semantic", [passage(1)])
        await first.close()
        await second.ping()
        await second.close()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("text", "says"),
    [("wrong", "refuses our API key"), (" \n", "is empty"), (None, "cannot be read"), ("\udcff", "cannot be read")],
)
def test_a_worker_without_the_right_key_does_not_start_and_says_why(server, tmp_path, text, says):
    path = tmp_path / "key"
    if text is not None:
        path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FathomError, match="FATHOM_QDRANT_API_KEY_FILE") as refused:
        started(Address(server.url, path))
    assert says in str(refused.value)


def test_a_killed_index_process_is_replaced_and_the_server_still_has_everything(server, tmp_path):
    async def story() -> None:
        index = started(address_of(server, tmp_path))
        await index.upsert("acme", "semantic", [passage(1)])
        os.kill(index.pid, signal.SIGKILL)
        found: tuple[Hit, ...] = ()
        async with asyncio.timeout(30):
            while not found:
                try:
                    found = await index.search("acme", "semantic", QUERY)
                except Unavailable:
                    await asyncio.sleep(0.1)
        assert ids(found) == {"p1"}
        await index.close()

    asyncio.run(story())


def test_stores_opened_by_the_url_of_a_server_work_and_are_not_ready_without_it(server, tmp_path):
    async def story() -> None:
        assert await stores.ready() == {"graph": None, "working_set": None, "index": None}
        await stores.index.upsert("acme", "episodic", [passage(1)])
        assert ids(await stores.index.search("acme", "episodic", QUERY)) == {"p1"}
        server.stop()
        assert server.url in ((await stores.ready())["index"] or "")
        server.start()
        await asyncio.sleep(PAUSE)
        assert (await stores.ready())["index"] is None
        await stores.close()

    environment = {
        "FATHOM_QDRANT_URL": server.url,
        "FATHOM_QDRANT_API_KEY_FILE": str(address_of(server, tmp_path).api_key_file),
        "FATHOM_REDIS_URL": "memory://",
        "FATHOM_NEO4J_URL": "memory://",
        "FATHOM_EMBEDDER": "hashing",
    }
    stores = open_stores(up.store_settings(config.load(environment), STAGES))
    asyncio.run(story())


def test_a_key_file_that_cannot_be_used_is_a_bad_setting_before_anything_is_started(tmp_path):
    (tmp_path / "empty").write_text("\n")
    for name in ("empty", "missing"):
        settings = config.load({"FATHOM_QDRANT_API_KEY_FILE": str(tmp_path / name)})
        with pytest.raises(config.ConfigError, match=f"FATHOM_QDRANT_API_KEY_FILE=.*{name}"):
            up.store_settings(settings, STAGES)


def test_credentials_in_the_url_are_refused_and_not_repeated(tmp_path):
    chosen = StoreSettings(
        tmp_path, redis_url="memory://", qdrant_url="http://ana:senha@localhost:6333", neo4j_url="memory://"
    )
    with pytest.raises(FathomError, match=r"without user or password.*FATHOM_QDRANT_API_KEY_FILE") as refused:
        open_stores(chosen)
    assert "senha" not in str(refused.value)
