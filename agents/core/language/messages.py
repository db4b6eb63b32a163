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
