"""Facts that users state about themselves, by kind: `sou alérgico a amendoim`, `I'm a product manager`."""

import re
from collections.abc import Iterator

from agents.core.claims import fact_kinds, grammar
from agents.core.claims.attributes import MAX_FREE_WORDS, MAX_VALUE_CHARS, Slot, cleaned, leaves_whole
from agents.core.claims.fact_kinds import FactKind
from agents.core.claims.subjects import USER
from agents.core.language.claim_lexicon import words
from agents.core.language.lexicons import framed
from agents.core.language.sentences import flatten
from agents.core.language.values import TypedValue, singular, value_at

Found = tuple[list[Slot], int | None]

NAME = {"pt": "nome do usuário", "en": "user's name"}
MAX_SEVERAL, MAX_PIECE_WORDS = 8, 5
_WE = re.compile(r"(?:nós|we|a gente)(?!\w)|\wmos(?!\w)")
_END = re.compile(r"[.;:!?(]|\s(?:mas|but|porque|because|pois|então|so|since|when|quando|which|que)\s")
_ONE = re.compile(r"[,.;:!?(]|\s(?:mas|but|e|and|porque|because|pois|so|since|at|na empresa)\s")
_LINK = re.compile(r",\s*(?:(?:e|and|ou|or)\s+)?|(?<!\s)\s+(?:e|and|ou|or|nem|nor)\s+(?:d[eoa]s?\s+|a\s+|to\s+)?")
_OF = re.compile(r"\s(?:d[aeo]s?|from|at)\s")
_PROPER = re.compile(r"(?:[oa]\s+)?[A-ZÀ-Ý][a-zà-ÿ]")
_WORD = re.compile(r"[^\W\d_][\w'-]*")


def told(text: str, low: str, place: tuple[int, int], lang: str) -> Found | None:
    """The slots that a clause fills about its speaker, and the start of the next clause; None for none."""
    start, end = place
    if (due := _due(text, low, place, lang)) or (due := _relative(text, low, place, lang)):
        return due
    for fact in fact_kinds.facts():
        match = fact.pattern.match(low, start, end)
        if match is None:
            continue
        read = _within(fact, text, low, match, end, lang) or _read(fact, text, low, (match.end(), end), lang)
        if read is None:
            continue
        slots, following = read
        denies = bool(match.groupdict().get("not")) != bool(match.groupdict().get("dis")) or "suporto" in match.group()
        return ([slot.denied(lang) for slot in slots] if denies else _for_us(slots, match, lang)), following
    return None


def _within(fact: FactKind, text: str, low: str, match: re.Match[str], end: int, lang: str) -> Found | None:
    """The value inside the pattern: `a nut allergy`, `sou vegetariana`."""
    if "value" not in match.groupdict():
        return None
    shown = text[match.start("value") : match.end("value")]
    return [_slot(fact, shown, lang)], grammar.clause_after(low, match.end(), end)


def _for_us(slots: list[Slot], match: re.Match[str], lang: str) -> list[Slot]:
    """Slots without facts of a group: a decision of several people is not a fact about one of them."""
    if not _WE.search(match.group()) or slots[0].attribute not in ("decisão", "usa"):
        return slots
    we = "we" if lang == "en" else "nós"
    return [Slot(we, slot.attribute, slot.value, slot.functional, typed=False) for slot in slots]


def _read(fact: FactKind, text: str, low: str, place: tuple[int, int], lang: str) -> Found | None:
    match fact.reads:
        case "several" | "thing" | "language":
            return _several(fact, text, low, place[0], lang)
        case "words" | "role":
            return _in_words(fact, text, low, place, lang)
        case _:
            return _typed(fact, text, low, place, lang)


def _several(fact: FactKind, text: str, low: str, at: int, lang: str) -> Found | None:
    """Each item of a list, `café, chá e bolo`, up to the start of the next clause."""
    slots: list[Slot] = []
    for start, stop in _pieces(low, at):
        shown = text[start:stop].strip(" \t*\"'“”")
        if not _is_thing(fact, low[start:stop]) or (slots and _is_clause(low, start, stop)):
            return (slots, start) if slots else None
        slots.append(_slot(fact, shown, lang))
    return (slots, None) if slots else None


def _pieces(low: str, at: int) -> Iterator[tuple[int, int]]:
    cut = _END.search(low, at)
    end = cut.start() if cut else len(low)
    for _ in range(MAX_SEVERAL):
        link = _LINK.search(low, at, end)
        yield at, link.start() if link else end
        if link is None:
            return
        at = link.end()


def _is_clause(low: str, start: int, stop: int) -> bool:
    too_long = len(low[start:stop].split()) > MAX_PIECE_WORDS
    return (
        too_long or fact_kinds.says_of_oneself(low, start, len(low)) or grammar.first_verb(low, start, stop) is not None
    )


