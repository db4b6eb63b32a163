"""Contradictions between free-text statements, or with documents, where claims cannot decide. Pure.

Sentences with a typed value are left to the claims, which know the value's owner. Others are judged by meaning
(`contradiction.against`), and only where they share a word.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from agents.core.claims import documents
from agents.core.claims.documents import DocumentText
from agents.core.claims.extraction import assertions
from agents.core.conversation.utterances import Author, Utterance
from agents.core.language import conflict_wording, contradiction, text
from agents.core.language.contradiction import EmbeddedSentence, Vector
from agents.core.language.sentences import sentences
from schemas.base import derive
from schemas.items import Contradiction, Provenance

KIND = "statement"
# The maximum statements of a message, of a document's passage, and of all compared with.
MAX_SAID, MAX_IN_PASSAGE, MAX_BEFORE = 3, 8, 12
LEAST_CONTENT, MAX_CHARS = 2, 300
# A pair takes up to three milliseconds.
MAX_JUDGED = 8
# Reply words before the statement: `no, the server is back`.
_ANSWERING = re.compile(
    r"^\W*(?:(?:não|nao|no|nope|sim|yes|mas|but|espera|wait|na verdade|actually|errado|wrong|"
    r"(?:isso|isto) (?:está|tá|é) (?:errado|falso)|(?:isso )?não é (?:verdade|isso)|"
    r"(?:você|voce|vc) (?:está|tá) (?:errad[oa]|enganad[oa])|"
    r"you(?:'re| are) (?:wrong|mistaken)|(?:that(?:'s| is) )?(?:wrong|not (?:right|true|correct)))\s*[,.;:!—-]+\s*)+",
    re.I,
)
_SUPPOSED = re.compile(r"^\W*(?:se|caso|quando|talvez|suponha|imagine|if|when|unless|maybe|perhaps|suppose)\b", re.I)


@dataclass(frozen=True, slots=True)
class Statement:
    """A declarative sentence with author, time and place; `title` is a document's."""

    id: str
    text: str
    lang: str
    at: datetime
    source: Provenance
    author: Author = "system"
    title: str | None = None

    @property
    def content(self) -> frozenset[str]:
        """Its content words."""
        return text.content_set(self.text, self.lang)


def new_in(message: Utterance) -> tuple[Statement, ...]:
    """The first statements of a message that contain nothing comparable as claims."""
    said = (each for each in of(message) if not _typed(each))
    return tuple(said)[:MAX_SAID]


def _typed(statement: Statement) -> bool:
    return any(each.functional for each in assertions(statement.text, statement.author, statement.lang))


def of(said: Utterance) -> tuple[Statement, ...]:
    """The statements of an utterance, in order, without questions and hypotheses."""
    place = Provenance(topic=said.source.topic, partition=said.source.partition, offset=said.source.offset)
    key = said.conversation.key()
    return tuple(
        Statement(derive("statement", key, said.message_id, each), each, said.lang, said.at, place, said.author)
        for each in _stated(text.clip(said.text), said.lang)
    )


def of_document(document: DocumentText, lang: str) -> tuple[Statement, ...]:
    """The statements of a passage, in order; each has the passage's id."""
    place = Provenance(store="index", id=document.id)
    written = _stated(document.text[: documents.MAX_PASSAGE_CHARS], lang)[:MAX_IN_PASSAGE]
    named = document.title or document.id
    return tuple(Statement(document.id, each, lang, document.recorded_at, place, title=named) for each in written)


def _stated(said: str, lang: str) -> list[str]:
    found = (_ANSWERING.sub("", each) for each in sentences(said, lang))
    return [
        each
        for each in found
        if len(each) <= MAX_CHARS
        and not each.endswith("?")
        and not _SUPPOSED.match(each)
        and len(text.content_set(each, lang)) >= LEAST_CONTENT
    ]


def comparable(new: Sequence[Statement], before: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements, newest last, that share content words with a new one; of many those that share most.

    Each vector takes two milliseconds.
    """
    if not new:
        return ()
    wanted = frozenset().union(*(each.content for each in new))
    sharing = [each for each in before if not wanted.isdisjoint(each.content)]
    shared = [max(text.overlap(each.content, one.content) for one in new) for each in sharing]
    places = sorted(range(len(sharing)), key=lambda place: (shared[place], place), reverse=True)[:MAX_BEFORE]
    return tuple(sharing[place] for place in sorted(places))


def contradictions(
    new: Sequence[Statement], before: Sequence[Statement], vectors: Mapping[str, Vector]
) -> tuple[Contradiction, ...]:
    """The contradictions of new statements with earlier ones, both sides; the most certain one per passage. Bounded."""
    pairs = [
        (contradiction.cosine(vectors[one.text], vectors[other.text]), one, other) for one in new for other in before
    ]
    nearest = sorted(pairs, key=itemgetter(0), reverse=True)[:MAX_JUDGED]
    found: dict[str, Contradiction] = {}
    for _, one, other in nearest:
        sure = contradiction.against(_sentence(other, vectors), _sentence(one, vectors))
        made = _contradiction(one, other, sure)
        if sure and (made.id not in found or found[made.id].score < made.score):
            found[made.id] = made
    return tuple(found.values())


def _sentence(statement: Statement, vectors: Mapping[str, Vector]) -> EmbeddedSentence:
    return EmbeddedSentence(statement.text, vectors[statement.text])


def _contradiction(new: Statement, other: Statement, sure: float) -> Contradiction:
    against = (
        conflict_wording.said(other.author, other.text, other.at, new.lang)
        if other.title is None
        else conflict_wording.written(other.title, other.text, new.lang)
    )
    kind = KIND if other.title is None else documents.KIND
    return Contradiction(
        id=derive("contradiction", new.id, other.id),
        provenance=new.source if other.title is None else other.source,
        recorded_at=new.at if other.title is None else other.at,
        reason=f"contradicts:{kind}",
        score=round(sure, 2),
        claim_id=new.id,
        contradicts=other.id,
        kind=kind,
        status="pending_reconciliation",
        explanation=conflict_wording.sides(
            conflict_wording.said(new.author, new.text, new.at, new.lang), against, lang=new.lang
        ),
    )
