"""The verbs that assert, and what may stand around a value: compiled patterns over lower-case text with accents.

Every pattern is linear: bounded repeats, no repeat inside a repeat over the same characters.
"""

import re

from agents.core.claims import first_person_words
from agents.core.language.claim_lexicon import (
    CHANGE_ADVERBS,
    CONTESTS,
    CORRECTS,
    HARMLESS_TAIL,
    HEDGES,
    NOT_WRONG,
    OPENERS,
    POLITE_NO,
    QUESTION_STARTS,
    REASON_TAIL,
    UNCLAIMED,
)

_MOVED_PT = (
    r"(?:foi|foram|está|fica|ficou|passou a ser)\s+(?:adiad|alterad|mudad|movid|antecipad|prorrogad|remarcad|"
    r"transferid|"
    r"atualizad|reduzid|aumentad|corrigid|estendid|postergad|reagendad|elevad|cortad|ampliad)[oa]s?"
)
_SET_PT = (
    r"(?:foi|foram|está|ficou|fica)\s+(?:marcad|fixad|definid|agendad|estabelecid|combinad|previst|programad)[oa]s?"
)
_MOVED_EN = (
    r"(?:(?:was|is|are|were|got|has been|have been|have|has)\s+)?(?:just\s+)?(?:moved|changed|shifted|slipped|dropped|"
    r"increased|decreased|postponed|delayed|extended|pushed(?: back)?|rescheduled|updated|raised|reduced|"
    r"brought forward|"
    r"cut|lowered|trimmed|bumped|corrected|rose|went (?:up|down))"
)
_SET_EN = r"(?:is|was|has been|are)\s+(?:now\s+)?(?:set|fixed|scheduled|planned|due)"
# `was open` is over; `was approved` still holds.
_EVENTS = (
    r"\w{2,}(?:ad|íd|id)[oa]s?|entregues?|aceit[oa]s?|feit[oa]s?|escrit[oa]s?|eleit[oa]s?|pag[oa]s?|expuls[oa]s?|"
    r"(?!interested|tired|supposed|married|worried|scared|excited|pleased|bored|used|located|based)\w{3,}ed|sent|paid|"
    r"sold|bought|built|made|done|written|given|taken|found|won|lost|held|put|drawn|chosen|hidden|stolen|signed"
)
PARTICIPLE = re.compile(rf"\s*(?:(?:já|ainda|also|already|now|mainly|agora)\s+)?(?P<word>{_EVENTS})(?![\w-])")
VERB = re.compile(
    rf"(?<![\w'-])(?:"
    rf"(?P<change>(?:{_MOVED_PT}|mudou(?:-se)?|passou|subiu|caiu|aumentou|baixou|diminuiu|ficou)"
    r"(?:\s+d[eoa]s?\s[^,;]{1,40}?)?\s+(?:para|pra|pro|a ser)(?!\w)"
    rf"|{_MOVED_EN}(?:\s+from\s[^,;]{{1,40}}?)?\s+(?:to|until|for)\b)"
    rf"|(?P<wasnot>(?:wasn't|weren't|was not|were not|(?:has|have)(?: not|n't) been)(?=\s+(?:{_EVENTS})(?!\w)))"
    r"|(?P<benot>(?:isn't|aren't|is not|are not|won't be|is no longer)\b)"
    r"|(?P<neg>(?:não|nao|nunca|ainda não|(?:does|do|did)(?:n't| not))\s+)?(?:"
    rf"(?P<set>(?:{_SET_PT})(?!\w)|(?:{_SET_EN})\b)|"
    rf"(?P<became>foi|foram|was|were|has been|have been|got)(?=\s+(?:{_EVENTS})(?!\w))"
    r"|(?P<past>era|eram|was|were|used to be)(?!\w)"
    r"|(?P<cost>custam?|sai por|pesa|mede|dura|costs?|weighs?|measures|lasts)(?!\w)"
    r"|(?P<due>vence|expira|acontece|ocorre|expires|takes place)(?!\w)"
    r"|(?P<start>começa|inicia|starts|begins)(?!\w)"
    r"|(?P<end>termina|acaba|encerra|ends)(?!\w)"
    r"|(?P<called>chama-se|se chama|is called|is named)(?!\w)"
    r"|(?P<heads>owns?|leads?|manages?|coordinates?|lidera|gerencia|coordena|chefia|cuida d[eo]s?)(?!\w)"
    r"|(?P<have>tem|têm|temos|has|have|inclui|incluem|contém|includes?|contains?|comes with)(?!\w)"
    r"|(?P<does>cobre|cobrem|permite|permitem|aceita|aceitam|exige|exigem|suporta|suportam|oferece|oferecem|covers?|"
    r"allows?|accepts?|requires?|supports?|offers?)(?!\w)"
    r"|(?P<applies>se aplica|aplica-se|incide|applies|apply)(?!\w)"
    r"|(?P<live>mora|vive|reside|lives)(?!\w)"
    r"|(?P<work>trabalha|works)(?!\w)"
    r"|(?P<place>fica|localiza-se|is located)(?!\w)"
    r"|(?P<be>é|eh|são|será|serão|vai ser|passa a ser|passou a ser|continua(?: sendo| a ser)?|permanece|segue sendo|"
    r"está|"
    r"tá|ficou|is going to be|is|are|will be|remains|stays)(?!\w))"
    r")"
)
ENGLISH = re.compile(
    r"(?:is|isn't|are|aren't|was|were|has|have|got|will|won't|it's|that's|used|costs?|expires|takes|starts|begins|"
    r"ends|lives|works|weighs?|measures|lasts|"
    r"remains|stays|moved|changed|shifted|slipped|dropped|increased|decreased|postponed|delayed|extended|pushed|"
    r"rescheduled|"
    r"updated|raised|reduced|brought|corrected|rose|went|just|cut|lowered|trimmed|bumped|wasn't|weren't|hasn't|haven't|"
    r"does|do|did|doesn't|don't|didn't|owns?|leads?|manages?|coordinates?|includes?|contains?|comes|applies|apply|covers?|allows?|"
    r"accepts?|requires?|supports?|offers?)\b"
)
FORMS = (
    "change",
    "wasnot",
    "benot",
    "set",
    "became",
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
# What people say of themselves, and what the assistant says back of them (`você mora`, `you live`).
SELF_PT = re.compile(
    r"(?<![\w'-])(?<!ao )(?:(?:eu|nós|você)\s+)?(?P<not>(?:não|nao|já não)\s+)?(?:(?:agora|atualmente|hoje|"
    r"também)\s+)?(?:"
    r"(?P<live>(?:moro|resido|vivo|mora|vive|estou (?:morando|vivendo))\s+(?:agora |atualmente |hoje )?(?:em|no|na))"
    r"|(?P<moved>(?:me mudei|mudei-me|mudei|nos mudamos)\s+(?:para|pra)(?:\s+[oa])?)"
    r"|(?P<work>(?:trabalho|trabalha)\s+(?:agora |atualmente )?(?:em|no|na|para [ao]))"
    r"|(?P<called>me chamo|chamo-me)"
    r"|(?P<age>(?:tenho|tem)(?=\s+\d{1,3}\s+anos\b))"
    r"|(?P<count>(?:temos|tenho)(?=\s+(?:\d|[a-zç]+\s+[a-z])))"
    r")(?!\w)"
)
SELF_EN = re.compile(
    r"(?<![\w'-])(?:i|we|you)(?:'ve|'m| am|'re| are| have)?\s+(?:(?:now|just|recently|currently|also|really|"
    r"actually)\s+){0,2}"
    r"(?P<not>(?:don't|do not|no longer)\s+)?(?:now\s+)?(?:"
    r"(?P<live>live in|living in|based in)"
    r"|(?P<moved>moved to)"
    r"|(?P<work>work (?:at|for|in))"
    r"|(?P<called>called)"
    r"|(?P<count>have(?=\s+(?:\d|[a-z]+\s+[a-z])))"
    r")(?!\w)|(?<![\w'-])(?:i'm|i am|you're|you are)(?P<age>)(?=\s+\d{1,3}\s+years? old\b)"
)
FILLER = re.compile(
    r"\s*(?:de|do|da|em|no|na|nos|nas|por|pelo|pela|para|pra|até|a|o|as|às|só|apenas|agora|já|mesmo|mais|então|exatamente|atualmente|"
    r"now|only|on|by|at|in|to|for|until|the|exactly|from|due|then|currently|no longer|sempre)(?=\s)"
)
APPROXIMATE = re.compile(
    r"\s*(?:cerca de|aproximadamente|mais ou menos|uns|umas|por volta d[eao]s?|mais de|menos de|no mínimo|no máximo|"
    r"pelo menos|"
    r"entre|quase|em torno de|a partir de|de (?=\S{1,14} (?:a|até) \d)|about|around|roughly|approximately|at least|"
    r"at most|"
    r"more than|less than|over|under|up to|between|almost|nearly|~|≈)(?!\w)"
)
SPLIT = re.compile(r"[;—–]\s?|:\s|,\s(?!\d{4}\b)|\s-\s|\s\((?=\w)|\)")
OPENER = re.compile(rf"\s*(?:{OPENERS})(?:\s*[!.,:]+\s*|\s+|$)")
OPENER_WHOLE = re.compile(rf"\s*(?:(?:{OPENERS})[\s!.,]*){{1,3}}")
HARMLESS = re.compile(rf"[\s,.!…)]*(?:{HARMLESS_TAIL}[\s,.!…)]*){{0,3}}$")
CONTRAST = re.compile(
    r"\s*(?:(?:e|and|but|mas)\s+)?(?:não|nao|not|em vez d[eoa]|ao invés d[eoa]|no lugar d[eoa]|instead of|rather than|"
    r"e nunca)(?!\w)"
)
REASON = re.compile(rf"\s*{REASON_TAIL}")
AND = re.compile(r"\s*(?:e|and|mas|but|porém|or|ou)\s")
RANGE = re.compile(r"\s*(?:a|à|até|to|until|through|ou|or|-|–)\s+(?:o\s+|the\s+)?(?:dia\s+)?[\d$r]")
IT = re.compile(r"\s*(?:(?:agora|now|já|hoje|mas|but|e|and|it|ele|ela|este|esta|então|then|so|que)\s*){0,3}$")
SAME_SUBJECT = re.compile(r"(?:now\s+)?(?:work|live|have|love|like|am|study)\b")
IT_IS = re.compile(r"(?<![\w'])(?:it's|that's)(?!\w)")


# Before a verb stands its subject, never one of these: `the retention of support tickets`, `a cover letter`.
_NO_SUBJECT = re.compile(
    r"(?:^|\s)(?:of|the|an?|our|my|your|their|its|his|her|for|to|with|by|from|no|any|more|"
    r"d[eoa]s?|n[oa]s?|um|uma|com|para|pel[oa]s?|sem)\s+$"
)
_SPELLED_AS_NOUN = frozenset({"does", "heads", "work", "end", "start", "cost"})


def first_verb(low: str, position: int, end: int) -> re.Match[str] | None:
    """The verb or the `it's` that comes first."""
    found = [match for match in (_verb(low, position, end), IT_IS.search(low, position, end)) if match]
    return min(found, key=lambda match: match.start(), default=None)


def _verb(low: str, position: int, end: int) -> re.Match[str] | None:
    for match in VERB.finditer(low, position, end):
        may_be_noun = any(match[name] for name in _SPELLED_AS_NOUN)
        if not may_be_noun or not _NO_SUBJECT.search(low, position, match.start()):
            return match
    return None


def says_of_oneself(low: str, position: int, end: int) -> bool:
    stated = SELF_PT.search(low, position, end) or SELF_EN.search(low, position, end)
    return stated is not None or first_person_words.says_of_oneself(low, position, end)


def clause_after(low: str, position: int, end: int) -> int | None:
    """Where another clause begins after `and`, `but`, `e`, `mas`; None when nothing there has a verb."""
    link = AND.match(low, position, end)
    if link is None:
        return None
    # `I live in Porto and work at Acme`: the second verb has no subject of its own.
    if SAME_SUBJECT.match(low, link.end(), end):
        return end
    return link.end() if first_verb(low, link.end(), end) or says_of_oneself(low, link.end(), end) else None


HEDGE = re.compile(HEDGES)
NOT_CLAIMED = re.compile(UNCLAIMED)
QUESTION = re.compile(rf"\W*{QUESTION_STARTS}")
POLITE = re.compile(rf"^\W*(?:{POLITE_NO})")
NO = re.compile(
    r"^\W*(?:não|nao|no|nope|errado|wrong|negativo)\b(?=\s*[,.!:;—-]|\s+(?:é|eh|foi|o|a|os|as|it|the|dia|"
    r"em|is|that|r\$|\d))"
)
WAIT = re.compile(r"^\W*(?:wait|espera|pera|peraí|calma|oops|ops|sorry|desculpa|desculpe|perdão)\b")
CONTESTING = re.compile(rf"(?<!\w)(?:{CONTESTS})(?!\w)")
CORRECTING = re.compile(rf"(?<!\w)(?:{CORRECTS})(?!\w)")
WRONG_OTHERWISE = re.compile(rf"(?<!\w)(?:{NOT_WRONG})(?!\w)")
CHANGING = re.compile(
    rf"(?<!\w)(?:{_MOVED_PT}|mudou|mudei|mudaram|passou (?:para|a ser)|{CHANGE_ADVERBS}|novo|nova|new|não (?:é|"
    rf"está) mais|"
    r"no longer|foi adiad[oa]|(?:was|were|has been|got|have been) (?:moved|changed|postponed|delayed|extended|"
    r"rescheduled|"
    r"updated|raised|reduced|corrected)|(?:moved|changed) (?:to|from))(?!\w)"
)
SELF_CORRECTION = re.compile(
    r"(?<!\w)(?:quis dizer|quer dizer|me (?:enganei|confundi|equivoquei)|i was wrong|i mixed|i misremembered|"
    r"errei|melhor dizendo|i meant|i mean|my mistake|scratch that|misspoke|"
    r"me expressei mal|corrigindo|sorry)(?!\w)"
)
QUOTED = re.compile(r"[\"“«][^\"”»]{1,400}[\"”»]")
# Before the value of a sentence without a subject: `não, é dia 20`, `it moved to the 20th`.
BARE_LEAD = re.compile(
    r"\s*(?:(?:it|that|this|isso|ele|ela|agora|now|é que)\s+)?(?P<neg>(?:e\s+|and\s+)?(?:não|nao|not)\s+)?"
    r"(?P<instead>(?:em vez|ao invés|no lugar) d[eoa]s?\s+|(?:instead of|rather than)\s+)?"
    rf"(?:(?:it's|that's|(?:{_MOVED_PT}|{_MOVED_EN}|mudou|passou|ficou)(?:\s(?:de|from)\s[^,;]{{1,30}}?)?\s(?:para|"
    rf"pra|to|until|for)|"
    r"(?P<not>isn't|wasn't)|é|eh|são|foi|será|seria|is|was|should be|will be|deveria ser|vai ser|ficou|está|custa|"
    r"costs)(?!\w))?"
    rf"(?P<neg2>\s+not(?!\w))?\s*(?:mais\s|no longer\s)?(?:(?:{_EVENTS})\s)?"
)
# What stands before its subject: `cabe recurso`, `não há vagas`, `there is no fee`.
EXISTS = re.compile(
    r"(?:(?P<neg>não|nao)\s+)?(?P<verb>cabem?|incidem?|há|existem?|there(?:'s| is| are))(?P<isnt>n't)?\s+"
    r"(?P<no>no\s+|not?\s+)?(?:any\s+|(?:an?|uma?)\s+(?=[^\s,;:.!?\d]+(?:\s[^\s,;:.!?\d]+){0,2}\s*(?:[,.;!]|$)))?"
    r"(?!\d|uns?\s|umas?\s|a\s|an\s|alg|muit|some\s|many\s|vári|dois|duas|três|pouc|lots?\b|plenty|still|so\b|always|already|also)"
    r"(?P<what>(?:[^\s,;:.!?]{1,40}\s?){1,8})"
)
NO_PART_OF_IT = re.compile(
    r"\s(?:em \S+ (?:dias?|meses|anos|horas)|no prazo|até|within|by|para quem|for)\s.*|\s(?:aqui|now|agora)$"
)
# Somebody changes something: what is changed is the subject (`o cliente adiou o prazo para dia 20`).
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
