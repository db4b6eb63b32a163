"""Every call as a value: what is sent, and how its answer is read. Sync and async clients only send them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote
from uuid import uuid4

from fathom_client.connection import FathomError
from fathom_client.models import Conversation, Document, Pack, Receipt

T = TypeVar("T")
Depth = Literal["D0", "D1", "D2", "D3", "D4"]
LookUp = Literal["auto", "always", "never"]
Access = Literal["public", "internal", "restricted", "confidential"]
PACK_TRIES = 3
SUFFIXES = {".md", ".markdown", ".txt", ".html", ".htm", ".pdf"}


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and the model of its answer."""

    method: str
    path: str
    answer: type[T]
    json: object = None
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    file: tuple[str, bytes] | None = None

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of httpx."""
        said: dict[str, Any] = {"params": dict(self.params), "headers": dict(self.headers)}
        if self.file is not None:
            return {**said, "files": {"file": self.file}}
        return said if self.json is None else {**said, "json": self.json}


@dataclass(frozen=True)
class Options:
    """What a caller may decide about a pack; None leaves it to Fathom. The server's policy bounds them."""

    min_depth: Depth | None = None
    max_depth: Depth | None = None
    look_up: LookUp | None = None
    max_tokens: int | None = None
    have: Sequence[str] = ()
    template: str | None = None

    def fields(self) -> dict[str, object]:
        """Those that are stated."""
        said = _stated(**vars(self))
        return said if self.have else {name: value for name, value in said.items() if name != "have"}


def question(
    text: str, *, client: str, conversation: str, user: str | None, wait_s: float, options: Options
) -> Call[Pack]:
    """A user's turn, and the wait for its pack."""
    fields = {**_turn("user", text, client, conversation), **options.fields()}
    headers = {**_once(), **_as(user), "Prefer": f"wait={max(1, round(wait_s))}"}
    return Call("POST", "/messages", Pack, fields, {"wait": "pack"}, headers)


def turn(text: str, *, client: str, conversation: str, user: str | None) -> Call[Receipt]:
    """A user's turn."""
    fields = _turn("user", text, client, conversation)
    return Call("POST", "/messages", Receipt, fields, headers={**_once(), **_as(user)})


def answer(text: str, answers: Pack | str | None, *, client: str, conversation: str, user: str | None) -> Call[Receipt]:
    """The assistant's answer to a message, which its pack may name."""
    if isinstance(answers, Pack):
        client, conversation, user = answers.client_id, answers.conversation_id, user or answers.user_id
        about = {"answers": answers.message_id, "pack_id": answers.pack_id}
    else:
        about = _stated(answers=answers)
    fields = {**_turn("assistant", text, client, conversation), **about}
    return Call("POST", "/messages", Receipt, fields, headers={**_once(), **_as(user)})


def documents(paths: Sequence[str | Path], *, lang: str | None, access: Access, wait: bool) -> Iterator[Call[Document]]:
    """A call for each file, and for each document in each folder; its id is its path: sent again, it replaces it.

    Raises `FathomError` for a folder without documents, and `OSError`.
    """
    for path in map(Path, paths):
        for file in _in_folder(path) if path.is_dir() else [path]:
            params = _stated(document_id=file.as_posix(), lang=lang, access=access, wait="visible" if wait else None)
            sent = (file.name, file.read_bytes())
            yield Call("POST", "/documents", Document, params=params, headers=_once(), file=sent)


def _in_folder(folder: Path) -> list[Path]:
    """Its documents, also of folders in it, without hidden ones."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in SUFFIXES and path.is_file() and not _hidden(path.relative_to(folder))
    ]
    if not found:
        raise FathomError(f"the folder {folder} holds no document: files that end in {', '.join(sorted(SUFFIXES))}")
    return found


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def document(
    text: str, *, title: str | None, document_id: str | None, lang: str | None, access: Access, wait: bool
) -> Call[Document]:
    """A document given as its text."""
    fields = _stated(text=text, title=title, document_id=document_id, lang=lang, access=access)
    return Call("POST", "/documents", Document, fields, {"wait": "visible"} if wait else {}, _once())


def correction(claim_id: str, text: str, *, new_value: str | None, kind: str, user: str | None) -> Call[Receipt]:
    fields = _stated(claim_id=claim_id, text=text, new_value=new_value, kind=kind)
    return Call("POST", "/corrections", Receipt, fields, headers={**_once(), **_as(user)})


def feedback(pack: Pack, rating: int, *, expected_depth: Depth | None, reason: str, user: str | None) -> Call[Receipt]:
    fields = _stated(
        message_id=pack.message_id,
        conversation_id=pack.conversation_id,
        client_id=pack.client_id,
        rating=rating,
        expected_depth=expected_depth,
        reason=reason,
    )
    return Call("POST", "/feedback", Receipt, fields, headers={**_once(), **_as(user or pack.user_id)})


def profile(user: str, fields: Mapping[str, object]) -> Call[Receipt]:
    return Call("PUT", f"/profiles/{quote(user, safe='')}", Receipt, dict(fields), headers=_once())


def pack(message_id: str) -> Call[Pack]:
    return Call("GET", f"/packs/{quote(message_id, safe='')}", Pack)


def conversation(name: str, *, client: str, limit: int) -> Call[Conversation]:
    return Call(
        "GET", f"/conversations/{quote(name, safe='')}", Conversation, params={"client_id": client, "limit": str(limit)}
    )


def forgotten(document_id: str) -> Call[Receipt]:
    return Call("DELETE", f"/documents/{quote(document_id, safe='')}", Receipt, headers=_once())


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


def _turn(role: str, text: str, client: str, conversation: str) -> dict[str, object]:
    return {"role": role, "content": text, "client_id": client, "conversation_id": conversation}


def _once() -> dict[str, str]:
    """Sent again after a broken connection, a call with this header happens once."""
    return {"Idempotency-Key": str(uuid4())}


def _as(user: str | None) -> dict[str, str]:
    return {} if user is None else {"Fathom-User": user}


def _stated(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
