"""Material and questions of an evaluation, read from folders of the everyday format and from corpora with queries."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar, cast

from pydantic import Field, ValidationError

from bench.evaluation.measures import Item
from bench.evaluation.words import spelled_all
from schemas.base import Absent, Id, Value, sentence_of
from streams.edges.cli.demo.plain_search import spelled

ITEMS, TALKS, DOCUMENTS = "items.jsonl", "talks.jsonl", "documents"
SHORTEST_UNIT = 3
ANYONE = "someone"
TITLE_CHARS = 200
Kind = Literal[
    "document", "said", "told", "updated", "followup", "unanswerable", "nothing", "paraphrase", "other_language",
    "ended", "repaired", "taken_back", "several", "letter", "fact", "scope",
]  # fmt: skip
UNANSWERABLE: Kind = "unanswerable"
BELIEF: Kind = "fact"
WITHOUT_EVIDENCE: tuple[Kind, ...] = (UNANSWERABLE, "nothing", "taken_back")
CHANGED: tuple[Kind, ...] = ("updated", "ended", "repaired")


@dataclass(frozen=True, slots=True)
class Utterable:
    """A turn to send; `at` None is now."""

    role: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence that a pack must contain: a phrase word for word, or most of a `passage`."""

    text: str
    passage: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """A tenant's documents (title and text) and conversations; `units` are the texts that plain search ranks."""

    tenant: str
    dataset: str
    lang: str
    documents: tuple[tuple[str, str], ...] = ()
    talks: tuple[tuple[str, tuple[Utterable, ...]], ...] = ()
    units: tuple[str, ...] = ()

    def said(self) -> tuple[str, ...]:
        """Every turn of the talks, oldest first."""
        return tuple(turn.text for _, turns in self.talks for turn in turns)


@dataclass(frozen=True, slots=True)
class PackQuestion:
    """A message to ask, after `turns` of its own conversation, with the criteria for its pack.

    `user` asks; `foreign` names the source data set of a question that its tenant cannot answer; `beliefs` are phrases
    that each tell one belief of the tenant.
    """

    id: str
    dataset: str
    tenant: str
    group: str
    lang: str
    text: str
    kind: str = ""
    turns: tuple[Utterable, ...] = ()
    user: str = ANYONE
    evidence: tuple[Evidence, ...] = ()
    answers: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    holds: str | None = None
    was: str | None = None
    foreign: str | None = None
    beliefs: tuple[str, ...] = ()


Asking = tuple[list[Material], list[PackQuestion]]


# --- the everyday format


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

    `holds` is a newer value that replaced `was`; `half` is the half of the set that its corpus belongs to.
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
    half: Absent[Literal["fit", "report"]] = None


V = TypeVar("V", TalkSession, EverydayItem)


def of_everyday(folder: Path) -> Asking:
    """Material and questions of a folder, a data set of its name, each half one of its own.

    Raises `ValueError` for an invalid line or item, `OSError` without a file.
    """
    items = list(_read(folder / ITEMS, EverydayItem))
    sessions = sorted(_read(folder / TALKS, TalkSession), key=lambda each: each.at)
    places = {each.name: sorted(each.glob("*.md")) for each in (folder / DOCUMENTS).glob("*") if each.is_dir()}
    named = {item.corpus: _dataset(folder, item) for item in items}
    materials, sources = [], {}
    for name in sorted({*places, *(session.corpus for session in sessions)}):
        said = [session for session in sessions if session.corpus == name]
        texts = {path.stem: path.read_text(encoding="utf-8") for path in places.get(name, ())}
        materials.append(_tenant(name, named.get(name, folder.name), texts, said))
        sources[name] = texts | {each.session: "\n".join(turn.text for turn in each.turns) for each in said}
    if wrong := list(_wrong(items, materials)):
        raise ValueError("; ".join(wrong))
    talked = {session.corpus for session in sessions}
    asked = [_question(item, sources[item.corpus], talked=item.corpus in talked) for item in items]
    told = {name: _beliefs([item for item in items if item.corpus == name]) for name in named}
    return materials, [replace(each, dataset=named[each.tenant], beliefs=told[each.tenant]) for each in asked]


