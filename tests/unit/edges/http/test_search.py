"""`/search` over HTTP: what is sent to the topics, what comes back, what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from schemas import codec
from schemas.topics import SEARCHES_IN
from streams.edges.client.ask import RefusedRecord
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.pending_replies import ExpectedReply
from tests.builders.http_server import CONFINED, posted

MADE = b'{"results":[]}'


def finds(_: OutgoingRecord, __: ExpectedReply) -> bytes:
    return MADE


def never(_: OutgoingRecord, __: ExpectedReply) -> None:
    return None


def received(prepared: OutgoingRecord) -> Any:
    return codec.decode(
        SEARCHES_IN, prepared.key, prepared.value, prepared.headers, partition=0, offset=0, timestamp=1_700_000_000_000
    )


def test_a_search_becomes_a_record_of_its_own_and_the_answer_is_the_record_unchanged(tmp_path: Path) -> None:
    body = {"query": "refunds", "limit": 3, "kind": "document", "document_id": "d", "since": "2025-01-01T00:00:00"}
    response, exchange = posted(tmp_path, finds, "/search", body)
    assert (response.status_code, response.content) == (200, MADE)
    [(prepared, wanted)] = exchange.asked
    record = received(prepared)
    asked, envelope = record.event, record.envelope
    assert (asked.query, asked.limit, asked.kind, asked.document_id) == ("refunds", 3, "document", "d")
    assert asked.since.isoformat() == "2025-01-01T00:00:00+00:00"
    assert (envelope.tenant, envelope.user_id, envelope.user_bound, asked.client_id) == ("acme", "ana", True, "default")
    assert (wanted.topic, wanted.message_id, wanted.user) == ("searches.out", asked.request_id, "ana")
    assert prepared.key == wanted.key == f"acme|{asked.request_id}".encode()


def test_the_client_is_that_of_the_token(tmp_path: Path) -> None:
    headers = {"authorization": f"Bearer {CONFINED}"}
    _, exchange = posted(tmp_path, finds, "/search", {"query": "x"}, headers)
    [(prepared, _)] = exchange.asked
    record = received(prepared)
    assert (record.envelope.tenant, record.event.client_id, record.envelope.user_id) == ("beta", "app", None)
    response, _ = posted(tmp_path, finds, "/search", {"query": "x", "client_id": "other"}, headers)
    assert (response.status_code, response.json()["detail"]) == (
        403,
        "this token is for another client_id; send the one it was made for",
    )


def test_nobody_searches_as_another_user(tmp_path: Path) -> None:
    response, exchange = posted(tmp_path, finds, "/search", {"query": "x"}, {"fathom-user": "ben"})
    assert (response.status_code, exchange.asked) == (403, [])


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"query": "  "}, "query: there is no text in it"),
        ({"query": ""}, "query: String should have at least 1 character"),
        ({}, "query: Field required"),
        ({"query": "x", "limit": 0}, "limit: Input should be greater than or equal to 1"),
        ({"query": "x", "limit": "3"}, "limit: Input should be a valid integer"),
        ({"query": "x", "kinds": []}, "there is no field 'kinds'; did you mean kind?"),
        ({"query": "x", "kind": "poem"}, "kind: Input should be 'document', 'turn'"),
        ({"query": "x", "since": "2025-02-01", "until": "2025-01-01"}, "since is after until"),
        ({"query": "x", "since": "soon"}, "since: Input should be a valid datetime"),
    ],
)
def test_what_is_no_search_is_refused_in_a_sentence(tmp_path: Path, body: dict[str, Any], sentence: str) -> None:
    response, exchange = posted(tmp_path, finds, "/search", body)
    assert (response.status_code, exchange.asked) == (422, [])
    assert sentence in response.json()["detail"]


def test_results_that_do_not_come_in_time_are_said_to_be_late(tmp_path: Path) -> None:
    response, _ = posted(tmp_path, never, "/search", {"query": "x"}, FATHOM_ASK_TIMEOUT_MS="100")
    assert response.status_code == 504
    assert response.json()["detail"].startswith("no results came on searches.out within 0.1 s")


def test_a_refusal_of_the_stage_is_told(tmp_path: Path) -> None:
    def refused(_: OutgoingRecord, __: ExpectedReply) -> Exception:
        return RefusedRecord("schema_invalid", "query: there is no text in it")

    response, _ = posted(tmp_path, refused, "/search", {"query": "x"})
    assert (response.status_code, json.loads(response.content)["detail"]) == (422, "query: there is no text in it")
