"""Text in XML elements, to and from a language model: values are escaped, malformed answers are accepted.

No XML parser: a model's answer is rarely well-formed, and without parsing no entity is expanded and nothing loaded.
Everything is linear in the text, of which the last 16,384 characters are read.
"""

import html
import math
import re

MAX_CHARS = 16_384
VALUE_CHARS = 400
YES, NO = frozenset(("true", "yes", "sim", "1")), frozenset(("false", "no", "não", "nao", "0"))
_ATTRIBUTE = re.compile(r"""([\w-]{1,40})\s{0,4}=\s{0,4}(?:"([^"]*)"|'([^']*)')""")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def escaped(value: str) -> str:
    """The value escaped as text of an element: it can neither close it nor open another."""
    return html.escape(_CONTROL.sub(" ", value), quote=False)


def elements(answer: str, name: str) -> list[str]:
    """The content of each element of that name, up to the next one if not closed; without any, the whole answer."""
    text = answer[-MAX_CHARS:]
    begun = list(_opening(name).finditer(text))
    if not begun:
        return [text]
    until = [*(following.start() for following in begun[1:]), len(text)]
    return [_ending(name).split(text[this.end() : end], 1)[0] for this, end in zip(begun, until, strict=True)]


def values(text: str, name: str) -> list[str]:
    """The text of each element of that name, in order: entities decoded, blanks collapsed, at most 400 characters."""
    found, text = [], text[-MAX_CHARS:]
    for begun in _opening(name).finditer(text):
        ended = _ending(name).search(text, begun.end(), begun.end() + 4 * VALUE_CHARS)
        inside = text[begun.end() : ended.start()] if ended else text[begun.end() :].partition("<")[0]
        found.append(_plain(inside))
    return found


def attributes(text: str, name: str) -> list[dict[str, str]]:
    """The attributes of each element of that name, in order, their names in lower case."""
    return [
        {key.lower(): _plain(double or single) for key, double, single in _ATTRIBUTE.findall(begun.group(1))}
        for begun in _opening(name).finditer(text[-MAX_CHARS:])
    ]


def truth(value: str) -> bool | None:
    """A yes or no in the words of English or Portuguese; None for anything else."""
    word = value.lower().strip(" .!*`\"'")
    return word in YES if word in YES | NO else None


def fraction(value: str) -> float | None:
    """A number from 0 to 1; numbers beyond are clamped, percentages divided by 100; None for other text."""
    number, percent, rest = value.strip().replace(",", ".").partition("%")
    if rest or not re.fullmatch(r"[+-]?\d{0,9}\.?\d{0,20}\s?", number, re.ASCII):
        return None
    try:
        found = float(number) / (100 if percent else 1)
    except ValueError:
        return None
    return min(max(found, 0.0), 1.0) if math.isfinite(found) else None


def _opening(name: str) -> re.Pattern[str]:
    return re.compile(rf"<\s{{0,4}}{name}(?![\w-])([^<>]{{0,800}})>", re.IGNORECASE)


def _ending(name: str) -> re.Pattern[str]:
    return re.compile(rf"<\s{{0,4}}/\s{{0,4}}{name}\s{{0,4}}>", re.IGNORECASE)


def _plain(inside: str) -> str:
    text = inside[: 4 * VALUE_CHARS].replace("<![CDATA[", "").replace("]]>", "")
    return " ".join(_CONTROL.sub(" ", html.unescape(text)).split())[:VALUE_CHARS]
