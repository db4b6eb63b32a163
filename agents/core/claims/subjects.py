"""Subjects of claims: their normal form, and when two subjects are equal.

`prazo do projeto x`, `project x's prazo` and `deadline for project x` share a key. A bare `prazo` does not equal `prazo
do projeto x` by itself: the caller must show that there is no other candidate.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from agents.core.caching.texts import text_cache
from agents.core.language.claim_lexicon import concepts
from agents.core.language.claim_lexicon import words as known
from agents.core.language.sentences import flatten, word_set
from schemas.base import derive

MAX_WORDS = 9
USER = {"pt": "usuário", "en": "user"}
ASSISTANT = {"pt": "assistente", "en": "assistant"}
_OWNERS = frozenset({"usuario", "user", "assistente", "assistant"})
_ARTICLES = word_set("o a os as the")
_DEMONSTRATIVES = word_set("este esta esse essa aquele aquela this that")
_PLURALS = word_set("os as these those estes estas esses essas aqueles aquelas")
_OURS = word_set("nosso nossa nossos nossas our")
_MINE = word_set("meu minha meus minhas my")
_YOURS_SURE = word_set("teu tua teus tuas your")
# `seu` may be his or hers: ambiguous, so its value excludes no other.
_YOURS_UNSURE = word_set("seu sua seus suas")
_POSSESSIVES = _MINE | _YOURS_SURE | _YOURS_UNSURE | _OURS
_OF = word_set("de do da dos das of for para pelo pela por no na em in")
_PREPOSITIONS = _OF | word_set("com with on at by to sobre about entre between")
_ADVERBS = word_set("agora ja atualmente now currently already also tambem")
# `o telefone dele`, `her phone`: only the conversation knows the owner.
_SOMEBODYS = word_set("dele dela deles delas his her their its")
_BREAKERS = word_set(
    "que who which that because porque como as_ e and ou or se if mas but cujo quando when onde where nao not"
)
# Possible owners of a part, with the prepositions; and the parts that always have an owner.
_PROJECTS = {
    **dict.fromkeys(word_set("projeto produto contrato cliente fornecedor evento sistema serviço relatório"), "do"),
    **dict.fromkeys(word_set("equipe campanha proposta obra viagem plataforma filial"), "da"),
    **dict.fromkeys(word_set("project product contract client supplier event system service report team"), "of"),
}
_PARTS = word_set(
    "deadline budget price cost meeting version owner delivery manager fine target date start end launch leader"
)
_CAPITAL = re.compile(r"(?<=[\w,'] )[A-ZÀ-Ý][\w-]*")
_TOKEN = re.compile(r"[^\W_][\w./@&+-]*(?:'s\b|'(?=\s))?|'s\b")


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject phrase: `text` is the normal form; `definite` false when its value excludes no other."""

    text: str
    head: str
    definite: bool


@dataclass(frozen=True, slots=True)
class SubjectKey:
    head: str
    qualifiers: frozenset[str]

    @property
    def owned(self) -> bool:
        return "@user" in self.qualifiers or self.head == "@user"


def subject_of(phrase: str, author: Literal["user", "system"], lang: str) -> Subject | None:
    """The subject named by a phrase; None for pronouns, indefinite, over-long and past ones."""
    words = _TOKEN.findall(phrase)
    flats = [flatten(word) for word in words]
    adverb = len(flats) > 1 and flats[-1] in _ADVERBS
    if adverb:
        words, flats = words[:-1], flats[:-1]
    somebodys = len(flats) > 1 and bool({flats[0], flats[-1]} & _SOMEBODYS)
    if somebodys:
        words, flats = (words[1:], flats[1:]) if flats[0] in _SOMEBODYS else (words[:-1], flats[:-1])
    if (
        not words
        or len(words) > MAX_WORDS
        or not _SOMEBODYS.isdisjoint(flats)
        or flats[0] in known("indefinite")
        or not _BREAKERS.isdisjoint(flats)
    ):
        return None
    if lang == "en" and flats[0] == "a":
        return None
    definite = _is_definite(words, flats) and not somebodys
    plural = flats[0] in _PLURALS
    if len(words) > 1 and flats[0] in _ARTICLES | _DEMONSTRATIVES | _PLURALS:
        words, flats = words[1:], flats[1:]
    if flats[0] in known("pronouns") or not known("past_words").isdisjoint(flats) or flats[0] in _PREPOSITIONS:
        return None
    return _phrase(words, flats, definite=definite and not plural, author=author, lang=lang)


def _is_definite(words: list[str], flats: list[str]) -> bool:
    """Whether one known thing is meant; not so for a literal `o usuário`, which may be any user."""
    if not _OWNERS.isdisjoint(flats):
        return False
    if flats[0] in _ARTICLES | _DEMONSTRATIVES | _MINE | _YOURS_SURE | _OURS:
        return True
    named = all(word[:1].isupper() or flat in _OF for word, flat in zip(words, flats, strict=True)) and len(words) > 1
    return named or flats[0].endswith("'s") or any(word.endswith("'s") for word in flats) or flats[0] in concepts()


