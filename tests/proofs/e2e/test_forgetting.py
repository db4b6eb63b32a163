"""Conversations that are forgotten over HTTP: gone at once, after a restart, and after a rebuild."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.e2e.processes import UNHURRIED, fathom, running
from tests.e2e.vault import OTHER, SECRET, offered, talk, turn, until

BETA = "beta-0123456789abcdef"
TOKENS = {BETA: {"tenant": "beta"}}
SINCE = "obsidiana"
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
