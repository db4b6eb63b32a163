"""The catalogues of texts: every language says everything, with the same values in it."""

import re
import string

import pytest

from agents.core.language.messages import LANGUAGES, catalogue, lines, message
from tests.checkout import ROOT


def placeholders(text: str | tuple[str, ...]) -> list[set[str]]:
    texts = (text,) if isinstance(text, str) else text
    return [{name for _, name, _, _ in string.Formatter().parse(each) if name is not None} for each in texts]


def test_every_language_has_the_same_texts_with_the_same_values() -> None:
    pt, en = (catalogue(lang) for lang in LANGUAGES)
    assert pt.keys() == en.keys()
    assert {key for key in pt if placeholders(pt[key]) != placeholders(en[key])} == set()
    # What is the same in both languages was not translated.
    assert {key for key in pt if pt[key] == en[key]} == set()


def test_a_text_is_given_in_the_language_asked_for_and_in_english_where_there_is_none() -> None:
    assert message("en", "tool.missing", name="date") == "date is missing. Give date with the call."
    assert message("pt", "tool.missing", name="data") == "Falta data. Informe data na chamada."
    assert message("fr", "tool.confirm", tool="x") == "Confirm x?"
    assert lines("en", "pack.D0") == ("Answer directly and briefly",)


def test_a_value_with_braces_is_shown_as_it_is() -> None:
    assert message("en", "tool.confirm", tool="{0} {name}") == "Confirm {0} {name}?"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_text_is_said_somewhere(lang: str) -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "agents").rglob("*.py"))
    said = set(re.findall(r'["\']((?:tool|pack|text|conflict|attribute)\.[A-Za-z0-9_]+)["\']', source))
    templates = "\n".join(path.read_text() for path in (ROOT / "agents/core/packs/templates").iterdir())
    said |= {f"heading.{name}" for name in re.findall(r"\bt\.([a-z_]+)", templates)}
    # Keys that are put together of a prefix and a closed set of names.
    prefixes = set(re.findall(r"""f["']((?:tool|pack|text|conflict|attribute)\.[a-z_]*)\{""", source))
    unsaid = {key for key in catalogue(lang) if key not in said and not key.startswith(tuple(prefixes))}
    assert unsaid == set()
