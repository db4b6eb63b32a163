"""Cases, rulings and provisions that a document refers to, with the themes of the places where it does."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from agents.core.documents.blocks import Block
from agents.core.documents.entities import DocumentEntities, DocumentReference
from agents.core.documents.themes import Level, Themes
from agents.core.language.sentences import sentences
from schemas.base import derive
from schemas.memory import LegalEntry, ThemeShare

MAX_REFERENCES = 200
MAX_TEXT_CHARS = 400


def entries(
    found: Sequence[Block], about: Themes, lang: str, common: dict[str, object], referred: DocumentEntities
) -> list[LegalEntry]:
    """One entry per reference, in order of first mention; the share of a theme is its share of the mentions."""
    first: dict[str, tuple[DocumentReference, str]] = {}
    under: dict[str, Counter[tuple[str, Level]]] = defaultdict(Counter)
    for block in found:
        for reference in referred(block.text):
            if reference.name not in first and len(first) == MAX_REFERENCES:
                continue
            first.setdefault(reference.name, (reference, _around(block.text, reference.start, lang)))
            under[reference.name].update((theme.name, theme.level) for theme in about.of(block.path))
    return [_entry(reference, text, under[name], common) for name, (reference, text) in first.items()]


def _entry(
    reference: DocumentReference, text: str, under: "Counter[tuple[str, Level]]", common: dict[str, object]
) -> LegalEntry:
    total = sum(under.values())
    return LegalEntry(
        # A law has the same id in every document of the tenant.
        id=derive(reference.kind, reference.name),
        reference_kind=reference.kind,
        reference=reference.name,
        court=reference.court or None,
        law=reference.law or None,
        article=reference.article or None,
        text=text,
        themes=tuple(
            ThemeShare(name=name, level=level, relevance=round(count / total, 3))
            for (name, level), count in under.items()
        ),
        **common,
    )


def _around(text: str, start: int, lang: str) -> str:
    """The sentence at a position of a text."""
    at = 0
    flat = text.replace("\n", " ")
    window = max(0, start - MAX_TEXT_CHARS)
    for sentence in sentences(flat[window : start + MAX_TEXT_CHARS], lang):
        at = flat.find(sentence, max(at, window))
        if at + len(sentence) > start:
            return sentence[:MAX_TEXT_CHARS]
    return flat[start : start + MAX_TEXT_CHARS]
