"""`fathom dlq` beside a running pipeline: letters listed, shown, redriven, discarded; wrong use is told what to do."""

import asyncio
import json
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import BytesIO, TextIOWrapper
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from streams.edges.cli import main
from streams.edges.cli.dlq import chosen
from streams.edges.client.errors import CHECK, DOWN, FAILURE, USAGE, CommandFailed
from streams.kafka.records import Record
from streams.replay.log import PartitionRange, opened
from streams.runtime.dead_letters import place_of
from tests.builders.outputs import check_output
from tests.e2e.conftest import Up


class UpWithLetters:
    """The shared `fathom up` with three dead letters more, of two tenants that nobody else uses."""

    def __init__(self, up: Up) -> None:
        self.bootstrap, self.mine, self.theirs = up.bootstrap, up.tenant().name, up.tenant().name
        self.third = f"{self.mine}-m-3"
        # Of what is listed, only what came after this.
        self.since = ("--since", datetime.now(UTC).isoformat())
        mine, theirs = self.mine.encode(), self.theirs.encode()
        self.bad: tuple[tuple[bytes, tuple[tuple[str, bytes], ...]], ...] = (
            (b'{"question":', (("tenant", mine), ("x-trace", b"1"))),
            (b'{"question":"oi","conversation_id":"c","client_id":"web","history":[]}', (("tenant", theirs),)),
            (b"\xff\x00", (("tenant", mine), ("ce_id", self.third.encode()))),
        )

    def run(self, *words: str, code: int = 0) -> Any:
        """A command's JSON, or its text, or what it said on stderr where it fails without."""
        out, errors = TextIOWrapper(BytesIO(), write_through=True), TextIOWrapper(BytesIO(), write_through=True)
        with redirect_stdout(out), redirect_stderr(errors), pytest.raises(SystemExit) as ended:
            main.run(["dlq", *words])
        said, wrong = (each.buffer.getvalue().decode() for each in (out, errors))  # type: ignore[attr-defined]
        assert (ended.value.code or 0) == code, wrong
        check_output(["dlq", *words], said)
        return json.loads(said) if said.startswith("{") else said or wrong

    def letters(self, count: int) -> list[dict[str, Any]]:
        """All letters, once there are so many."""
        for _ in range(200):
            found = self.run("list", "--state", "all", *self.since, "--json")
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

    def messages(self) -> list[Record]:
        """The messages of the two tenants, each as often as it was sent."""
        ours = {("tenant", self.mine.encode()), ("tenant", self.theirs.encode())}
        return [record for record in self.read("messages.in") if ours & set(record.headers)]

    def send(self) -> None:
        async def send() -> None:
            async with AIOKafkaProducer(bootstrap_servers=self.bootstrap) as producer:
                for number, (value, headers) in enumerate(self.bad):
                    await producer.send_and_wait("messages.in", value, key=b"%d" % number, headers=list(headers))

        asyncio.run(send())


@pytest.fixture
def beside(up: Up, monkeypatch: pytest.MonkeyPatch) -> UpWithLetters:
    monkeypatch.setenv("FATHOM_BROKER", f"embedded://{up.data}")
    made = UpWithLetters(up)
    made.send()
    return made


