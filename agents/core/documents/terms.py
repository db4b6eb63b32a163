"""Definitions and step-by-step procedures in a document."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.core.documents.blocks import HOW_TO, ITEM, Block, items
from agents.core.language.sentences import composed, flatten, sentences, word_set
from agents.core.language.text import content_words, fold, surface_terms

MAX_DEFINITIONS = 500
MAX_LINE_CHARS = 800
MAX_TERM_WORDS = 6
MAX_DEFINITION_CHARS = 600


@dataclass(frozen=True, slots=True)
class Definition:
    term: str
    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Procedure:
    name: str
    how_to_terms: tuple[str, ...]
    steps: tuple[str, ...]


_GLOSSARY_LINE = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:\*\*|__)(?P<term>[^*_:\n]{1,80}?):?(?:\*\*|__)\s*(?::|[-–—]\s)?\s*(?P<text>\S.{10,600})"
)
_PLAIN_LINE = re.compile(r"\s*(?:[-*+•]\s+)?(?P<term>[^\s:][^:\n]{1,59}?)\s*(?::|\s[–—-])\s+(?P<text>\S.{10,600})")
_GLOSSARY = re.compile(r"gloss[áa]r|defini[çc]|terminolog|conceitos|definition|concepts|terms\b", re.IGNORECASE)
_MEANS = re.compile(
    r"(?<!\s)\s+(?:significam?|quer dizer|refere-se a|referem-se a|consiste em|consistem em|define-se como|"
    r"é definid[oa] como|são definid[oa]s como|entende-se como|means?|refers? to|is defined as|are defined as|"
    r"stands for|consists of)\s+",
    re.IGNORECASE,
)
_IS_A = re.compile(
    r"(?<!\s)\s+(?:é|são|is|are)\s+(?=(?:um|uma|o conjunto|a capacidade|o processo|o ato|o documento|o valor|o prazo|"
    r"o instrumento|o direito|"
    r"a parte|a pessoa|o período|o nome|a unidade|a forma|o meio|aquel[ea]s?|a|an|the (?:process|set|act|amount|time|"
    r"document|"
    r"right|person|name|period|part|unit|number|ability))\s)"
)
_BY_TERM = re.compile(
    r"(?:entende-se|considera-se)\s+por\s+(?P<term>[^,]{2,60}?)(?:,\s|\s(?=(?:o|a|os|as|um|uma|todo|"
    r"toda)\s))(?P<text>.{10,})",
    re.IGNORECASE,
)
_NO_TERM = word_set(
    """ele ela eles elas isso isto este esta estes estas esse essa esses essas aquele aquela aquilo it this that
    these those he she
they we you eu voce nos quem que qual there here cada every each all todo toda nada tudo meu minha seu sua nosso
nossa my your
our his her their aqui ali hoje se if quando when como how ontem today o_que what nota note exemplo example
importante"""
)
_ARTICLE = re.compile(r"^(?:o|a|os|as|um|uma|uns|umas|the|an)\s+(?=\S)|^a\s+(?=\S)", re.IGNORECASE)
_ABOUT_STEPS = word_set(
    "passo passos procedimento procedimentos tutorial guia instrucoes step steps procedure "
    "procedures guide instructions fazer"
)
_NUMBERING = re.compile(r"^\d+(?:\.\d+)*[.)]?\s+")


def definitions(found: Sequence[Block], lang: str) -> list[Definition]:
    """The definitions of a document, the first of each term."""
    known: dict[str, Definition] = {}
    for definition in _all(found, lang):
        known.setdefault(fold(definition.term), definition)
        if len(known) >= MAX_DEFINITIONS:
            break
    return list(known.values())


def _all(found: Sequence[Block], lang: str) -> Iterator[Definition]:
    for block in found:
        if block.kind not in ("text", "list"):
            continue
        glossary = any(_GLOSSARY.search(heading) for heading in block.path)
        for line in (line for line in block.text.split("\n") if len(line) <= MAX_LINE_CHARS):
            entry = _GLOSSARY_LINE.fullmatch(line) or (_PLAIN_LINE.fullmatch(line) if glossary else None)
            if entry and (term := _term(entry["term"])):
                yield Definition(term, entry["text"].strip()[:MAX_DEFINITION_CHARS], 0.95)
        if block.kind == "text":
            for sentence in sentences(composed(block.text).replace("\n", " "), lang):
                if definition := _of_sentence(sentence):
                    yield definition


def _of_sentence(sentence: str) -> Definition | None:
    """The definition in a sentence, `X é um …`, `X significa …`: the term before the verb, the sentence as its text."""
    if sentence.endswith("?") or len(sentence) > MAX_DEFINITION_CHARS:
        return None
    if by := _BY_TERM.fullmatch(sentence):
        term = _term(by["term"])
        return Definition(term, sentence, 0.9) if term else None
    for verb, confidence in ((_MEANS, 0.85), (_IS_A, 0.7)):
        if match := verb.search(sentence[:160]):
            term = _term(sentence[: match.start()])
            enough = len(sentence[match.end() :].split()) >= 4
            return Definition(term, sentence, confidence) if term and enough else None
    return None


def _term(text: str) -> str:
    """The defined term without its article; empty when it cannot be a term."""
    term = _ARTICLE.sub("", text.strip().strip("*_`\"“”'")).strip()
    flat = flatten(term).split()
    if not flat or len(flat) > MAX_TERM_WORDS or flat[0] in _NO_TERM or re.search(r"[,;:.!?]", term):
        return ""
    return term if any(char.isalpha() for char in term) and len(term) <= 80 else ""


def related(found: Sequence[Definition], lang: str) -> list[tuple[int, ...]]:
    """For each definition the indices of the others that its text names, by the consecutive words of their terms."""
    terms = {content_words(one.term, lang): number for number, one in enumerate(found)}
    lengths = sorted({len(words) for words in terms if words})
    out: list[tuple[int, ...]] = []
    for number, one in enumerate(found):
        said = content_words(one.text, lang)
        runs = (said[at : at + n] for n in lengths for at in range(len(said) - n + 1))
        others = dict.fromkeys(terms[run] for run in runs if terms.get(run, number) != number)
        out.append(tuple(others))
    return out


def procedures(found: Sequence[Block], lang: str) -> list[Procedure]:
    """The lists of steps under a how-to heading."""
    out: list[Procedure] = []
    taken: set[tuple[str, ...]] = set()
    for block in found:
        heading = next((name for name in reversed(block.path) if HOW_TO.match(name)), None)
        if heading is None or block.kind != "list" or block.path in taken:
            continue
        steps = tuple(step for item in items(block) if (step := _step(item)))
        if len(steps) >= 2:
            taken.add(block.path)
            out.append(Procedure(_NUMBERING.sub("", heading), how_to_terms(heading, lang), steps))
    return out


def _step(item: str) -> str:
    return ITEM.sub("", item, count=1).strip().removeprefix("[ ]").strip()


def how_to_terms(heading: str, lang: str) -> tuple[str, ...]:
    """The content words of a how-to heading as written, without `passo a passo` and the like."""
    terms = [term for term in surface_terms(heading, lang) if flatten(term) not in _ABOUT_STEPS and not term.isdigit()]
    return tuple(terms)
