"""The catalogues of deep answers: both languages say everything, and all of it is said somewhere."""

import re

import pytest

from agents.cognition.language.messages import PACKAGE, message
from agents.core.language.messages import LANGUAGES, catalogue
from tests.checkout import ROOT
from tests.unit.core.language.test_messages import placeholders


def test_every_language_has_the_same_texts_with_the_same_values() -> None:
    pt, en = (catalogue(lang, PACKAGE) for lang in LANGUAGES)
    assert pt.keys() == en.keys()
    assert {key for key in pt if placeholders(pt[key]) != placeholders(en[key])} == set()
    assert {key for key in pt if pt[key] == en[key]} == set()
    assert message("fr", "answer.needed", missing="x") == "I found no sufficient evidence. Needed: x."


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_text_is_said_somewhere(lang: str) -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "agents/cognition").rglob("*.py"))
    said = set(re.findall(r'["\']((?:conflict|answer)\.[A-Za-z0-9_]+)["\']', source))
    prefixes = tuple(re.findall(r"""f["']((?:conflict|answer)\.[a-z_]*)\{""", source))
    assert {key for key in catalogue(lang, PACKAGE) if key not in said and not key.startswith(prefixes)} == set()
