"""Division of comparisons: one sub-question for each side, by the criterion that compares them (R4)."""

import re

from agents.cognition.decomposition.masking import NAME, Asked, are_apart, form, pattern, rows
from agents.cognition.decomposition.parts import Split, split_of
from schemas.cognition import QuestionKind

_SIDE = r"[^,;:?]{2,80}?"
_SIDES = rf"(?P<a>{_SIDE}),? (?:and|e|or|ou|with|to|com) (?P<b>[^,;:?]{{2,80}})"
_NAMES = re.compile(rf"(?<![\w'])(?P<a>{NAME}),?(?P<join> (?:and|or|e|ou) (?:[oa]s? )?)(?P<b>{NAME})")
_AUXILIARY = re.compile(
    r"(?P<asked>which|who|what|qual|quem|que)\b(?P<noun>(?: \w+){0,4}?) "
    r"(?P<verb>is|was|are|were|has|have|had|did|does|do|can|could|will|would|e|foi|tem|era|pode) (?P<rest>.+)"
)
_PORTUGUESE_VERBS = frozenset(("e", "foi", "tem", "era", "pode"))


_CHOOSES = re.compile(
    r"(?:(?:in|on|at|of|for|em|de|com) )?(?:which|who|whose|what|where|qual|quais|quem|que|onde)\b|"
    r".*\b(?:which|who|qual|quem)\b"
)
_ALTERNATIVES = (
    r"^(?P<lead>.*?[^,:])[,:] (?:<<between>> )?(?P<a>[^:?]{2,80}?),? <<ors>> (?P<b>[^,:?]{2,80})(?P<tail>,[^?]*)?\W*$"
)
_LOWER = (
    r"^<<verbs_first>> (?:both )?(?P<a>[^,;:?]{2,50}?) <<joins>> (?P<b>[^,;:?]{2,50}?)(?= <<alike>>\b| in the same)"
)
_MORE = r"\b(?:<<more>>|\w+er)\b(?:.{0,120}?) <<~than>> (?:in )?(?P<b>[^,;:?]{2,80})"
_BETWEEN = (
    r"^(?:in )?<<between>> (?:the )?(?P<a>[^,;:?]{2,60}?) <<joins>> (?P<b>[^,;:?]{2,60}?)"
    r"(?:,| (?=(?:which|who|qual|quem)\b))",
    r"(?:<<in_time>>,?|,) <<between>> +(?P<a>[^,;:?]{2,60}?) (?:<<joins>>|<<ors>>) (?P<b>[^,;:?]{2,60})",
)


def comparison(asked: Asked) -> Split | None:
    """One sub-question per side of a comparison; none where nothing is compared."""
    return _of_two_things(asked) or _alternatives(asked) or _alike(asked) or _than(asked)


def _of_two_things(asked: Asked) -> Split | None:
    """`difference between A and B`, `compare A with B`, `A versus B`: what each is."""
    for frame in (rf"\b<<~difference>> {_SIDES}\W*$", rf"\b<<~compare>> {_SIDES}\W*$"):
        if found := pattern(asked.lang, frame).search(asked.flat):
            return _things(asked, found)
    found = pattern(asked.lang, rf"(?P<a>(?:[^\s,;:?]+ ){{0,4}}[^\s,;:?]+) <<~versus>> (?P<b>{_SIDE})\W*$").search(
        asked.flat
    )
    return _things(asked, found) if found else None


def _things(asked: Asked, found: re.Match[str]) -> Split | None:
    sides = [asked.text[slice(*found.span(side))] for side in "ab"]
    return split_of("comparison", [form("thing", each, asked.lang) for each in sides], asked.lang)


def _alternatives(asked: Asked) -> Split | None:
    """`Which is older, A or B?`, `Between A and B, which …?`, `Do more people come from A or B?`."""
    if (found := pattern(asked.lang, _ALTERNATIVES).search(asked.flat)) and _CHOOSES.match(found["lead"]):
        lead = asked.text[slice(*found.span("lead"))]
        tail = asked.text[slice(*found.span("tail"))].strip(" ,") if found["tail"] else ""
        return _by_criterion(asked, found, f"{lead} {tail}")
    for frame in _BETWEEN:
        if found := pattern(asked.lang, frame).search(asked.flat):
            timed = re.search(r"\A\w+(?: \w+)?(?=,? (?:out of|of|between|entre))", asked.flat[found.start() :])
            before = asked.text[: found.start() + (timed.end() if timed else 0)]
            return _by_criterion(asked, found, f"{before} {asked.text[found.end('b') :]}")
    for names in _NAMES.finditer(asked.masked):
        if names["join"].split()[0] in ("or", "ou"):
            return split_of("comparison", _holes(asked, names), asked.lang)
    return None


