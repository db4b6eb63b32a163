"""A person is erased from a running `fathom up` with keys: from stores, files and log; nobody else, and for good."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e import processes
from tests.e2e.processes import UNHURRIED, fathom, running

ANA, BIA = "zirconita", "turmalina"
QUESTION = "Explica o que sabemos do código do cofre Atlas."


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a rebuild takes minutes."""
    monkeypatch.setattr(processes, "START_S", 600.0)


class Site:
    """One data directory, its `fathom up`, and its commands."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.data = place / "data"
        self.settings = {**UNHURRIED, "FATHOM_SUBJECT_KEYS": f"embedded://{self.data}"}
        self.client: httpx.Client

    @contextmanager
    def up(self) -> Iterator["Site"]:
        errors = self.place / "err"
        with running("up", "--data", str(self.data), "--port", "0", stderr=errors, **self.settings) as process:
            ready = process.ready()
            headers = {"authorization": f"Bearer {(self.data / 'token').read_text().strip()}"}
            with httpx.Client(base_url=f"http://{ready['http']}", headers=headers, timeout=60) as self.client:
                yield self
            assert process.end()[0] == 0
            assert "Traceback" not in errors.read_text()

    def run(self, *words: str, code: int = 0, **settings: str) -> str:
        done = fathom(*words, "--broker", f"embedded://{self.data}", **{**self.settings, **settings})
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))

    def turn(self, user: str, conversation: str, text: str, **more: Any) -> Any:
        body = {"role": "user", "content": text, "conversation_id": conversation, "client_id": "web", **more}
        wait = "?wait=pack" if body["role"] == "user" else ""
        answer = self.client.post(f"/messages{wait}", json=body, headers={"fathom-user": user})
        assert answer.status_code in (200, 202), answer.text
        return answer.json()

    def offered(self, user: str, conversation: str) -> str:
        return json.dumps(self.turn(user, conversation, QUESTION), ensure_ascii=False)

    def held(self, word: str) -> dict[str, int]:
        """In how many places each file below the data directory has the word."""
        found = {}
        for path in self.data.rglob("*"):
            if path.is_file() and (number := path.read_bytes().lower().count(word.encode())):
                found[str(path.relative_to(self.data))] = number
        return found


def talk(site: Site, user: str, conversation: str, word: str) -> None:
    first = site.turn(user, conversation, f"O código do cofre Atlas é {word}.")
    site.turn(user, conversation, f"Anotado: {word}.", role="assistant", answers=first["message_id"])
    pack = site.turn(user, conversation, f"Não, o código do cofre Atlas mudou para {word} dois.")
    feedback = {"message_id": pack["message_id"], "rating": 1, "expected_depth": "D4"}
    feedback |= {"conversation_id": conversation, "client_id": "web", "reason": f"falta {word}"}
    assert site.client.post("/feedback", json=feedback, headers={"fathom-user": user}).status_code in (200, 202)


def filled(site: Site) -> None:
    for user, word in (("ana", ANA), ("bia", BIA)):
        site.run("profile", "set", user, "--role", f"{word}-papel", "--objective", f"{word}-alvo")
        talk(site, user, f"{user}-1", word)
    assert any(ANA in site.offered("ana", f"ana-{number}") for number in range(2, 40))
    assert any(BIA in site.offered("bia", f"bia-{number}") for number in range(2, 40))


def erased(site: Site) -> Any:
    found = site.json("erase", "--subject", "ana", "--by", "dpo")
    assert found["left"] == []
    assert found["records_unreadable"] > 20
    assert found["profile"]["profiles"] == 1
    assert found["profile"]["votes"] == 1
    return found


def nothing_of_ana(site: Site) -> None:
    assert site.held(ANA) == {}
    assert site.held(BIA) != {}
    assert BIA in site.offered("bia", "bia-last")
    assert ANA not in site.offered("ana", "ana-last")
    assert ANA not in site.run("tail", "conversation.turns", "--from-beginning", "--no-follow")


@pytest.mark.covers("B24")
@pytest.mark.timeout(1800)
def test_a_person_is_erased_from_every_file_and_nothing_brings_it_back(tmp_path: Path):
    site = Site(tmp_path)
    with site.up():
        filled(site)
        log = "".join(name for word in (ANA, BIA) for name in site.held(word) if name.startswith("broker/"))
        assert log == ""
        assert ANA in site.run("tail", "conversation.turns", "--from-beginning", "--no-follow")
        site.run("audit", "seal")
        plan = site.json("erase", "--subject", "ana", "--dry-run")
        assert plan["key"] is not None
        assert ANA in site.offered("ana", "ana-still-there")
        found = erased(site)
        assert found["key"] == plan["key"]
        nothing_of_ana(site)
        again = site.run("erase", "--subject", "ana")
        assert "erased ana-last" in again  # what was said since, and only that
        assert "nothing of ana is left to erase" in site.run("erase", "--subject", "ana")
        site.run("audit", "verify")
        [proof, *_] = proofs(site)
        assert (proof["actor"], proof["detail"]["key_id"], proof["detail"]["left"]) == ("dpo", found["key"], [])
        assert site.json("dlq", "list")["total"] == 0
    for store in ("graph", "index", "valkey"):
        shutil.rmtree(site.data / store)
    site.run("replay", "--mode", "rebuild", "--execute")
    with site.up():
        assert site.held(ANA) == {}
        assert BIA in site.offered("bia", "bia-rebuilt")
        assert ANA not in site.offered("ana", "ana-rebuilt")
        same = site.json("replay", "--mode", "exact", "--execute")
        assert (same["different"], same["missing"], same["extra"]) == (0, 0, 0)
        assert same["equal"] > 5
        assert site.held(ANA) == {}


def proofs(site: Site) -> list[Any]:
    lines = site.run("tail", "memory.decisions", "--from-beginning", "--no-follow", "--json").splitlines()
    said = [json.loads(line) for line in lines]
    assert any(each.get("erased") and each["value"] is None for each in said)
    return [each["value"] for each in said if (each["value"] or {}).get("kind") == "subject-erasure"]


@pytest.mark.timeout(1800)
def test_records_from_before_the_keys_are_named_and_a_reader_without_them_is_told(tmp_path: Path):
    site = Site(tmp_path)
    keys = site.settings.pop("FATHOM_SUBJECT_KEYS")
    with site.up():
        talk(site, "ana", "ana-1", ANA)
        refused = site.run("erase", "--subject", "ana", code=3)
        assert "set FATHOM_SUBJECT_KEYS" in refused
    site.settings["FATHOM_SUBJECT_KEYS"] = keys
    with site.up():
        assert any(ANA in site.offered("ana", f"ana-{number}") for number in range(2, 40))
        found = site.json("erase", "--subject", "ana")
        plain = {each["topic"]: each["plain"] for each in found["left"]}
        assert (plain["messages.in"], plain["conversation.turns"]) == (3, 3)
        assert all(each["until"] for each in found["left"])
        assert ANA not in site.offered("ana", "ana-later")
        site.turn("bia", "bia-1", "O código do cofre Boreal é 77.")
        del site.settings["FATHOM_SUBJECT_KEYS"]
        told = site.run("tail", "conversation.turns", "--from-beginning", "--no-follow", code=3)
        assert "FATHOM_SUBJECT_KEYS" in told
