"""Statements that something was done, applies, exists or is owned: `foi entregue`, `não há vagas`, `owns the project`.

They are contradicted by their denial (`não foi entregue`), or by another date or complement of the same participle
(`assinado em`, `written in`); a part of something is a subject of its own (`multa rescisória do contrato`).
"""

import re

from agents.core.claims import grammar
from agents.core.claims.attributes import MAX_VALUE_CHARS, Slot, cleaned, leaves_whole, slot_of
from agents.core.claims.subjects import Subject, subject_of
from agents.core.language.claim_lexicon import words
from agents.core.language.sentences import flatten
from agents.core.language.values import value_at

Place = tuple[int, int]
MAX_WORDS = 6
_ARTICLE = re.compile(r"\s*(?:(?:um|uma|o|a|os|as|an|the|its|seus?|suas?)\s+)?")
_PART = re.compile(r"(?P<part>[^\s\d,;:.!?$%]{3,30}(?:\s[^\s\d,;:.!?$%]{2,30}){0,2}?)\s+(?:de|of|at|por|for)\s+")
_END = re.compile(r"[,;:.!?]|\s(?:mas|but|porque|because|pois|e|and)\s")
# Not possession: `has been great`, `tem sido ótimo`, `tem de sair`, and forms followed by a participle.
_NO_THING = re.compile(r"\s*(?:already|just|also|já|que|de|to|been|had|got|sido|estado|fun|a lot|lots|such)(?!\w)")
_ROLES = {
    "own": "owner", "lead": "leader", "manage": "manager", "coordinate": "coordinator", "lidera": "líder",
    "gerencia": "gerente", "coordena": "coordenador", "chefia": "chefe", "cuida": "responsável",
}  # fmt: skip
# One attribute for a verb in both languages.
_VERBS = {
    "inclui": "inclui", "inclue": "inclui", "conté": "inclui", "include": "inclui", "contain": "inclui",
    "comes with": "inclui", "cobre": "cobre", "cover": "cobre", "permite": "permite", "allow": "permite",
    "aceita": "aceita", "accept": "aceita", "exige": "exige", "require": "exige", "suporta": "suporta",
    "support": "suporta", "oferece": "oferece", "offer": "oferece",
}  # fmt: skip
_PREPOSITIONS = {
    "no": "em", "na": "em", "nos": "em", "nas": "em", "pelo": "por", "pela": "por", "do": "de", "da": "de", "as": "as"
}  # fmt: skip


def normal(participle: str) -> str:
    """A participle in the masculine singular: `assinada`, `assinados` as `assinado`."""
    return re.sub(r"(?<=[adit][dt])[oa]s?$|(?<=pag)[oa]s?$|(?<=eit)[oa]s?$", "o", flatten(participle))


def done(subject: Subject, text: str, low: str, place: Place, lang: str, *, once: bool) -> Slot | None:
    """The slot of `foi entregue`, `was signed on May 3`; `place` spans the words after the verb, `once`: completed."""
    start, end = place
    found = grammar.PARTICIPLE.match(low, start, end)
    if found is None or not (subject.definite or once):
        return None
    word = normal(found["word"])
    rest = low[found.end() : end]
    if leaves_whole(rest):
        return Slot(subject.text, "é", word, functional=False, typed=False)
    into = grammar.IN_PLACE.match(low, found.end(), end)
    if into is None:
        return None
    attribute = f"{word} {_PREPOSITIONS.get(into['word'], into['word'])}"
    value = value_at(text[:end], into.end(), lang)
    if value is not None and value.kind in ("date", "person", "place"):
        single = value.kind == "date" and leaves_whole(low[value.end : end])
        return Slot(subject.text, attribute, cleaned(text[value.start : value.end], value), single)
    shown = _words(text, low, into.end(), end)
    return Slot(subject.text, attribute, shown, functional=False, typed=False) if shown else None


