"""What fails: each as one exception of the hierarchy, one sentence, and again only where that may help."""

import json
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from proxies import cutting
from stub import Reply, answering

from fathom_client import Fathom, FathomError, NotFound, Refused, Unauthorized, Unavailable, Unreachable

NOBODY = "http://127.0.0.1:9"
TAKEN: Reply = (202, {}, json.dumps({"message_id": "m", "topic": "messages.in", "partition": 0, "offset": 1}).encode())


def problem(status: int, title: str, detail: str, **headers: str) -> Reply:
    body = json.dumps({"title": title, "status": status, "detail": detail}).encode()
    return status, {"content-type": "application/problem+json", **headers}, body


@pytest.mark.parametrize(
    ("call", "kind", "status", "title", "sentence"),
    [
        (lambda one: one.ask(" "), Refused, 422, "Unprocessable", "content: there is no text in it"),
        (lambda one: one.ask("x", min_depth="D4", max_depth="D1"), Refused, 422, "Unproc", "D4 is above max_depth D1"),
        (lambda one: one.ask("x", max_tokens=0), Refused, 422, "Unprocessable", "max_tokens"),
        (lambda one: one.pack("nope"), NotFound, 404, "Not Found", "no pack of a message 'nope'"),
        (lambda one: one.pack(".."), NotFound, 404, "Not Found", r"no pack of a message '\.\.'"),
        (lambda one: one.say("x", answers="nope"), Refused, 422, "Unprocessable", "nope"),
        (lambda one: one.correct("nope", "x"), Refused, 422, "Unprocessable", "there is no claim 'nope'"),
        (lambda one: one.forget("nope"), NotFound, 404, "Not Found", "no document 'nope' was sent"),
        (lambda one: one.ingest_text("x", lang="fr"), Refused, 422, "Unprocessable", "lang.*should be 'pt' or 'en'"),
        (lambda one: one.remember("x", conversation=""), Refused, 422, "Unprocessable", "conversation_id"),
        (lambda one: one.remember("x", user=""), Refused, 422, "Unprocessable", "Fathom-User"),
        (lambda one: list(one.packs("nowhere")), NotFound, 404, "Not Found", "there is no conversation 'nowhere'"),
    ],
)
def test_a_refusal_is_the_servers_own_sentence(
    fathom: Fathom, call: Any, kind: type[FathomError], status: int, title: str, sentence: str
) -> None:
    with pytest.raises(kind, match=sentence) as error:
        call(fathom)
    assert type(error.value) is kind
    assert (error.value.status, error.value.detail) == (status, str(error.value))
    assert (error.value.title or "").startswith(title)


def test_a_wrong_token_is_told(fathom: Fathom) -> None:
    with Fathom(fathom.url, "wrong") as stranger, pytest.raises(Unauthorized, match="a known token is needed") as error:
        stranger.ask("Hello?")
    assert (error.value.status, error.value.title) == (401, "Unauthorized")


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="start one with `fathom up`"):
        Fathom(data=tmp_path)
    with Fathom(NOBODY, "token") as nobody, pytest.raises(Unreachable, match="no Fathom answers at http") as error:
        nobody.ask("Hello?", message_id="mine")
    assert (error.value.status, error.value.title, error.value.message_id) == (None, None, "mine")


@pytest.mark.parametrize(
    ("url", "token", "sentence"),
    [
        ("localhost:8088", "t", "'localhost:8088' is no address of a Fathom"),
        ("", "t", "'' is no address"),
        ("http://host:port", "t", "is no address"),
        (NOBODY, "", "the token is empty"),
        (NOBODY, "two words", "the token is empty or has characters"),
        (NOBODY, None, "there is no token for http://127.0.0.1:9"),
    ],
)
def test_a_wrong_address_or_token_is_refused_before_anything_is_sent(
    clean: None, url: str, token: str | None, sentence: str
) -> None:
    with pytest.raises(Refused, match=sentence):
        Fathom(url, token)


