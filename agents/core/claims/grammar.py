"""Asserting verbs and the words around a value: compiled patterns over lower-case text with accents.

Every pattern is linear: bounded repeats, no repeat inside a repeat over the same characters.
"""

import re
from collections.abc import Iterator
from functools import cache

from agents.core.caching.texts import text_cache
from agents.core.claims import fact_kinds
from agents.core.language.lexicons import framed
from agents.core.language.sentences import composed, lower

_EVENTS = r"(?:\w{2,}(?:ad|íd|id)[oa]s?|<<participles>>|(?!<<no_participles>>)\w{3,}ed)"
_BY_VERB = (
    "past",
    "cost",
    "due",
    "start",
    "end",
    "called",
    "heads",
    "have",
    "does",
    "applies",
    "live",
    "work",
    "place",
    "be",
)
FORMS = ("change", "wasnot", "benot", "set", "became", *_BY_VERB)
_BARE_MOVED = r"(?:<<~moved>>|mudou|passou|ficou)(?:\s(?:de|from)\s[^,;]{1,30}?)?\s(?:para|pra|to|until|for)"
# Frames for the phrases of the lexicon; `was open` is over, `was approved` still holds.
_FRAMES = {
    "PARTICIPLE": rf"\s*(?:(?:já|ainda|also|already|now|mainly|agora)\s+)?(?P<word>{_EVENTS})(?![\w-])",
    "VERB": (
        r"(?<![\w'-])(?:(?P<change>(?:<<~moved.pt>>|<<moved_by_itself>>)(?:\s+d[eoa]s?\s[^,;]{1,40}?)?"
        r"\s+(?:para|pra|pro|a ser)(?!\w)|<<~moved.en>>(?:\s+from\s[^,;]{1,40}?)?\s+(?:to|until|for)\b)"
        r"|(?P<wasnot>(?:wasn't|weren't|was not|were not|(?:has|have)(?: not|n't) been)"
        rf"(?=\s+{_EVENTS}(?!\w)))"
        r"|(?P<benot>(?:isn't|aren't|is not|are not|won't be|is no longer)\b)"
        r"|(?P<neg>(?:não|nao|nunca|ainda não|(?:does|do|did)(?:n't| not))\s+)?(?:(?P<set><<~set>>(?!\w))|"
        rf"(?P<became>foi|foram|was|were|has been|have been|got)(?=\s+{_EVENTS}(?!\w))|"
        + "|".join(rf"(?P<{form}><<verb_{form}>>)(?!\w)" for form in _BY_VERB)
        + "))"
    ),
    "ENGLISH": r"<<english_verbs>>\b",
    "FILLER": r"\s*<<filler>>(?=\s)",
    "APPROXIMATE": r"\s*(?:<<approximate>>|de (?=\S{1,14} (?:a|até) \d)|~|≈)(?!\w)",
    "OPENER": r"\s*<<opens>>(?:\s*[!.,:]+\s*|\s+|$)",
    "OPENER_WHOLE": r"\s*(?:<<opens>>[\s!.,]*){1,3}",
    "HARMLESS": r"[\s,.!…)]*(?:<<harmless_tail>>[\s,.!…)]*){0,3}$",
    "REASON": r"\s*<<reason_tail>>",
    "HEDGE": r"\b<<hedges>>\b",
    "NOT_CLAIMED": r"\b<<unclaimed>>(?!\w)",
    "QUESTION": r"\W*(?:(?:e|mas|and|but)\s)?<<question_starts>>\b",
    "POLITE": (
        r"^\W*(?:(?:n[ãa]o|no|nope)[,.!]?\s+(?:muito\s+)?<<polite_no>>\b|"
        r"(?:n[ãa]o|no|not) (?:s[óo]|apenas|only|just)\b)"
    ),
    "WAIT": r"^\W*<<wait>>\b",
    "CONTESTING": r"(?<!\w)<<contests>>(?!\w)",
    "CORRECTING": r"(?<!\w)<<corrects>>(?!\w)",
    "WRONG_OTHERWISE": r"(?<!\w)<<not_wrong>>(?!\w)",
    "CHANGING": r"(?<!\w)(?:<<~moved.pt>>|<<change_adverbs>>|<<changing>>)(?!\w)",
    "SELF_CORRECTION": r"(?<!\w)<<self_correction>>(?!\w)",
    # Before the value of a sentence without a subject: `não, é dia 20`, `it moved to the 20th`.
    "BARE_LEAD": (
        r"\s*(?:(?:it|that|this|isso|ele|ela|agora|now|é que)\s+)?(?P<neg>(?:e\s+|and\s+)?(?:não|nao|not)\s+)?"
        r"(?P<instead>(?:em vez|ao invés|no lugar) d[eoa]s?\s+|(?:instead of|rather than)\s+)?"
        rf"(?:(?:it's|that's|{_BARE_MOVED}|"
        r"(?P<not>isn't|wasn't)|é|eh|são|foi|será|seria|is|was|should be|will be|deveria ser|vai ser|ficou|está|custa|"
        r"costs)(?!\w))?"
        rf"(?P<neg2>\s+not(?!\w))?\s*(?:mais\s|no longer\s)?(?:{_EVENTS}\s)?"
    ),
}
# Statements about oneself, and the assistant's repetitions of them (`você mora`, `you live`).
_OF_ONESELF = {
    "SELF_PT": (
        r"(?<![\w'-])(?<!ao )(?:(?:eu|nós|você)\s+)?(?P<not>(?:não|nao|já não)\s+)?(?:(?:agora|atualmente|hoje|"
        r"também)\s+)?(?:(?P<live><<~lives.pt>>)|(?P<moved><<~moved.pt>>)|(?P<work><<~works.pt>>)|"
        r"(?P<called><<~called.pt>>)|(?P<age>(?:tenho|tem)(?=\s+\d{1,3}\s+anos\b))|"
        r"(?P<count>(?:temos|tenho)(?=\s+(?:\d|[a-zç]+\s+[a-z]))))(?!\w)"
    ),
    "SELF_EN": (
        r"(?<![\w'-])(?:i|we|you)(?:'ve|'m| am|'re| are| have)?\s+(?:(?:now|just|recently|currently|also|really|"
        r"actually)\s+){0,2}(?P<not>(?:don't|do not|no longer)\s+)?(?:now\s+)?(?:(?P<live><<~lives.en>>)|"
        r"(?P<moved><<~moved.en>>)|(?P<work><<~works.en>>)|(?P<called><<~called.en>>)|"
        r"(?P<count>have(?=\s+(?:\d|[a-z]+\s+[a-z]))))(?!\w)|"
        r"(?<![\w'-])(?:i'm|i am|you're|you are)(?P<age>)(?=\s+\d{1,3}\s+years? old\b)"
    ),
}
# `No` and `não` open a sentence only when they stand alone, unlike `no prazo`, `não é`.
_OPENS = r"(?:n[ãa]o(?=\s*(?:[,.!:;]|$))|no(?=\s*(?:[,.!:;]|$)|\s+(?:the|it|my|our)\b)|<<openers>>)"


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern made of the lexicon's phrases, compiled at first use."""
    if name in _OF_ONESELF:
        return framed("facts", _OF_ONESELF[name])
    return framed("claims", _FRAMES[name].replace("<<opens>>", _OPENS))