def exists(text: str, low: str, place: Place, author: str, lang: str) -> Slot | None:
    """The slot of `cabe recurso da decisão`, `não há vagas`, `there is no fee`: the verb is attribute and value."""
    start, end = place
    found = grammar.EXISTS.match(low, start, end)
    if found is None:
        return None
    phrase = grammar.NO_PART_OF_IT.sub("", text[found.start("what") : found.end("what")].strip())
    subject = subject_of(phrase, "user" if author == "user" else "system", lang)
    if subject is None:
        return None
    verb = found["verb"].rstrip("m") if found["verb"][:2] in ("ca", "in") else "existe"
    slot = Slot(subject.text, verb, verb, functional=False)
    return slot.denied(lang) if found["neg"] or found["no"] or found["isnt"] else slot


def applies(subject: Subject, text: str, place: Place, word: str) -> Slot | None:
    """The slot of `the discount applies to new clients`: the verb with its complement, if any."""
    verb = "incide" if word == "incide" else "applies" if word.startswith("appl") else "aplica-se"
    shown = text[place[0] : place[1]].strip(" .!")
    if not subject.definite or len(shown.split()) > MAX_WORDS:
        return None
    return Slot(subject.text, "se aplica", f"{verb} {shown}".strip()[:MAX_VALUE_CHARS], functional=False, typed=False)


def part(subject: Subject, text: str, low: str, place: Place, author: str, lang: str) -> Slot | None:
    """The slot of a part, as a subject of its own: `O contrato tem multa rescisória de 10%`."""
    start, end = place
    begin = _ARTICLE.match(low, start, end)
    found = _PART.match(low, begin.end() if begin else start, end)
    if found is None or not subject.definite or flatten(found["part"]).split()[0] in words("indefinite"):
        return None
    value = value_at(text[:end], found.end(), lang)
    if value is None:
        return None
    joint = "of" if grammar.ENGLISH_PART.search(low, start, found.end()) else "de"
    named = subject_of(f"the {found['part']} {joint} {subject.text}", "user" if author == "user" else "system", lang)
    if named is None:
        return None
    slot, _ = slot_of(named, "be", value, text, low, (found.end(), end))
    return slot


def had(subject: Subject, text: str, low: str, place: Place, word: str) -> Slot | None:
    """The slot of `o plano inclui suporte`: stored verbatim; it can be denied."""
    shown = _words(text, low, place[0], place[1])
    if not shown or not subject.definite or _NO_THING.match(low, *place) or grammar.PARTICIPLE.match(low, *place):
        return None
    return Slot(subject.text, _VERBS.get(word.rstrip("sm"), "tem"), shown, functional=False, typed=False)


def led(text: str, low: str, place: Place, verb: re.Match[str], author: str, lang: str) -> Slot | None:
    """The slot of an owner or leader: `Maria owns the Atlas project`."""
    start, end = place
    name = value_at(text[:end], start, lang)
    if name is None or name.kind not in ("person", "place") or text[name.end : verb.start()].strip():
        return None
    word = verb["heads"].split()[0].rstrip("s") if verb["heads"].endswith("s") else verb["heads"].split()[0]
    role, joint = _ROLES[word], " of " if word in ("own", "lead", "manage", "coordinate") else " de "
    cut = _END.search(low, verb.end(), end)
    phrase = re.sub(r"^\s*(?:the|o|a|os|as)\s+", "", text[verb.end() : cut.start() if cut else end])
    led_by = subject_of(f"the {role}{joint}{phrase.strip()}", "user" if author == "user" else "system", lang)
    return Slot(led_by.text, "pessoa", cleaned(text[name.start : name.end], name), functional=True) if led_by else None


def _words(text: str, low: str, start: int, end: int) -> str:
    """The words up to the next clause; empty where there are too many."""
    cut = _END.search(low, start, end)
    shown = text[start : cut.start() if cut else end].strip(" \t*\"'“”")
    return shown[:MAX_VALUE_CHARS] if 0 < len(shown.split()) <= MAX_WORDS else ""
