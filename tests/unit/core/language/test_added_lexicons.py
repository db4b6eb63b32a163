"""Word lists that an operator adds to the shipped ones."""

import subprocess
import sys
from pathlib import Path

import pytest

from agents.core.language import lexicons
from agents.core.language.lexicons import LexiconError, kinds_of, parse

SCRIPT = """
import sys
from pathlib import Path
from agents.core.depth import levels
from streams.stores import word_lists
word_lists.extend(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
print(levels.classify("Qual o prazo do reembolso, mastigadinho?", (), lang="pt").level.value)
"""


def level(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_an_added_phrase_decides_as_a_shipped_one(tmp_path: Path):
    (tmp_path / "depth.pt.txt").write_text("[explanation]\nmastigadinho\n", encoding="utf-8")
    assert (level(), level(str(tmp_path))) == ("D0", "D2")


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
def test_what_cannot_be_added_is_said_with_its_place(tmp_path: Path, name: str, text: str, said: str):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert said in level(str(tmp_path))


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
