"""`fathom serve` as an OpenAI-compatible server: the official client for Node, and a broker that is away."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.builders.chat_model import KEY, ScriptedModel
from tests.builders.node_openai import modules
from tests.checkout import ROOT
from tests.e2e.calls import reachable, until
from tests.e2e.chat_front import answered, ask, client, in_background, settings, turns
from tests.e2e.processes import UNHURRIED, running
from tests.servers.install import InstallError

TOKENS = {"acme-ana-0123456789": {"tenant": "acme", "user": "ana"}, "beta-eva-0123456789": {"tenant": "beta"}}
ANA, _ = TOKENS
NODE = ROOT / "tests" / "e2e" / "node" / "chat.mjs"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("up")
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **UNHURRIED) as process:
        yield process.ready()["bootstrap"]
        assert process.end()[0] == 0


@pytest.fixture(scope="module")
def model() -> ScriptedModel:
    return ScriptedModel([answered])


@pytest.fixture(scope="module")
def fronted(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The settings of a server before the model."""
    with in_background(model) as upstream:
        yield settings(upstream, TOKENS, tmp_path_factory.mktemp("settings"))


@pytest.fixture(scope="module")
def url(broker: str, fronted: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    errors = tmp_path_factory.mktemp("serve") / "err"
    with running("serve", "--port", "0", "--broker", broker, stderr=errors, **fronted) as process:
        yield reachable(process).removesuffix("/ask") + "/v1"
        assert process.end() == (0, "")
        assert "Traceback" not in errors.read_text()
        assert not [secret for secret in (*TOKENS, KEY) if secret in errors.read_text()]


def test_the_node_client_chats_streams_leaves_and_fails_as_it_does_with_openai(
    broker: str, url: str, model: ScriptedModel
):
    try:
        home = modules()
    except InstallError as error:
        pytest.skip(str(error))
    conversation = f"c-{uuid4()}"
    program = shutil.copy(NODE, home / NODE.name)
    ran = subprocess.run(
        ["node", str(program), url, ANA, conversation], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said["whole"] == "Answer to: When is the deadline of the Atlas contract?"
    assert said["streamed"] == "Answer to: Who decides about the Atlas contract?"
    assert said["models"] == ["m"]
    assert said["headers"]["fathom-conversation"] == conversation
    assert {why: (kind, status) for why, (kind, status, _) in said["failed"].items()} == {
        "401": ("AuthenticationError", 401), "429": ("RateLimitError", 429), "500": ("InternalServerError", 500),
        "cut": ("APIError", None),
    }  # fmt: skip
    assert "gave no whole answer" in said["failed"]["cut"][2]
    until(lambda: model.left)
    found = until(lambda: len(found := turns(broker, conversation)) == 11 and found)
    spoken = [(turn["content"], turn.get("status")) for turn in found if turn["role"] == "assistant"]
    assert sorted(spoken, key=str) == sorted(
        [(said["whole"], None), (said["streamed"], None), ("early", "incomplete"), ("so", "incomplete")], key=str
    )


def test_without_a_broker_the_model_answers_all_the_same(fronted: dict[str, str], tmp_path: Path):
    with running("serve", "--port", "0", "--broker", "127.0.0.1:1", stderr=tmp_path / "err", **fronted) as process:
        url = process.ready()["url"].removesuffix("/ask") + "/v1"
        done = ask(client(url, ANA), "Hello there")
        assert done.parse().choices[0].message.content == "Answer to: Hello there"
        assert done.headers["fathom-status"] == "passed-through; reason=broker"
        assert "fathom-message-id" not in done.headers
        assert process.end()[0] == 0
    assert "Traceback" not in (tmp_path / "err").read_text()
