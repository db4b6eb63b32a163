"""Courts: which matters each branch of justice judges, and which court stands above which."""

import re
from collections.abc import Mapping

from agents.cognition.verification.provision_binding import case_numbers_in
from agents.core.language import text
from agents.core.language.lexicons import lexicon
from schemas.cognition import EvidencePassage

_SPELLED = {
    "supremo tribunal federal": "STF",
    "superior tribunal de justica": "STJ",
    "tribunal superior do trabalho": "TST",
    "tribunal superior eleitoral": "TSE",
    "superior tribunal militar": "STM",
    "tribunal regional do trabalho": "TRT",
    "tribunal regional federal": "TRF",
    "tribunal regional eleitoral": "TRE",
    "tribunal de justica": "TJ",
}
_LONG = re.compile("|".join(_SPELLED))
_SHORT = re.compile(
    r"(?<![A-Za-z])(?:(STF|STJ|TST|TSE|STM)|(TRT|TRF|TRE|TJ)(?:[-\s]?\d{1,2}|[-\s]?[A-Z]{2,3})?)(?![a-z])"
)
_ENGLISH = re.compile(r"\b(?:[A-Z][a-z]+ )+(?:Tribunal|Court)\b")
# The segment of a unified case number.
_SEGMENTS = {"1": "STF", "3": "STJ", "4": "TRF", "5": "TRT", "6": "TRE", "7": "STM", "8": "TJ", "9": "STM"}
_ABOVE = {"STJ": ("TJ", "TRF"), "TST": ("TRT",), "TSE": ("TRE",)}
_BRANCHES = {
    **dict.fromkeys(("TST", "TRT"), "labour"),
    **dict.fromkeys(("TSE", "TRE"), "electoral"),
    "STM": "military",
    **dict.fromkeys(("STJ", "TJ", "TRF"), "common"),
}
_OWN: Mapping[str, tuple[str, ...]] = {
    "labour": ("labour",),
    "electoral": ("electoral", "criminal"),
    "military": ("military", "criminal"),
    "common": ("criminal", "consumer", "tax", "military"),
}


def courts(said: str) -> frozenset[str]:
    """The courts that a text names, each as its abbreviation without a region."""
    found = {_SPELLED[each] for each in _LONG.findall(text.fold(said))}
    found |= {each[0] or each[1] for each in _SHORT.findall(said)}
    return frozenset(found | {_SEGMENTS[each[16]] for each in case_numbers_in(said) if each[16] in _SEGMENTS})


def court(passage: EvidencePassage) -> str:
    """The court whose ruling a passage is: named by its citation, its title or else its text; empty where not one."""
    for said in (f"{passage.cite.replace(':', ' ').replace('-', ' ')} {passage.cite}", passage.title, passage.text):
        found = courts(said)
        if len(found) == 1:
            return next(iter(found))
        names: set[str] = {match.casefold().removeprefix("the ") for match in _ENGLISH.findall(said)}
        if not found and len(names) == 1:
            return names.pop()
        if found or names:
            return ""
    return ""


def above(one: str, other: str) -> bool:
    """Whether a court stands above another; TST and STJ never stand one above the other."""
    known = set(_BRANCHES) | {"STF"}
    return (one == "STF" and other in known - {"STF"}) or other in _ABOVE.get(one, ())


def mismatch(asked: str, passage: EvidencePassage) -> tuple[str, str] | None:
    """The matter of a question and the court that does not judge it; None where they agree or one is not known."""
    branch = _BRANCHES.get(court(passage))
    words = frozenset(text.words(asked))
    votes = {matter: len(words & known) for matter, known in lexicon("verification").parts("matter").items()}
    best = max(votes.values(), default=0)
    matters = [matter for matter, count in votes.items() if count == best and count]
    if branch is None or len(matters) != 1 or matters[0] in _OWN[branch]:
        return None
    return matters[0], court(passage)