def _phrase(
    words: list[str], flats: list[str], *, definite: bool, author: Literal["user", "system"], lang: str
) -> Subject | None:
    unsure = not _YOURS_UNSURE.isdisjoint(flats)
    kept = [
        (word, flat)
        for index, (word, flat) in enumerate(zip(words, flats, strict=True))
        if flat not in known("newer") and flat not in _OURS and not (flat in _ARTICLES and index and lang == "en")
    ]
    text = _with_owner(kept, author)
    if not text or all(flat in _POSSESSIVES for _, flat in kept):
        return None
    key = subject_key(text)
    return Subject(text, key.head, definite and not unsure)


def _with_owner(kept: list[tuple[str, str]], author: Literal["user", "system"]) -> str:
    """The subject with its owner: the user's `minha irmã` is `irmã do usuário`, `my name` is `user's name`."""
    speaker, hearer = (USER, ASSISTANT) if author == "user" else (ASSISTANT, USER)
    out: list[str] = []
    tail: list[str] = []
    for word, flat in kept:
        if flat in _MINE or flat in _YOURS_SURE or flat in _YOURS_UNSURE:
            owner = (speaker if flat in _MINE else hearer)["en" if flat in ("my", "your") else "pt"]
            if flat in ("my", "your"):
                out.append(f"{owner}'s")
            else:
                tail = ["do", owner]
        else:
            out.append(word.lower())
    return " ".join(_joined(out) + tail)


def _joined(words: list[str]) -> list[str]:
    """The words without an article left over by a possessive: `da minha` -> `da`, `a minha` -> nothing."""
    return [word for index, word in enumerate(words) if word not in _ARTICLES or 0 < index < len(words) - 1]


def named_of(subject: Subject, phrase: str) -> str:
    """The owner in a subject, where it has a name: ` do boreal`, ` of project atlas`; else empty.

    A name alone is the topic: `Agora o projeto Boreal.`
    """
    words = subject.text.split()
    key = subject_key(subject.text)
    joint = next((at for at, word in enumerate(words) if flatten(word) in _OF), None)
    if key.owned or not known("several_heads").isdisjoint(key.head.split()) or not _CAPITAL.search(phrase):
        return ""
    if joint is not None:
        named = {flatten(found) for found in _CAPITAL.findall(phrase)}
        return f" {' '.join(words[joint:])}" if named & {flatten(word) for word in words[joint:]} else ""
    alone = len(words) > 1 and words[0] in _PROJECTS and not words[0].endswith("'s")
    return f" {_PROJECTS[words[0]]} {subject.text}" if alone else ""


def part_of(subject: Subject, of: str) -> Subject:
    """A bare deadline, budget or similar part, qualified by the current topic."""
    key = subject_key(subject.text)
    if not of or key.qualifiers or key.head not in _PARTS:
        return subject
    return replace(subject, text=f"{subject.text}{of}")


def own_subject(user_id: str) -> str:
    """The key of claims about a user: `usuário` alone does not identify the user."""
    return derive("own-claims", user_id)


def filed_under(subject: str, user_id: str) -> str:
    """The key under which a claim is stored: its subject, or the owner's key for a claim about the user."""
    return own_subject(user_id) if subject_key(subject).owned else subject


@text_cache(8_192)
def subject_key(subject: str) -> SubjectKey:
    """The comparison key of a subject: its head concept and the other words as a set, in either language."""
    flats = [flatten(word) for word in _TOKEN.findall(subject)]
    head, rest = _split_head(flats)
    # `grupo a` ends in a letter, not in an article.
    qualifiers = {
        _concept(word)
        for index, word in enumerate(rest)
        if word not in _PREPOSITIONS and (word not in _ARTICLES or index == len(rest) - 1)
    }
    return SubjectKey(_concept(head), frozenset(qualifiers - {""}))


def _split_head(flats: list[str]) -> tuple[str, list[str]]:
    """The head noun and the rest: Portuguese heads come first, English ones last before a preposition or possessive."""
    if not flats:
        return "", []
    stop = next((index for index, word in enumerate(flats) if word in _PREPOSITIONS), len(flats))
    phrase, rest = flats[:stop], flats[stop:]
    owners = [index for index, word in enumerate(phrase) if word.endswith(("'s", "'"))]
    if owners:
        last = owners[-1]
        return " ".join(phrase[last + 1 :]) or phrase[last], phrase[: last + 1] + rest
    return " ".join(phrase), rest


def _concept(word: str) -> str:
    bare = word.removesuffix("'s").removesuffix("'")
    return "@" + ("user" if bare.startswith("us") else "assistant") if bare in _OWNERS else concepts().get(bare, bare)
