"""Sources that are quarantined by command: in no pack and no deep answer, every use listed, and lifted again."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.e2e.calls import MARKDOWN
from tests.e2e.poison import POISON, quarantine
from tests.e2e.processes import UNHURRIED, fathom, running

HEALTHY = "# Refunds of the shop\n\nThe team lead approves refunds up to 500 euros, and the cashier pays them.\n"
PLANTED_DOCUMENT, PLANTED_TALK = "xylophone", "zircon"
REFUNDS = ("Who approves refunds up to 500 euros?", "Explain how refunds up to 500 euros are approved.")
VAULT = ("Explain what we know about the code of the Atlas vault.", "What is the code of the Atlas vault?")
OTHER = ("Good morning!", "What is the capital of France?")
DEEP = "Who approves refunds up to 500 euros and within how many days are refunds paid?"
COGNITION = {"RAG_ENABLE_COGRAG": "on", "RAG_COGRAG_VERIFICATION_ENABLED": "on"}
WITHIN_S = 60


@contextmanager
def up(place: Path) -> Iterator[tuple[httpx.Client, str]]:
    settings = {**UNHURRIED, **COGNITION, "FATHOM_ASK_DEEP_TIMEOUT_MS": "60000"}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        headers = {"authorization": f"Bearer {(place / 'data' / 'token').read_text().strip()}", "fathom-user": "ana"}
        with httpx.Client(base_url=f"http://{ready['http']}", headers=headers, timeout=90) as calls:
            yield calls, ready["bootstrap"]
        assert process.end()[0] == 0
        assert "Traceback" not in (place / "err").read_text()


def taken(answer: httpx.Response) -> Any:
    assert answer.status_code in (200, 202), answer.text
    return answer.json()


def turn(calls: httpx.Client, conversation: str, text: str, **more: Any) -> Any:
    body = {"role": "user", "content": text, "conversation_id": conversation, "client_id": "web", **more}
    return taken(calls.post(f"/messages{'?wait=pack' if body['role'] == 'user' else ''}", json=body))


def asked(calls: httpx.Client, *questions: str) -> dict[str, Any]:
    """The pack of each question, asked in a conversation of its own, by its message."""
    packs = [turn(calls, str(uuid4()), question) for question in questions]
    return {pack["message_id"]: pack for pack in packs}


def deep(calls: httpx.Client) -> Any:
    body = {"question": DEEP, "conversation_id": str(uuid4()), "client_id": "web"}
    return taken(calls.post("/ask?deep=true", json=body))


def holding(packs: dict[str, Any], word: str) -> set[str]:
    """The messages whose packs hold a word, by a search of their text; the question itself is no memory."""
    return {message for message, pack in packs.items() if word in json.dumps({**pack, "query": "", "signals": []})}


@contextmanager
def asking(url: httpx.URL, headers: httpx.Headers) -> Iterator[list[tuple[datetime, Any]]]:
    """Packs of one question, asked again and again meanwhile, each with the time at which it was sent."""
    found: list[tuple[datetime, Any]] = []
    ended = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=url, headers=headers, timeout=90) as calls:
            while not ended.is_set():
                at = datetime.now(UTC)
                found.append((at, next(iter(asked(calls, REFUNDS[0]).values()))))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def used(report: Any, kind: str) -> set[str]:
    return {use["message_id"] for use in report["uses"] if use["kind"] == kind}


def plant(calls: httpx.Client) -> dict[str, Any]:
    """Both poisoned sources, beside a healthy one; the packs of the questions by which it is found to be known."""
    for name, text in (("poison", POISON), ("healthy", HEALTHY)):
        taken(calls.post(f"/documents?wait=visible&document_id={name}", content=text, headers=MARKDOWN))
    said = turn(calls, "talk", "The code of the Atlas vault is zircon.")
    packs = {said["message_id"]: said}
    deadline = time.monotonic() + 30
    while not holding(packs, PLANTED_TALK):
        assert time.monotonic() < deadline
        packs |= asked(calls, VAULT[0])
    return packs


@pytest.mark.covers("B23")
@pytest.mark.timeout(900)
def test_two_poisoned_sources_are_out_of_everything_within_a_minute_and_come_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with up(tmp_path) as (calls, broker):
        tried = plant(calls)
        first = asked(calls, *REFUNDS, *VAULT, *OTHER)
        before = {**tried, **first}
        answer = deep(calls)
        before[answer["pack"]["message_id"]] = answer["pack"]
        assert PLANTED_DOCUMENT in json.dumps(answer["answer"])
        told = next(iter(holding(first, PLANTED_DOCUMENT)))
        where = before[told]["conversation_id"]
        said = turn(calls, where, "It is the xylophone office.", role="assistant", answers=told)["message_id"]

        with asking(calls.base_url, calls.headers) as polled:
            report = quarantine("--source", "document:poison", "--reason", "forged", "--by", "lia", broker=broker)
        before |= {pack["message_id"]: pack for _, pack in polled}
        [listed] = quarantine("list", broker=broker)["quarantines"]
        since = datetime.fromisoformat(listed["since"])
        last = max((at for at, pack in polled if holding({"": pack}, PLANTED_DOCUMENT)), default=since)
        clean = min(at for at, pack in polled if not holding({"": pack}, PLANTED_DOCUMENT))
        with capsys.disabled():
            print(
                f"\nthe last pack with it was asked {(last - since).total_seconds():.2f} s, the first without "
                f"{(clean - since).total_seconds():.2f} s after it was quarantined"
            )
        assert (last - since).total_seconds() < WITHIN_S
        talk = ("--source", "conversation:talk", "--client", "web")
        report_talk = quarantine(*talk, broker=broker)
        after = asked(calls, *REFUNDS, *VAULT, *OTHER)
        for word in (PLANTED_DOCUMENT, PLANTED_TALK):
            assert holding(after, word) == set()
        again = deep(calls)
        assert PLANTED_DOCUMENT not in json.dumps(again)
        assert "team lead" in json.dumps(after)
        own = turn(calls, where, "Explain again who approves refunds up to 500 euros.")
        assert PLANTED_DOCUMENT not in json.dumps(own), "what was answered from it is hidden, too"

        assert used(report, "pack") <= holding(before, PLANTED_DOCUMENT)
        # A pack that was on its way may have come out after the command had read the log.
        report = quarantine("report", "--source", "document:poison", broker=broker)
        assert used(report, "pack") == holding(before, PLANTED_DOCUMENT)
        assert used(report, "decision") == used(report, "pack")
        assert used(report, "deep answer") == {answer["pack"]["message_id"]}
        assert used(report, "answer") == {said}
        assert used(report_talk, "pack") == holding(before, PLANTED_TALK)
        for use in report["uses"]:
            assert {"topic", "partition", "offset"} <= use.keys()

        assert (listed["by"], listed["reason"], listed["messages"]) == ("lia", "forged", [said])

    with up(tmp_path) as (calls, broker):
        restarted = asked(calls, *REFUNDS, *VAULT)
        for word in (PLANTED_DOCUMENT, PLANTED_TALK):
            assert holding(restarted, word) == set(), "a worker that starts knows what is quarantined"
        done = fathom("replay", "--mode", "exact", "--execute", "--broker", broker, "--json", "--id", "q")
        assert done.returncode == 0, done.stderr
        verdict = json.loads(done.stdout)
        assert (verdict["different"], verdict["missing"], verdict["extra"]) == (0, 0, 0)
        assert verdict["equal"] >= len(before) + len(after) + len(restarted)

        quarantine("--source", "document:poison", "--lift", broker=broker)
        quarantine(*talk, "--lift", broker=broker)
        lifted = asked(calls, *REFUNDS, *VAULT, *OTHER)
        for word, questions in ((PLANTED_DOCUMENT, REFUNDS), (PLANTED_TALK, VAULT)):
            was = {first[each]["query"] for each in holding(first, word)} & set(questions)
            assert was
            assert was <= {lifted[each]["query"] for each in holding(lifted, word)}
