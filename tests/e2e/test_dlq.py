"""`fathom dlq` beside a running pipeline: letters listed, shown, redriven, discarded; wrong use is told what to do."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from streams.edges.cli import main
from streams.edges.cli.dlq import chosen
from streams.edges.client.errors import CHECK, DOWN, FAILURE, USAGE, CommandFailed
from streams.kafka.records import Record
from streams.replay.log import PartitionRange, opened
from streams.runtime.dead_letters import place_of
from tests.e2e.test_up import IN_MEMORY, running

BAD = (
    (b'{"question":', (("tenant", b"acme"), ("x-trace", b"1"))),
    (b'{"question":"oi","conversation_id":"c","client_id":"web","history":[]}', (("tenant", b"beta"),)),
    (b"\xff\x00", (("tenant", b"acme"), ("ce_id", b"m-3"))),
)


class UpWithLetters:
    """A running `fathom up` with three dead letters."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def run(self, *words: str, code: int = 0) -> Any:
        """A command's JSON, or its text, or what it said on stderr where it fails without."""
        out, errors = TextIOWrapper(BytesIO(), write_through=True), TextIOWrapper(BytesIO(), write_through=True)
        with redirect_stdout(out), redirect_stderr(errors), pytest.raises(SystemExit) as ended:
            main.run(["dlq", *words])
        said, wrong = (each.buffer.getvalue().decode() for each in (out, errors))  # type: ignore[attr-defined]
        assert (ended.value.code or 0) == code, wrong
        return json.loads(said) if said.startswith("{") else said or wrong

    def letters(self, count: int) -> list[dict[str, Any]]:
        """All letters, once there are so many."""
        for _ in range(200):
            found = self.run("list", "--state", "all", "--json")
            if found["total"] >= count:
                return list(found["letters"])
        raise AssertionError(f"{found['total']} dead letters")

    def read(self, topic: str) -> list[Record]:
        async def read() -> list[Record]:
            found: list[Record] = []
            async with opened(self.bootstrap) as log:
                async for batch in log.read(await log.spans(topic)):
                    found += batch
            return found

        return asyncio.run(read())

    def send(self) -> None:
        async def send() -> None:
            async with AIOKafkaProducer(bootstrap_servers=self.bootstrap) as producer:
                for number, (value, headers) in enumerate(BAD):
                    await producer.send_and_wait("messages.in", value, key=b"%d" % number, headers=list(headers))

        asyncio.run(send())


@pytest.fixture
def up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UpWithLetters]:
    data = tmp_path / "data"
    monkeypatch.setenv("FATHOM_BROKER", f"embedded://{data}")
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err", **IN_MEMORY) as process:
        started = UpWithLetters(process.ready()["bootstrap"])
        started.send()
        yield started


