"""`fathom lag`: which groups keep up with the log, and which nobody reads."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from streams.broker.process import BrokerProcess
from tests.e2e.processes import IN_MEMORY, fathom, running

PATIENCE_S = 60.0


def lag(broker: str, *arguments: str) -> dict[str, dict[str, Any]]:
    """What the command says of each group."""
    done = fathom("lag", *arguments, "--broker", broker, "--seconds", "1", "--json")
    assert done.returncode in (0, 5), done.stderr
    found = {each["group"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert (done.returncode == 5) == any(each["status"] == "ERROR" for each in found.values())
    return found


@pytest.mark.timeout(240)
@pytest.mark.covers("B18")
def test_a_group_that_nobody_reads_is_told_and_the_others_keep_up(tmp_path: Path) -> None:
    broker = BrokerProcess()
    bootstrap = broker.start(tmp_path / "broker", partitions=2)
    try:
        with running("worker", "depth", stderr=tmp_path / "err", FATHOM_BROKER=bootstrap, **IN_MEMORY) as worker:
            worker.ready()
            assert {each["status"] for each in lag(bootstrap).values()} == {"OK"}
            said = fathom("send", "Qual é o prazo do projeto?", "--broker", bootstrap, "--conversation", "c1")
            assert said.returncode == 0, said.stderr
            deadline = time.monotonic() + PATIENCE_S
            while (found := lag(bootstrap))["learning"]["lag"] == 0 or found["depth"]["lag"]:
                assert time.monotonic() < deadline, found
            assert (found["depth"]["status"], found["depth"]["members"]) == ("OK", 1)
            learning = found["learning"]
            assert (learning["status"], learning["lag"], learning["members"]) == ("ERROR", 1, 0)
            assert "STOP: conversation.turns[" in learning["why"]
            assert "1 to read, and no member reads them" in learning["why"]
            plain = fathom("lag", "learning", "depth", "--broker", bootstrap, "--seconds", "0", "--partitions")
            assert [line.split()[:2] for line in plain.stdout.splitlines() if not line.startswith(" ")] == [
                ["ERROR", "learning"],
                ["OK", "depth"],
            ]
            wrong = fathom("lag", "learnin", "--broker", bootstrap)
            assert (wrong.returncode, "did you mean" in wrong.stderr) == (2, True)
    finally:
        broker.stop()
