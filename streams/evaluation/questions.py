"""Material and questions of an evaluation, independent of the file format."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from streams.evaluation import everyday
from streams.evaluation.everyday import EverydayItem, EverydaySet, EverydayTenant, TalkSession
from streams.evaluation.measures import Item
from streams.evaluation.words import spelled, tokens

EVERYDAY = "everyday"
SHORTEST_UNIT = 3


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

    `user` asks; `foreign` names the source data set of a question that its tenant cannot answer.
    """

    id: str
    dataset: str
    tenant: str
    group: str
    lang: str
    text: str
    kind: str = ""
    turns: tuple[Utterable, ...] = ()
    user: str = "someone"
    evidence: tuple[Evidence, ...] = ()
    answers: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    holds: str | None = None
    was: str | None = None
    foreign: str | None = None


Asking = tuple[list[Material], list[PackQuestion]]


def of_everyday(folder: Path) -> Asking:
    """Material and questions of the everyday set; raises `ValueError` and `OSError`."""
    given = everyday.load(folder)
    materials = [_material(tenant) for tenant in given.tenants.values()]
    return materials, [_question(item, given) for item in given.items]


def _material(tenant: EverydayTenant) -> Material:
    sections = [unit for document in tenant.documents for unit in _sections(document.title, document.text)]
    talks = tuple((session.session, tuple(_turns(session))) for session in tenant.sessions)
    said = [turn.text for _, turns in talks for turn in turns]
    given = tuple((document.title, document.text) for document in tenant.documents)
    lang = tenant.sessions[0].lang if tenant.sessions else ""
    return Material(tenant.name, EVERYDAY, lang, given, talks, (*sections, *said))


def _turns(session: TalkSession) -> Iterator[Utterable]:
    return (Utterable(turn.role, turn.text, session.at) for turn in session.turns)


def _sections(title: str, text: str) -> Iterator[str]:
    """The sections of a document, split at its headings, each under the title."""
    for part in f"\n{text}".split("\n## "):
        body = part.removeprefix(f"\n# {title}").strip()
        if len(body.split()) >= SHORTEST_UNIT:
            yield f"{title}\n{body}"


def _question(item: EverydayItem, given: EverydaySet) -> PackQuestion:
    tenant = given.tenants[item.corpus]
    return PackQuestion(
        id=item.id,
        dataset=EVERYDAY,
        tenant=item.corpus,
        group=_group_of(item, tenant),
        lang=item.lang,
        text=item.text,
        kind=item.kind,
        turns=tuple(Utterable(turn.role, turn.text) for turn in item.turns),
        # Without sessions every question has its own user, so that an earlier question is no evidence.
        user="someone" if tenant.sessions else item.id,
        evidence=tuple(Evidence(phrase) for phrase in item.evidence),
        avoid=item.not_,
        holds=item.holds,
        was=item.was,
    )


def _group_of(item: EverydayItem, tenant: EverydayTenant) -> str:
    """The group of an item: the document or session with its first evidence, else the item itself."""
    wanted = [spelled(phrase) for phrase in item.evidence[:1]]
    texts = {document.id: document.text for document in tenant.documents}
    texts |= {each.session: "\n".join(turn.text for turn in each.turns) for each in tenant.sessions}
    named = [name for name, text in texts.items() for phrase in wanted if phrase in spelled(text)]
    return f"{item.corpus}/{named[0]}" if named else item.id


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


def lines(path: Path) -> Iterator[Item]:
    """The JSON objects of a file, .gz unpacked."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _corpus(corpus: Item, tenant: str, dataset: str) -> Material:
    """The material of a corpus: documents with speakers become turns of conversations, others documents."""
    documents = corpus["documents"]
    units = tuple(document["text"] for document in documents)
    speakers = [document["speaker"] for document in documents if document.get("speaker")]
    if not speakers:
        given = tuple(((each.get("session") or each["id"])[:200], each["text"]) for each in documents)
        return Material(tenant, dataset, corpus["lang"][:2], given, (), units)
    talks: dict[str, list[Utterable]] = {}
    for each in documents:
        role = "user" if each.get("speaker") in (speakers[0], "user") else "assistant"
        talks.setdefault(str(each.get("session") or 0), []).append(Utterable(role, each["text"], said_at(each)))
    held = tuple((name, tuple(turns)) for name, turns in talks.items())
    return Material(tenant, dataset, corpus["lang"][:2], (), held, units)


def said_at(document: Item) -> datetime | None:
    stated = document.get("at")
    if not stated:
        return None
    at = datetime.fromisoformat(stated)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


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
                bare = replace(each, evidence=(), answers=(), turns=(), kind="", user="someone")
                new_id = f"{each.id}@{material.tenant}"
                yield replace(bare, id=new_id, dataset=material.dataset, tenant=material.tenant, foreign=name)


def cost(texts: Iterable[str]) -> int:
    """The total tokens of several texts."""
    return sum(map(tokens, texts))
