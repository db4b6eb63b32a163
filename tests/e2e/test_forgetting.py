"""Conversations that are forgotten over HTTP and by command: gone at once, after a restart, and after a rebuild."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.e2e.test_up import UNHURRIED, fathom, running

BETA, ANA, EVA = "beta-0123456789abcdef", "default-ana-0123456789", "default-eva-0123456789"
TOKENS = {
    BETA: {"tenant": "beta"},
    ANA: {"tenant": "default", "client": "web", "user": "ana"},
    EVA: {"tenant": "default", "client": "web", "user": "eva"},
}
SECRET, OTHER, SINCE = "zircônio", "turmalina", "obsidiana"
QUESTION = "Explica o que sabemos do código do cofre Atlas."
WEB = {"client_id": "web"}


@contextmanager
def up(place: Path) -> Iterator[tuple[httpx.Client, str]]:
    (place / "tokens.json").write_text(json.dumps(TOKENS))
    settings = {**UNHURRIED, "FATHOM_ASK_TOKENS_FILE": str(place / "tokens.json")}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        headers = {"authorization": f"Bearer {(place / 'data' / 'token').read_text().strip()}"}
        with httpx.Client(base_url=f"http://{ready['http']}", headers=headers, timeout=60) as calls:
            yield calls, ready["bootstrap"]
        assert process.end()[0] == 0
        assert "Traceback" not in (place / "err").read_text()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def turn(client: httpx.Client, conversation: str, text: str, token: str | None = None, **more: Any) -> Any:
    body = {"role": "user", "content": text, "conversation_id": conversation, **WEB, **more}
    headers = {"fathom-user": "ana"} if token is None else bearer(token)
    wait = "?wait=pack" if body["role"] == "user" else ""
    answer = client.post(f"/messages{wait}", json=body, headers=headers)
    assert answer.status_code in (200, 202), answer.text
    return answer.json()


def offered(client: httpx.Client, token: str | None = None) -> str:
    """The pack of a question in a conversation of its own, as text."""
    return json.dumps(turn(client, str(uuid4()), QUESTION, token), ensure_ascii=False)


def until(found: Callable[[], bool]) -> None:
    assert any(found() for _ in range(60))


def talk(client: httpx.Client, conversation: str, word: str, token: str | None = None) -> list[str]:
    """Three turns that name the word; the ids of the messages with packs."""
    first = turn(client, conversation, f"O código do cofre Atlas é {word}.", token)
    turn(client, conversation, f"Anotado: {word}.", token, role="assistant", answers=first["message_id"])
    second = turn(client, conversation, f"Não, o código do cofre Atlas mudou para {word} dois.", token)
    return [first["message_id"], second["message_id"]]


def erased(client: httpx.Client, conversation: str, **headers: str) -> Any:
    answer = client.delete(f"/conversations/{conversation}?client_id=web&wait=erased", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["erased"]


def forgotten(client: httpx.Client, messages: list[str]) -> None:
    """What is seen of the conversation `first` after it was forgotten and said in again, and of the others."""
    assert SECRET not in offered(client)
    assert OTHER in offered(client)
    assert "granada" in offered(client, BETA)
    shown = client.get("/conversations/first", params=WEB).json()
    assert shown["turns"][0]["content"] == f"O cofre Boreal tem o código {SINCE}."
    assert SECRET not in json.dumps(shown, ensure_ascii=False)
    assert [client.get(f"/packs/{each}").status_code for each in messages] == [404, 404]
    assert SECRET not in json.dumps(turn(client, "first", "E o que eu disse antes?"), ensure_ascii=False)


@pytest.mark.covers("B24")
def test_a_forgotten_conversation_is_gone_and_stays_gone(tmp_path: Path):
    with up(tmp_path) as (client, bootstrap):
        messages = talk(client, "first", SECRET)
        talk(client, "second", OTHER)
        talk(client, "first", "granada", BETA)
        until(lambda: SECRET in offered(client) and OTHER in offered(client))
        before = offered(client)
        assert SECRET in before
        counts = erased(client, "first", **{"fathom-user": "bia"})
        assert (counts["turns"], counts["decisions"]) == (3, 2)
        assert SECRET not in offered(client)
        assert client.get("/conversations/first", params=WEB).status_code == 404
        again = turn(client, "first", f"O cofre Boreal tem o código {SINCE}.")
        alike = turn(client, str(uuid4()), f"O cofre Boreal tem o código {SINCE}.")
        assert (again["depth_level"], again["working_set"]) == (alike["depth_level"], alike["working_set"])
        audits = fathom("tail", "memory.decisions", "--from-beginning", "--no-follow", "--json", "--broker", bootstrap)
        said = [json.loads(line)["value"] for line in audits.stdout.splitlines()]
        [audit] = [each for each in said if each.get("kind") == "erasure"]
        assert (audit["actor"], audit["detail"]["erased"]) == ("bia", counts)
        assert SECRET not in json.dumps(audit, ensure_ascii=False)
    with up(tmp_path) as (client, _):
        forgotten(client, messages)
    shutil.rmtree(tmp_path / "data" / "graph")
    shutil.rmtree(tmp_path / "data" / "index")
    shutil.rmtree(tmp_path / "data" / "valkey")
    broker = f"embedded://{tmp_path / 'data'}"
    rebuilt = fathom("replay", "--mode", "rebuild", "--execute", "--broker", broker, **UNHURRIED)
    assert (rebuilt.returncode, rebuilt.stderr.count("refused")) == (0, 0), rebuilt.stderr
    reconciled = fathom("doctor", "--reconcile", "--broker", broker, "--json", **UNHURRIED)
    assert json.loads(reconciled.stdout)["left"] == 0
    with up(tmp_path) as (client, bootstrap):
        forgotten(client, messages)
        same = fathom("replay", "--mode", "exact", "--execute", "--broker", bootstrap, "--json")
        assert same.returncode == 0, same.stdout
        assert json.loads(same.stdout)["different"] == 0


def test_who_may_forget_what(tmp_path: Path):
    with up(tmp_path) as (client, bootstrap):
        talk(client, "ours", SECRET)
        turn(client, "ours", "Também sei do cofre.", EVA)
        turn(client, "mine", "O cofre é meu.", ANA)
        path = "/conversations/{}?client_id=web"
        for token, name, status in (
            *((BETA, "ours", 404), (EVA, "ours", 404), (EVA, "mine", 404), (ANA, "nosuch", 404)),
            *((ANA, "mine", 202), (ANA, "mine", 202)),
        ):
            answer = client.delete(path.format(name), headers=bearer(token))
            assert answer.status_code == status, (token, name, answer.text)
        assert client.delete("/conversations/ours?client_id=web&wait=x").status_code == 422
        assert client.delete("/conversations/ours?client_id=phone").status_code == 404
        assert client.delete("/conversations/ours?client_id=phone", headers=bearer(EVA)).status_code == 403
        once = fathom(
            "forget", "--conversation", "ours", "--client", "web", "--broker", bootstrap, "--tenant", "default"
        )
        assert (once.returncode, once.stderr) == (0, "")
        assert once.stdout.startswith("erased ours: 4 turns")
        unknown = fathom("forget", "--conversation", "nosuch", "--client", "web", "--broker", bootstrap)
        assert (unknown.returncode, unknown.stdout) == (1, "")
        assert "there is no conversation 'nosuch' of client 'web'" in unknown.stderr
        both = fathom("forget", "doc", "--user", "ana", "--broker", bootstrap)
        assert both.returncode == 2
        assert "only one of them" in both.stderr


def test_all_conversations_of_a_user_are_forgotten_at_once(tmp_path: Path):
    with up(tmp_path) as (client, bootstrap):
        for name in ("one", "two"):
            talk(client, name, SECRET)
        talk(client, "three", OTHER, EVA)
        until(lambda: SECRET in offered(client))
        done = fathom("forget", "--user", "ana", "--broker", bootstrap, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        names = {each["conversation_id"]: each["erased"]["turns"] for each in json.loads(done.stdout)["conversations"]}
        assert (names["one"], names["two"]) == (3, 3)
        assert "three" not in names
        assert SECRET not in offered(client)
        assert OTHER in offered(client, EVA)
