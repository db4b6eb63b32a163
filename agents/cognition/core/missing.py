"""What an answer lacks: the things a question names that no passage names, never a general word."""

import re
from collections.abc import Collection, Iterator
from itertools import groupby

from agents.cognition.core.dual_retriever import bound
from agents.cognition.core.passages import covered
from agents.core.language import text
from agents.core.language.lexicons import lexicon
from agents.core.retrieval.search_terms import question_terms
from agents.legal.citations import citation
from agents.legal.references import legal_references
from schemas.cognition import CognitiveState, MindMapNode

MAX_MISSING, MAX_WORDS = 4, 8
_WORD = re.compile(r"[\w'’.-]+")
_CAPITALISED = r"[^\W\d_]*[A-ZÀ-Ý]\w*(?:[.'’-]\w+)*"
_NAMES = re.compile(rf"\b{_CAPITALISED}(?: {_CAPITALISED})*")
_BEGINS = ("", ".", "!", "?", ":", "\n")


def missing_of(state: CognitiveState, leaf: MindMapNode) -> tuple[str, ...]:
    """What the evidence of a leaf lacks: provisions, rulings and names of its question; all of it without evidence.

    Where nothing was found, a source that did not answer is named, too: it may have had what is missing.
    """
    question = bound(state, leaf)
    listed = [state.passages[each.chunk_uid] for each in state.refined_evidence.get(leaf.node_id, ())]
    said = " ".join(f"{each.title} {each.text} [{each.cite}]" for each in listed)
    cited = {citation(each) for each in legal_references(said)} | {f"[{each.cite}]" for each in listed}
    lacking = [question[each.start : each.end] for each in legal_references(question) if citation(each) not in cited]
    for name in _unknown_names(question, state.lang, said):
        if not _is_in(name, lacking):
            lacking.append(name)
    dead = [
        each.source for each in state.sources if each.node_id == leaf.node_id and each.status in ("error", "timeout")
    ]
    if not listed and not lacking:
        lacking.append(phrase(question, state.lang))
    return tuple(dict.fromkeys((*lacking[:MAX_MISSING], *(() if listed else dead))))


def is_unknown(state: CognitiveState, leaf: MindMapNode) -> bool:
    """Whether a leaf names things and its evidence mentions none of them: it is then about others."""
    question = bound(state, leaf)
    names = [term for term in question_terms(question, state.lang) if term.name]
    listed = [state.passages[each.chunk_uid] for each in state.refined_evidence.get(leaf.node_id, ())]
    return bool(names) and not any(covered(names, f"{each.title} {each.text}", each.lang) for each in listed)


def _unknown_names(question: str, lang: str, said: str) -> Iterator[str]:
    """The names of a question that a text lacks, as the question writes them: `São Paulo`, `Data Protection Act`."""
    terms, asked = question_terms(question, lang), text.clip(question)
    known = covered(terms, said, lang)
    names = {term.word for term in terms if term.name} - known

    def has(word: str, any_of: Collection[str]) -> bool:
        return not set(text.surface_terms(word, lang)).isdisjoint(any_of)

    shown: list[str] = []
    for found in _NAMES.finditer(asked):
        words = found[0].split()
        # The first word of a sentence is capitalised whatever it is.
        if not has(words[0], names) and asked[: found.start()].rstrip(" \"'(")[-1:] in _BEGINS:
            del words[0]
        for is_known, group in groupby(words, lambda word: has(word, known)):
            name = [*group]
            while name and not text.surface_terms(name[-1], lang):
                del name[-1]
            if not is_known and any(has(word, names) for word in name):
                shown.append(" ".join(name).removesuffix("'s").removesuffix("’s"))
    yield from shown
    yield from (word for word in sorted(names) if not any(has(each, {word}) for each in shown))


def _is_in(word: str, lacking: list[str]) -> bool:
    return any(text.fold(word) in text.fold(each) for each in lacking)


def phrase(question: str, lang: str) -> str:
    """What a question asks for, from its first to its last content word: `valor do auxílio-creche`."""
    content = {text.fold(word) for word in text.surface_terms(question, lang)}
    found = list(_WORD.finditer(question))
    places = [at for at, word in enumerate(found) if text.fold(word[0].strip(".")) in content]
    if not places:
        return question.strip(" ?")
    first, last = places[0], min(places[-1], places[0] + MAX_WORDS - 1)
    first -= first > 0 and is_negation(found[first - 1][0])
    return question[found[first].start() : found[last].end()].strip(" .?")


def is_specific(said: str, lang: str) -> bool:
    """Whether a gap names a thing: a reference, or two content words that could not be said of any gap."""
    vague = lexicon("verification").words("vague_gaps")
    return bool(legal_references(said)) or len({w for w in text.words(said) if w not in vague and _has(w, lang)}) > 1


def _has(word: str, lang: str) -> bool:
    return bool(text.content_set(word, lang))


def is_negation(word: str) -> bool:
    """Whether a word denies what follows it: it is part of what is asked."""
    return text.fold(word) in lexicon("contradiction").words("negations")
