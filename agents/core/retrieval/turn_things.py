"""Differences between similar things: names, persons and qualifiers next to a word."""

import re
from collections.abc import Collection, Iterator

from agents.core.claims.markers import announces_change
from agents.core.language import text
from agents.core.language.sentences import lower, word_set

PERSONS = re.compile(
    r"(?<!\w)(?:irm[ãa]o?|irmãs?|m[ãa]e|pai|filh[oa]s?|ti[oa]|prim[oa]|av[óô]|marido|esposa|vizinh[oa]|chef[ea]|colega|"
    r"amig[oa]|sogr[oa]|namorad[oa]|sobrinh[oa]|"
    r"sister|brother|mother|mum|mom|father|dad|son|daughter|aunt|uncle|cousin|husband|wife|neighbour|neighbor|boss|"
    r"colleague|friend|niece|nephew|grandmother|grandfather|grandma|grandpa)(?!\w)"
)
_OF = r"(?:de|d[oa]s?|of|for|in|on|at|to|para|pr[ao]|em|n[oa]s?|with|com|pel[oa]s?|entre|between|from)"
_ARTICLE = r"(?:the|an?|my|our|o|a|os|as|um|uma|meu|minha|nosso|nossa)"
_AFTER = re.compile(rf"\s+(?={_OF}\s|{_ARTICLE}\s)(?:{_OF}\s+)?(?:{_ARTICLE}\s+)?([^\W_][\w-]*)")
_HEAD = re.compile(rf"(?<![\w-])[_-]*([^\W_][\w-]*)\s+{_OF}\s+(?:{_ARTICLE}\s+)?$")
_ENGLISH_VERB = re.compile(
    r"(?:ed|s)$|^(?:went|cut|rose|fell|came|became|left|got|gave|took|said|told|made|put|sent|kept|held|had|did|found|"
    r"brought|chose|broke|grew|won|lost|met|ran|set|let|now|again|instead|will|would|can|from)$"
)
_WORD = re.compile(r"[^\W\d_][\w-]*")
_NEXT = re.compile(r"\s+([^\W\d_][\w-]*)")
_BEFORE = re.compile(r"(?<![\w'-])[\d_'-]*([^\W\d_][\w'-]*)\s+$")
_ADJECTIVE = re.compile(r"(?:al|ais|ar|iv[oa]|ic[oa]|os[oa]|eir[oa]|nte|vel|an[oa]|ês|esa|ári[oa]|tr[oa])$")
_VERB = re.compile(r"(?:ei|ou|eu|iu|amos|emos|imos|aram|eram|iram)$")
_ORDINALS = word_set(
    "primeiro primeira segundo segunda terceiro terceira quarto quarta outro outra último última próximo próxima first "
    "second third fourth other another last next final main upper lower antigo antiga old"
)
_CAPITAL = re.compile(r"(?<![\w'])[A-ZÀ-Ý][\w-]*")


def names_in(said: str, lang: str, change: re.Pattern[str]) -> frozenset[str]:
    """The stems of names; at the start of a sentence only where the word is neither a verb nor a marker of change."""
    found: set[str] = set()
    for match in _CAPITAL.finditer(said):
        word = lower(match.group())
        first = not said[: match.start()].strip(" \"'(") or said[: match.start()].rstrip(" \"'(")[-1:] in ".!?:"
        if first and (change.search(word) or announces_change(word) or (lang == "pt" and _VERB.search(word))):
            continue
        found.update(text.content_words(word, lang))
    return frozenset(found) - text.content_set("yes sim also update change atualização olha", lang)


def persons_in(said: str) -> frozenset[str]:
    """The persons mentioned by their relation to somebody (`my sister`)."""
    return frozenset(PERSONS.findall(lower(said)))


def another(shared: Collection[str], theirs: str, ours: str, lang: str, known: Collection[str]) -> bool:
    """Whether a newer text is about another thing of the same word: the guests' `dinner`, the `second` game, `of Rome`.

    So it is where one of its qualifiers is not known of the older thing, or differs from the older text's qualifier.
    """
    if not set(_heads(shared, ours, lang)) <= set(known):
        return True
    before, now = _qualifiers(shared, theirs, lang), _qualifiers(shared, ours, lang)
    return any(
        not found <= set(known) or (bool(before.get(word)) and found.isdisjoint(before[word]))
        for word, found in now.items()
    )


def _qualifiers(shared: Collection[str], said: str, lang: str) -> dict[str, set[str]]:
    """The stems of the qualifiers of each shared word: `of the kitchen`, `final`, `second`."""
    found: dict[str, set[str]] = {}
    for word, start, end in _places(shared, said, lang):
        beside = {stem for each in _beside(said, start, end, lang) for stem in _stems(each, lang)} - {word}
        if beside:
            found.setdefault(word, set()).update(beside)
    return found


def _heads(shared: Collection[str], said: str, lang: str) -> Iterator[str]:
    """The head nouns that a shared word qualifies: `dinner` in `wedding dinner`, `bill` in `bill for the phone`."""
    for _, start, end in _places(shared, said, lang):
        if of := _HEAD.search(said[max(0, start - 60) : start]):
            # Also a word that is generic elsewhere: `conta` is a verb (tells) and a noun (bill).
            yield from text.content_words(of[1], lang) or ([text.stem(of[1], lang)] if len(of[1]) > 4 else ())
        follows = _NEXT.match(said, end)
        if follows and lang == "en" and not _ENGLISH_VERB.search(follows[1]):
            yield from text.content_words(follows[1], lang)


def _places(shared: Collection[str], said: str, lang: str) -> Iterator[tuple[str, int, int]]:
    for match in _WORD.finditer(said):
        if (stem := text.stem(match.group(), lang)) in shared:
            yield stem, match.start(), match.end()


def _stems(word: str, lang: str) -> Collection[str]:
    return text.content_words(word, lang) or ({word} if word in _ORDINALS else ())


def _beside(said: str, start: int, end: int, lang: str) -> Iterator[str]:
    if after := _AFTER.match(said, end):
        yield after[1]
    before = _BEFORE.search(said[max(0, start - 40) : start])
    if before and (lang == "en" or before[1] in _ORDINALS):
        yield before[1]
    follows = _NEXT.match(said, end)
    if follows and lang == "pt" and (_ADJECTIVE.search(follows[1]) or follows[1] in _ORDINALS):
        yield follows[1]
