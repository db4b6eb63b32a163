"""`/memories`: whose facts a token sees, pages, search, history, and the records that edits become."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from agents.errors import Unavailable
from streams.edges.operations import memories as operation
from tests.builders.http_server import HEADERS, WHOLE, Echo, app_of, settings_of
from tests.contract.test_stores_graph import against, at, claim
from tests.unit.edges.http.test_ask import answers, detail
from tests.unit.edges.http.test_decisions import BETA, graph

ANA, ADMIN = HEADERS, {"authorization": f"Bearer {WHOLE}"}


def called(
    tmp_path: Path, store: Any, path: str = "", headers: dict[str, str] = ANA, method: str = "GET", **given: Any
) -> tuple[httpx.Response, list[tuple[str, Any]]]:
    """The answer, and the records that were sent: topic and value."""
    settings, echo = settings_of(tmp_path / "tokens.json"), Echo(answers)

    async def story() -> httpx.Response:
        transport = httpx.ASGITransport(app_of(settings, echo, store))
        async with httpx.AsyncClient(base_url="http://127.0.0.1", headers=headers, transport=transport) as client:
            return await client.request(method, f"/memories{path}", **given)

    answer = asyncio.run(story())
    return answer, [(each.topic, orjson.loads(each.value)) for each in echo.sent]


def listed(tmp_path: Path, store: Any, query: str = "", headers: dict[str, str] = ANA) -> dict[str, Any]:
    answer, _ = called(tmp_path, store, query, headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(page: dict[str, Any]) -> list[str]:
    return [each["memory_id"] for each in page["memories"]]


def user_says(number: int, value: str, **fields: Any) -> Any:
    said = {"subject": "user's city", "attribute": "city", "value": value, "text": f"I live in {value}"}
    return claim(number, author="user", **{**said, **fields})


MOVED = (
    user_says(2, "Porto"),
    user_says(4, "Lisbon", contradicts=against("k2"), supersedes=("k2",)),
)


def test_current_facts_are_shown_with_author_time_and_turn_and_all_of_them_with_what_replaced_them(tmp_path: Path):
    store = graph(*MOVED)
    [found] = listed(tmp_path, store)["memories"]
    assert found == {
        "memory_id": "k4", "text": "I live in Lisbon", "subject": "user's city", "attribute": "city",
        "value": "Lisbon", "author": "user", "status": "holds", "said_at": "2026-03-02T12:04:00Z",
        "user_id": "ana", "client_id": "web", "conversation_id": "c1", "message_id": "m4",
    }  # fmt: skip
    every = listed(tmp_path, store, "?status=all")["memories"]
    assert [(each["memory_id"], each["status"], each.get("by")) for each in every] == [
        ("k4", "holds", None),
        ("k2", "replaced", ["k4"]),
    ]


def test_a_value_stated_again_is_shown_once_the_newest(tmp_path: Path):
    assert ids(listed(tmp_path, graph(user_says(2, "Porto"), user_says(6, "Porto"), user_says(4, "Faro")))) == [
        "k6",
        "k4",
    ]


def test_a_search_has_all_its_words_in_any_order_and_spelling_of_case(tmp_path: Path):
    store = graph(user_says(2, "Évora"), user_says(4, "Faro", subject="user's office"))
    assert ids(listed(tmp_path, store, "?q=evora LIVE")) == ["k2"]
    assert ids(listed(tmp_path, store, "?q=evora office")) == []


def test_pages_go_on_until_all_is_shown(tmp_path: Path):
    store = graph(
        *(
            user_says(number, f"C{number}", subject=f"room {number}", asserted_at=at(number // 3))
            for number in range(2, 20, 2)
        )
    )
    seen: list[str] = []
    query = "?limit=4"
    for _ in range(3):
        page = listed(tmp_path, store, query)
        seen += ids(page)
        if "next" not in page:
            break
        query = f"?{httpx.QueryParams({'limit': 4, 'after': page['next']})}"
    assert len(seen) == len({*seen}) == 9


def test_a_search_stops_after_some_facts_and_says_where_it_goes_on(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(operation, "MAX_SCANNED", 3)
    store = graph(*(user_says(number, f"C{number}", subject=f"room {number}") for number in range(2, 12, 2)))
    first = listed(tmp_path, store, "?q=C2")
    assert first["memories"] == []
    assert ids(listed(tmp_path, store, f"?{httpx.QueryParams({'q': 'C2', 'after': first['next']})}")) == ["k2"]


def test_whose_facts_are_shown_is_for_the_token_to_say(tmp_path: Path):
    store = graph(user_says(2, "Porto"), user_says(4, "Faro", user_id="bia"), user_says(6, "Beja", client_id="app"))
    assert ids(listed(tmp_path, store)) == ["k6", "k2"]
    assert ids(listed(tmp_path, store, "?user=bia", ADMIN)) == ["k4"]
    assert ids(listed(tmp_path, store, headers={**ADMIN, "fathom-user": "bia"})) == ["k4"]
    assert listed(tmp_path, store, "?user=ana", BETA)["memories"] == []
    own = graph(user_says(2, "Porto", tenant="beta"), user_says(6, "Beja", tenant="beta", client_id="app"))
    assert ids(listed(tmp_path, own, "?user=ana", BETA)) == ["k6"]
    answer, _ = called(tmp_path, store, "?user=bia")
    assert answer.status_code == 403
    answer, _ = called(tmp_path, store, headers=ADMIN)
    assert detail(answer, 422) == (
        "say whose memories: send the header Fathom-User, the parameter user, or use a token of one user"
    )


def test_a_fact_is_shown_with_its_history(tmp_path: Path):
    answer, _ = called(tmp_path, graph(*MOVED, user_says(6, "tea", subject="user's drink")), "/k4")
    shown = answer.json()
    assert (shown["value"], [each["value"] for each in shown["history"]], shown["edits"]) == ("Lisbon", ["Porto"], [])


@pytest.mark.parametrize(("memory_id", "headers"), [("k9", ANA), ("k2", BETA)])
def test_what_is_not_there_or_of_another_is_one_and_the_same(tmp_path: Path, memory_id: str, headers: dict[str, str]):
    for method, given in (("GET", {}), ("DELETE", {}), ("PATCH", {"json": {"confirm": True}})):
        answer, sent = called(tmp_path, graph(*MOVED), f"/{memory_id}", headers, method, **given)
        assert sent == []
        assert detail(answer, 404) == "there is no such memory; `GET /memories` lists them by id"


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"value": "Braga"}, {"new_value": "Braga", "texto": "It is Braga."}),
        ({"confirm": True}, {"ruling": "confirm", "texto": "It holds still."}),
        ({"value": "Braga", "reason": "typo"}, {"new_value": "Braga", "texto": "typo"}),
    ],
)
def test_a_change_is_a_correction_of_its_user_on_the_log(tmp_path: Path, given: Any, fields: Any):
    answer, sent = called(tmp_path, graph(*MOVED), "/k4", ADMIN, "PATCH", json=given)
    assert answer.status_code == 202, answer.text
    assert sent == [("corrections.in", {"claim_id": "k4", "usuario_id": "ana", "tipo": "factual", **fields})]


def test_what_is_taken_back_is_taken_back_wherever_it_was_stated(tmp_path: Path):
    store = graph(user_says(2, "Porto"), user_says(4, "Porto", conversation_id="c2"), user_says(6, "Faro"))
    answer, sent = called(tmp_path, store, "/k2?reason=wrong", HEADERS, "DELETE")
    assert answer.json()["memory_ids"] == ["k4", "k2"]
    assert [(value["claim_id"], value["ruling"], value["texto"]) for _, value in sent] == [
        ("k4", "retract", "wrong"),
        ("k2", "retract", "wrong"),
    ]


def test_what_was_replaced_is_taken_back_too_with_what_the_assistant_said_of_it(tmp_path: Path):
    echo = claim(3, author="system", subject="user's city", attribute="city", value="Porto", text="Porto, noted")
    answer, _ = called(tmp_path, graph(*MOVED, echo), "/k2", HEADERS, "DELETE")
    assert answer.json()["memory_ids"] == ["k3", "k2"]


def test_a_token_of_one_client_takes_back_nothing_of_another(tmp_path: Path):
    own = user_says(2, "Porto", tenant="beta", client_id="app")
    store = graph(own, user_says(4, "Porto", tenant="beta"))
    answer, _ = called(tmp_path, store, "/k2", BETA, "DELETE")
    assert answer.json()["memory_ids"] == ["k2"]
    shown, _ = called(tmp_path, store, "/k2", BETA)
    assert shown.json()["history"] == []


def test_the_oldest_of_many_facts_is_judged_and_shown(tmp_path: Path):
    many = [
        user_says(number, f"note {number}", subject="user's note", attribute="note", text="a note", functional=False)
        for number in range(10, 430, 2)
    ]
    store = graph(*MOVED, *many)
    answer, _ = called(tmp_path, store, "/k2")
    assert (answer.status_code, answer.json()["status"]) == (200, "replaced")
    assert called(tmp_path, store, "/k10")[0].status_code == 200
    assert ids(listed(tmp_path, store, "?q=live")) == ["k4"]


def test_what_was_replaced_meanwhile_is_a_conflict_that_names_the_newer_one(tmp_path: Path):
    answer, sent = called(tmp_path, graph(*MOVED), "/k2", HEADERS, "PATCH", json={"value": "Braga"})
    assert sent == []
    assert detail(answer, 409) == "this memory was replaced by k4 meanwhile; edit the one that is current"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?limit=0", "limit: is a number from 1 to 200"),
        ("?status=old", "status: is `current` or `all`"),
        ("?after=0001-01-01T00:00:00%2B23:59~x", "after: is the `next` of the page before, unchanged"),
        ("?after=yesterday", "after: is the `next` of the page before, unchanged"),
        ("?who=me", "the query parameters are user, q, status, limit and after"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(tmp_path: Path, query: str, sentence: str):
    answer, _ = called(tmp_path, graph(), query)
    assert detail(answer, 422) == sentence


@pytest.mark.parametrize(
    "given", [{}, {"value": "a", "confirm": True}, {"confirm": False}, {"value": ""}, {"value": " "}]
)
def test_a_change_of_nothing_or_of_two_things_is_refused(tmp_path: Path, given: Any):
    answer, sent = called(tmp_path, graph(*MOVED), "/k4", ADMIN, "PATCH", json=given)
    assert (answer.status_code, sent) == (422, [])


def test_a_graph_that_is_away_or_not_there_is_said(tmp_path: Path):
    answer, _ = called(tmp_path, None)
    assert answer.status_code == 501

    class Away:
        async def claims_of(self, *_: Any, **__: Any) -> Any:
            raise Unavailable("the graph")

    answer, _ = called(tmp_path, Away())
    assert detail(answer, 503) == "the graph is unavailable; try again"