def _by_criterion(asked: Asked, found: re.Match[str], lead: str) -> Split | None:
    sides = [asked.text[slice(*found.span(side))].strip(" ,") for side in "ab"]
    return split_of("comparison", [_criterion(lead.strip(" ,:?"), each, asked.lang) for each in sides], asked.lang)


def _criterion(lead: str, side: str, lang: str) -> str:
    """The question whose answer for one side is compared: its age for `Which is older`."""
    flat = lead.lower()
    for said, template in rows("measures", lang).items():
        if re.search(rf"\b{said}\b", flat):
            return template.replace("{}", side)
    if timed := pattern(lang, r"\b(?:was|were|is|foi) (?P<verb>\w+(?: in \w+)?) <<in_time>>").search(flat):
        return f"When was {side} {timed['verb']}" if lang == "en" else f"Quando {side} foi {timed['verb']}"
    if plain := _AUXILIARY.match(flat):
        verb, rest = (lead[slice(*plain.span(name))] for name in ("verb", "rest"))
        return f"{side} {verb} {rest}" if plain["verb"] in _PORTUGUESE_VERBS else f"{verb} {side} {rest}"
    return f"{lead}: {side}"


def _alike(asked: Asked) -> Split | None:
    """`Are both A and B …?`, `A and B have … in common`: what is asked of both is asked of each."""
    cue = pattern(asked.lang, r"\b<<alike>>\b").search(asked.flat) or _joint_subject(asked)
    first = pattern(asked.lang, r"^<<verbs_first>> ").match(asked.flat)
    if not (cue or first):
        return None
    begins = first.end() if first else 0
    joined = (each for each in _NAMES.finditer(asked.masked, begins) if each["join"].split()[0] in ("and", "e"))
    found = next(joined, None)
    if found is None or (not cue and first and found.start() > begins + 4):
        found = pattern(asked.lang, _LOWER).search(asked.flat)
    if found is None or (asked.lang == "pt" and not cue):
        return None
    kind: QuestionKind = "both" if cue is None or cue[0].lower() in ("both", "ambos", "ambas") else "comparison"
    return split_of(kind, _holes(asked, found), asked.lang)


def _joint_subject(asked: Asked) -> re.Match[str] | None:
    """`What sport do A and B play?`: two names behind an auxiliary verb."""
    frame = r"\b(?:do|does|did|are|were|is|was|have|has|sao|foram|eram|tem) (?:the |os? |as? )?$"
    found = (each for each in _NAMES.finditer(asked.masked) if each["join"].split()[0] in ("and", "e"))
    return next((each for each in found if re.search(frame, asked.flat[: each.start()]) and _apart(each)), None)


def _apart(found: re.Match[str]) -> bool:
    return are_apart(found["a"], found["b"])


def _holes(asked: Asked, found: re.Match[str]) -> list[str]:
    """The question with each side alone in the place of both."""
    before, after = asked.text[: found.start("a")], asked.text[found.end("b") :]
    sides = [asked.text[slice(*found.span(side))] for side in "ab"]
    if not after.strip(" ?.!") and _begins_with_verb(asked) and " " in sides[1]:
        # `Are A and B American?`: a capital does not make the predicate part of the name.
        sides[1], _, after = sides[1].rpartition(" ")
        after = f" {after}"
    verb, blank, rest = before.partition(" ")
    before = f"{rows('singular', asked.lang).get(verb.lower(), verb)}{blank}{rest}"
    drop = re.compile(r"\b(?:both|ambos|ambas|in common|em comum|same|mesm[oa])\b ?", re.I)
    return [drop.sub("", f"{before}{each}{after}") for each in sides]


def _begins_with_verb(asked: Asked) -> bool:
    return pattern(asked.lang, r"^<<verbs_first>> ").match(asked.flat) is not None


def _than(asked: Asked) -> Split | None:
    """`How many more X did A get than B?`: the same of each name."""
    found = pattern(asked.lang, _MORE).search(asked.flat)
    if found is None:
        return None
    place = found.start("b")
    other = re.compile(NAME).match(asked.masked, place)
    first = [each for each in re.finditer(NAME, asked.masked[:place]) if each.start()]
    if other is None or not first:
        return None
    start, end = first[-1].span()
    than = pattern(asked.lang, r" <<~than>> (?:in )?$").search(asked.flat[:place])
    if than is None:
        return None
    rest = asked.text[end : than.start()] + asked.text[other.end() :]
    sides = (asked.text[start:end], asked.text[slice(*other.span())])
    more = pattern(asked.lang, r"\b<<more>> ")
    flat = [f"{asked.text[:start]}{side}{rest}" for side in sides]
    return split_of("comparison", [more.sub("", each, count=1) for each in flat], asked.lang)
