"""Every call as a value: what is sent, and how its answer is read. Sync and async clients only send them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote
from uuid import uuid4

from pydantic import BaseModel

from fathom_client.connection import header
from fathom_client.errors import Refused
from fathom_client.models import (
    Assessment,
    Conversation,
    Conversations,
    Document,
    Found,
    Item,
    Memories,
    Memory,
    Pack,
    Receipt,
)

T = TypeVar("T", bound=BaseModel)
Depth = Literal["D0", "D1", "D2", "D3", "D4"]
Lang = Literal["pt", "en"]
LookUp = Literal["auto", "always", "never"]
Access = Literal["public", "internal", "restricted", "confidential"]
Kind = Literal["document", "turn", "summary", "claim", "event", "process"]
CorrectionKind = Literal["factual", "juridico", "formatacao"]
PACK_TRIES = 3
# How long a deep answer may take, where a pack may take less.
DEEP_WAIT_S = 30.0
SUFFIXES = (".htm", ".html", ".markdown", ".md", ".pdf", ".txt")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and the model of its answer; `about` begins the sentence of its error."""

    method: str
    path: str
    answer: type[T]
    body: object = None
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str | bytes] = field(default_factory=dict)
    file: Path | None = None
    message_id: str | None = None

    @property
    def about(self) -> str:
        return "" if self.file is None else f"{self.file}: "

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of httpx; raises `Refused` for a file that cannot be read, and text that is none."""
        said: dict[str, Any] = {"params": dict(self.params), "headers": dict(self.headers)}
        try:
            if self.file is not None:
                return {**said, "files": {"file": (_text(self.file.name), self.file.read_bytes())}}
            if self.body is not None:
                said["headers"]["Content-Type"] = "application/json"
                return {**said, "content": json.dumps(self.body, ensure_ascii=False).encode()}
        except OSError as error:
            raise Refused(f"{self.about}{error.strerror}; check the file and its permissions") from None
        except UnicodeEncodeError:
            raise Refused("there are lone surrogates in it, which are no text; decode the bytes that it was") from None
        return said


@dataclass(frozen=True)
class Options:
    """What a caller may decide about a pack; None leaves it to Fathom. The server's policy bounds them."""

    min_depth: Depth | None
    max_depth: Depth | None
    look_up: LookUp | None
    max_tokens: int | None
    have: Sequence[Pack | str]
    template: str | None

    def fields(self) -> dict[str, object]:
        """Those that are stated."""
        held = [each.pack_id if isinstance(each, Pack) else each for each in self.have]
        return _stated(**{**vars(self), "have": held or None})


def question(
    text: str,
    *,
    client: str,
    conversation: str,
    user: str | None,
    message_id: str,
    wait_s: float,
    options: Options,
    deep: bool = False,
) -> Call[Pack]:
    """A user's turn, and the wait for its pack, with `deep` for its answer, too."""
    fields = {**_turn("user", text, client, conversation, message_id), **options.fields()}
    seconds = max(wait_s, DEEP_WAIT_S) if deep else wait_s
    headers = {**_as(user), "Prefer": f"wait={max(1, round(seconds))}"}
    params = {"deep": "true"} if deep else {"wait": "pack"}
    return Call("POST", "/messages", Pack, fields, params, headers, message_id=message_id)


def turn(text: str, *, client: str, conversation: str, user: str | None, message_id: str) -> Call[Receipt]:
    """A user's turn."""
    fields = _turn("user", text, client, conversation, message_id)
    return Call("POST", "/messages", Receipt, fields, headers=_as(user), message_id=message_id)


def answer(
    text: str, answers: Pack | str | None, *, client: str, conversation: str, user: str | None, message_id: str
) -> Call[Receipt]:
    """The assistant's answer to a message; a pack says also whose conversation it is."""
    about = _stated(answers=answers)
    if isinstance(answers, Pack):
        client, conversation, user = answers.client_id, answers.conversation_id, answers.user_id
        about = {"answers": answers.message_id, "pack_id": answers.pack_id}
    fields = {**_turn("assistant", text, client, conversation, message_id), **about}
    return Call("POST", "/messages", Receipt, fields, headers=_as(user), message_id=message_id)


def documents(paths: Sequence[str | Path], *, lang: Lang | None, access: Access, wait: bool) -> list[Call[Document]]:
    """A call for each file, and for each document in each folder; its id is its path: sent again, it replaces it.

    Raises `Refused` for a path that is not there and a folder without documents.
    """
    stated = _stated(lang=lang, access=access, wait="visible" if wait else None)
    files = [file for path in map(Path, paths) for file in _files(path)]
    named = [(file, {"document_id": _text(file.as_posix()), **stated}) for file in files]
    return [Call("POST", "/documents", Document, params=said, headers=_once(), file=file) for file, said in named]


def _files(path: Path) -> list[Path]:
    """A file, or the documents in a folder and its folders, without hidden ones."""
    if not path.is_dir():
        return [path]
    found = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix.lower() in SUFFIXES and file.is_file() and not _hidden(file.relative_to(path))
    ]
    if not found:
        raise Refused(f"the folder {path} holds no document; put files in it that end in {', '.join(SUFFIXES)}")
    return found


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def document(
    text: str, *, title: str | None, document_id: str | None, lang: Lang | None, access: Access, wait: bool
) -> Call[Document]:
    """A document given as its text."""
    fields = _stated(text=text, title=title, document_id=document_id, lang=lang, access=access)
    return Call("POST", "/documents", Document, fields, {"wait": "visible"} if wait else {}, _once())


