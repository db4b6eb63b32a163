"""The HTTP interface of a `fathom up` where cognition is off."""

import stat
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from tests.e2e.calls import refused, taken
from tests.e2e.processes import UNHURRIED, fathom, running


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """The URL, the broker and the token of tenant `default`."""
    place = tmp_path_factory.mktemp("up")
    data = place / "data"
    with running("up", "--data", str(data), "--port", "0", stderr=place / "err", **UNHURRIED) as process:
        ready = process.ready()
        assert stat.S_IMODE((data / "token").stat().st_mode) == 0o600
        token = (data / "token").read_text().strip()
        yield f"http://{ready['http']}", ready["bootstrap"], token
        assert process.end()[0] == 0
        said = (place / "err").read_text()
        assert "Traceback" not in said
        assert token not in said


@pytest.fixture(scope="module")
def client(up: tuple[str, str, str]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=up[0], headers={"authorization": f"Bearer {up[2]}"}, timeout=60) as calls:
        yield calls


@pytest.fixture(scope="module")
def broker(up: tuple[str, str, str]) -> str:
    return up[1]


def test_a_deep_answer_is_refused_at_once_where_cognition_is_off(client: httpx.Client, broker: str):
    asked = {"question": "Qual o prazo e quem decide?", "conversation_id": str(uuid4()), "client_id": "web"}
    answer = client.post("/ask?deep=true", json=asked)
    assert "RAG_ENABLE_COGRAG" in refused(answer, 409)
    message_id = answer.headers["fathom-message-id"]
    assert taken(client.get(f"/packs/{message_id}"), 200)["options"] == {"clamped": ["deep"]}
    assert "no answer by cognition" in refused(client.get(f"/answers/{message_id}"), 404)
    ended = fathom("ask", "--deep", "Qual o prazo e quem decide?", "--broker", broker)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "RAG_ENABLE_COGRAG" in ended.stderr
