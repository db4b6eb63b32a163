"""The themes of a document, macro and sub: from its headings, its capitals, and terms frequent in few places.

A document of one chapter is about that chapter; its sections are the sub-themes. Without sections it is about its
title, and its sub-themes are its key terms, by TF-IDF over its blocks. No model is used.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agents.core.documents.blocks import Block
from agents.core.language.sentences import flatten, sentences, word_set
from agents.core.language.text import content_words, fold

Level = Literal["macro", "sub"]

MAX_MACRO, MAX_SUB, KEY_TERMS = 12, 48, 5
MAX_NAME_CHARS, MAX_DESCRIPTION_CHARS = 80, 240
LOOKED_AT_CHARS = 60_000
CAPITALS_WEIGH, PHRASES_WEIGH = 1.5, 1.6


@dataclass(frozen=True, slots=True)
class DocumentTheme:
    """A theme; `relevance` is its share of the document, 0-1; `parent` is the macro theme of a sub-theme."""

    name: str
    level: Level
    description: str
    relevance: float
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Themes:
    """The themes of a document; `of` finds those of a block by its headings."""

    all: tuple[DocumentTheme, ...]

    def of(self, path: Sequence[str]) -> tuple[DocumentTheme, ...]:
        """The narrowest theme of a heading path: its sub-theme, else its macro theme, else the document's first."""
        names = {fold(theme_name(name)) for name in path[:2]}
        own = [theme for theme in self.all if fold(theme.name) in names]
        subs = [theme for theme in own if theme.level == "sub"]
        return tuple(subs or own or self.all[:1])[:1]


_NUMBERING = re.compile(
    r"^(?:(?:cap[íi]tulo|se[çc][ãa]o|t[íi]tulo|parte|anexo|chapter|section|part|annex)\s+(?:[IVXLC]+|\d+|[A-Z])\b"
    r"\s*[-–—:.]?\s*|\d+(?:\.\d+)*[.)]?\s+|[IVXLC]+\s*[-–—.)]\s+)",
    re.IGNORECASE,
)
_NO_THEME = word_set(
    "introducao introduction conclusao conclusion sumario summary indice index anexo anexos annex appendix apendice "
    "referencias references bibliografia bibliography contents conteudo prefacio preface agradecimentos glossario "
    "glossary"
)
_PHRASE = re.compile(r"[^\W\d_][\w-]+(?:\s+(?:d[aeo]s?\s+|of\s+)?[^\W\d_][\w-]+)?")


def theme_name(heading: str) -> str:
    """A heading as the name of a theme: without numbering, full capitals or marks; empty where no name is left."""
    name = _NUMBERING.sub("", heading.strip(), count=1).strip(' .:;–—-*_#"“”')
    if name.isupper() and len(name) > 6:
        name = name.capitalize()
    name = " ".join(name.split())[:MAX_NAME_CHARS].strip()
    return "" if flatten(name) in _NO_THEME or not any(map(str.isalpha, name)) else name


