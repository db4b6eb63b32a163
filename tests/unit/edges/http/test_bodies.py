"""Bodies and answers beside the questions: duplicate keys, depth, empty queries, the text of a pack."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from streams.edges.client.records import OutgoingRecord
from streams.edges.http.pending_replies import ExpectedReply
from tests.builders.http_server import CONFINED, QUESTION, Echo, posted, served
from tests.unit.edges.http.test_ask import answers, detail

PACK = {"pack_id": "p1", "depth_level": "D2", "total_tokens_estimated": 12, "message_id": "m1"}


def pack(**fields: Any) -> Any:
    def reply(_: OutgoingRecord, __: ExpectedReply) -> bytes:
        return json.dumps({**PACK, **fields}).encode()

    return reply


@pytest.mark.parametrize(
    "body",
    [b'{"question": "a", "question": "b"}', b'{"question": {"a": 1, "a": 1}}', b'[{"a": 1, "\\u0061": 2}]'],
)
def test_a_key_that_is_named_twice_is_refused(tmp_path: Path, body: bytes):
    response, exchange = posted(tmp_path, answers, body=body)
    assert "names a key twice" in detail(response, 400)
    assert exchange.asked == []


@pytest.mark.parametrize("body", [b"[" * 900 + b"]" * 900, b"[" * 100_000, b"1" * 10_000, b"-1e999999"])
def test_no_body_is_too_strange_to_be_refused_in_order(tmp_path: Path, body: bytes):
    response, _ = posted(tmp_path, answers, body=body)
    assert detail(response, response.status_code)
    assert response.status_code in (400, 422)


def test_a_blank_query_needs_no_assessment(tmp_path: Path):
    for query in ("", " \n"):
        response, _ = posted(tmp_path, answers, "/assess", {"query": query})
        assert detail(response, 422) == "query: there is no text in it"


def test_a_pack_is_its_text_where_markdown_is_wanted(tmp_path: Path):
    markdown = {"accept": "text/markdown"}
    response, _ = posted(tmp_path, pack(text="# Contexto\n"), "/ask?wait=pack", headers=markdown)
    assert (response.status_code, response.text) == (200, "# Contexto\n")
    assert response.headers["content-type"].startswith("text/markdown")
    named = {name: response.headers[name] for name in ("fathom-pack-id", "fathom-depth", "fathom-tokens")}
    assert named == {"fathom-pack-id": "p1", "fathom-depth": "D2", "fathom-tokens": "12"}
    assert response.headers["fathom-message-id"]
    without, _ = posted(tmp_path, pack(), "/ask?wait=pack", headers=markdown)
    assert "has no text" in detail(without, 406)


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "application/json"),
        ("application/json, text/markdown", "application/json"),
        ("text/markdown;q=0.5, application/json", "application/json"),
        ("application/json;q=0.5, text/markdown", "text/markdown"),
        ("text/markdown;q=x", "application/json"),
        ("text/html, TEXT/MARKDOWN", "text/markdown"),
    ],
)
def test_the_more_wanted_form_is_sent(tmp_path: Path, accept: str, kind: str):
    response, _ = posted(tmp_path, pack(text="x"), "/ask?wait=pack", headers={"accept": accept})
    assert response.headers["content-type"].partition(";")[0] == kind


def test_a_token_of_one_user_speaks_for_no_other_and_changes_nothing_for_all(tmp_path: Path):
    async def story(client: httpx.AsyncClient) -> list[str]:
        as_eva = await client.post("/ask", json=QUESTION, headers={"fathom-user": "eva"})
        profile = await client.put("/profiles/ana", json={"access_level": "confidential"})
        document = await client.post("/documents", content=b"Um texto.", headers={"content-type": "text/plain"})
        gone = await client.delete("/documents/d1")
        return [detail(each, 403) for each in (as_eva, profile, document, gone)]

    exchange = Echo(answers)
    said = served(tmp_path, exchange, story)
    assert "for another user" in said[0]
    assert all("without a user" in each for each in said[1:])
    assert exchange.asked == []


def test_a_document_or_a_profile_that_is_sent_again_with_its_key_is_the_same_record(tmp_path: Path):
    again = {"idempotency-key": "k", "authorization": f"Bearer {CONFINED}"}

    async def story(client: httpx.AsyncClient) -> list[int]:
        documents = [await client.post("/documents", json={"text": "Um texto."}, headers=again) for _ in range(2)]
        other = await client.post("/documents", json={"text": "Outro texto."}, headers=again)
        again["idempotency-key"] = "p"
        profiles = [await client.put("/profiles/ana", json={"user_role": "x"}, headers=again) for _ in range(2)]
        return [each.status_code for each in (*documents, other, *profiles)]

    exchange = Echo(answers)
    assert served(tmp_path, exchange, story) == [202, 202, 422, 202, 202]
    first, second, profile, same = (dict(record.headers)["ce_id"] for record in exchange.sent)
    assert (first, profile) == (second, same)
    assert first != profile


def test_content_in_parts_is_sent_on_as_its_text(tmp_path: Path):
    image = {"type": "image_url", "image_url": {"url": "https://example.org/dock.png"}}
    parts = [{"type": "text", "text": "Which dock?"}, image]
    said = {"role": "user", "content": parts, "conversation_id": "c", "client_id": "web"}
    response, exchange = posted(tmp_path, answers, "/messages?wait=pack", said)
    assert response.status_code == 200
    assert json.loads(exchange.asked[0][0].value)["content"] == "Which dock?"
    response, exchange = posted(tmp_path, answers, "/ask", {**QUESTION, "question": parts})
    assert json.loads(exchange.asked[0][0].value) == {**QUESTION, "question": "Which dock?"}
    response, _ = posted(tmp_path, answers, "/messages", {**said, "content": [image]})
    assert detail(response, 422) == "content: there is no text in it"
    response, _ = posted(tmp_path, answers, "/messages", {**said, "content": ["Which dock?"]})
    assert detail(response, 422).startswith("content: is a text, or a list of parts, of which those of text are")


def test_a_message_of_another_role_is_taken_with_its_id_and_waits_for_no_pack(tmp_path: Path):
    said = {"role": "assistant", "content": "x", "conversation_id": "c", "client_id": "web"}
    response, _ = posted(tmp_path, answers, "/messages?wait=pack", said)
    assert "only a user's message gets a pack" in detail(response, 422)
    for wait in ("wait=pack", "deep=true"):
        response, _ = posted(tmp_path, answers, f"/messages?{wait}", {**said, "role": "user", "pack": False})
        assert detail(response, 422).endswith("a message with `pack` false gets no pack; leave one of the two out")
    response, _ = posted(tmp_path, answers, "/messages", {**said, "content": " "})
    assert detail(response, 422) == "content: there is no text in it"
    response, _ = posted(tmp_path, answers, "/messages", {**said, "history": []})
    assert "there is no field 'history'" in detail(response, 422)
    response, _ = posted(tmp_path, answers, "/messages", {**said, "role": "user", "answers": "m1"})
    assert "only an assistant's message answers" in detail(response, 422)
