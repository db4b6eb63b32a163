"""What every verb prints with `--json` on a running Fathom has the schema that is published for it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streams.edges.cli.outputs import OUTPUTS
from tests.builders.outputs import JSON, values, verb_of
from tests.e2e.calls import produce, until
from tests.e2e.conftest import Tenant, Up
from tests.e2e.processes import fathom

# These print what a start, a minute, a registry or a whole log takes: `fathom` of the tests checks them wherever a
# test types them.
ELSEWHERE = {
    *("up", "worker", "serve", "mcp", "demo", "eval answers", "eval packs", "eval predict", "eval report"),
    *("schema publish", "erase", "layout"),
}

BROKERLESS = ("assess", "config", "docs", "schema")


class TypedVerbs:
    """Commands on a running Fathom, each of which `fathom` holds against its schema, and the verbs that printed."""

    def __init__(self, broker: str) -> None:
        self._broker = ("--broker", broker)
        self.printed: set[str] = set()

    def __call__(self, *arguments: str, codes: Sequence[int] = (0,)) -> Any:
        """The last value that a command prints."""
        return self.lines(*arguments, codes=codes)[-1]

    def lines(self, *arguments: str, codes: Sequence[int] = (0,)) -> list[Any]:
        """All that a command prints."""
        asked = [*arguments, JSON]
        ended = fathom(*asked, *(() if asked[0] in BROKERLESS or asked[:2] == ["tool", "list"] else self._broker))
        assert ended.returncode in codes, (arguments, ended.stderr)
        shown = values(ended.stdout)
        assert shown, (arguments, "printed nothing")
        self.printed.add(verb_of(asked))
        return shown


def test_every_verb_prints_what_its_schema_says(up: Up, tenant: Tenant, tmp_path: Path):
    typed, own = TypedVerbs(f"embedded://{up.data}"), ("--tenant", tenant.name)
    talks(typed, own, tmp_path)
    memories(typed)
    operations(typed, own, tmp_path)
    letters(typed, up.bootstrap)
    without_a_broker(typed, tmp_path)
    assert set(OUTPUTS) - typed.printed == ELSEWHERE


def talks(typed: TypedVerbs, own: Sequence[str], folder: Path) -> None:
    about = ("--conversation", "talk", *own)
    typed("profile", "set", "ana", "--role", "agent", *own)
    typed("profile", "show", "ana", *own)
    document, chats = folder / "refunds.md", folder / "chats.jsonl"
    document.write_text("# Refunds\n\nA refund takes five working days.\n")
    chats.write_text(json.dumps({"conversation_id": "past", "role": "user", "content": "I live in Porto."}))
    assert typed("ingest", str(document), *own)["documents"] == 1
    assert typed("import", str(chats), *own)["turns"] == 1
    typed("send", "My locker code is 7781.", "--user", "ana", *about)
    pack = typed("ask", "How long does a refund take?", "--user", "ana", *about)
    typed("search", "refund", *own)
    typed("explain", pack["message_id"], "--conversation", "talk", *own)
    typed("feedback", pack["message_id"], "--rating", "5", *about)
    claims = until(lambda: [each for each in typed.lines("audit", "show", *own) if each["kind"] == "claim"])
    typed("correct", "It is 9002.", "--user", "ana", "--claim", claims[0]["id"], "--value", "9002", *own)
    typed("tail", "context-packs.out", "--from-beginning", "--limit", "1")
    call = typed("tool", "call", "refund_order", "order_id=1", "--user", "ana", *about, codes=(5,))
    typed("tool", "confirm", call["call_id"], "--no", "--user", "ana", *about, codes=(5,))
    typed("tool", "result", "refund_order", *about)
    typed("forget", "--conversation", "past", *own)


def memories(typed: TypedVerbs) -> None:
    user = ("--user", "lia")
    typed("memory", "add", "My bicycle lock code is 4410.", *user)
    [known] = until(lambda: typed("memory", "list", *user)["memories"])
    typed("memory", "search", "bicycle", *user)
    typed("memory", "show", known["memory_id"])
    typed("memory", "confirm", known["memory_id"])
    typed("memory", "correct", known["memory_id"], "5521")
    newer = until(lambda: [each for each in typed("memory", "list", *user)["memories"] if each["value"] == "5521"])
    typed("memory", "delete", newer[0]["memory_id"])


def operations(typed: TypedVerbs, own: Sequence[str], folder: Path) -> None:
    for what in ("conversations", "users", "documents"):
        typed("list", what)
    typed("list", "uses", "nothing")
    typed("audit", "export", str(folder / "audit.csv"), *own)
    typed("audit", "seal")
    typed("audit", "head")
    typed("audit", "verify", codes=(0, 5))
    source = ("--source", "conversation:talk", *own)
    typed("quarantine", *source)
    typed("quarantine", "list", *own)
    typed("quarantine", "report", *source)
    typed("quarantine", *source, "--lift")
    typed("lag", codes=(0, 5))
    typed("doctor", codes=(0, 4, 5))
    typed("bench", "--questions", "4")
    typed("topics", "plan", codes=(0, 5))
    typed("topics", "apply", codes=(0, 5))
    replayed = typed("replay", "--mode", "exact", "--execute", codes=(0, 5))["replay_id"]
    typed("replay", "--mode", "rebuild")
    again = typed("replay", "--mode", "reprocess", "--execute", *own)["replay_id"]
    typed("replay", "list")
    typed("replay", "diff", again)
    typed("replay", "clean", replayed, "--execute")
    typed("replay", "clean", again, "--execute")


def letters(typed: TypedVerbs, bootstrap: str) -> None:
    produce(bootstrap, "messages.in", b"outputs", b"{no json")
    found = until(lambda: typed("dlq", "list", "--state", "all")["letters"])
    typed("dlq", "show", found[-1]["position"])
    typed("dlq", "redrive", "--reason", "never")
    typed("dlq", "discard", "--reason", "never")


def without_a_broker(typed: TypedVerbs, folder: Path) -> None:
    typed("assess", "Thanks!")
    typed("config", "show")
    typed("config", "check", codes=(0, 3))
    typed("docs", "commands")
    typed("tool", "list")
    typed("schema", "list")
    typed("schema", "show", "context.pack-assembled.v1")
    typed("schema", "output", "lag")
    typed("schema", "gen", "--out", str(folder / "schemas"))
    typed("schema", "diff", "0.1.0", codes=(0, 5))
    bad = folder / "bad.jsonl"
    bad.write_text("{no json\n")
    typed("schema", "check", "--topic", "messages.in", str(bad), codes=(5,))
