"""What a model is asked in cognition: texts of a prompt pack, and all that others wrote as escaped data."""

import html
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from schemas.cognition import EvidencePassage

PACK = "juridico-pt"
MAX_QUESTION_CHARS, MAX_PASSAGE_CHARS, MAX_EVIDENCE_CHARS = 2_500, 4_000, 24_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text for a model, the most tokens of its answer, and the temperature."""

    text: str
    max_tokens: int
    temperature: float


@cache
def texts(pack: str = PACK) -> Mapping[str, str]:
    """The texts of a prompt pack, by key."""
    read = tomllib.loads(files("agents.cognition.language").joinpath(f"catalogue/{pack}.toml").read_text("utf-8"))
    return {key: str(text) for key, text in read["prompt"].items()}


def composed(*parts: str, max_tokens: int, temperature: float) -> Prompt:
    """A prompt of parts with a blank line between them; its last part says that what it holds is data."""
    return Prompt("\n\n".join(filter(None, (*parts, texts()["data"]))), max_tokens, temperature)


def element(name: str, said: str, known_as: str = "") -> str:
    """A text as an element: it can neither close it nor open another."""
    attribute = f' id="{escaped(known_as)}"' if known_as else ""
    return f"<{name}{attribute}>{escaped(said)}</{name}>"


def escaped(said: str) -> str:
    return html.escape(_CONTROL.sub(" ", said))


def question(said: str, known_as: str = "") -> str:
    """A question as data, at most its first 2,500 characters."""
    return element("pergunta", said[:MAX_QUESTION_CHARS], known_as)


def evidence(passages: Iterable[EvidencePassage]) -> str:
    """Passages as data, each under what it is cited by, together about 24,000 characters: the first ones."""
    shown, left = list[str](), MAX_EVIDENCE_CHARS
    for each in passages:
        said = each.text[: min(MAX_PASSAGE_CHARS, left)]
        left -= len(said)
        shown += [element("evidencia", said, each.cite)] if said else []
    return "\n".join(shown)
