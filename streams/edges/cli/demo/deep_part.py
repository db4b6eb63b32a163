"""The deep part of the long demo: a complex question, one that nothing answers, and one corrected and asked again."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from secrets import token_hex
from typing import Any

from schemas.topics import CORRECTIONS_IN, DOCUMENTS_IN, MEMORY_CORRECTIONS
from streams.edges.cli.answer_lines import reply_lines
from streams.edges.cli.demo.play import Player
from streams.edges.client import deep_answers, log_lookup, records
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line
from streams.edges.client.deep_answers import OFF, RawReply
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import Identity
from streams.edges.client.send import deliver
from streams.edges.client.standard_output import print_json

LANGUAGES = ("pt", "en")
SECONDS = 60.0
CLIENT = "demo"
# What cognition needs for it on the demo's own system.
SETTINGS: Mapping[str, Any] = {
    "rag_enable_cograg": True,
    "rag_cograg_verification_enabled": True,
    "rag_cograg_evidence_refinement_enabled": True,
    "rag_cograg_memory_enabled": True,
}


@dataclass(frozen=True, slots=True)
class DeepStory:
    """The texts of one language; `conversation` is new where the demo is played again."""

    tenant: str
    user: str
    lang: str
    document: Path
    complex: str
    unknown: str
    correction: str
    conversation: str

    @property
    def whose(self) -> Identity:
        return Identity(self.tenant, self.user)


def stories(*, fresh: bool) -> Iterator[DeepStory]:
    """The shipped texts of both languages."""
    for lang in LANGUAGES:
        folder = Path(str(files("streams.edges.cli.demo"))) / "deep" / lang
        told = tomllib.loads((folder / "questions.toml").read_text(encoding="utf-8"))
        suffix = f"-{token_hex(3)}" if fresh else ""
        document = folder / told.pop("document")
        yield DeepStory(**told, document=document, conversation=f"deep-{lang}{suffix}")


async def play(bootstrap: str, player: Player, *, fresh: bool, as_json: bool) -> None:
    """Play it after the conversations; where cognition is off on a given broker, say so and go on."""
    told = tuple(stories(fresh=fresh))
    await player.teach(
        [
            records.record_of(
                DOCUMENTS_IN,
                records.document_of(each.document, each.document.read_text(encoding="utf-8"), lang=each.lang),
                Identity(each.tenant),
            )
            for each in told
        ]
    )
    try:
        for each in told:
            await _story(bootstrap, player, each, as_json=as_json)
    except CommandFailed as failed:
        if str(failed) != OFF:
            raise
        _note(f"deep answers: {failed}", as_json=as_json)


async def _story(bootstrap: str, player: Player, told: DeepStory, *, as_json: bool) -> None:
    first = await _asked(bootstrap, told, told.complex, 1)
    _show("a complex question", first, as_json=as_json)
    _show("a question that nothing answers", await _asked(bootstrap, told, told.unknown, 2), as_json=as_json)
    job = first.answer.job_id
    fields = {
        "consulta_id": await log_lookup.consultation_of(bootstrap, told.tenant, job),
        "texto": told.correction,
        "usuario_id": told.user,
        "tipo": "juridico",
    }
    await deliver(player.broker.producer, records.of_fields(CORRECTIONS_IN, fields, told.whose))
    await player.handled("fathom.learning", CORRECTIONS_IN.name)
    await player.handled("fathom.graph-writers", MEMORY_CORRECTIONS.name)
    _note(f"{told.user} corrects it: {told.correction}", as_json=as_json)
    _show("the same, asked again", await _asked(bootstrap, told, told.complex, 3), as_json=as_json)


async def _asked(bootstrap: str, told: DeepStory, text: str, number: int) -> RawReply:
    conversation = f"{told.conversation}-{number}"
    asked = records.turn(text, told.whose, client=CLIENT, conversation=conversation, deep=True)
    return await deep_answers.reply_to(asked, bootstrap, SECONDS)


def _show(what: str, reply: RawReply, *, as_json: bool) -> None:
    if as_json:
        print_json({"event": "deep", "shows": what, "answer": reply.answer.model_dump(mode="json")})
        return
    out = console()
    out.print()
    out.rule(f"deep · {what}", align="left")
    for renderable in reply_lines(reply):
        out.print(renderable)


def _note(text: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"event": "note", "text": text})
    else:
        console().print(line(0, text, "bold"))
