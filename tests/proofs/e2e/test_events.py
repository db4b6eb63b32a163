"""The progress of messages over HTTP: nothing is lost or doubled over forced disconnects."""

from collections.abc import Iterator

import httpx
import pytest

from agents.core.progress.reduction import snapshot
from streams.edges.http.events.message_progress import STAGES
from tests.e2e.processes import UNHURRIED, running
from tests.e2e.progress import QUESTIONS, in_log, said, shown, with_handbook

ON = {
    f"RAG_{name}": "on"
    for name in (
        "ENABLE_COGRAG",
        "COGRAG_VERIFICATION_ENABLED",
        "COGRAG_EVIDENCE_REFINEMENT_ENABLED",
        "COGRAG_HALLUCINATION_LOOP",
    )
}
DISCONNECTS = 100


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """The URL, the broker and the token of tenant `default`."""
    place = tmp_path_factory.mktemp("up")
    settings = {**UNHURRIED, **ON}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        yield f"http://{ready['http']}", ready["bootstrap"], (place / "data" / "token").read_text().strip()
        # Streams that are open do not hold it up.
        assert process.end()[0] == 0
        assert "Traceback" not in (place / "err").read_text()


@pytest.fixture(scope="module")
def client(up: tuple[str, str, str]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=up[0], headers={"authorization": f"Bearer {up[2]}"}, timeout=60) as calls:
        yield with_handbook(calls)


@pytest.mark.covers("AC-80")
def test_a_hundred_disconnects_lose_nothing_and_double_nothing(up: tuple[str, str, str], client: httpx.Client) -> None:
    disconnects = 0
    for number in range(10):
        message = said(client, QUESTIONS[number % len(QUESTIONS)])
        [first] = shown(client, message, most=1)
        assert first["event"] == "snapshot"
        came, last = [], first["id"]
        while (frame := shown(client, message, last, most=1)[0])["event"] != "end":
            came.append((frame["data"]["stage"], frame["data"]["seq"]))
            last = frame["id"]
            disconnects += 1
        whole = in_log(up[1], message)
        seen = dict(zip(STAGES, map(int, first["id"].split(".")), strict=True))
        # Records of the two stages may be read in another order than they are timed.
        for stage in STAGES:
            behind = [event.seq for _, event in whole if event.stage == stage and event.seq > seen[stage]]
            assert [seq for of, seq in came if of == stage] == behind
        before = [event for _, event in whole if event.seq <= seen[event.stage]]
        assert first["data"] == snapshot(message, before)
        late, end = shown(client, message)
        assert late["data"] == snapshot(message, [event for _, event in whole])
        assert late["data"]["pack"]["status"] == "complete"
        assert late["data"]["cognition"]["status"] in ("complete", "abstain")
        assert end["event"] == "end"
        if disconnects >= DISCONNECTS:
            return
    raise AssertionError(f"{disconnects} disconnects only")
