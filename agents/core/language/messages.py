"""Texts for people and models from one catalogue per language, `catalogue/*.toml`: refusals, previews, instructions."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LANGUAGES = ("pt", "en")
DEFAULT = "en"


@cache
def catalogue(lang: str, package: str = "agents.core.language") -> Mapping[str, str | tuple[str, ...]]:
    """A package's texts in a language by `section.key`; English for a language without a catalogue."""
    name = lang if lang in LANGUAGES else DEFAULT
    read = tomllib.loads(files(package).joinpath(f"catalogue/{name}.toml").read_text("utf-8"))
    return {
        f"{section}.{key}": tuple(text) if isinstance(text, list) else text
        for section, texts in read.items()
        for key, text in texts.items()
    }


def message(lang: str, key: str, *, package: str = "agents.core.language", **values: str) -> str:
    """The text of a key with its values filled in; raises `KeyError` for an unknown key."""
    text = catalogue(lang, package)[key]
    assert isinstance(text, str)
    return text.format(**values)


def lines(lang: str, key: str) -> tuple[str, ...]:
    """The lines of a multi-line key."""
    found = catalogue(lang)[key]
    assert isinstance(found, tuple)
    return found


def speaker(role: str, lang: str) -> str:
    """Who speaks, at the start of a line of a summary."""
    return message(lang, f"text.{role}").capitalize()


def with_speakers(summary: str, lang: str) -> str:
    """A summary with those who speak in the language of its reader: it was made in that of its talk."""
    return "\n".join(_spoken(line, lang) for line in summary.split("\n"))


def _spoken(line: str, lang: str) -> str:
    who, mark, said = line.partition(": ")
    role = _speakers().get(who)
    return line if role is None else f"{speaker(role, lang)}{mark}{said}"


@cache
def _speakers() -> Mapping[str, str]:
    return {speaker(role, lang): role for lang in LANGUAGES for role in ("user", "assistant")}
