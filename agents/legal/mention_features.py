"""What a token of a legal text is known by: its form, its class, its neighbours, and what the rules read there."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from agents.legal import acts
from agents.legal.legal_tokens import LegalToken
from agents.legal.references import legal_references

_RULES = {"processo": "P", "jurisprudencia": "J", "dispositivo": "L"}
_HEADS = {"article", "paragraph", "act", "code", "charter", "series", "case", "case_class"}
_NAMES = {"act", "code", "charter"}
_FUNCTION = {"number", "of", "and"}
_FAR, _EDGE, _LONGEST_NAME = 99, 3, 12
_NEAR = ((1, "0"), (3, "1"), (7, "2"), (13, "3"))


def features(text: str, read: Sequence[LegalToken]) -> Iterator[tuple[str, ...]]:
    """The features of each token of a text, in order."""
    word, kind, shape = (_edged(of) for of in ([t.word for t in read], [t.kind for t in read], [t.shape for t in read]))
    rule, act = map(_edged, _ruled(text, read))
    name = _edged(_named(read))
    left, right = _nearest(read, _content), _nearest(read[::-1], _content)[::-1]
    opened, closed = _nearest(read, _head), _nearest(read[::-1], _head_or_court)[::-1]
    for place in range(len(read)):
        at = place + _EDGE
        yield (
            *_words(at, word, shape, kind),
            *_kinds(at, kind, f"{_gap(read, place - 1)}{_gap(read, place)}"),
            *_rules(at, rule, act, name, word[at], kind[at]),
            *_around(kind[at], left[place], right[place], opened[place], closed[place]),
        )


def _edged(of: Sequence[str]) -> list[str]:
    return ["^"] * _EDGE + list(of) + ["$"] * _EDGE


def _words(at: int, word: Sequence[str], shape: Sequence[str], kind: Sequence[str]) -> tuple[str, ...]:
    two, one, here, then, last = word[at - 2 : at + 3]
    return (
        f"w{here}",
        f"s{shape[at]}",
        f"x{here[-3:]}",
        f"a{one}",
        f"b{then}",
        f"c{two}",
        f"d{last}",
        f"e{shape[at - 1]}|{shape[at]}",
        f"f{shape[at]}|{shape[at + 1]}",
        f"g{one}|{here}",
        f"h{here}|{then}",
        f"i{one}|{then}",
        f"j{two}|{one}",
        f"k{then}|{last}",
        f"l{kind[at - 1]}|{here}",
        f"m{here}|{kind[at + 1]}",
    )


def _kinds(at: int, kind: Sequence[str], glued: str) -> tuple[str, ...]:
    third, two, one, here, then, last, end = kind[at - 3 : at + 4]
    return (
        "bias",
        f"n{here}",
        f"o{one} {here} {then}",
        f"p{two} {one} {here}",
        f"q{here} {then} {last}",
        f"r{two} {one} {here} {then} {last}",
        f"t{third} {two} {one} {here}",
        f"u{here} {then} {last} {end}",
        f"v{glued}{here}",
        f"y{glued}{one} {here} {then}",
    )


def _rules(
    at: int, rule: Sequence[str], act: Sequence[str], name: Sequence[str], word: str, kind: str
) -> tuple[str, ...]:
    return (
        f"R{rule[at - 1]}{rule[at]}{rule[at + 1]}",
        f"S{rule[at - 2]}",
        f"T{rule[at + 2]}",
        f"U{rule[at]}{act[at]}{word}",
        f"V{rule[at]}{kind}",
        f"A{act[at - 1]}{act[at]}{act[at + 1]}",
        f"B{name[at]}{rule[at]}",
        f"C{name[at - 1]}{name[at]}{name[at + 1]}{kind}",
    )


def _around(
    kind: str, left: tuple[str, int], right: tuple[str, int], opened: tuple[str, int], closed: tuple[str, int]
) -> tuple[str, ...]:
    """The words and heads nearest on either side: `Acórdãos` and `Plenário` of every number of a list between them."""
    before, after = f"{opened[0]}{_near(opened[1])}", f"{closed[0]}{_near(closed[1])}"
    return (
        f"H{left[0]}{min(left[1], 3)}{kind}",
        f"I{right[0]}{min(right[1], 3)}{kind}",
        f"J{left[0]}|{kind}",
        f"K{right[0]}|{kind}",
        f"L{before}{kind}",
        f"M{after}{kind}",
        f"N{before}{after}{kind}",
    )


def _near(far: int) -> str:
    return next((name for most, name in _NEAR if far <= most), "4")


def _ruled(text: str, read: Sequence[LegalToken]) -> tuple[list[str], list[str]]:
    """What the rules read at each token: a reference, begun or gone on with, and the name or number of an act."""
    starts, ends = [each.start for each in read], [each.end for each in read]
    rule, act = ["O"] * len(read), ["O"] * len(read)
    for found in legal_references(text):
        first = bisect_right(ends, found.start)
        for place in range(first, bisect_left(starts, found.end)):
            if rule[place] == "O":
                rule[place] = ("B" if place == first else "I") + _RULES[found.kind]
    for each in acts.found(text):
        inside = slice(bisect_right(ends, each.start), bisect_left(starts, each.end))
        act[inside] = ["A" if each.alone else "a"] * len(act[inside])
    return rule, act


def _named(read: Sequence[LegalToken]) -> list[str]:
    """Where a run of capitalised words begins with a word for an act: `Lei Geral do Esporte`."""
    tags = ["O"] * len(read)
    place = 0
    while place < len(read):
        end = place + 1
        if read[place].kind in _NAMES and read[place].raw[0].isupper():
            while end < place + _LONGEST_NAME and (step := _goes_on(read, end)):
                end += step
            if end > place + 1:
                tags[place:end] = ["B" + str(min(end - place, 4)), *["I"] * (end - place - 1)]
        place = end
    return tags


def _goes_on(read: Sequence[LegalToken], place: int) -> int:
    """How many tokens further a name goes on: a capitalised word, or one after words as short as `da`."""
    for step, token in enumerate(read[place : place + _EDGE], 1):
        if token.raw.isalpha() and token.raw[0].isupper() and len(token.raw) > 1:
            return step
        if token.kind not in ("of", "and"):
            return 0
    return 0


def _content(token: LegalToken) -> str:
    return "" if token.kind in _FUNCTION or (len(token.kind) == 1 and token.kind not in "xCAU") else token.word


def _head(token: LegalToken) -> str:
    return token.kind if token.kind in _HEADS else ""


def _head_or_court(token: LegalToken) -> str:
    return token.kind if token.kind in _HEADS or token.kind == "court" else ""


def _nearest(read: Sequence[LegalToken], which: Callable[[LegalToken], str]) -> list[tuple[str, int]]:
    """For each token the last one before it that counts, and how far it is; the end of a sentence is far."""
    out: list[tuple[str, int]] = []
    last, far = "-", _FAR
    for token in read:
        out.append((last, far))
        if said := which(token):
            last, far = said, 0
        else:
            far += 4 if token.raw in ".;" else 1
    return out


def _gap(read: Sequence[LegalToken], place: int) -> str:
    if not 0 <= place < len(read) - 1:
        return "+"
    return "-" if read[place].end < read[place + 1].start else "+"
