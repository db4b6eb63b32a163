"""What `fathom send` sends: each option reaches the event it is of."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from schemas import codec
from schemas.topics import BY_NAME
from streams.edges.cli import send
from streams.edges.cli.main import app
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.records import OutgoingRecord


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The event that a command line sends, as the first stage reads it; raises what refuses it."""
    found: list[OutgoingRecord] = []
    monkeypatch.setattr(send, "send_one", lambda prepared, broker, *, as_json, names=None: found.append(prepared))

    def run(*words: str) -> Any:
        ended = CliRunner().invoke(app, ["send", *words, "--broker", "127.0.0.1:1"])
        if ended.exception is not None:
            raise ended.exception
        made = found[-1]
        return codec.decode(BY_NAME[made.topic], made.key, made.value, made.headers, partition=0, offset=0, timestamp=1)

    return run


def test_a_turn_has_all_that_was_said_of_it(sent):
    where = ("--tenant", "acme", "--client", "web", "--conversation", "c1", "--user", "ana")
    read = sent("Pode.", *where, "--role", "assistant", "--answers", "m1", "--message-id", "m2")
    event = read.event
    assert (event.content, event.role, event.answers, event.message_id) == ("Pode.", "assistant", "m1", "m2")
    assert (event.client_id, event.conversation_id, event.look_up) == ("web", "c1", None)
    assert (read.envelope.tenant, read.envelope.user_id) == ("acme", "ana")


def test_a_document_has_the_title_and_the_access_level_that_were_given(sent, tmp_path: Path):
    path = tmp_path / "nota.md"
    path.write_text("# Férias\n\nTrinta dias.")
    plain = sent("--document", str(path)).event
    assert (plain.title, plain.access_level) == ("Férias", "public")
    stated = sent("--document", str(path), "--title", "Descanso", "--access-level", "confidential").event
    assert (stated.title, stated.access_level) == ("Descanso", "confidential")
    ended = CliRunner().invoke(app, ["send", "--document", str(path), "--access-level", "secret"])
    assert ended.exit_code == USAGE
    assert "'secret' is not one of 'public'" in ended.stderr


def test_a_turn_states_what_its_sender_decides(sent):
    options = ("--min-depth", "D1", "--max-depth", "D2", "--look-up", "never", "--max-tokens", "800")
    event = sent("Oi", *options, "--have", "p1", "--have", "p2", "--template", "support").event
    assert event.stated() == {
        **{"min_depth": "D1", "max_depth": "D2", "look_up": "never", "max_tokens": 800, "have": ("p1", "p2")},
        "template": "support",
    }
    with pytest.raises(
        CommandFailed,
        match=r"^this message cannot be sent: min_depth D3 is above max_depth D1; lower",
    ):
        sent("Oi", "--min-depth", "D3", "--max-depth", "D1")
    with pytest.raises(CommandFailed, match="look_up: Input should be 'auto', 'always' or 'never'"):
        sent("Oi", "--look-up", "maybe")
