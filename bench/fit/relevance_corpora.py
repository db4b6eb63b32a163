"""The corpora that relevance is fitted to: documents and talks as passages, with questions and what answers them."""

import gzip
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.core.documents.knowledge import knowledge_of
from agents.core.language.identification import identify_language
from agents.core.language.sentences import sentences
from agents.core.retrieval.relevance import Kind
from agents.ports.passages import Passage
from agents.stages.writers import searchable
from schemas.memory import ChunkEntry, DocumentSubmitted

FITTED = ("faquad", "oab", "own")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
HERE = Path(__file__).parent
QUESTIONS = 300


@dataclass(frozen=True)
class Question:
    """A text with what it leans on, and the ids of what answers it; none where nothing does."""

    text: str
    right: frozenset[str]
    lang: str
    context: str = ""


@dataclass(frozen=True)
class Corpus:
    """What a tenant has, as passages, and its questions."""

    name: str
    kind: Kind
    passages: Sequence[Passage]
    questions: Sequence[Question]


def corpora(path: Path) -> Iterator[dict[str, Any]]:
    """Every object of a file of JSON lines."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        yield from map(json.loads, lines)


def read(kit: Path, look: Sequence[str]) -> list[Corpus]:
    """All corpora, ours and those of the kit that are fitted to or looked at."""
    made = [own(raw) for raw in corpora(HERE / "data/relevance.jsonl")]
    for number, raw in enumerate(corpora(kit)):
        name = f"{raw['dataset']}-{number}"
        if raw["dataset"] in (*FITTED, *look):
            spoken = any(document.get("speaker") for document in raw["documents"])
            made.append(said(raw, name) if spoken else given(raw, name))
        if raw["dataset"] in FITTED and raw["queries"][0].get("answer"):
            made.append(sentences_as_turns(raw, f"{name}-sentences"))
    return made


def own(raw: dict[str, Any]) -> Corpus:
    """A corpus of ours: what answers is what holds the query's evidence."""
    name, kind = f"own-{raw['name']}", raw["kind"]
    if kind == "documents":
        passages = [each for document in raw["documents"] for each in cut(document, document["title"], name)]
    else:
        turns = [(turn["id"], turn["text"], turn["session"]) for turn in raw["turns"]]
        passages = as_turns(turns)
    asked = [
        Question(
            query["text"],
            frozenset(each.id for each in passages if query["evidence"] in flat(each.text)),
            language(query["text"], raw["lang"]),
            query.get("context", ""),
        )
        for query in raw["queries"]
    ]
    lost = [question.text for question in asked if not question.right]
    if lost:
        sys.stderr.write(f"{name}: no passage holds the evidence of {lost}\n")
    nothing = [Question(text, frozenset(), language(text, raw["lang"])) for text in raw["unanswerable"]]
    return Corpus(name, kind, passages, [*(each for each in asked if each.right), *nothing])


def flat(text: str) -> str:
    return " ".join(text.split())


def language(text: str, lang: str) -> str:
    return lang if lang in ("pt", "en") else identify_language(text, "pt")


def cut(document: dict[str, Any], title: str, tenant: str) -> Iterator[Passage]:
    """The passages of a document, as ingestion cuts them."""
    lang = identify_language(document["text"], "pt")
    submitted = DocumentSubmitted(document_id=document["id"], title=title, text=document["text"])
    for record in knowledge_of(submitted, tenant=tenant, lang=lang, recorded_at=NOW):
        for entry in record.entries:
            passage = searchable(entry)
            if passage is not None and isinstance(entry, ChunkEntry):
                yield passage


def given(raw: dict[str, Any], name: str) -> Corpus:
    """A corpus of documents of the kit: of a relevant one every passage answers."""
    of = {each["id"]: [*cut(each, each.get("session") or each["id"], name)] for each in raw["documents"]}
    asked = [
        Question(
            query["text"], frozenset(p.id for each in query["relevant"] for p in of.get(each, ())), raw["lang"][:2]
        )
        for query in raw["queries"]
    ]
    return Corpus(name, "documents", [passage for found in of.values() for passage in found], shuffled(asked))


def said(raw: dict[str, Any], name: str) -> Corpus:
    """A corpus of turns of the kit."""
    turns = [(document["id"], document["text"], document.get("session") or "") for document in raw["documents"]]
    asked = [Question(query["text"], frozenset(query["relevant"]), raw["lang"][:2]) for query in raw["queries"]]
    return Corpus(name, "turns", as_turns(turns), shuffled(asked))


def sentences_as_turns(raw: dict[str, Any], name: str) -> Corpus:
    """The sentences of documents as turns; a question's is the one that holds its answer."""
    turns = [
        (f"{document['id']}/{number}", sentence, document["id"])
        for document in raw["documents"]
        for number, sentence in enumerate(sentences(document["text"], raw["lang"][:2]))
    ]
    asked = []
    for query in raw["queries"]:
        answers = query.get("answer") or []
        answers = [answers] if isinstance(answers, str) else answers
        holding = [key for key, text, of in turns if of in query["relevant"] and any(a in text for a in answers)]
        if holding:
            asked.append(Question(query["text"], frozenset(holding), raw["lang"][:2]))
    return Corpus(name, "turns", as_turns(turns), shuffled(asked))


def as_turns(turns: Sequence[tuple[str, str, str]]) -> list[Passage]:
    """Turns (id, text, session) as the indexer makes passages of them: with the one before and the one after."""
    made = []
    for number, (key, text, session) in enumerate(turns):
        before = turns[number - 1][1][:400] if number and turns[number - 1][2] == session else ""
        after = turns[number + 1][1][:400] if turns[number + 1 : number + 2] and turns[number + 1][2] == session else ""
        lang = identify_language(text, "pt")
        context = f"{before}\n{after}".strip()
        made.append(Passage(key, "message", text, lang, NOW, context=context, lead=before[-200:]))
    return made


def shuffled(questions: Sequence[Question]) -> list[Question]:
    chosen = list(questions)
    random.Random(1).shuffle(chosen)
    return chosen[:QUESTIONS]
