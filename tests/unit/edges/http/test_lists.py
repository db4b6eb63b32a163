"""`GET /conversations`, `/users` and `/documents`: what the token's tenant has, in pages."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.core.documents.knowledge import knowledge_of
from agents.core.quarantine.sources import Quarantines
from schemas.chat import Role
from schemas.learning import QuarantineChanged
from schemas.memory import DocumentSubmitted
from streams.edges.http.endpoints import lists
from streams.stores.graph.embedded.engine import EmbeddedGraph
from tests.builders.http_server import HEADERS, WHOLE, Echo, app_of, settings_of
from tests.contract.test_stores_graph import received
from tests.unit.edges.http.test_ask import answers, detail
from tests.unit.edges.http.test_decisions import BETA, NOW, decided, graph

APPLICATION = {"authorization": f"Bearer {WHOLE}"}


def listed(tmp_path: Path, store: Any, path: str, headers: dict[str, str] = HEADERS) -> Any:
    settings = settings_of(tmp_path / "tokens.json")

    async def story() -> httpx.Response:
        transport = httpx.ASGITransport(app_of(settings, Echo(answers), store))
        async with httpx.AsyncClient(base_url="http://127.0.0.1", headers=headers, transport=transport) as client:
            return await client.get(path)

    return asyncio.run(story())


def in_talk(conversation: str, number: int, ago: int, **fields: Any) -> list[Any]:
    rows = decided(number, timedelta(minutes=ago), conversation_id=conversation, **fields)
    where = {"conversation_id": conversation, "content": f"Pergunta {number}"}
    return [rows[0], rows[1]._replace(event=rows[1].event.model_copy(update=where))]


def test_conversations_are_listed_by_their_last_use_with_their_first_question(tmp_path: Path):
    rows = [*in_talk("a", 2, 50, tokens_used=10), *in_talk("b", 4, 40), *in_talk("a", 6, 5, tokens_used=30)]
    found = listed(tmp_path, graph(*rows), "/conversations").json()
    assert [(each["conversation_id"], each["title"], each["questions"]) for each in found["conversations"]] == [
        ("a", "Pergunta 2", 2),
        ("b", "Pergunta 4", 1),
    ]
    assert (found["conversations"][0]["tokens"], found["total"], found["complete"]) == ([10, 30], 2, True)
    assert named(listed(tmp_path, graph(*rows), "/conversations?offset=1")) == ["b"]
    only = listed(tmp_path, graph(*rows), "/conversations?q=PERGUNTA 4")
    assert (named(only), only.json()["total"]) == (["b"], 1)


def named(answer: httpx.Response) -> list[str]:
    return [each["conversation_id"] for each in answer.json()["conversations"]]


def test_conversations_are_those_of_the_token(tmp_path: Path):
    rows = in_talk("a", 2, 50)
    by_bia = rows[1]._replace(event=rows[1].event.model_copy(update={"user_id": "bia"}))
    store = graph(rows[0], by_bia)
    assert named(listed(tmp_path, store, "/conversations")) == []
    assert named(listed(tmp_path, store, "/conversations", APPLICATION)) == ["a"]
    assert named(listed(tmp_path, store, "/conversations", BETA)) == []
    assert listed(tmp_path, None, "/conversations").status_code == 501
    assert listed(tmp_path, store, "/conversations?limit=0").status_code == 422


def imported(conversation: str, text: str, ago: timedelta, **fields: Any) -> Any:
    said = in_talk(conversation, 8, 0)[1]
    more = {"message_id": f"{conversation}-{text}", "created_at": NOW - ago, "content": text, "pack": False, **fields}
    return said._replace(event=said.event.model_copy(update=more))


def test_imported_conversations_are_listed_with_their_own_times(tmp_path: Path):
    rows = [
        *in_talk("a", 2, 50),
        imported("past", "Moro em Lisboa.", timedelta(days=2)),
        imported("past", "E em Sintra.", timedelta(days=1)),
        imported("past", "Anotado.", timedelta(minutes=1), role=Role.ASSISTANT),
        imported("old", "Uma coisa antiga.", timedelta(days=400)),
        imported("memories:ana", "O código é 7781.", timedelta(days=1)),
    ]
    found = listed(tmp_path, graph(*rows), "/conversations").json()
    assert [each["conversation_id"] for each in found["conversations"]] == ["a", "past"]
    past = found["conversations"][1]
    assert (past["title"], past["questions"], past["tokens"], "last_level" in past) == ("Moro em Lisboa.", 2, [], False)
    assert (past["first_at"][:10], past["last_at"][:10]) == tuple(
        f"{NOW - timedelta(days=days):%Y-%m-%d}" for days in (2, 1)
    )
    assert named(listed(tmp_path, graph(*rows), "/conversations?days=500")) == ["a", "past", "old"]
    assert named(listed(tmp_path, graph(*rows), "/conversations?q=LISBOA")) == ["past"]
    assert named(listed(tmp_path, graph(*rows), "/conversations", BETA)) == []
    users = listed(tmp_path, graph(*rows), "/users", APPLICATION).json()["users"]
    assert [(each["user_id"], each["conversations"], each["questions"]) for each in users] == [("ana", 2, 3)]


def test_users_are_listed_by_their_last_use_with_what_they_asked(tmp_path: Path):
    rows = [*in_talk("a", 2, 50), *in_talk("b", 4, 40), *in_talk("a", 6, 30), *in_talk("c", 8, 5)]
    rows[-1] = rows[-1]._replace(event=rows[-1].event.model_copy(update={"user_id": "bia"}))
    found = listed(tmp_path, graph(*rows), "/users", APPLICATION).json()
    assert [(each["user_id"], each["conversations"], each["questions"]) for each in found["users"]] == [
        ("bia", 1, 1),
        ("ana", 2, 3),
    ]
    assert (found["total"], found["complete"]) == (2, True)
    only = listed(tmp_path, graph(*rows), "/users?q=AN&limit=1", APPLICATION).json()
    assert ([each["user_id"] for each in only["users"]], only["total"]) == (["ana"], 1)
    assert [each["user_id"] for each in listed(tmp_path, graph(*rows), "/users").json()["users"]] == ["ana"]
    assert listed(tmp_path, graph(*rows), "/users", BETA).json()["users"] == []


@pytest.fixture(autouse=True)
def quarantined(monkeypatch: pytest.MonkeyPatch) -> Quarantines:
    """What is quarantined, which stands in the log."""
    found = Quarantines()

    async def in_force(_: str) -> Quarantines:
        return found

    monkeypatch.setattr(lists, "in_force", in_force)
    monkeypatch.setattr(Echo, "bootstrap", lambda _: "127.0.0.1:1", raising=False)
    return found


def test_a_document_that_is_quarantined_is_marked(tmp_path: Path, quarantined: Quarantines):
    store = with_documents(("d1", "Frete"), ("feed-2", "Ação de consumo"), ("feed-3", "Multa"))
    for kind, source in (("document", "d1"), ("feed", "feed-2")):
        change = QuarantineChanged(
            source_kind=kind, source_id=source, state="quarantined", asked_by="eva", reason="", issued_at=NOW
        )
        quarantined.apply(received(change, "acme"))
    found = listed(tmp_path, store, "/documents", APPLICATION).json()["documents"]
    assert {each["document_id"]: each.get("quarantined") for each in found} == {
        "d1": True, "feed-2": True, "feed-3": None,
    }  # fmt: skip


def with_documents(*named: tuple[str, str], tenant: str = "acme") -> EmbeddedGraph:
    store = EmbeddedGraph()
    for number, (document_id, title) in enumerate(named):
        text = f"# {title}\n\nPrimeiro.\n\n## Mais\n\nSegundo."
        document = DocumentSubmitted(document_id=document_id, title=title, text=text)
        when = NOW - timedelta(minutes=100 - number)
        for batch in knowledge_of(document, tenant=tenant, lang="pt", recorded_at=when):
            asyncio.run(store.write_knowledge([received(batch, tenant)]))
    return store


def test_documents_are_listed_for_whoever_administers_the_tenant(tmp_path: Path):
    store = with_documents(("d1", "Frete"), ("d2", "Ação de consumo"))
    found = listed(tmp_path, store, "/documents", APPLICATION).json()
    assert [(each["document_id"], each["title"], each["passages"]) for each in found["documents"]] == [
        ("d2", "Ação de consumo", 2),
        ("d1", "Frete", 2),
    ]
    assert (found["total"], found["complete"]) == (2, True)
    only = listed(tmp_path, store, "/documents?q=acao", APPLICATION).json()
    assert [each["document_id"] for each in only["documents"]] == ["d2"]
    assert "for one user" in detail(listed(tmp_path, store, "/documents"), 403)
    assert "for one user" in detail(listed(tmp_path, store, "/documents/d1/uses"), 403)
    assert listed(tmp_path, with_documents(("d1", "Frete"), tenant="beta"), "/documents", APPLICATION).json()[
        "documents"
    ] == []  # fmt: skip
    assert "no graph" in detail(listed(tmp_path, None, "/documents", APPLICATION), 501)