@pytest.mark.covers("AC-31", "AC-32")
def test_dead_letters_are_counted_chosen_shown_redriven_and_discarded(beside: UpWithLetters):
    letters = beside.letters(3)
    by = {letter["ids"][0]: letter["position"] for letter in letters}
    counts = beside.run("list", *beside.since, "--json")["counts"]
    assert counts["reason"] == {"not_json": 2, "context_field_not_allowed": 1}
    assert counts["tenant"] == {beside.mine: 2, beside.theirs: 1}
    assert counts["stage"] == {"depth": 3}
    assert [one["reason"] for one in beside.run("list", "--tenant", beside.theirs, "--json")["letters"]] == [
        "context_field_not_allowed"
    ]
    assert beside.run("list", "--tenant", beside.mine, "--since", "P1D", "--until", "PT1H", "--json")["total"] == 0
    assert beside.run("list", "--stage", "planner", *beside.since, "--json")["total"] == 0
    assert f"by tenant  {beside.mine} 2  {beside.theirs} 1" in beside.run("list", *beside.since)
    [shown] = beside.run("show", beside.third, "--json")["letters"]
    assert (shown["position"], shown["key"]) == (by[beside.third], "2")
    assert shown["value"] == {"base64": "/wA="}
    assert "dlq redrive" in beside.run("show", by[beside.third])

    plan = beside.run("redrive", "--tenant", beside.mine, "--json")
    assert (plan["execute"], len(plan["letters"])) == (False, 2)
    assert len(beside.messages()) == 3
    done = beside.run("redrive", "--tenant", beside.mine, "--execute", "--json")
    assert (len(done["letters"]), done["refused"]) == (2, [])
    records = beside.messages()
    assert len(records) == 5
    for letter in done["letters"]:
        [old, new] = [
            next(one for one in records if f"messages.in:{one.partition}:{one.offset}" == place)
            for place in (letter["original"], letter["redriven_to"])
        ]
        assert (new.partition, new.key, new.value, new.timestamp) == (old.partition, old.key, old.value, old.timestamp)
        assert set(old.headers) <= set(new.headers)
        assert {name for name, _ in new.headers} - {name for name, _ in old.headers} <= {"ce_id", "fathom_redrives"}
    assert [one["redrives"] for one in beside.letters(5) if one["state"] == "redriven"] == [1, 1]
    assert "it was redriven at" in beside.run("redrive", by[beside.third], "--execute", code=CHECK)

    for _ in range(2):
        beside.run("redrive", by[beside.third], "--again", "--execute")
    refused = beside.run("redrive", by[beside.third], "--again", "--execute", "--json", code=CHECK)["refused"]
    assert "3 is the limit" in refused[0]["why"]
    beside.run("discard", "--tenant", beside.theirs, "--execute")
    assert beside.run("list", "--tenant", beside.theirs, "--json")["total"] == 0
    assert beside.run("list", "--state", "discarded", *beside.since, "--json")["total"] == 1
    beside.run("discard", "--all", "--undo", "--execute")
    assert beside.run("list", "--tenant", beside.theirs, "--json")["total"] == 1
    assert all(place_of(one.headers) for one in beside.read("dead-letters.depth") if one.value is not None)


def test_every_wrong_use_says_what_to_do(beside: UpWithLetters):
    [first, *_] = beside.letters(3)
    topic, partition, _ = first["position"].rsplit(":", 2)
    wrong: dict[tuple[str, ...], tuple[int, str]] = {
        ("show", "dead-letters.dept:0:1"): (USAGE, "did you mean dead-letters.depth?"),
        ("show", "dead-letters.depth:0"): (USAGE, "write topic:partition:offset"),
        ("show", "dead-letters.depth:99:0"): (FAILURE, "there is no number 99"),
        ("show", f"{topic}:{partition}:999"): (FAILURE, "is not in the log"),
        ("show", "nobody"): (FAILURE, "no dead letter is called nobody"),
        ("show", beside.third, "--raw", "--json"): (USAGE, "one of --raw and --json"),
        ("redrive",): (USAGE, "say which"),
        ("redrive", beside.third, "--all"): (USAGE, "not both"),
        ("redrive", "--all", "--dry-run", "--execute"): (USAGE, "one of --dry-run and --execute"),
        ("list", "--stage", "dept"): (USAGE, "did you mean depth?"),
        ("list", "--since", "yesterday"): (USAGE, "--since"),
        ("list", "--since", "PT1H", "--until", "P1D"): (USAGE, "not before"),
        ("list", "--state", "gone"): (USAGE, "open, redriven, discarded and all"),
        ("discard", beside.third, "--undo", "--execute"): (CHECK, "nothing to undo"),
        ("list", "--broker", "127.0.0.1:1"): (DOWN, "no answer"),
    }
    for words, (code, said) in wrong.items():
        assert said in str(beside.run(*words, code=code)), words


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