def __getattr__(name: str) -> re.Pattern[str]:
    if name not in _FRAMES and name not in _OF_ONESELF:
        raise AttributeError(name)
    found = globals()[name] = pattern(name)
    return found


SPLIT = re.compile(r"[;—–]\s?|:\s|,\s(?!\d{4}\b)|\s-\s|\s\((?=\w)|\)")
CONTRAST = re.compile(
    r"\s*(?:(?:e|and|but|mas)\s+)?(?:não|nao|not|em vez d[eoa]|ao invés d[eoa]|no lugar d[eoa]|instead of|rather than|"
    r"e nunca)(?!\w)"
)
_AND = re.compile(r"\s(?:e|and|mas|but)\s")
# `You and I` begins no clause.
_SUBJECT = re.compile(
    r"(?:(?:i|we|they|you|he|she)(?:'\w+)?|eu|nós|a gente|vocês?|el[ea]s?)\s(?!(?:e|and|mas|but|or|ou)\s)[^\W\d_]"
)
AND = re.compile(r"\s*(?:e|and|mas|but|porém|or|ou)\s")
RANGE = re.compile(r"\s*(?:a|à|até|to|until|through|ou|or|-|–)\s+(?:o\s+|the\s+)?(?:dia\s+)?[\d$r]")
IT = re.compile(r"\s*(?:(?:agora|now|já|hoje|mas|but|e|and|it|ele|ela|este|esta|então|then|so|que)\s*){0,3}$")
SAME_SUBJECT = re.compile(r"(?:now\s+)?(?:work|live|have|love|like|am|study)\b")
IT_IS = re.compile(r"(?<![\w'])(?:it's|that's)(?!\w)")


