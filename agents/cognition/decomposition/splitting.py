"""Division of a question by rules R2, R3, R5, R7 and R8: lists, second questions, names, descriptions, facets."""

import re
from itertools import pairwise

from agents.cognition.decomposition.comparison import comparison
from agents.cognition.decomposition.masking import NAME, Asked, are_apart, asked, form, names, pattern, rows
from agents.cognition.decomposition.parts import ANSWER, Part, Split, split_of, tidied
from agents.core.language import question_parts, text
from agents.core.language.interrogatives import is_question
from agents.core.language.lexicons import lexicon
from schemas.cognition import EntityType

FACETS = ("basis", "rulings", "requirements", "deadline", "consequence")
MAX_FACETS = 4
_ITEM = re.compile(r"(?:^|(?<=\s))\(?(?:[a-h]|i{1,3}|iv|v|[1-9])[).] ")
_RELATIVE = re.compile(r"\w.* (?:that|which|who|whose|whom|que|cujo|cuja)\b")
_CONTINUES = re.compile(r"(?:who|whose|whom|which|where|when|that|que|quem|onde|cujo|cuja)\b")
_LISTED = re.compile(rf"(?<![\w'])(?P<all>{NAME}(?:, {NAME}){{0,20}},? (?:and|e) (?:[oa]s? )?{NAME})")
_BETWEEN_NAMES = re.compile(r",? (?:and|e) |, ")


def split(asked: Asked) -> Split | None:
    """The first rule that divides a question into two or more parts; none where none does (R2-R5, R7-R9)."""
    rules = (listed, several_questions, comparison, bridge, coordinated, facets)
    return next((made for rule in rules if (made := rule(asked)) is not None), None)


