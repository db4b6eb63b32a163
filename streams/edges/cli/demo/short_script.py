"""The short demo's conversation in one language, as records to send, and the texts of its screen."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from secrets import token_hex
from typing import Any

import yaml

from schemas import codec
from schemas.tools import ToolCallRequested
from schemas.topics import DOCUMENTS_IN, MESSAGES_IN, TOOLS_CALLS_IN
from streams.edges.cli.demo.script import Script, ScriptStep
from streams.edges.client import records
from streams.edges.client.records import Identity, OutgoingRecord

CLIENT = "desk"


@dataclass(frozen=True, slots=True)
class ShortScript(Script):
    """A script whose messages name their `evidence`; `documents` are title and text, `title` says what it is about.

    `place` is the folder with the documents.
    """

    lang: str
    title: str
    documents: tuple[tuple[str, str], ...]
    place: Path


def screen_texts(lang: str) -> dict[str, Any]:
    """What the screen says, by key."""
    return tomllib.loads((_folder(lang) / "screen.toml").read_text(encoding="utf-8"))


def load_short(lang: str, *, fresh: bool) -> ShortScript:
    """The shipped conversation of a language; `fresh` gives it a new id, to play it again."""
    folder = _folder(lang)
    told = yaml.safe_load((folder / "conversation.yaml").read_text(encoding="utf-8"))
    whose = Identity(told["tenant"], told["user"])
    told["conversation"] += f"-{token_hex(3)}" if fresh else ""
    documents = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("documents/*.md"))}
    knowledge = tuple(
        records.record_of(DOCUMENTS_IN, records.document_of(path, text, lang=lang), Identity(told["tenant"]))
        for path, text in documents.items()
    )
    return ShortScript(
        knowledge,
        tuple(step for number, turn in enumerate(told["turns"], 1) for step in _steps(told, turn, number, whose)),
        {told["tenant"]: tuple(documents.values())},
        lang,
        told["title"],
        tuple((text.partition("\n")[0].lstrip("# "), text) for text in documents.values()),
        folder / "documents",
    )


def _folder(lang: str) -> Path:
    return Path(str(files("streams.edges.cli.demo"))) / "short" / lang


def _steps(told: dict[str, Any], turn: dict[str, Any], number: int, whose: Identity) -> Iterator[ScriptStep]:
    """A message, its tool call where it has one, and the assistant's answer where it has one."""
    conversation, name = told["conversation"], f"{told['conversation']}-{number:02}"
    place = {"client": CLIENT, "conversation": conversation}
    shows, tool = turn.get("shows"), turn.get("tool")

    def step(record: OutgoingRecord, event: Any, **marks: Any) -> ScriptStep:
        return ScriptStep(told["tenant"], told["user"], conversation, event, record, **marks)

    def spoken(record: OutgoingRecord, **marks: Any) -> ScriptStep:
        return step(record, MESSAGES_IN.adapter.validate_json(record.value), **marks)

    evidence = tuple(turn.get("evidence", ()))
    asked = records.turn(turn["user"], whose, message_id=name, **place)
    yield spoken(asked, evidence=evidence, shows=None if tool else shows)
    if tool:
        call = ToolCallRequested(
            call_id=f"{name}-call",
            client_id=CLIENT,
            session_id=conversation,
            message_id=name,
            tool_name=tool,
            args=turn.get("args", {}),
        )
        yield step(records.record_of(TOOLS_CALLS_IN, codec.dump(call), whose), call, shows=shows)
    if "assistant" in turn:
        yield spoken(records.turn(turn["assistant"], whose, role="assistant", answers=name, **place))
