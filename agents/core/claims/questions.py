"""The user's own claims that a question asks for: `what is my name`, `que lanches posso comer`. Pure.

Kinds are attributes of claims about the user, or heads of the user's possessions (`email`, `daughter`, `deadline`). A
question may ask for several: a suitable meal depends on allergies, diet and likes. Claims carry their owner: others'
claims about themselves are never returned.
"""

import re
from collections.abc import Iterable
from functools import cache

from agents.core.claims import resolution
from agents.core.claims.resolution import CurrentClaim
from agents.core.claims.subjects import USER, own_subject, subject_key
from agents.core.language import text
from agents.core.language.lexicons import lexicon
from agents.core.language.sentences import composed, flatten, sentences
from schemas.memory import ClaimAsserted

EVERYTHING = ("",)
MAX_CHARS = 600
_OF_ONESELF = re.compile(
    r"\b(?:meus?|minhas?|eu|a gente|mim|comigo|my|mine|i|me|myself|nos|nosso|nossa|our|we|am i|"
    r"moro|vivo|tenho|sou|nasci|gosto|prefiro|posso|devo|preciso|faco|falo|chamo|"
    r"(?<!\bo )(?<!\bde )(?<!\bdo )(?<!\bem )(?<!\bno )(?:trabalho|uso|estudo)|"
    r"temos|usamos|decidimos|decidi|combinamos|escolhemos|escolhi|resolvemos)\b"
)
_ASKED = re.compile(
    r"\?|^\W*(?:e |and |entao |so )?(?:o que|que|qual|quais|quem|quando|onde|como|quanto|a que|do que|com o que|"
    r"what|which|who|when|where|how|do i|am i|can i|should i)\b|"
    r"\b(?:me (?:lembr|diga|diz|fala|conta)\w*|lembra|remind me|tell me|remember|do you know|voce sabe|sabe)\b"
)
_ALL = re.compile(
    r"\b(?:sab\w*|lembr\w*|conhec\w*|tem|guard\w*|registr\w*|anot\w*|know|remember|have|stored?|recall|noted?)\b.{0,40}"
    r"\b(?:sobre|de|a respeito de|about|on|of) (?:mim|me|myself)\b"
    r"|\b(?:quem sou eu|quem eu sou|who am i|who i am)\b|\b(?:fale|tell me) (?:sobre mim|about myself)\b"
    r"|\b(?:contei|falei|disse|told you|tell you|said)\b.{0,30}\b(?:sobre mim|de mim|about me|about myself)\b"
)
_PETS = ("cat", "dog", "pet")
_HAS = re.compile(r"\b(?:(?:eu )?tenho|(?:do|did) i (?:have|own|drive)|i own)\b")
# `my daughter's name`, `a placa do meu carro`: the possession is asked for by its own word.
_HIS = re.compile(r"\b(?:meus?|minhas?|my) (?!(?:proprio|own|nome|name)\b)((?:[a-z][\w-]+)(?:'s)?(?: [a-z][\w-]+)?)")


def about_oneself(query: str, lang: str) -> tuple[str, ...] | None:
    """The kinds of own claims that a user asks for, `EVERYTHING` for all of them; None when none is asked for."""
    kinds: list[str] = []
    for sentence in sentences(composed(query[:MAX_CHARS]), lang):
        kinds += _asked_for(flatten(sentence))
    return EVERYTHING if EVERYTHING[0] in kinds else tuple(dict.fromkeys(kinds)) or None


def asks_for_all(query: str, lang: str) -> bool:
    """Whether a user asks for all that is known about them."""
    return about_oneself(query, lang) == EVERYTHING


def _asked_for(flat: str) -> list[str]:
    if _ALL.search(flat):
        return [*EVERYTHING]
    if not _OF_ONESELF.search(flat) or not _ASKED.search(flat):
        return []
    kinds = [kind for pattern, found in _topics() if pattern.search(flat) for kind in found]
    if not kinds and _HAS.search(flat):
        kinds += ["tem", *_PETS]
    for his in _HIS.findall(flat):
        first = his.split()[0]
        kinds += _heads(first.removesuffix("'s"))
        kinds += () if first.endswith("'s") else _heads(his)
    return kinds


@cache
def _topics() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Patterns of a question's topic in flat text, each with the relevant kinds of claims."""
    known = lexicon("claims")
    kin = tuple(sorted(known.words("kin_heads")))
    return tuple(
        (re.compile(rf"\b(?:{pattern})\b"), kin if part == "kin" else tuple(part.split(", ")))
        for part, pattern in known.pattern_of_parts("asked_for").items()
    )


def _heads(phrase: str) -> tuple[str, ...]:
    """The head nouns of a phrase, in one form for both languages."""
    head = subject_key(phrase).head
    return (head,) if head else ()


def subjects_of(user_id: str) -> tuple[str, ...]:
    """The subjects under which a user's own claims are found (`MemoryGraph.claims_about`)."""
    return (own_subject(user_id), "nós", "we")


def own_claims(known: Iterable[ClaimAsserted], user_id: str, kinds: tuple[str, ...]) -> tuple[CurrentClaim, ...]:
    """The user's current claims about themselves and their possessions, of these kinds, newest first.

    Also one that took the place of such a claim: `my address` that of `my delivery address`.
    """
    mine = [claim for claim in known if claim.author == "user" and claim.user_id == user_id]
    return tuple(
        each
        for each in resolution.offered(mine)
        if any(_is_of(claim, kinds) for claim in (each.claim, *each.instead_of))
    )


def fully_named(known: Iterable[ClaimAsserted], user_id: str, query: str, lang: str) -> tuple[CurrentClaim, ...]:
    """The user's current claims about their possessions that a question or a search names, and asks nothing beside.

    `locker code` names `my locker code`; `my sister's phone` asks for more than `my phone`.
    """
    asked = text.content_set(query[:MAX_CHARS], lang)
    return tuple(
        each
        for each in own_claims(known, user_id, EVERYTHING)
        if any(_names(claim, asked) for claim in (each.claim, *each.instead_of))
    )


def _names(claim: ClaimAsserted, asked: frozenset[str]) -> bool:
    named = text.content_set(claim.subject, claim.lang) - text.content_set(" ".join(USER.values()), claim.lang)
    said = text.content_set(f"{claim.subject} {claim.text}", claim.lang)
    return bool(named) and named <= asked <= said


def _is_of(claim: ClaimAsserted, kinds: tuple[str, ...]) -> bool:
    key = subject_key(claim.subject)
    own = key.owned or key.head == "we"
    if kinds == EVERYTHING:
        return own
    attribute, whose = flatten(claim.attribute), key.qualifiers - {"@user"}
    if attribute == "nome":
        # `my wife's name` belongs to the wife: a question for one's own name does not ask for it.
        named = not whose and not {"name", "nome"}.isdisjoint(key.head.split())
        return own and (("nome" in kinds) if named else not {key.head, *whose}.isdisjoint(kinds))
    # A deadline belongs to the user who stated it.
    return (own and attribute in kinds) or (key.head in kinds and (own or key.head == "deadline"))
