"""The JSON in a model's reply, read tolerantly: prose around it, fences, trailing commas, Python's words. Total.

Nothing is evaluated. A key that is said twice with two values makes its object unreadable: neither is preferred.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agents.core.language import text

MAX_CHARS = 40_000
_PAIRS = {"{": "}", "[": "]"}
_WORDS = {"True": "true", "False": "false", "None": "null"}
_LOOSE = re.compile(r"\"(?:[^\"\\]|\\.)*\"|,(?=\s*[}\]])|\b(?:True|False|None)\b", re.DOTALL)
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]|\\u(?:[dD][89a-fA-F]|00[01])[0-9a-fA-F]{1,2}")
YES = frozenset(("true", "sim", "yes", "1"))


def objects(reply: str) -> tuple[Mapping[str, Any], ...]:
    """The readable JSON objects of a reply that lie in no other, in order."""
    read = (_read(each) for each in _balanced(_clean(reply), "{"))
    return tuple(each for each in read if isinstance(each, dict))


def only_objects(reply: str) -> tuple[Mapping[str, Any], ...] | None:
    """The same, but None where anything in braces cannot be read: it may have said the opposite."""
    read = [_read(each) for each in _balanced(_clean(reply), "{")]
    return tuple(each for each in read if isinstance(each, dict)) if all(isinstance(r, dict) for r in read) else None


def first_list(reply: str) -> list[Any]:
    """The first readable list of a reply that has objects in it; empty without one."""
    read = (_read(each) for each in _balanced(_clean(reply), "["))
    return next((each for each in read if isinstance(each, list) and any(isinstance(one, dict) for one in each)), [])


def tag(reply: str, name: str) -> str | None:
    """The text of the only `<name>…</name>` of a reply; None without it, or where several differ."""
    plain = _clean(reply)
    pieces = re.split(rf"<{name}>", plain, flags=re.IGNORECASE)[1:]
    ended = [re.split(rf"</{name}>", each, maxsplit=1, flags=re.IGNORECASE) for each in pieces]
    said = {html.unescape(each[0]).strip() for each in ended if len(each) == 2}
    return said.pop() if len(said) == 1 else None


def _clean(reply: str) -> str:
    """The beginning of a reply without characters, or escapes of them, that no text may have."""
    return _NO_TEXT.sub(" ", reply[:MAX_CHARS])


def word(value: object) -> str:
    """A value as a folded word without punctuation around it; empty for what is no text."""
    return text.fold(value[:200]).strip(" .!*`\"'") if isinstance(value, str) else ""


def line(value: object, most: int) -> str:
    """A text on one line, at most so many characters; empty for what is no text."""
    return " ".join(value[: 4 * most].split())[:most] if isinstance(value, str) else ""


def is_true(value: object) -> bool:
    """Whether a value says yes; what is absent or unclear does not."""
    return value is True or word(value) in YES


def _balanced(said: str, opening: str) -> Iterator[str]:
    """The stretches from an opening bracket to the one that closes it, brackets in strings left out.

    An empty one ends them where a bracket is not closed.
    """
    at = said.find(opening)
    while at >= 0:
        end = _end(said, at)
        if end is None:
            yield ""
            return
        yield said[at:end]
        at = said.find(opening, end)


def _end(said: str, start: int) -> int | None:
    open_now: list[str] = []
    quoted = False
    at = start
    while at < len(said):
        char = said[at]
        if quoted:
            at += char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in _PAIRS:
            open_now.append(_PAIRS[char])
        elif char in "}]":
            if not open_now or open_now.pop() != char:
                return None
            if not open_now:
                return at + 1
        at += 1
    return None


def _read(said: str) -> object:
    plain = _LOOSE.sub(lambda found: found[0] if found[0][0] == '"' else _WORDS.get(found[0], ""), said)
    try:
        return json.loads(plain, object_pairs_hook=_once, strict=False)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if any(made[key] != value for key, value in pairs):
        raise ValueError("a key is said twice")
    return made
