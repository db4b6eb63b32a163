"""Word lists that an operator adds to the shipped ones."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from agents.core.depth import levels
from agents.core.language import lexicons
from agents.core.language.lexicons import LexiconError, kinds_of, parse
from schemas.depth import DepthLevel
from streams.stores import word_lists
from streams.stores.word_lists import BadWordLists

SAID = "Qual o prazo do reembolso, mastigadinho?"
# A process reads its word lists once.
SCRIPT = f"""
import sys
from functools import cache
from pathlib import Path
from agents.core.depth import levels
from streams.stores import word_lists
word_lists.extend(Path(sys.argv[1]))
print(levels.classify({SAID!r}, (), lang="pt").level.value)
"""


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No word list is read yet, as when a process starts."""
    monkeypatch.setattr(lexicons, "lexicon", cache(lexicons.lexicon.__wrapped__))


def test_an_added_phrase_decides_as_a_shipped_one(tmp_path: Path):
    (tmp_path / "depth.pt.txt").write_text("[explanation]\nmastigadinho\n", encoding="utf-8")
    assert levels.classify(SAID, (), lang="pt").level is DepthLevel.D0
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "D2"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("depht.pt.txt", "[explanation]\nmastigadinho\n", "depht.pt.txt: there is no such word list"),
        ("depth.fr.txt", "[explanation]\nmastigadinho\n", "there is no such word list"),
        (
            "depth.pt.txt",
            "[explanations]\nmastigadinho\n",
            "added depth.pt.txt line 2: there is no section [explanations]",
        ),
        ("depth.pt.txt", "[explanation]\n(mastigadinho\n", "added depth.pt.txt line 2: a bracket is not closed"),
    ],
)
@pytest.mark.usefixtures("unread")
def test_what_cannot_be_added_is_said_with_its_place(tmp_path: Path, name: str, text: str, said: str):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadWordLists) as refused:
        word_lists.extend(tmp_path)
    assert said in str(refused.value)


def test_a_phrase_that_is_shipped_already_is_refused():
    shipped = {"pt": "[explanation]\nexplica melhor\n"}
    added = {"depth.pt.txt": "[explanation]\nexplica melhor\n"}
    with pytest.raises(LexiconError, match=r"added depth.pt.txt line 2: 'explica melhor' is at line 2 already"):
        parse("depth", shipped, kinds_of("depth"), added)


def test_words_are_added_before_any_is_read():
    lexicons.lexicon("depth")
    with pytest.raises(LexiconError, match="read already"):
        lexicons.extend({"depth.pt.txt": "[explanation]\nmastigadinho\n"})
    lexicons.extend({})
