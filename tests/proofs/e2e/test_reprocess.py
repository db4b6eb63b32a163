"""`fathom replay --mode reprocess`: what was asked, answered again as of then, under the same settings and others."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from schemas.topics import CONTEXT_PACKS, DEPTH_CLASSIFIED
from streams.kafka.records import Record
from tests.checkout import ROOT
from tests.e2e.processes import SMALL, UNHURRIED, fathom, running
from tests.proofs.e2e.test_replay import plain, said, until_quiet, whole

HANDBOOK = "# Política de reembolso\n\nO reembolso de viagem é pago em dez dias depois da aprovação da diretoria.\n"
ROUNDS = 4
# Of each round the third message is deeper where its last word says so.
TALK = (
    "Explica melhor como funciona o reembolso de viagem",
    "Qual o prazo do reembolso de viagem?",
    "Qual o prazo do reembolso, mastigadinho?",
    "Bom dia!",
)


def fill(broker: str, bootstrap: str, folder: Path) -> dict[str, list[Record]]:
    """A document, then messages, one by one: each is asked when what came before it has been learnt."""
    (folder / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
    said(fathom("ingest", str(folder / "handbook.md"), "--broker", broker, "--tenant", "aurora", "--json"))
    found: dict[str, list[Record]] = {}
    for asked in range(ROUNDS * len(TALK)):
        round_, number = divmod(asked, len(TALK))
        line = {
            "message_id": f"m{round_}-{number}",
            "role": "user",
            "content": TALK[number],
            "conversation_id": f"c{number}",
            "client_id": "web",
        }
        (folder / "talk.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
        done = fathom("send", "--file", str(folder / "talk.jsonl"), "--broker", broker, "--tenant", "aurora", "--json")
        assert done.returncode == 0, done.stderr
        found = until_quiet(bootstrap, asked + 1)
    return found


def replay(*arguments: str, broker: str, code: int = 0) -> dict[str, Any]:
    """What a reprocessing says, as JSON."""
    done = fathom("replay", "--mode", "reprocess", *arguments, "--broker", broker, "--json", **SMALL, **UNHURRIED)
    return said(done, code) if code == 0 else {"code": done.returncode, "stderr": done.stderr}


def killed(replay_id: str, broker: str, bootstrap: str) -> int:
    """A reprocessing that is killed when it has written some packs; returns how many."""
    words = ("replay", "--mode", "reprocess", "--execute", "--id", replay_id, "--max-rate", "4", "--broker", broker)
    child = subprocess.Popen(
        [sys.executable, "-m", "streams", *words], cwd=ROOT, env={**os.environ, **SMALL, **UNHURRIED},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    topic = f"{CONTEXT_PACKS.name}.replay.{replay_id}"
    try:
        deadline = time.monotonic() + 120
        while len(found := whole(bootstrap, topic)[topic]) < 3:
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        return len(found)
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _value(record: Record) -> Any:
    return json.loads(record.value or b"")


@pytest.mark.timeout(600)
@pytest.mark.covers("AC-34", "CD-11", "CF-84")
def test_messages_are_answered_again_and_what_another_setting_changes_is_told(tmp_path: Path):
    data, lists, env = tmp_path / "data", tmp_path / "lists", tmp_path / "other.env"
    broker = f"embedded://{data}"
    lists.mkdir()
    (lists / "depth.pt.txt").write_text("[explanation]\nmastigadinho\n", encoding="utf-8")
    env.write_text(f"FATHOM_LEXICONS={lists}\n", encoding="utf-8")
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err", **UNHURRIED) as up:
        bootstrap = up.ready()["bootstrap"]
        before, asked = fill(broker, bootstrap, tmp_path), ROUNDS * len(TALK)

        planned = replay("--id", "one", broker=broker)
        assert planned["reads"][0] == {**planned["reads"][0], "topic": "messages.in", "records": asked}
        report = tmp_path / "one.html"
        same = replay("--id", "one", "--execute", "--report", str(report), broker=broker)
        assert (same["compared"], same["depths"], same["packs"]) == (asked, [], asked)
        # What came late on a busy machine is in time in a replay.
        late = {pack["message_id"] for pack in map(_value, before[CONTEXT_PACKS.name]) if pack["degraded"]}
        assert {each["message_id"] for each in same["changes"]} <= late, same["changes"]
        assert same["different"] <= ROUNDS, same["changes"]
        assert "<html" in report.read_text(encoding="utf-8")

        other = replay("--id", "two", "--execute", "--with", str(env), broker=broker)
        assert other["depths"] == [{"was": "D0", "now": "D2", "messages": ROUNDS}]
        assert {each["message_id"] for each in other["changes"] if each["depth"][0] != each["depth"][1]} == {
            f"m{number}-2" for number in range(ROUNDS)
        }

        had = killed("three", broker, bootstrap)
        rest = replay("--resume", "three", "--execute", broker=broker)
        topics = [
            f"{topic.name}.replay.{each}" for topic in (DEPTH_CLASSIFIED, CONTEXT_PACKS) for each in ("one", "three")
        ]
        written = whole(bootstrap, *topics, *before)
        assert 0 < rest["packs"] <= asked - had
        for first, third in (topics[:2], topics[2:]):
            made = [sorted({(p, k, v) for p, k, v, _ in map(plain, written.pop(each))}) for each in (first, third)]
            assert len(made[0]) == asked
            assert made[0] == made[1]
        assert written == before, "a replay writes to its own topics alone"

        assert {"one", "two", "three"} == {
            json.loads(line)["replay_id"]
            for line in fathom("replay", "list", "--broker", broker, "--json").stdout.splitlines()
        }
        assert (
            said(fathom("replay", "diff", "three", "--against", "one", "--broker", broker, "--json"))["different"] == 0
        )
        for words, why in {
            ("--execute", "--id", "one"): "there is a replay one",
            ("--execute", "--resume", "nine"): "there is no replay nine",
            ("--execute", "--resume", "three", "--sample", "0.5"): "was begun with other options",
            ("--to-offset", "99999"): "ends at offset",
        }.items():
            failed = replay(*words, broker=broker, code=2)
            assert (failed["code"], why in failed["stderr"]) == (2, True), failed
        assert fathom("replay", "clean", "two", "--execute", "--broker", broker).returncode == 0
        assert "two" not in fathom("replay", "list", "--broker", broker).stdout
        offsets = tmp_path / "offsets.csv"
        offsets.write_text(
            fathom("replay", "--mode", "reprocess", "--export", "--shift-by", "-2", "--broker", broker).stdout
        )
        last = replay("--from-file", str(offsets), "--execute", "--id", "four", broker=broker)
        assert last["packs"] == len(offsets.read_text().splitlines()) * 2