def test_a_token_file_that_cannot_be_read_is_named(
    clean: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FATHOM_TOKEN_FILE", str(tmp_path / "none"))
    with pytest.raises(Refused, match=f"the token cannot be read from {tmp_path}/none"):
        Fathom(NOBODY)


def test_a_user_that_no_header_can_carry_is_refused() -> None:
    for user in ("花子", "a\nb", " a"):
        with pytest.raises(Refused, match=r"user .* cannot be sent in a header"):
            Fathom(NOBODY, "t", user=user)


def test_what_is_no_text_is_refused() -> None:
    with Fathom(NOBODY, "t") as fathom, pytest.raises(Refused, match="lone surrogates"):
        fathom.remember("\ud800")


def test_a_closed_client_is_told() -> None:
    with Fathom(NOBODY, "t") as fathom:
        pass
    with pytest.raises(Refused, match="this client is closed"):
        fathom.remember("x")


@pytest.mark.parametrize("wrong", ["nothing", "folder"])
def test_a_file_that_cannot_be_read_is_named(fathom: Fathom, tmp_path: Path, wrong: str) -> None:
    sentence = "nothing.md: No such file" if wrong == "nothing" else "holds no document; put files in it that end in"
    with pytest.raises(Refused, match=sentence):
        fathom.ingest(tmp_path / "nothing.md" if wrong == "nothing" else tmp_path)


def test_of_many_files_the_one_that_is_refused_is_named(fathom: Fathom, tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("# Good\n\nThis is a text.")
    (tmp_path / "empty.md").write_text("")
    with pytest.raises(Refused, match=r"empty\.md: document_empty: the document has no bytes to read"):
        fathom.ingest(tmp_path)


@pytest.mark.parametrize(
    ("reply", "kind", "sentence"),
    [
        ((404, {}, b"<html>"), Unreachable, "answered 404 without Fathom's reason; check that this is its address"),
        ((200, {}, b"<html>"), Unreachable, "did not answer as Fathom does"),
        ((200, {}, b'{"topic": "x"}'), Unreachable, "did not answer as Fathom does .partition: Field required"),
        ((308, {"location": "https://x"}, b""), Unreachable, "answered 308"),
        ((500, {}, b"oops"), Unavailable, "answered 500 without Fathom's reason; try again later"),
        (problem(504, "Gateway Timeout", "nothing came within 1 s"), Unavailable, "^nothing came within 1 s$"),
        (problem(403, "Forbidden", "for another user"), Unauthorized, "^for another user$"),
        (problem(409, "Conflict", "not so"), Refused, "^not so$"),
    ],
)
def test_an_answer_that_is_none_is_told_and_not_asked_for_again(
    reply: Reply, kind: type[FathomError], sentence: str
) -> None:
    with answering(reply) as stub, Fathom(stub.url, "t") as fathom:
        with pytest.raises(kind, match=sentence) as error:
            fathom.remember("x", message_id="mine")
        assert type(error.value) is kind
        assert (error.value.status, error.value.message_id) == (reply[0], "mine")
        assert len(stub.bodies) == 1


@pytest.mark.parametrize(
    "busy",
    [
        problem(503, "Service Unavailable", "no broker", **{"retry-after": "0"}),
        problem(429, "Too Many Requests", "too many", **{"retry-after": "0"}),
        (502, {}, b"proxy"),
    ],
)
def test_a_busy_server_is_sent_the_same_message_again(busy: Reply) -> None:
    with answering(busy, busy, TAKEN) as stub, Fathom(stub.url, "t") as fathom:
        assert fathom.remember("x").offset == 1
        assert len(stub.bodies) == 3
        assert len(set(stub.bodies)) == 1
        assert json.loads(stub.bodies[0])["message_id"]


def test_what_is_no_message_is_sent_again_with_the_same_key() -> None:
    busy = problem(503, "Service Unavailable", "no broker", **{"retry-after": "0"})
    with answering(busy, TAKEN) as stub, Fathom(stub.url, "t") as fathom:
        fathom.correct("c", "not so")
        fathom.correct("c", "not so")
        first, again, another = (headers["idempotency-key"] for headers in stub.headers)
        assert first == again != another


def test_a_server_that_stays_busy_ends_in_its_sentence_after_four_times_and_the_pauses_it_wants() -> None:
    busy = problem(429, "Too Many Requests", "too many calls: try again in 1 s", **{"retry-after": "1"})
    began = time.monotonic()
    with answering(busy) as stub, Fathom(stub.url, "t") as fathom:
        with pytest.raises(Unavailable, match=r"^too many calls: try again in 1 s$") as error:
            fathom.remember("x")
        assert (error.value.status, len(stub.bodies)) == (429, 4)
    assert 3 <= time.monotonic() - began < 5


def test_a_server_that_takes_too_long_is_asked_once() -> None:
    with answering(TAKEN, takes_s=1.0) as stub, Fathom(stub.url, "t") as fathom:
        fathom._http.timeout = 0.2
        with pytest.raises(Unreachable, match="did not answer in time; try again, or wait longer"):
            fathom.remember("x")
        assert len(stub.bodies) == 1


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", NOBODY)
    with answering(TAKEN) as stub, Fathom(stub.url, "t") as fathom:
        assert fathom.remember("x").topic == "messages.in"


@pytest.mark.parametrize("cuts", [1, 3])
def test_a_connection_that_breaks_after_the_server_took_the_call_makes_one_turn(fathom: Fathom, cuts: int) -> None:
    host, port = fathom.url.removeprefix("http://").split(":")
    conversation = str(uuid4())
    with cutting(host, int(port), cuts) as (url, counts):
        with Fathom(url, token(fathom), conversation=conversation, user=fathom.user) as broken:
            pack = broken.ask("I am allergic to peanuts.")
        assert counts.requests > cuts
    talk = fathom.conversation(conversation, until=pack.message_id)
    assert [turn.content for turn in talk.turns] == ["I am allergic to peanuts."]
    assert [decision.pack_id for decision in talk.decisions] == [pack.pack_id]


def test_a_connection_that_always_breaks_ends_in_a_sentence(fathom: Fathom) -> None:
    host, port = fathom.url.removeprefix("http://").split(":")
    with cutting(host, int(port), 100) as (url, counts), Fathom(url, token(fathom)) as broken:
        with pytest.raises(Unreachable, match="no Fathom answers at") as error:
            broken.ask("Hello?")
        assert error.value.status is None
        assert counts.requests == 4


def test_a_message_sent_again_by_its_id_is_the_same_message(fathom: Fathom) -> None:
    first, again = (fathom.ask("Hello?", message_id="hello-1") for _ in range(2))
    assert first == again
    assert [turn.message_id for turn in fathom.conversation(until="hello-1").turns] == ["hello-1"]


def token(fathom: Fathom) -> str:
    return str(fathom._http.headers["authorization"]).removeprefix("Bearer ")