def _wrong(items: Sequence[EverydayItem], materials: Sequence[Material]) -> Iterator[str]:
    whole = {each.tenant: spelled_all([*(text for _, text in each.documents), *each.said()]) for each in materials}
    halves = {(item.corpus, item.half) for item in items}
    yield from (f"{item.id}: {why}" for item in items for why in _faults(item, whole))
    for name, count in Counter(name for name, _ in halves).items():
        if count > 1:
            yield f"{name} is in more than one half"
    if twice := [each for each, count in Counter(item.id for item in items).items() if count > 1]:
        yield f"{ITEMS}: an id stands twice, give one of the items another: {', '.join(sorted(twice))}"


def _dataset(folder: Path, item: EverydayItem) -> str:
    name = folder.resolve().name
    return f"{name} ({item.half})" if item.half else name


def _beliefs(items: Sequence[EverydayItem]) -> tuple[str, ...]:
    """Every phrase that the items of a corpus of single beliefs name; none of another corpus."""
    if not any(item.kind == BELIEF for item in items):
        return ()
    named = (phrase for item in items for phrase in (*item.evidence, *item.not_, *filter(None, (item.was,))))
    return tuple(dict.fromkeys(named))


def _read(path: Path, kind: type[V]) -> Iterator[V]:
    for number, line in raw_lines(path):
        try:
            yield kind.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise ValueError(f"{path.name}, line {number}: {where}: {sentence_of(first)}") from None


def _tenant(name: str, dataset: str, texts: Mapping[str, str], sessions: Sequence[TalkSession]) -> Material:
    documents = tuple((text.partition("\n")[0].lstrip("# ").strip() or stem, text) for stem, text in texts.items())
    talks = tuple(
        (each.session, tuple(Utterable(turn.role, turn.text, each.at) for turn in each.turns)) for each in sessions
    )
    given = Material(name, dataset, sessions[0].lang if sessions else "", documents, talks)
    return replace(given, units=(*(unit for document in documents for unit in _sections(*document)), *given.said()))


def _sections(title: str, text: str) -> Iterator[str]:
    """The sections of a document, split at its headings, each under the title."""
    for part in f"\n{text}".split("\n## "):
        body = part.removeprefix(f"\n# {title}").strip()
        if len(body.split()) >= SHORTEST_UNIT:
            yield f"{title}\n{body}"


def _faults(item: EverydayItem, tenants: Mapping[str, str]) -> Iterator[str]:
    """The faults that invalidate an item: evidence found nowhere, or already in its own conversation."""
    if item.corpus not in tenants:
        yield f"there is no corpus {item.corpus}"
        return
    stated = spelled_all([item.text, *(turn.text for turn in item.turns)])
    for phrase in (*item.evidence, *item.not_, *filter(None, (item.holds, item.was))):
        if spelled(phrase) not in tenants[item.corpus]:
            yield f"{phrase!r} is not in {item.corpus}"
    yield from (f"{phrase!r} is in its own conversation" for phrase in item.evidence if spelled(phrase) in stated)
    if bool(item.evidence) == (item.kind in WITHOUT_EVIDENCE):
        yield f"an item of kind {item.kind} has {'evidence' if item.evidence else 'no evidence'}"
    if (item.holds is None) != (item.was is None) or (item.holds is None) == (item.kind in CHANGED):
        yield "an updated value, and only that, has both holds and was"
    if item.kind == "taken_back" and not item.not_:
        yield "what was taken back is told in not"
    if item.kind == "followup" and not item.turns:
        yield "a follow-up follows something"


def _question(item: EverydayItem, sources: Mapping[str, str], *, talked: bool) -> PackQuestion:
    wanted = [spelled(phrase) for phrase in item.evidence[:1]]
    named = [name for name, text in sources.items() for phrase in wanted if phrase in spelled(text)]
    return PackQuestion(
        id=item.id,
        dataset="",
        tenant=item.corpus,
        # The document or session with its first evidence, else the item itself.
        group=f"{item.corpus}/{named[0]}" if named else item.id,
        lang=item.lang,
        text=item.text,
        kind=item.kind,
        turns=tuple(Utterable(turn.role, turn.text) for turn in item.turns),
        # Without sessions every question has its own user, so that an earlier question is no evidence.
        user=ANYONE if talked else item.id,
        evidence=tuple(Evidence(phrase) for phrase in item.evidence),
        avoid=item.not_,
        holds=item.holds,
        was=item.was,
    )


