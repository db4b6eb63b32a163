"""The text files of words: what a file may say, and what its writer is told of a slip."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agents.core.language import lexicons
from agents.core.language.lexicons import LexiconError, kinds_of, lexicon, parse
from agents.core.language.phrase_patterns import compiled

SHIPPED = sorted({file.name.split(".")[0] for file in (Path(lexicons.__file__).parent / "lexicons").glob("*.*.txt")})
KINDS = {"greeting": "phrases", "yes": "words", "short": "rows", "thanks": "patterns", "you": "patterns"}


def read(text: str, lang: str = "pt") -> str:
    """What the writer of a text is told of it."""
    try:
        made = parse("depth", {lang: text}, KINDS)
        for section in KINDS:
            made.pattern(section)
    except LexiconError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[greting]\noi\n", "depth.pt.txt line 2: there is no section [greting]; write one of greeting, yes"),
        ("[greeting]\n\noi\nola\noi\n", "depth.pt.txt line 5: 'oi' is at line 3 already; leave one of them out"),
        ("[yes]\nsim claro\nclaro\n", "depth.pt.txt line 3: 'claro' is at line 2 already; leave one of them out"),
        ("[yes]\nsim claro sim\n", "depth.pt.txt line 2: 'sim' stands there twice; leave one of them out"),
        ("[yes]\nsim (claro|)\n", "depth.pt.txt line 2: '(' in a list of words; write words with blanks between"),
        ("[short]\npq por que\n", "depth.pt.txt line 2: 'pq por que' is no row; write `what is said = what it"),
        ("[short]\npq =\n", "depth.pt.txt line 2: 'pq =' is no row"),
        ("[short]\npq = por que\npq = porque\n", "depth.pt.txt line 3: 'pq' is at line 2 already"),
        ("[greeting]\n# por favor\n(bom|boa dia\n", "depth.pt.txt line 3: a bracket is not closed; write )"),
        ("[greeting]\nbom) dia\n", "depth.pt.txt line 2: a bracket is closed that was not opened; write ("),
        ("[greeting]\nobrigad(o|a)\n", "depth.pt.txt line 2: 'd(' has no blank at the bracket; write one, or the"),
        ("oi\n[greeting]\n", "depth.pt.txt line 1: 'oi' stands in no section; write [NAME] above it"),
        ("[greeting\noi\n", "depth.pt.txt line 1: '[greeting' is no header; write [NAME] or [NAME: part]"),
        ("[greeting]\n    oi\n", "depth.pt.txt line 2: nothing stands above to go on with; begin without blanks"),
        ("[you]\nyou\n<you> all\n", "depth.pt.txt line 3: <you> stands for itself; write what it stands for"),
        ("[thanks]\nthank <yu>\n", "depth.pt.txt line 2: there is no section [yu] that <yu> could be; write one of"),
    ],
)
def test_a_slip_is_told_by_file_and_line_with_what_to_write(text: str, told: str) -> None:
    assert read(text).startswith(told)


def test_what_is_written_well_is_read() -> None:
    text = "# a comment\n[yes]  # more to come\nsim claro\n\n[greeting: morning]\n(bom|boa|\n    um bom) dia\n"
    made = parse("depth", {"pt": text, "en": "[yes]\nyes\n[short]\n'm = am\n"}, KINDS)
    assert made.words("yes") == {"sim", "claro", "yes"}
    assert made.words("yes", "en") == {"yes"}
    assert made.lines("greeting") == ("(bom|boa|um bom) dia",)
    assert made.rows("short") == {"'m": "am"}


def test_the_languages_may_share_a_word() -> None:
    assert parse("depth", {"pt": "[yes]\nok\n", "en": "[yes]\nok\n"}, KINDS).words("yes") == {"ok"}


def test_each_part_of_a_section_is_a_pattern_and_may_name_another() -> None:
    made = parse(
        "depth", {"en": "[thanks: plain]\nthanks\nthank <you>\n[thanks: praise]\n<you> rock\n[you]\nyou\nya\n"}, KINDS
    )
    plain, praise = (re.compile(pattern) for pattern in made.patterns("thanks"))
    assert plain.fullmatch("thank ya")
    assert praise.fullmatch("you rock")
    assert not plain.fullmatch("ya rock")


@pytest.mark.parametrize(
    ("phrase", "fits", "misses"),
    [
        ("thank (you|u)", ["thank you", "thank u"], ["thank", "thank  you"]),
        ("thank you (so much|)", ["thank you", "thank you so much"], ["thank you ", "thank youso much"]),
        ("(i|) (really|) like it", ["like it", "i like it", "i really like it"], [" like it", "i  like it"]),
        ("(a|the|)+ code", ["code", "a the code"], ["acode"]),
        ("(a|the)+ code", ["a code", "the a code"], ["code"]),
        ("do it (now|please|)+2", ["do it", "do it now please"], ["do it now please now"]),
        ("obrigad(o|a)(s|)", ["obrigado", "obrigadas"], ["obrigad", "obrigad o"]),
        ("h+i+", ["hi", "hhhiiii"], ["h"]),
        ("what('s| is) up", ["what's up", "what is up"], ["what up"]),
        ("for <word> <0-2 words>", ["for all", "for all of it"], ["for", "for all of it now"]),
        ("for <word not nothing '>", ["for it's"], ["for nothing"]),
        ("see <1-2 digits> (words|)", ["see 5 words", "see 12"], ["see 123", "see"]),
        ("why ... broken", ["why is it broken", "why broken"], ["whybroken"]),
        ("^ (please|)+ stop $", ["please please stop", "stop"], ["now stop"]),
        (r"a \+ b", ["a + b"], ["a b"]),
    ],
)
def test_a_phrase_fits_what_it_stands_for(phrase: str, fits: list[str], misses: list[str]) -> None:
    pattern = re.compile(compiled(phrase, lambda name: None))
    assert [text for text in fits if not pattern.fullmatch(text)] == []
    assert [text for text in misses if pattern.fullmatch(text)] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_the_files_that_are_shipped_are_written_well(name: str) -> None:
    made = lexicon(name)
    for section, kind in kinds_of(name).items():
        assert made.lines(section), f"[{section}] is in no file of {name}"
        if kind == "patterns":
            for pattern in made.patterns(section):
                re.compile(pattern)


def test_nothing_is_read_before_it_is_asked_for() -> None:
    code = (
        "import agents.core.assessment.context_needs, agents.core.claims.lifecycle, agents.core.depth.levels\n"
        "from agents.core.language.lexicons import lexicon\n"
        "print(lexicon.cache_info().currsize)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "0"