@pytest.mark.covers("AC-31", "AC-32")
def test_dead_letters_are_counted_chosen_shown_redriven_and_discarded(up: UpWithLetters):
    letters = up.letters(3)
    by = {letter["ids"][0]: letter["position"] for letter in letters}
    counts = up.run("list", "--json")["counts"]
    assert counts["reason"] == {"not_json": 2, "context_field_not_allowed": 1}
    assert counts["tenant"] == {"acme": 2, "beta": 1}
    assert counts["stage"] == {"depth": 3}
    assert [one["reason"] for one in up.run("list", "--tenant", "beta", "--json")["letters"]] == [
        "context_field_not_allowed"
    ]
    assert up.run("list", "--since", "P1D", "--until", "PT1H", "--json")["total"] == 0
    assert up.run("list", "--stage", "planner", "--json")["total"] == 0
    assert "by tenant  acme 2  beta 1" in up.run("list")
    [shown] = up.run("show", "m-3", "--json")["letters"]
    assert (shown["position"], shown["key"]) == (by["m-3"], "2")
    assert shown["value"] == {"base64": "/wA="}
    assert "dlq redrive" in up.run("show", by["m-3"])

    plan = up.run("redrive", "--tenant", "acme", "--json")
    assert (plan["execute"], len(plan["letters"])) == (False, 2)
    assert len(up.read("messages.in")) == 3
    done = up.run("redrive", "--tenant", "acme", "--execute", "--json")
    assert (len(done["letters"]), done["refused"]) == (2, [])
    records = up.read("messages.in")
    assert len(records) == 5
    for letter in done["letters"]:
        [old, new] = [
            next(one for one in records if f"messages.in:{one.partition}:{one.offset}" == place)
            for place in (letter["original"], letter["redriven_to"])
        ]
        assert (new.partition, new.key, new.value, new.timestamp) == (old.partition, old.key, old.value, old.timestamp)
        assert set(old.headers) <= set(new.headers)
        assert {name for name, _ in new.headers} - {name for name, _ in old.headers} <= {"ce_id", "fathom_redrives"}
    assert [one["redrives"] for one in up.letters(5) if one["state"] == "redriven"] == [1, 1]
    assert "it was redriven at" in up.run("redrive", by["m-3"], "--execute", code=CHECK)

    for _ in range(2):
        up.run("redrive", by["m-3"], "--again", "--execute")
    refused = up.run("redrive", by["m-3"], "--again", "--execute", "--json", code=CHECK)["refused"]
    assert "3 is the limit" in refused[0]["why"]
    up.run("discard", "--tenant", "beta", "--execute")
    assert up.run("list", "--tenant", "beta", "--json")["total"] == 0
    assert up.run("list", "--state", "discarded", "--json")["total"] == 1
    up.run("discard", "--all", "--undo", "--execute")
    assert up.run("list", "--tenant", "beta", "--json")["total"] == 1
    assert all(place_of(one.headers) for one in up.read("dead-letters.depth") if one.value is not None)


def test_every_wrong_use_says_what_to_do(up: UpWithLetters):
    [first, *_] = up.letters(3)
    topic, partition, _ = first["position"].rsplit(":", 2)
    wrong: dict[tuple[str, ...], tuple[int, str]] = {
        ("show", "dead-letters.dept:0:1"): (USAGE, "did you mean dead-letters.depth?"),
        ("show", "dead-letters.depth:0"): (USAGE, "write topic:partition:offset"),
        ("show", "dead-letters.depth:99:0"): (FAILURE, "there is no number 99"),
        ("show", f"{topic}:{partition}:999"): (FAILURE, "is not in the log"),
        ("show", "nobody"): (FAILURE, "no dead letter is called nobody"),
        ("show", "m-3", "--raw", "--json"): (USAGE, "one of --raw and --json"),
        ("redrive",): (USAGE, "say which"),
        ("redrive", "m-3", "--all"): (USAGE, "not both"),
        ("redrive", "--all", "--dry-run", "--execute"): (USAGE, "one of --dry-run and --execute"),
        ("list", "--stage", "dept"): (USAGE, "did you mean depth?"),
        ("list", "--since", "yesterday"): (USAGE, "--since"),
        ("list", "--since", "PT1H", "--until", "P1D"): (USAGE, "not before"),
        ("list", "--state", "gone"): (USAGE, "open, redriven, discarded and all"),
        ("discard", "m-3", "--undo", "--execute"): (CHECK, "nothing to undo"),
        ("list", "--broker", "127.0.0.1:1"): (DOWN, "no answer"),
    }
    for words, (code, said) in wrong.items():
        assert said in str(up.run(*words, code=code)), words


class LogKeptFromFive:
    """A dead-letter partition whose first five records are past their retention."""

    async def spans(self, topic: str) -> list[PartitionRange]:
        return [PartitionRange(topic, 0, 5, 9, 5)]


def test_a_letter_past_its_retention_is_said_to_be():
    log: Any = LogKeptFromFive()
    with pytest.raises(CommandFailed, match="no longer in the log, which is kept from 5 on") as failed:
        asyncio.run(chosen._check(log, "dead-letters.depth:0:4"))
    assert failed.value.code == FAILURE
    asyncio.run(chosen._check(log, "dead-letters.depth:0:5"))
