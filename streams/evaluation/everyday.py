"""The everyday format: documents and conversations of tenants, questions, and the expected content of packs."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, ValidationError

from schemas.base import Absent, Id, Value
from streams.evaluation.words import spelled, spelled_all

Kind = Literal["document", "said", "told", "updated", "followup", "unanswerable", "nothing"]
ANSWERABLE: tuple[Kind, ...] = ("document", "said", "told", "updated", "followup")
ITEMS, TALKS, DOCUMENTS = "items.jsonl", "talks.jsonl", "documents"

V = TypeVar("V", bound=Value)


class TalkTurn(Value):
    role: Literal["user", "assistant"]
    text: str = Field(min_length=1)


class TalkSession(Value):
    """One conversation of a tenant's user, before any question."""

    corpus: Id
    lang: Literal["en", "pt"]
    session: Id
    at: datetime
    turns: tuple[TalkTurn, ...] = Field(min_length=1)


class EverydayItem(Value):
    """A message and the expectations for its pack: phrases it must contain (`evidence`), and phrases it must not.

    `holds` is a newer value that replaced `was`.
    """

    id: Id
    kind: Kind
    lang: Literal["en", "pt"]
    corpus: Id
    turns: tuple[TalkTurn, ...] = ()
    text: str = Field(min_length=1)
    evidence: tuple[str, ...]
    not_: tuple[str, ...] = Field(default=(), alias="not")
    holds: Absent[str] = None
    was: Absent[str] = None


class GivenDocument(Value):
    id: Id
    title: str
    text: str


class EverydayTenant(Value):
    """The documents and conversations of one tenant."""

    name: Id
    documents: tuple[GivenDocument, ...] = ()
    sessions: tuple[TalkSession, ...] = ()

    def texts(self) -> Iterator[str]:
        """Every document, and every turn."""
        yield from (document.text for document in self.documents)
        yield from (turn.text for session in self.sessions for turn in session.turns)

    @cached_property
    def spelled(self) -> str:
        return spelled_all(self.texts())


class EverydaySet(Value):
    tenants: Mapping[str, EverydayTenant]
    items: tuple[EverydayItem, ...]


def load(folder: Path) -> EverydaySet:
    """Load the set of a folder; raises `ValueError` for an invalid line or item, `OSError` for a missing file."""
    items = tuple(_lines(folder / ITEMS, EverydayItem))
    sessions = tuple(_lines(folder / TALKS, TalkSession))
    given = {each.name: _documents(each) for each in sorted((folder / DOCUMENTS).iterdir()) if each.is_dir()}
    names = sorted({*given, *(session.corpus for session in sessions)})
    tenants = {
        name: EverydayTenant(name=name, documents=given.get(name, ()), sessions=_of(name, sessions)) for name in names
    }
    made = EverydaySet(tenants=tenants, items=items)
    if wrong := [f"{item.id}: {why}" for item in items for why in faults(item, made)]:
        raise ValueError("; ".join(wrong))
    ids = [item.id for item in items]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise ValueError(f"{ITEMS}: an id stands twice, give one of the items another: {', '.join(twice)}")
    return made


def faults(item: EverydayItem, everyday: EverydaySet) -> Iterator[str]:
    """The faults that invalidate an item: evidence found nowhere, or already in its own conversation."""
    tenant = everyday.tenants.get(item.corpus)
    if tenant is None:
        yield f"there is no corpus {item.corpus}"
        return
    stated = spelled_all([item.text, *(turn.text for turn in item.turns)])
    for phrase in (*item.evidence, *item.not_, *filter(None, (item.holds, item.was))):
        if spelled(phrase) not in tenant.spelled:
            yield f"{phrase!r} is not in {item.corpus}"
    yield from (f"{phrase!r} is in its own conversation" for phrase in item.evidence if spelled(phrase) in stated)
    if bool(item.evidence) != (item.kind in ANSWERABLE):
        yield f"an item of kind {item.kind} has {'evidence' if item.evidence else 'no evidence'}"
    if (item.holds is None) != (item.was is None) or (item.holds is None) == (item.kind == "updated"):
        yield "an updated value, and only that, has both holds and was"
    if item.kind == "followup" and not item.turns:
        yield "a follow-up follows something"


def _lines(path: Path, kind: type[V]) -> Iterator[V]:
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield kind.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise ValueError(f"{path.name}, line {number}: {where}: {first['msg']}") from None


def _documents(folder: Path) -> tuple[GivenDocument, ...]:
    return tuple(_document(path) for path in sorted(folder.glob("*.md")))


def _document(path: Path) -> GivenDocument:
    text = path.read_text(encoding="utf-8")
    return GivenDocument(id=path.stem, title=text.partition("\n")[0].lstrip("# ").strip() or path.stem, text=text)


def _of(name: str, sessions: tuple[TalkSession, ...]) -> tuple[TalkSession, ...]:
    return tuple(sorted((each for each in sessions if each.corpus == name), key=lambda each: each.at))
