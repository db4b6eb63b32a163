"""Sentence boundaries in Portuguese and English; abbreviations do not end a sentence.

`flatten` keeps lengths, so a position in the flat text is the same in the original.
"""

import re
import unicodedata

from sentencex import segment

# The maximum characters of a text that are processed: the bound on the cost of every rule.
MAX_CHARS = 20_000


def word_set(text: str) -> frozenset[str]:
    """The words of a list written with blanks."""
    return frozenset(text.split())


_ABBREVIATIONS = word_set(
    "av ex exa exmo exma dr dra drs sr sra srs srta prof profa eng adv art arts inc incs par fl fls p pp pág pag págs "
    "pags cap caps vol vols ed n nº núm num nr no rev obs ref tel r rod al est trav pç km cf op cit cia ltda etc apt "
    "apto bl min máx mr mrs ms st ave vs approx fig figs sec ch para jr sen gen gov rep vp e.g i.e eg ie al q.v"
)
_SURE_ENDS = word_set("etc no al para est ch min máx km ed rep gov gen cia ltda p.m a.m")
_ENDS_IN_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"“«])(?P<word>" + "|".join(re.escape(word) for word in sorted(_ABBREVIATIONS, key=len, reverse=True))
    + r")\.:?\s*$",
    re.IGNORECASE,
)  # fmt: skip
_INITIAL = re.compile(r"(?:^|\s)[A-ZÀ-Ý]\.\s*$")
_STARTS_LOW_OR_NUMBER = re.compile(r"\s*[\W_]*(?:[a-zà-ÿ0-9]|[IVXLC]+\b)")

_ACCENTED = "áàâãäåéèêëíìîïóòôõöúùûüçñýÿ"
_PLAIN = "aaaaaaeeeeiiiiooooouuuucnyy"
_FLAT = str.maketrans(_ACCENTED, _PLAIN)


def lower(text: str) -> str:
    """The text in lower case, the same number of characters."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def flatten(text: str) -> str:
    """The text in lower case without accents, the same number of characters; expects composed (NFC) text."""
    return lower(text).translate(_FLAT)


def composed(text: str) -> str:
    """The text with letters and accents composed (NFC) and one kind of apostrophe, cut to the maximum length."""
    text = text[:MAX_CHARS]
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text).replace("\u2019", "'").replace("\u00a0", " ")


def sentences(text: str, lang: str) -> tuple[str, ...]:
    """The sentences of a text in order, stripped; a line break ends a sentence."""
    found: list[str] = []
    for line in text.splitlines():
        if line.strip():
            found += _of_line(line, lang)
    return tuple(found)


def _of_line(line: str, lang: str) -> list[str]:
    if not any(mark in line for mark in ".!?…"):
        return [line.strip()]
    # Joined only at the end: joining in the loop would copy a long line over and over.
    joined: list[list[str]] = []
    for part in segment(lang if lang in ("pt", "en") else "en", line):
        if joined and _goes_on(joined[-1][-1], part):
            joined[-1].append(part)
        else:
            joined.append([part])
    return [text for parts in joined if (text := "".join(parts).strip())]


def _goes_on(before: str, after: str) -> bool:
    if _INITIAL.search(before[-4:]):
        return True
    found = _ENDS_IN_ABBREVIATION.search(before[-12:])
    if found is None:
        return False
    # "etc." or "no." may end a sentence: it continues only before a small letter or a number.
    return found["word"].lower() not in _SURE_ENDS or bool(_STARTS_LOW_OR_NUMBER.match(after))
