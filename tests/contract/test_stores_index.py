"""The contract of the passage index: on the twin, the embedded engine, its process, and a Qdrant server."""

import asyncio
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient, models

from agents.errors import Rejected, Unavailable
from agents.ports.passages import Hit, Passage, PassageIndex, PassageQuery
from streams.stores.ownership import DirectoryInUse
from streams.stores.passages.index_process import IndexProcess
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.points import IncompatibleIndex
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
HOSTILE = ["ACME", "acme|", "acme%", "acm", "acme*", "аcme", "_publi", '{"any": ["acme"]}']


class WiderEmbedder(HashingEmbedder):
    size = 32


@dataclass
class Kit:
    """An index, the loop it is used in, and a mark that gives each test its own tenants: opening one takes a while.

    `rarity` says whose texts make a word rare: the tenant's, or `everybody's` on servers that know no better.
    """

    store: PassageIndex
    runner: asyncio.Runner
    mark: str = ""
    rarity: str = "tenant's"

    def put(self, *passages: Passage, tenant="acme", collection="semantic") -> None:
        self.runner.run(self.store.upsert(self.own(tenant), collection, passages))

    def hits(self, text: str, tenant="acme", collection="semantic", **fields: Any) -> tuple[Hit, ...]:
        asked = {"lang": "pt", "limit": 10, "as_of": NOON + timedelta(days=1), **fields}
        return self.runner.run(self.store.search(self.own(tenant), collection, PassageQuery(text=text, **asked)))

    def own(self, tenant: str) -> str:
        return tenant if tenant == "_public" else tenant + self.mark

    def found(self, text: str, **asked: Any) -> list[str]:
        return [hit.passage.id for hit in self.hits(text, **asked)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[QdrantEdgeIndex]:
    store = QdrantEdgeIndex(tmp_path_factory.mktemp("index"), HashingEmbedder(), admin=True)
    yield store
    asyncio.run(store.close())


@pytest.fixture(scope="module")
def apart(tmp_path_factory) -> Iterator[Kit]:
    """One index in a process of its own, and the loop its connection belongs to."""
    store = IndexProcess(tmp_path_factory.mktemp("apart"), "hashing", admin=True)
    store.wait()
    with asyncio.Runner() as runner:
        yield Kit(store, runner)
        runner.run(store.close())


@pytest.fixture(scope="module")
def served(qdrant_server) -> Iterator[Kit]:
    """The index of a server; nothing of other tests is public in it."""
    with asyncio.Runner() as runner:
        store = runner.run(opened(qdrant_server))
        runner.run(forget_what_is_public(qdrant_server))
        version = runner.run(version_of(qdrant_server))
        yield Kit(store, runner, rarity="tenant's" if version >= (1, 19) else "everybody's")
        runner.run(store.close())


async def opened(server: Any) -> QdrantServerIndex:
    store = QdrantServerIndex(server.url, HashingEmbedder(), api_key=server.api_key, admin=True)
    await store.open()
    return store


def client_of(server: Any) -> AsyncQdrantClient:
    key = {"api-key": server.api_key} if server.api_key else None
    return AsyncQdrantClient(url=server.url, headers=key, check_compatibility=False)


async def forget_what_is_public(server: Any) -> None:
    client = client_of(server)
    public = models.FieldCondition(key="tenant_id", match=models.MatchValue(value="_public"))
    for collection in ("fathom_semantic", "fathom_episodic"):
        await client.delete(collection, models.FilterSelector(filter=models.Filter(must=[public])))
    await client.close()


async def version_of(server: Any) -> tuple[int, ...]:
    client = client_of(server)
    version = (await client.info()).version
    await client.close()
    return tuple(int(part) for part in version.split(".")[:2])


@pytest.fixture(params=["memory", "qdrant-edge", "process", "qdrant-server"])
def kit(request) -> Iterator[Kit]:
    mark = f"-{uuid4().hex[:8]}"
    if request.param in ("process", "qdrant-server"):
        kit = request.getfixturevalue("apart" if request.param == "process" else "served")
        yield replace(kit, mark=mark)
        return
    memory = request.param == "memory"
    store = MemoryPassageIndex(HashingEmbedder(), admin=True) if memory else request.getfixturevalue("shared")
    with asyncio.Runner() as runner:
        yield Kit(store, runner, mark)


@pytest.fixture(params=["memory", "qdrant-edge", "process", "qdrant-server"])
def fresh(request, tmp_path) -> Iterator[Kit]:
    embedder = HashingEmbedder()
    if request.param == "qdrant-server":
        kit = request.getfixturevalue("served")
        yield replace(kit, mark=f"-{uuid4().hex[:8]}")
        kit.runner.run(forget_what_is_public(request.getfixturevalue("qdrant_server")))
        return
    with asyncio.Runner() as runner:
        if request.param == "memory":
            yield Kit(MemoryPassageIndex(embedder, admin=True), runner)
            return
        if request.param == "process":
            store = IndexProcess(tmp_path, "hashing", admin=True)
            store.wait()
        else:
            store = QdrantEdgeIndex(tmp_path, embedder, admin=True)
        yield Kit(store, runner)
        runner.run(store.close())


def passage(id_: str, text="O prazo do reembolso é de dez dias", **fields: Any) -> Passage:
    return Passage(**{"id": id_, "kind": "chunk", "text": text, "lang": "pt", "recorded_at": NOON, **fields})


@pytest.mark.covers("S2-02")
def test_the_passage_that_has_the_words_comes_first_with_the_parts_of_its_score(kit):
    kit.put(
        passage("p1", "O prazo do reembolso é de dez dias"),
        passage("p2", "O projeto tem três fases"),
        passage("p3", "A versão atual é 2.3"),
    )
    first, *_ = kit.hits("qual o prazo do reembolso?")
    assert first.passage.id == "p1"
    told = {"dense", "bm25", "cover", "own", "reach", "heading", "unknown", "terms", "size", "exact"}
    assert set(first.scores) == told
    assert first.scores["cover"] == first.scores["own"] == pytest.approx(1.0)
    assert -1 <= first.scores["dense"] <= 1
    assert first.scores["bm25"] > 0
    assert first.scores["size"] == pytest.approx(math.log(1 + 3.5 / 0.5))


def test_a_passage_comes_back_as_it_was_stored(kit):
    lisbon = timezone(timedelta(hours=1))
    stored = passage(
        "p1",
        lang="en",
        kind="message",
        recorded_at=datetime(2026, 3, 2, 12, 0, 0, 123_457, tzinfo=lisbon),
        context="antes e depois",
        access_level="internal",
        user_id="ana",
        conversation_id="c1",
        fields={"title": "Viagens", "position": 3, "weight": 0.5, "checked": True, "topic_name": "messages.in"},
    )
    kit.put(stored)
    [hit] = kit.hits("prazo", access_level="internal", user_id="ana")
    assert hit.passage == replace(stored, context="")
    assert [type(value) for value in hit.passage.fields.values()] == [str, int, float, bool, str]


def test_neighbours_are_searched_but_weigh_less_than_the_text(kit):
    kit.put(
        passage("own", "O orçamento foi aprovado ontem", context="bom dia"),
        passage("near", "bom dia", context="O orçamento foi aprovado ontem"),
        passage("none", "boa noite", context=""),
    )
    scores = {hit.passage.id: hit.scores.get("bm25", 0.0) for hit in kit.hits("orçamento aprovado")}
    assert scores["own"] > scores["near"] > scores.get("none", 0.0) == 0.0


@pytest.mark.parametrize(
    ("lang", "text", "question"),
    [
        ("pt", "Ela correu até a estação", "correndo"),
        ("pt", "As políticas de férias mudaram", "politica"),
        ("en", "The contracts were signed", "contract signing"),
    ],
)
def test_another_form_of_the_word_is_found(kit, lang, text, question):
    kit.put(passage("p1", text, lang=lang), passage("p2", "xyz", lang=lang))
    [hit] = [hit for hit in kit.hits(question, lang=lang) if "bm25" in hit.scores and hit.scores["bm25"] > 0]
    assert hit.passage.id == "p1"


@pytest.mark.covers("S2-02")
@pytest.mark.parametrize("typed", ["rembolso", "reemblso", "reembolsso"])
def test_a_mistyped_word_finds_what_the_right_one_does(kit, typed):
    kit.put(passage("p1"), passage("p2", "O projeto tem três fases"), passage("p3", "A versão atual é 2.3"))
    first, *others = kit.hits(f"e o {typed}?")
    assert (first.passage.id, first.scores["own"]) == ("p1", 1.0)
    assert first.scores["bm25"] > 0
    assert [hit.scores["own"] for hit in others] == [0.0, 0.0]


def test_by_words_only_nothing_is_found_that_lacks_them(kit):
    kit.put(passage("p1"), passage("p2", "O projeto tem três fases"), passage("p3", "O reembolso caiu na conta"))
    assert sorted(kit.found("prazo reembolso", words_only=True)) == ["p1", "p3"]
    assert kit.found("rembolso", words_only=True) == []
    assert kit.found("", words_only=True) == []
    assert sorted(kit.found("prazo reembolso")) == ["p1", "p2", "p3"]


@pytest.mark.covers("AC-29")
def test_redelivered_passage_is_stored_once_and_a_new_text_replaces_the_old(kit):
    kit.put(passage("p1"), passage("p1"))
    kit.put(passage("p1"))
    assert kit.found("prazo reembolso") == ["p1"]
    kit.put(passage("p1", "A reunião ficou para terça"), passage("p1", "A reunião ficou para quarta"))
    [hit] = kit.hits("reunião")
    assert hit.passage.text == "A reunião ficou para quarta"


def taken(texts: list[str]) -> list[str]:
    found = [*texts]
    texts.clear()
    return found


@pytest.mark.parametrize("kind", ["embedded", "server"])
def test_of_a_new_version_only_the_passages_that_changed_are_embedded(kind, request, tmp_path, monkeypatch):
    encoded: list[str] = []
    encode = HashingEmbedder.encode
    monkeypatch.setattr(HashingEmbedder, "encode", lambda self, texts: encoded.extend(texts) or encode(self, texts))

    async def scenario() -> tuple[list[str], list[str], list[str], list[tuple[str, str]]]:
        embedder, tenant = HashingEmbedder(), f"acme-{uuid4().hex}"
        if kind == "embedded":
            store = QdrantEdgeIndex(tmp_path, embedder)
        else:
            server = request.getfixturevalue("qdrant_server")
            store = QdrantServerIndex(server.url, embedder, api_key=server.api_key)
        first = [passage("a", "O prazo é dia 15."), passage("b", "O orçamento é de dez mil.")]
        second = [replace(first[0], access_level="restricted"), passage("b", "O orçamento é de vinte mil.")]
        await store.upsert(tenant, "semantic", first)
        at_first = taken(encoded)
        await store.upsert(tenant, "semantic", second)
        at_second = taken(encoded)
        # Of a tenant whose passages have the same names nothing is taken over.
        await store.upsert(f"{tenant}-other", "semantic", first)
        elsewhere = taken(encoded)
        asked = PassageQuery(
            text="prazo dia 15", lang="pt", limit=10, as_of=NOON + timedelta(days=1), access_level="restricted"
        )
        hits = await store.search(tenant, "semantic", asked)
        await store.close()
        return at_first, at_second, elsewhere, [(hit.passage.id, hit.passage.access_level) for hit in hits]

    at_first, at_second, elsewhere, found = asyncio.run(scenario())
    assert at_first == elsewhere == ["O prazo é dia 15.", "O orçamento é de dez mil."]
    assert at_second == ["O orçamento é de vinte mil."]
    assert found[0] == ("a", "restricted")


@pytest.mark.covers("AC-36")
@pytest.mark.parametrize("other", HOSTILE)
def test_another_tenant_sees_and_changes_nothing(kit, other):
    kit.put(passage("p1"))
    assert kit.found("prazo reembolso", tenant=other) == []
    kit.put(passage("p1", "O prazo do reembolso é de vinte dias"), tenant=other)
    assert [hit.passage.text for hit in kit.hits("prazo reembolso")] == ["O prazo do reembolso é de dez dias"]
    assert [hit.passage.text for hit in kit.hits("prazo reembolso", tenant=other)] == [
        "O prazo do reembolso é de vinte dias"
    ]


def test_a_crowd_of_another_tenants_passages_takes_no_place_and_no_score(kit):
    kit.put(passage("mine", "O prazo do reembolso de viagem"), passage("else", "Nada disso"))
    [alone, *_] = kit.hits("prazo do reembolso")
    kit.put(*(passage(f"t{number}", "prazo do reembolso prazo do reembolso") for number in range(150)), tenant="beta")
    [crowded, *rest] = kit.hits("prazo do reembolso")
    if kit.rarity == "everybody's":
        # All features but the cosine weigh words by how rare they are.
        alone, crowded = (replace(hit, score=0.0, scores={"dense": hit.scores["dense"]}) for hit in (alone, crowded))
    assert crowded == alone
    assert {hit.passage.id for hit in rest} <= {"else"}


@pytest.mark.parametrize(
    "hidden",
    [
        {"access_level": "internal"},
        {"recorded_at": NOON + timedelta(days=2)},
        {"user_id": "rui"},
        {"kind": "summary"},
        {"recorded_at": NOON - timedelta(days=9)},
        {"recorded_at": NOON + timedelta(hours=1)},
        {"fields": {"document_id": "other"}},
        {"conversation_id": "other"},
    ],
    ids=["access", "as_of", "user", "kind", "since", "until", "document", "conversation"],
)
def test_a_crowd_of_hidden_passages_takes_no_place(kit, hidden):
    own = {"fields": {"document_id": "d1"}, "conversation_id": "c1"}
    kit.put(*(passage(f"h{number}", "prazo do reembolso prazo", **{**own, **hidden}) for number in range(120)))
    kit.put(passage("mine", "O prazo do reembolso de viagem", **own))
    asked = {"user_id": "ana", "kinds": ("chunk",), "since": NOON - timedelta(days=1), "until": NOON}
    asked |= {"document_id": "d1", "conversation_id": "c1"}
    assert kit.found("prazo do reembolso", **asked) == ["mine"]


@pytest.mark.covers("AC-36")
def test_what_is_public_is_found_by_all_and_written_by_administrators(fresh, tmp_path):
    kit = fresh
    kit.put(passage("law", "Jurisprudência pacificada"), tenant="_public")
    assert "law" in kit.found("jurisprudência", tenant="acme")
    assert "law" in kit.found("jurisprudência", tenant="beta")
    assert kit.found("jurisprudência", tenant="_public") == ["law"]
    for plain in (MemoryPassageIndex(HashingEmbedder()), QdrantEdgeIndex(tmp_path / "plain", HashingEmbedder())):
        with pytest.raises(Rejected, match="public_tenant_read_only"):
            kit.runner.run(plain.upsert("_public", "semantic", [passage("law")]))
        if isinstance(plain, QdrantEdgeIndex):
            kit.runner.run(plain.close())


@pytest.mark.covers("CF-70", "AC-24")
def test_what_is_above_the_askers_rights_is_not_found(kit):
    levels = ("public", "internal", "restricted", "confidential")
    kit.put(*(passage(level, access_level=level) for level in levels))
    for number, level in enumerate(levels):
        assert sorted(kit.found("prazo", access_level=level)) == sorted(levels[: number + 1])


def test_what_was_recorded_later_or_too_long_ago_is_not_found(kit):
    kit.put(*(passage(f"p{minute}", recorded_at=NOON + timedelta(minutes=minute)) for minute in range(4)))
    assert sorted(kit.found("prazo", as_of=NOON + timedelta(minutes=2))) == ["p0", "p1", "p2"]
    assert kit.found("prazo", as_of=NOON - timedelta(microseconds=1)) == []
    assert sorted(kit.found("prazo", since=NOON + timedelta(minutes=2))) == ["p2", "p3"]


def test_a_user_finds_what_is_theirs_and_everybodys(kit):
    kit.put(passage("all"), passage("ana", user_id="ana"), passage("rui", user_id="rui"))
    assert sorted(kit.found("prazo", user_id="ana")) == ["all", "ana"]
    assert kit.found("prazo") == ["all"]
    assert kit.found("prazo", user_id="") == ["all"]


def test_kinds_can_be_chosen(kit):
    kit.put(
        passage("a", kind="chunk"),
        passage("b", kind="summary", conversation_id="c1"),
        passage("c", kind="message", conversation_id="c2"),
    )
    assert sorted(kit.found("prazo", kinds=("summary", "message"))) == ["b", "c"]


def test_passages_can_be_named_and_are_judged_as_in_any_search(kit):
    crowd = [passage(f"x{n}") for n in range(60)]
    kit.put(*crowd, passage("far", text="Sapatos azuis"), passage("secret", access_level="confidential"))
    assert kit.found("prazo", among=("far", "secret", "none")) == ["far"]
    assert sorted(kit.found("prazo", among=("x3", "far"))) == ["far", "x3"]
    assert kit.found("prazo", among=("x3",), tenant="beta") == []
    whole = {hit.passage.id: hit.scores for hit in kit.hits("prazo do reembolso", limit=99)}
    [named] = kit.hits("prazo do reembolso", among=("x3",))
    assert dict(named.scores) == pytest.approx(dict(whole["x3"]), abs=1e-4)


def test_collections_are_apart(kit):
    kit.put(passage("p1"), collection="episodic")
    assert kit.found("prazo") == []
    assert kit.found("prazo", collection="episodic") == ["p1"]


def test_the_limit_holds_and_every_search_gives_the_same_list(kit):
    kit.put(*(passage(f"p{number}") for number in range(80)))
    assert len(kit.found("prazo", limit=3)) == 3
    assert len(kit.found("prazo", limit=70)) == 70
    assert kit.found("prazo", limit=20) == kit.found("prazo", limit=20)


@pytest.mark.parametrize("text", ["", "?!", "de a o", "\u0000\ud7ff", "x" * 20_000, '{"must": []}'])
@pytest.mark.parametrize("lang", ["pt", "xx"])
def test_a_question_without_words_is_answered(kit, text, lang):
    kit.put(passage("p1"), passage("p2", "...", lang=lang))
    assert set(kit.found(text, lang=lang)) <= {"p1", "p2"}


def test_a_vector_is_the_embedders_own_and_nothing_is_stored(kit):
    texts = ["o backup falhou", "the backup failed", "o backup falhou"]
    made = kit.runner.run(kit.store.vectors(texts))
    for vector, expected in zip(made, HashingEmbedder().encode(texts), strict=True):
        assert vector == pytest.approx(expected)
    assert kit.found("backup") == []


@pytest.mark.parametrize("tenant", ["", " ", "a\nb", "x" * 300])
def test_a_call_without_a_tenant_is_refused(kit, tenant):
    kit.mark = ""
    with pytest.raises(Rejected, match="tenant_invalid"):
        kit.hits("prazo", tenant=tenant)
    with pytest.raises(Rejected, match="tenant_invalid"):
        kit.put(passage("p1"), tenant=tenant)


def test_searches_and_writes_at_once_do_not_disturb_each_other(kit):
    async def storm() -> None:
        async def write(number: int) -> None:
            await kit.store.upsert(kit.own("acme"), "semantic", [passage(f"p{number}")])

        async def read() -> None:
            query = PassageQuery(text="prazo", lang="pt", limit=5, as_of=NOON)
            for hit in await kit.store.search(kit.own("acme"), "semantic", query):
                assert hit.passage.text == passage("x").text

        await asyncio.gather(*(write(number) for number in range(30)), *(read() for _ in range(30)))

    kit.runner.run(storm())
    assert len(kit.found("prazo", limit=50)) == 30


@pytest.fixture
def embedded(tmp_path) -> Iterator[Kit]:
    with asyncio.Runner() as runner:
        yield Kit(QdrantEdgeIndex(tmp_path, HashingEmbedder()), runner)


def test_what_was_stored_is_found_after_the_index_is_opened_again(embedded, tmp_path):
    embedded.put(passage("p1"))
    before = embedded.hits("prazo")
    embedded.runner.run(embedded.store.close())
    again = Kit(QdrantEdgeIndex(tmp_path, HashingEmbedder()), embedded.runner)
    assert again.hits("prazo") == before
    again.runner.run(again.store.close())


def test_a_second_opener_is_told_who_owns_the_index(embedded, tmp_path):
    with pytest.raises(DirectoryInUse, match=f"in use by pid {os.getpid()}"):
        QdrantEdgeIndex(tmp_path, HashingEmbedder())
    embedded.runner.run(embedded.store.close())


def test_an_index_of_another_embedder_is_refused(embedded, tmp_path):
    embedded.runner.run(embedded.store.close())
    with pytest.raises(IncompatibleIndex, match=r"HashingEmbedder 64 .*, not WiderEmbedder 32"):
        QdrantEdgeIndex(tmp_path, WiderEmbedder())
    embedded.runner.run(QdrantEdgeIndex(tmp_path, HashingEmbedder()).close())


def test_a_vanished_directory_is_unavailable_and_named(embedded, tmp_path):
    embedded.put(passage("p1"))
    shutil.rmtree(tmp_path)
    with pytest.raises(Unavailable, match="has vanished"):
        embedded.put(passage("p2"))


KILLED = """
import asyncio, os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from agents.ports.passages import Passage
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder

async def main():
    index = QdrantEdgeIndex(Path(sys.argv[1]), HashingEmbedder())
    for number in range(200):
        at = datetime(2026, 3, 2, tzinfo=UTC)
        await index.upsert("acme", "semantic", [Passage(f"p{number}", "chunk", "o prazo", "pt", at)])
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_killed_process_keeps_every_passage_it_had_stored(tmp_path):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=Path.cwd(), check=False)
    assert ended.returncode == -signal.SIGKILL
    with asyncio.Runner() as runner:
        kit = Kit(QdrantEdgeIndex(tmp_path, HashingEmbedder()), runner)
        assert len(kit.found("prazo", limit=500)) == 200
        runner.run(kit.store.close())
