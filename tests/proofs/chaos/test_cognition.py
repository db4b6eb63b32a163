"""A worker dies twice in mid-job of a deep answer, on each broker: its successor goes on behind the last step."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

import pytest

from schemas.cognition import Node
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS
from tests.builders.deep_answers import LAW, QUESTION
from tests.chaos.servers import Servers
from tests.checkout import ROOT
from tests.e2e.calls import records
from tests.e2e.processes import Process, fathom
from tests.proofs.health.site import until

PATIENCE_S = 120
# Of the records that a process of cognition sends: after the third is acknowledged; with the second made and not sent.
DEATHS = (("produce/cognition/after", 3), ("produce/cognition/before", 2))


@contextmanager
def worker(servers: Servers, point: str = "-", hit: int = 1) -> Iterator["subprocess.Popen[bytes]"]:
    """All stages, until they die at a point."""
    command = (sys.executable, "-m", "tests.chaos.worker", point, str(hit), "0")
    environment = {**os.environ, **servers.environment(), **servers.own}
    with (servers.directory / "worker.err").open("ab") as errors:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
    with process:
        try:
            assert process.stdout is not None
            assert b'"ready"' in process.stdout.readline(), (servers.directory / "worker.err").read_text()
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def steps(servers: Servers) -> list[dict[str, Any]]:
    """What cognition has recorded, by step.

    The message behind the first step is read again by who takes over: the record made of it may be there again, the
    same to the byte. All that follows is there once.
    """
    found = [each["value"] for each in records(servers.bootstrap, COGNITION_STEPS.name)]
    first, *again = [each for each in found if each["step"] == 1]
    assert again == [first] * len(again)
    return [first, *sorted((each for each in found if each["step"] > 1), key=itemgetter("step"))]


@pytest.mark.covers("AC-82")
def test_a_deep_answer_whose_worker_dies_in_mid_job_comes_and_no_step_is_made_twice(own_stores: Servers) -> None:
    servers = own_stores
    documents = servers.directory / "documents"
    documents.mkdir()
    (documents / "clt.md").write_text(LAW)
    asked = ("ask", "--deep", "--json", "--timeout", str(PATIENCE_S), QUESTION, "--broker", servers.bootstrap)
    (first, hit), later = DEATHS[0], DEATHS[1:]
    with worker(servers, first, hit) as dying:
        assert fathom("ingest", str(documents), "--broker", servers.bootstrap).returncode == 0
        waiting = Process(*asked, stderr=servers.directory / "ask.err")
        assert dying.wait(PATIENCE_S) == -signal.SIGKILL
    before = steps(servers)
    for point, number in later:
        with worker(servers, point, number) as dying:
            assert dying.wait(PATIENCE_S) == -signal.SIGKILL
    with worker(servers):
        said, _ = waiting.child.communicate(timeout=PATIENCE_S)
        assert waiting.child.returncode == 0, waiting.said()
        # The answer is sent before the job's last steps.
        assert until(lambda: steps(servers)[-1]["next"] == Node.END.value, PATIENCE_S) is not None
    made = steps(servers)
    assert [each["step"] for each in before] == [1, 2, 3]
    assert made[:3] == before
    assert [each["step"] for each in made] == list(range(1, len(made) + 1))
    assert made[-1]["next"] == Node.END.value
    assert len({each["node"] for each in made}) == len(made)
    assert set(json.loads(said)["answer"]["citations"]) == {"[lei:CLT-art59]", "[lei:CLT-art71]"}
    assert len(records(servers.bootstrap, ANSWERS_OUT.name)) == 1