def _is_thing(fact: FactKind, piece: str) -> bool:
    said = _WORD.findall(piece)
    if not said or len(said) > MAX_FREE_WORDS or said[0] in words("pointing"):
        return False
    if fact.reads == "language":
        return said[0] in words("languages") and len(said) <= 2
    if fact.reads != "thing":
        return True
    if not words("passing").isdisjoint({flatten(word) for word in said} | {singular(flatten(word)) for word in said}):
        return False
    return said[0] in words("ailments") or (len(said) <= MAX_PIECE_WORDS and _COUNTED.match(piece.strip()) is not None)


_COUNTED = re.compile(
    r"(?:uma?|dois|duas|três|quatro|cinco|an?|one|two|three|four|five|several|vári[oa]s)\s+(?!pouco|little|bit|lot)[^\W\d_]"
)


def _in_words(fact: FactKind, text: str, low: str, place: tuple[int, int], lang: str) -> Found | None:
    at, end = place
    cut = _ONE.search(low, at, end)
    stop = cut.start() if cut else end
    shown = text[at:stop].strip(" \t*\"'“”")
    said = shown.lower().split()
    if not 0 < len(said) <= MAX_FREE_WORDS or said[0] in words("pointing"):
        return None
    # Portuguese roles come first, English ones may follow their complement.
    if fact.reads == "role" and words("roles").isdisjoint(said[: 1 if lang == "pt" else 4]):
        return None
    return [_slot(fact, shown, lang)], grammar.clause_after(low, stop, end)


def _typed(fact: FactKind, text: str, low: str, place: tuple[int, int], lang: str) -> Found | None:
    at, end = place
    value = value_at(text[:end], at, lang)
    if value is None or not _fits(fact, value, text, low, end):
        return None
    shown = cleaned(text[value.start : value.end], value)
    single = fact.functional and leaves_whole(low[value.end : end])
    subject = NAME.get(lang, NAME["en"]) if fact.attribute == "nome" else USER.get(lang, USER["en"])
    return [Slot(subject, fact.attribute, shown, single)], grammar.clause_after(low, value.end, end)


def _fits(fact: FactKind, value: TypedValue, text: str, low: str, end: int) -> bool:
    if fact.reads == "date":
        return value.kind == "date"
    if fact.reads == "place":
        return value.kind in ("place", "person")
    name = text[value.start : value.end]
    whole = (
        leaves_whole(low[value.end : end])
        or _OF.match(low, value.end, end) is not None
        or grammar.clause_after(low, value.end, end) is not None
    )
    proper = _PROPER.match(name) is not None
    people = framed("facts", fact_kinds.PEOPLES).fullmatch(flatten(name)) is not None
    return value.kind == "person" and whole and proper and not people


def _slot(fact: FactKind, shown: str, lang: str) -> Slot:
    return Slot(USER.get(lang, USER["en"]), fact.attribute, shown[:MAX_VALUE_CHARS], fact.functional, typed=False)


def _relative(text: str, low: str, place: tuple[int, int], lang: str) -> Found | None:
    """The names of relatives: `tenho um filho chamado Pedro`, `two sons, Ana and Pedro`."""
    start, end = place
    several = framed("facts", fact_kinds.RELATIVES).match(low, start)
    if several is not None and (names := fact_kinds.NAMES.match(text, several.end())) is not None:
        each = re.findall(r"[A-ZÀ-Ý][\w'-]+", names.group())
        return [Slot(_whose(several["kin"], lang), "nome", name, functional=False) for name in each], None
    match = framed("facts", fact_kinds.RELATIVE).match(low, start, end)
    name = value_at(text[:end], match.end(), lang) if match else None
    if match is None or name is None or name.kind not in ("person", "place"):
        return None
    slot = Slot(_whose(match["kin"], lang), "nome", cleaned(text[name.start : name.end], name), functional=False)
    return [slot], grammar.clause_after(low, name.end, end)


def _whose(kin: str, lang: str) -> str:
    return f"user's {kin}" if lang == "en" else f"{kin} do usuário"


def _due(text: str, low: str, place: tuple[int, int], lang: str) -> Found | None:
    """A deadline of the speaker: `tenho que entregar o relatório até sexta`."""
    start, end = place
    match = fact_kinds.DUE.match(low, start, end)
    date = value_at(text[:end], match.end(), lang) if match else None
    if match is None or date is None or date.kind != "date":
        return None
    what = (match["what"] or match["that"] or "").strip()
    subject = "user's deadline" if lang == "en" else "prazo do usuário"
    subject += f" {'for' if lang == 'en' else 'para'} {what}" if what else ""
    single = bool(what) and leaves_whole(low[date.end : end])
    slot = Slot(subject, "data", cleaned(text[date.start : date.end], date), single)
    return [slot], grammar.clause_after(low, date.end, end)