def listed(asked: Asked) -> Split | None:
    """`a) … b) …`: one part for each item, with what stands before the first (R2)."""
    marks = list(_ITEM.finditer(asked.flat))
    if len(marks) < 2:
        return None
    ends = [*(each.start() for each in marks[1:]), len(asked.text)]
    items = [asked.text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
    stem = asked.text[: marks[0].start()].rstrip(" :,")
    return split_of("list", [each if is_question(each) else f"{stem} {each}" for each in items], asked.lang)


def several_questions(asked: Asked) -> Split | None:
    """Several questions in one message or sentence (R2, R3); a relative clause behind `and` is none."""
    found = question_parts.question_parts(asked.masked, asked.lang)
    places, at = list[int](), 0
    for part in found:
        at = max(asked.masked.find(part, at), at)
        places.append(at)
        at += len(part)
    cuts = [0] if found else []
    for start, end in pairwise([*places, len(asked.text)]):
        if start and _begins_anew(asked.flat[cuts[-1] : start], asked.flat[start:end]):
            cuts.append(start)
    pieces = [asked.text[start:end] for start, end in pairwise([*cuts, len(asked.text)])]
    pieces = [pieces[0], *(_closed(each, pieces[0], asked.lang) for each in pieces[1:])] if pieces else []
    return split_of(
        "list",
        [
            re.sub(r"[,;]?(?<!\s)\s+(?:e|and|but|mas)(?: (?:ainda|tambem|também|also))?\s*$", "", each)
            for each in pieces
        ],
        asked.lang,
    )


def _closed(piece: str, before: str, lang: str) -> str:
    """A question with the one name of the question before it in the place of its first pronoun."""
    named = names(asked(before, lang))
    # What begins with a question word and a name looks like one name.
    if len(named) != 1 or not named[0][0] or names(asked(piece, lang)):
        return piece
    open_ = pattern(lang, r"\b<<pronouns>>(?=\W|$)").search(asked(piece.rstrip(" ?.!"), lang).flat)
    if open_ is None:
        return piece
    return f"{piece[: open_.start()]}{before[slice(*named[0])]}{piece[open_.end() :]}"


def _begins_anew(before: str, after: str) -> bool:
    """Whether what stands behind a cut is a question of its own, rather than more about a thing."""
    if re.search(r"[?.!][^\w?.!]*$", before):
        return True
    if _CONTINUES.match(after) and (_RELATIVE.match(before) or after.startswith(("whose", "cuj"))):
        return False
    joined = re.search(r"\b(?:e|mas|and|but)(?: (?:ainda|tambem|also))?\W*$", before) is not None
    return joined or is_question(before)


def bridge(asked: Asked) -> Split | None:
    """A thing known by a description only: what it is, then the question with it in the place of that (R7)."""
    frame = r"\b<<articles>> (?P<thing>(?:[\w'.-]+ ){0,3}?(?P<noun>[\w'-]+)),? <<relatives>> (?P<what>[^,;:?]{4,})"
    described, at = pattern(asked.lang, frame), 0
    # One description may begin within another: in `the director of the film that …` it is that of the film.
    while found := described.search(asked.flat, at):
        at = found.start() + 1
        start, end = found.start(), found.end("what")
        contraction = (
            re.search(r"\A(?:(?:d|n)(?=[oa]s?\b)|pel(?=[oa]s?\b))", asked.flat[start:]) if asked.lang == "pt" else None
        )
        before, inner = asked.text[:start], asked.text[start:end]
        if contraction:
            before += {"d": "de ", "n": "em "}.get(contraction[0], "por ")
            inner = inner[contraction.end() :]
        outer = ANSWER.join(each.replace(ANSWER, "") for each in (before, asked.text[end:]))
        if _stands_alone(outer, asked.lang):
            expects: EntityType = _type(found["noun"], asked.lang)
            parts = (Part(tidied(form("inner", inner, asked.lang)), (), expects), Part(tidied(outer), (0,)))
            return Split("bridge", parts)
    return None


def _stands_alone(outer: str, lang: str) -> bool:
    """Whether the outer question still asks something: more than `What is …?`."""
    return len(text.content_set(outer.replace(ANSWER, ""), lang)) > 0 and len(outer.split()) > 3


def _type(noun: str, lang: str) -> EntityType:
    said = rows("expects", lang)
    named = said.get(noun) or said.get(noun.removesuffix("s")) or "any"
    types: dict[str, EntityType] = {
        "provision": "provision", "ruling": "ruling", "case": "case", "act": "act", "person": "person",
        "organisation": "organisation", "date": "date", "place": "place",
    }  # fmt: skip
    return types.get(named, "any")


def coordinated(asked: Asked) -> Split | None:
    """Several names, or nouns that repeat their preposition, under one predicate: one part for each (R5)."""
    first = pattern(asked.lang, r"^<<verbs_first>> ").match(asked.flat)
    for found in _LISTED.finditer(asked.masked, first.end() if first else 0):
        start, end = found.span()
        if not are_apart(*_BETWEEN_NAMES.split(found["all"])):
            continue
        sides, at = list[str](), start
        for join in _BETWEEN_NAMES.finditer(asked.masked, start, end):
            sides.append(asked.text[at : join.start()])
            at = join.end()
        sides.append(asked.text[at:end])
        return split_of("list", [f"{asked.text[:start]}{each}{asked.text[end:]}" for each in sides], asked.lang)
    doubled = re.search(
        r" (?P<prep>para|for|sobre|about) (?P<a>[^,;:?]{2,50}?) (?:e|and) (?P=prep) (?P<b>[^,;:?]{2,50})", asked.flat
    )
    if doubled is None:
        return None
    before, after = asked.text[: doubled.start("a")], asked.text[doubled.end() :]
    sides = [asked.text[slice(*doubled.span(side))] for side in "ab"]
    return split_of("list", [f"{before}{side}{after}" for side in sides], asked.lang)


def facets(asked: Asked) -> Split | None:
    """A question about all of a legal subject: its basis, rulings, requirements and deadlines (R8)."""
    about = pattern(asked.lang, r"^\W*(?:<<~overview>>)\b").match(asked.flat)
    subject = asked.text[about.end() :].strip(" :?.,") if about else ""
    if not subject or not set(text.words(subject)) & _legal_terms(asked.lang):
        return None
    subject = re.sub(r"^(?:d?[oa]s?|the|an?) ", "", subject, flags=re.I)
    return split_of("facets", [form(each, subject, asked.lang) for each in FACETS[:MAX_FACETS]], asked.lang)


def _legal_terms(lang: str) -> frozenset[str]:
    return lexicon("decomposition").words("legal_terms", lang)