# The word before a verb is its subject, never one of these: `the retention of support tickets`, `a cover letter`.
_NO_SUBJECT = re.compile(
    r"(?:^|\s)(?:of|the|an?|our|my|your|their|its|his|her|for|to|with|by|from|no|any|more|"
    r"d[eoa]s?|n[oa]s?|um|uma|com|para|pel[oa]s?|sem)\s+$"
)
_SPELLED_AS_NOUN = frozenset({"does", "heads", "work", "end", "start", "cost"})


def first_verb(low: str, position: int, end: int) -> re.Match[str] | None:
    """The first verb or `it's`."""
    found = [match for match in (_verb(low, position, end), IT_IS.search(low, position, end)) if match]
    return min(found, key=lambda match: match.start(), default=None)


def _verb(low: str, position: int, end: int) -> re.Match[str] | None:
    for match in pattern("VERB").finditer(low, position, end):
        may_be_noun = any(match[name] for name in _SPELLED_AS_NOUN)
        if not may_be_noun or not _NO_SUBJECT.search(low, position, match.start()):
            return match
    return None


def says_of_oneself(low: str, position: int, end: int) -> bool:
    """Whether a clause there is about its speaker."""
    stated = pattern("SELF_PT").search(low, position, end) or pattern("SELF_EN").search(low, position, end)
    return stated is not None or fact_kinds.says_of_oneself(low, position, end)


def next_clauses(low: str) -> Iterator[re.Match[str]]:
    """The conjunctions before a clause with a subject of its own, or about its speaker."""
    for link in _AND.finditer(low):
        at, end = link.end(), len(low)
        if _SUBJECT.match(low, at) or pattern("SELF_PT").match(low, at) or fact_kinds.says_of_oneself(low, at, end):
            yield link


def clause_after(low: str, position: int, end: int) -> int | None:
    """The start of the next clause after `and`, `but`, `e`, `mas`; None when there is no verb."""
    link = AND.match(low, position, end)
    if link is None:
        return None
    # `I live in Porto and work at Acme`: the second verb has no subject of its own.
    if SAME_SUBJECT.match(low, link.end(), end):
        return end
    return link.end() if first_verb(low, link.end(), end) or says_of_oneself(low, link.end(), end) else None