def themes(found: Sequence[Block], title: str, lang: str) -> Themes:
    """The macro themes in the order of the document, each followed by its sub-themes."""
    tops = dict.fromkeys(block.path[0] for block in found if block.path)
    if len(tops) == 1:
        # Everything is under the document's own title: the headings below it are the themes of its parts.
        return Themes(_of_one(found, next(iter(tops)), 1, lang))
    macros = _weighed(found, 0, MAX_MACRO)
    if not any(len(block.path) > 1 for block in found):
        return Themes(_of_one(found, title, 0, lang))
    all_words = _words(found) or 1
    out: list[DocumentTheme] = []
    for name, blocks in macros.items():
        out.append(DocumentTheme(name, "macro", _description(blocks, name, lang), _share(blocks, all_words)))
        out += _parts(blocks, 1, name, MAX_SUB // len(macros), all_words, lang)
    return Themes(tuple(out))


def _of_one(found: Sequence[Block], heading: str, depth: int, lang: str) -> tuple[DocumentTheme, ...]:
    name = theme_name(heading) or " ".join(heading.split())[:MAX_NAME_CHARS]
    macro = DocumentTheme(name, "macro", _description(found, name, lang), 1.0)
    below = _parts(found, depth, name, MAX_SUB, _words(found) or 1, lang)
    if not below:
        below = [
            DocumentTheme(term, "sub", _first_with(found, term, lang), weight, name)
            for term, weight in key_terms([block.text for block in found], lang)
            if fold(term) != fold(name)
        ]
    return (macro, *below)


def _parts(
    found: Sequence[Block], depth: int, parent: str, limit: int, all_words: int, lang: str
) -> list[DocumentTheme]:
    return [
        DocumentTheme(name, "sub", _description(blocks, name, lang), _share(blocks, all_words), parent)
        for name, blocks in _weighed(found, depth, limit).items()
    ]


def _weighed(found: Sequence[Block], depth: int, limit: int) -> dict[str, list[Block]]:
    """The blocks under each heading of a depth, in order; of too many headings those with the most words."""
    under: dict[str, list[Block]] = defaultdict(list)
    spelled: dict[str, str] = {}
    for block in found:
        if len(block.path) > depth and (name := theme_name(block.path[depth])):
            under[spelled.setdefault(fold(name), name)].append(block)
    kept = set(sorted(under, key=lambda name: -_words(under[name]))[:limit])
    return {name: blocks for name, blocks in under.items() if name in kept}


def _words(blocks: Sequence[Block]) -> int:
    return sum(len(block.text.split()) for block in blocks)


def _share(blocks: Sequence[Block], of: int) -> float:
    return round(min(_words(blocks) / of, 1.0), 3)


def _description(blocks: Sequence[Block], name: str, lang: str) -> str:
    for block in blocks:
        if block.kind == "text" and (said := sentences(block.text.replace("\n", " ")[:2_000], lang)):
            return said[0][:MAX_DESCRIPTION_CHARS]
    return name


def _first_with(blocks: Sequence[Block], term: str, lang: str) -> str:
    wanted = fold(term)
    for block in blocks:
        if wanted in fold(block.text[:4_000]):
            said = sentences(block.text.replace("\n", " ")[:4_000], lang)
            return next((each for each in said if wanted in fold(each)), term)[:MAX_DESCRIPTION_CHARS]
    return term


def key_terms(texts: Sequence[str], lang: str) -> list[tuple[str, float]]:
    """The key terms of texts, best first, with weights relative to the best: frequent, in few blocks."""
    counts: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    shown: dict[str, Counter[str]] = defaultdict(Counter)
    left = LOOKED_AT_CHARS
    looked_at = 0
    for text in texts:
        if left <= 0:
            break
        seen: set[str] = set()
        for term in _candidates(text[:left], lang):
            key = " ".join(content_words(term, lang))
            counts[key] += 1
            shown[key][term] += 1
            seen.add(key)
        inside.update(seen)
        left -= len(text)
        looked_at += 1
    scores = {key: _score(key, count, inside[key], looked_at, shown[key]) for key, count in counts.items() if count > 1}
    best: list[str] = []
    for key in sorted(scores, key=lambda key: (-scores[key], key)):
        words = set(key.split())
        if not any(words & set(other.split()) for other in best):
            best.append(key)
        if len(best) == KEY_TERMS:
            break
    top = scores[best[0]] if best else 1.0
    return [(shown[key].most_common(1)[0][0], round(scores[key] / top, 3)) for key in best]


def _candidates(text: str, lang: str) -> list[str]:
    out: list[str] = []
    for match in _PHRASE.finditer(text):
        words = match[0].split()
        meant = [word for word in words if len(word) > 3 and content_words(word, lang)]
        out += meant
        if len(meant) == 2:
            out.append(match[0])
    return out


def _score(key: str, count: int, blocks: int, of: int, shown: "Counter[str]") -> float:
    rarity = math.log(1 + of / blocks)
    # A term of two words, or one with a capital within a sentence, counts as a name.
    capital = CAPITALS_WEIGH if all(form[:1].isupper() for form in shown) else 1.0
    return count * rarity * capital * (PHRASES_WEIGH if " " in key else 1.0)
