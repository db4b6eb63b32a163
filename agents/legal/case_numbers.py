"""Brazilian case numbers: the unified number of the CNJ (Resolution 65/2008) and the older federal one."""

import re
from collections.abc import Iterator

# Without its leading zeros, as many courts print it, the sequence is shorter.
UNIFIED = r"\d{1,7}-\d{2}\.\d{4}\.\d\.\d{2}\.\d{4}"
_OLD = r"\d{4}\.\d{2}\.\d{2}\.\d{6}-\d"
_CASE = re.compile(
    r"(?<!\w)(?:(?:(?i:processos?|autos|apelação|correição\s+parcial|embargos\s+de\s+declaração|agravo\s+regimental|"
    r"ação\s+penal(?:\s+militar)?|recurso\s+inominado|inquérito))\s{1,3}(?:[Nn]\.?\s?[º°o]?\.?\s{0,3})?)?"
    rf"(?<![\d.-])(?P<number>{UNIFIED}|{_OLD})(?![\d-])(?:\s?/[A-Z]{{2}}\b)?"
)


def is_unified(number: str) -> bool:
    """Whether a number is one of the CNJ, not one of the older form or of a court of its own."""
    return re.fullmatch(UNIFIED, number) is not None


def unified(written: str) -> str:
    """A unified number with its leading zeros."""
    sequence, _, rest = written.partition("-")
    return f"{sequence.zfill(7)}-{rest}"


def found(text: str) -> Iterator[tuple[str, int, int]]:
    """Each case number of a text in its full form, with the position of its citation."""
    for match in _CASE.finditer(text):
        written = match["number"]
        yield (unified(written) if is_unified(written) else written), *match.span()


def valid(number: str) -> bool:
    """Whether the check digits of a unified number in its full form are right; a warning, never a reason to pass over.

    The digits themselves are compared: a remainder of 1 alone lets 01 pass for 98 and 99 for 02. Source: CNJ
    Resolution 65/2008, annex VIII (ISO 7064, module 97).
    """
    sequence, _, rest = number.partition("-")
    digits, _, tail = rest.partition(".")
    return int(digits) == 98 - int(sequence + tail.replace(".", "") + "00") % 97