NO = re.compile(
    r"^\W*(?:não|nao|no|nope|errado|wrong|negativo)\b(?=\s*[,.!:;—-]|\s+(?:é|eh|foi|o|a|os|as|it|the|dia|"
    r"em|is|that|r\$|\d))"
)
QUOTED = re.compile(r"[\"“«][^\"”»]{1,400}[\"”»]")
# Verbs that precede their subject: `cabe recurso`, `não há vagas`, `there is no fee`.
EXISTS = re.compile(
    r"(?:(?P<neg>não|nao)\s+)?(?P<verb>cabem?|incidem?|há|existem?|there(?:'s| is| are))(?P<isnt>n't)?\s+"
    r"(?P<no>no\s+|not?\s+)?(?:any\s+|(?:an?|uma?)\s+(?=[^\s,;:.!?\d]+(?:\s[^\s,;:.!?\d]+){0,2}\s*(?:[,.;!]|$)))?"
    r"(?!\d|uns?\s|umas?\s|a\s|an\s|alg|muit|some\s|many\s|vári|dois|duas|três|pouc|lots?\b|plenty|still|so\b|always|already|also)"
    r"(?P<what>(?:[^\s,;:.!?]{1,40}\s?){1,8})"
)
NO_PART_OF_IT = re.compile(
    r"\s(?:em \S+ (?:dias?|meses|anos|horas)|no prazo|até|within|by|para quem|for)\s.*|\s(?:aqui|now|agora)$"
)
# Verbs of change, whose object is the subject of the claim (`o cliente adiou o prazo para dia 20`).
CHANGES = re.compile(
    r"(?P<who>(?:[\w'-]{1,20}\s+){0,4}?)(?:(?P<pt>adi|mud|alter|antecip|cort|prorrog|remarc|aument|ampli)(?:ou|aram|amos|ei)|"
    r"(?P<pt2>reduz|estend)(?:iu|iram|imos|eu|eram|emos)|(?P<en>moved|pushed|changed|postponed|delayed|extended|cut|raised|"
    r"reduced|increased|lowered|shifted)(?:\s+back)?)\s+"
    r"(?P<what>(?:o|a|nosso|nossa|meu|minha|the|our|my)\s+(?:[^\s,;:.!?]{1,30}\s+){1,6}?)(?:(?:de|from)\s[^,;]{1,25}?\s)?"
    r"(?:para|pra|to|until)\s+(?:[oa]\s+|the\s+(?=\d))?"
)
NEGATION = re.compile(r"(?<!\w)(?:não|nao|nunca|not|never|nobody|ninguém|\w+n't)(?!\w)")
ENGLISH_PART = re.compile(r"\s(?:of|at|for)\s")
IN_PLACE = re.compile(
    r"\s*(?P<word>em|no|na|nos|nas|in|on|at|by|with|com|por|pelo|pela|para|to|from|de|do|da|as|como)\s+"
)

# The source of a statement: `segundo a ata`, `o Pedro disse que`, `according to the contract`.
# A reported statement is asserted by the reporter, with less confidence: it contests others' claims but retracts none
# of the reporter's. Denied sources (`não disse que`) and reminders to the hearer (`você disse que`) assert nothing.
MAX_REPORT_CHARS = 600
REPORTED_SURENESS = 0.6
_DETERMINER = r"(?:o|a|os|as|the|my|our|your|its|it|it's|é|meu|minha|nosso|nossa|seu|sua|este|esta|esse|essa)"
_LEANS = re.compile(
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
    """The span of a sentence's source, in lower case with accents; None without a source."""
    found = _LEANS.search(low)
    if found is not None:
        return found.span()
    said = _SAID.search(low)
    # Only Portuguese verbs report without a subject: `disseram que`, `consta que`.
    if said is None or _NOBODY.search(said["who"]) or (not said["who"].strip() and not said.group().endswith("que ")):
        return None
    return said.start("who"), said.end()


def without_source(text: str) -> str:
    """A text with its sources replaced by blanks of the same length."""
    found = source(lower(text))
    return text if found is None else f"{text[: found[0]]}{' ' * (found[1] - found[0])}{text[found[1] :]}"


@text_cache(4_096)
def is_reported(text: str) -> bool:
    """Whether a statement cites somebody else or a document."""
    return source(lower(composed(text[:MAX_REPORT_CHARS]))) is not None