# --- corpora with queries, and labelled messages


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line numbers, from 1, and the lines of a file that are not blank, .gz unpacked."""
    with cast("BinaryIO", gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as file:
        yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())


def lines(path: Path) -> Iterator[Item]:
    """The JSON objects of a file, .gz unpacked."""
    return (json.loads(line) for _, line in raw_lines(path))


def of_retrieval(path: Path, datasets: Sequence[str] = ()) -> Asking:
    """Material and questions of corpora with relevant documents; raises `ValueError`, `KeyError`, `OSError`."""
    materials: list[Material] = []
    questions: list[PackQuestion] = []
    for number, corpus in enumerate(lines(path)):
        dataset = corpus.get("dataset") or corpus["source"]
        if datasets and dataset not in datasets:
            continue
        tenant = f"{dataset}-{number}"
        materials.append(_corpus(corpus, tenant, dataset))
        questions += _queries(corpus, tenant, dataset)
    return materials, questions


def title_of(document: Item) -> str:
    """The title of a document of a corpus."""
    return str(document.get("session") or document["id"])[:TITLE_CHARS]


def spoken(documents: Sequence[Item]) -> Iterator[tuple[str, Utterable]]:
    """The session and the turn of every document, where any of them has a speaker; the first to speak is the user."""
    speakers = [document["speaker"] for document in documents if document.get("speaker")]
    for each in documents if speakers else ():
        role = "user" if each.get("speaker") in (speakers[0], "user") else "assistant"
        at = datetime.fromisoformat(each["at"]) if each.get("at") else None
        if at is not None and at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        yield str(each.get("session") or 0), Utterable(role, each["text"], at)


def _corpus(corpus: Item, tenant: str, dataset: str) -> Material:
    """The material of a corpus: documents with speakers become turns of conversations, others documents."""
    talks: dict[str, tuple[Utterable, ...]] = {}
    for session, turn in spoken(corpus["documents"]):
        talks[session] = (*talks.get(session, ()), turn)
    given = () if talks else tuple((title_of(each), each["text"]) for each in corpus["documents"])
    units = tuple(document["text"] for document in corpus["documents"])
    return Material(tenant, dataset, corpus["lang"][:2], given, tuple(talks.items()), units)


def _queries(corpus: Item, tenant: str, dataset: str) -> Iterator[PackQuestion]:
    texts = {document["id"]: document["text"] for document in corpus["documents"]}
    for query in corpus["queries"]:
        answer = query.get("answer")
        answers = answer if isinstance(answer, list) else [] if answer is None else [answer]
        yield PackQuestion(
            id=query["id"],
            dataset=dataset,
            tenant=tenant,
            group=query.get("group") or corpus["group"],
            lang=corpus["lang"][:2],
            text=query["text"],
            kind=query.get("category", ""),
            evidence=tuple(Evidence(texts[each], passage=True) for each in query["relevant"] if each in texts),
            answers=tuple(map(str, answers)),
        )


def of_chat(path: Path, tenant: str, most: int) -> Iterator[PackQuestion]:
    """Greetings of a file of labelled messages, which need no memory."""
    greetings = [(number, each) for number, each in enumerate(lines(path)) if each.get("label") == "greeting"]
    for number, each in greetings[:: max(1, len(greetings) // most)][:most] if most else ():
        yield PackQuestion(str(each.get("id", number)), "chat", tenant, str(number), each["lang"][:2], each["text"])


def foreign(materials: Sequence[Material], questions: Sequence[PackQuestion], most: int) -> Iterator[PackQuestion]:
    """Unanswerable questions: for each tenant up to `most` of every other data set in its language."""
    for material in materials:
        others: dict[str, list[PackQuestion]] = {}
        for question in questions:
            if question.dataset != material.dataset and question.lang == material.lang and question.evidence:
                others.setdefault(question.dataset, []).append(question)
        for name, asked in others.items():
            for each in asked[:: max(1, len(asked) // most)][:most]:
                bare = replace(each, evidence=(), answers=(), turns=(), kind="", user=ANYONE)
                new_id = f"{each.id}@{material.tenant}"
                yield replace(bare, id=new_id, dataset=material.dataset, tenant=material.tenant, foreign=name)