def correction(
    claim: Item | str, text: str, *, new_value: str | None, kind: CorrectionKind, user: str | None
) -> Call[Receipt]:
    claim_id = claim if isinstance(claim, str) else claim.claim_id or claim.id
    fields = _stated(claim_id=claim_id, text=text, new_value=new_value, kind=kind)
    return Call("POST", "/corrections", Receipt, fields, headers={**_once(), **_as(user)})


def feedback(pack: Pack, rating: int, *, expected_depth: Depth | None, reason: str, user: str | None) -> Call[Receipt]:
    if not isinstance(pack, Pack):
        raise Refused(
            f"feedback is about a pack, as `ask` returns it, not about {pack!r}; "
            "`pack(message_id)` reads the pack of a message"
        )
    who = pack.user_id if user is None else user
    fields = _stated(
        message_id=pack.message_id,
        conversation_id=pack.conversation_id,
        client_id=pack.client_id,
        rating=rating,
        expected_depth=expected_depth,
        reason=reason,
    )
    return Call("POST", "/feedback", Receipt, fields, headers={**_once(), **_as(who)})


def profile(user: str, fields: Mapping[str, object]) -> Call[Receipt]:
    return Call("PUT", f"/profiles/{_part(user)}", Receipt, dict(fields), headers=_once())


def pack(message_id: str) -> Call[Pack]:
    return Call("GET", f"/packs/{_part(message_id)}", Pack)


def conversation(name: str, *, client: str, limit: int) -> Call[Conversation]:
    params = {"client_id": client, "limit": str(limit)}
    return Call("GET", f"/conversations/{_part(name)}", Conversation, params=params)


def conversations(words: str, **page: int) -> Call[Conversations]:
    """A page of the conversations that were used lately."""
    return Call(
        "GET", "/conversations", Conversations, params={"q": words, **{name: str(n) for name, n in page.items()}}
    )


def forgotten(document: Document | str) -> Call[Receipt]:
    name = document if isinstance(document, str) else document.document_id
    return Call("DELETE", f"/documents/{_part(name)}", Receipt, headers=_once())


def memories(words: str, *, user: str | None, every: bool, limit: int, after: str | None) -> Call[Memories]:
    """A page of a user's facts."""
    params = {"q": words, "status": "all" if every else "current", "limit": str(limit)}
    return Call("GET", "/memories", Memories, params=params | ({"after": after} if after else {}), headers=_as(user))


def noted(text: str, *, client: str, user: str | None) -> Call[Receipt]:
    """A fact, as its user would say it."""
    return Call("POST", "/memories", Receipt, {"text": text, "client_id": client}, headers={**_once(), **_as(user)})


def changed(memory: Memory | str, *, value: str | None, reason: str) -> Call[Receipt]:
    """Another value of a fact; without one it is confirmed."""
    fields = {"confirm": True} if value is None else {"value": value}
    return Call("PATCH", f"/memories/{_named(memory)}", Receipt, {**fields, "reason": reason}, headers=_once())


def taken_back(memory: Memory | str, *, reason: str) -> Call[Receipt]:
    """A fact that is in no pack from then on."""
    return Call("DELETE", f"/memories/{_named(memory)}", Receipt, params={"reason": reason}, headers=_once())


def _named(memory: Memory | str) -> str:
    return _part(memory if isinstance(memory, str) else memory.memory_id)


def search(
    query: str,
    *,
    client: str,
    user: str | None,
    wait_s: float,
    document: Document | str | None,
    since: datetime | str | None,
    until: datetime | str | None,
    **narrowing: object,
) -> Call[Found]:
    """A search of memory, which is no turn of a conversation."""
    fields = _stated(
        query=query,
        client_id=client,
        document_id=document.document_id if isinstance(document, Document) else document,
        since=since.isoformat() if isinstance(since, datetime) else since,
        until=until.isoformat() if isinstance(until, datetime) else until,
        **narrowing,
    )
    return Call("POST", "/search", Found, fields, headers={**_as(user), "Prefer": f"wait={max(1, round(wait_s))}"})


def assessment(query: str, summary: str | None) -> Call[Assessment]:
    return Call("POST", "/assess", Assessment, _stated(query=query, conversation_summary=summary))


class Unseen:
    """Which packs of a conversation are still to be given; one that cannot be read is tried three times."""

    def __init__(self) -> None:
        self._tries: dict[str, int] = {}

    def among(self, talk: Conversation) -> list[str]:
        """The messages, in order, whose packs were decided on and not given yet."""
        return [one.message_id for one in talk.decisions if self._tries.get(one.message_id, 0) < PACK_TRIES]

    def given(self, message_id: str) -> None:
        self._tries[message_id] = PACK_TRIES

    def missing(self, message_id: str) -> None:
        """Its pack was not there: the decision came first, or it was kept longer."""
        self._tries[message_id] = self._tries.get(message_id, 0) + 1


def _turn(role: str, text: str, client: str, conversation: str, message_id: str) -> dict[str, object]:
    """A turn with its own id: sent again after a broken connection, it is the same turn."""
    fields = {"role": role, "content": text, "client_id": client, "conversation_id": conversation}
    return {**fields, "message_id": message_id}


def _once() -> dict[str, str | bytes]:
    """Sent again after a broken connection, a call with this header happens once."""
    return {"Idempotency-Key": str(uuid4())}


def _as(user: str | None) -> dict[str, str | bytes]:
    return {} if user is None else {"Fathom-User": header("user", user)}


def _part(name: str) -> str:
    """An id as a part of a path; dots too, which a path may not consist of."""
    return quote(_text(name), safe="").replace(".", "%2E")


def _stated(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _text(name: str) -> str:
    """A name without the surrogates that stand for bytes that are no text."""
    return name.encode(errors="replace").decode()
