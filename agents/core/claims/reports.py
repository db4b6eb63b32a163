"""What a statement leans on somewhere else: `segundo a ata`, `o Pedro disse que`, `according to the contract`.

Such a statement is asserted by who passes it on, less surely: it contests what another said, and takes back nothing of
his own. What nobody said (`não disse que`) and what the hearer is reminded of (`você disse que`) asserts nothing.
"""

import re
from functools import lru_cache

from agents.core.language.sentences import composed, lower

MAX_CHARS = 600
SURENESS = 0.6
_DETERMINER = r"(?:o|a|os|as|the|my|our|your|its|it|it's|é|meu|minha|nosso|nossa|seu|sua|este|esta|esse|essa)"
_SOURCE = re.compile(
    r"(?<![\w'-])(?:(?<![oa] )segundo(?! turno| semestre)|conforme(?! combinad| acordad)|de acordo com|according to|"
    r"as per|based on|com base n[oa]|(?:(?<=^)|(?<=[,;:] ))(?:pelo|pela|per)(?! que| menos))\s+"
    rf"(?:{_DETERMINER}\s+)?[^\s,;:.!?]{{2,40}}(?:\s+[^\s,;:.!?]{{1,40}}){{0,5}}?"
    rf"(?<!\sd[aeo])(?<!\sof)(?<!\sem)(?<!\sin)(?<!\sfrom)(?=\s*(?:[,;:.!?]|$)|\s+{_DETERMINER}\s)\s*,?"
)
_SAID = re.compile(
    r"(?:(?<=^)|(?<=[,;:.!] ))(?:(?:mas|but|não|nao)\s+)?"
    r"(?P<who>(?:[\w'-]{1,30}\s+){0,6}?)"
    r"(?:(?:disse|disseram|diz|dizem|falou|falaram|avisou|avisaram|informou|informaram|afirm(?:a|ou|am|aram)|"
    r"confirm(?:ou|aram)|consta|li|vi|vimos|está escrito)\s+(?:(?:aqui|lá|n[oa] \w{1,20})\s+)?que\s+"
    r"|(?:diz|dizem|mostra|indica|aponta|fala\s+em|falou\s+em|falaram)\s+(?=\w)"
    r"|(?:says?|said|states|stated|mentioned|claims|claimed|confirmed|shows|(?:was|were|been)\s+told)\s+"
    r"(?:that\s+)?(?=\w)|(?:read|saw)\s+(?:on|in)\s+(?:the|your|our|my)\s+\w+\s+that\s+"
    r"|(?:told|informed)\s+(?:me|us)\s+(?:that\s+)?)"
)
_NOBODY = re.compile(
    r"(?<!\w)(?:não|nao|nunca|ninguém|not|never|nobody|no one|você|vocês|tu|you|se|if|quem|who|caso|when|quando|let's|"
    r"lets|\w+n't|can|could|would|to|need|needs)(?!\w)"
)


def source(low: str) -> tuple[int, int] | None:
    """Where a sentence says what it leans on, in lower case with accents; None when it leans on nothing."""
    found = _SOURCE.search(low)
    if found is not None:
        return found.span()
    said = _SAID.search(low)
    # Only Portuguese verbs say it without a subject: `disseram que`, `consta que`.
    if said is None or _NOBODY.search(said["who"]) or (not said["who"].strip() and not said.group().endswith("que ")):
        return None
    return said.start("who"), said.end()


def without_source(text: str) -> str:
    """A text with what it leans on blanked out, place by place."""
    found = source(lower(text))
    return text if found is None else f"{text[: found[0]]}{' ' * (found[1] - found[0])}{text[found[1] :]}"


@lru_cache(maxsize=4_096)
def is_reported(text: str) -> bool:
    """Whether a statement leans on what another, or a document, says."""
    return source(lower(composed(text[:MAX_CHARS]))) is not None
