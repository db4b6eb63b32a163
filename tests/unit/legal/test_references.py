"""Legal references: every spelling of a citation gives one name, and what is no reference gives none."""

from pathlib import Path

import pytest

from agents.legal.references import legal_references

LINES = Path(__file__).with_name("forms.txt").read_text("utf-8").splitlines()
FORMS = [
    (written.strip(), [name.strip() for name in names.split("|") if name.strip()])
    for written, arrow, names in (line.partition("=>") for line in LINES if not line.startswith("#"))
    if arrow
]
# What comes before and after a citation does not change it.
AROUND = ("{}", "Conforme {}, decidiu-se.", "({})", "Vide {}; nada mais.")


def test_the_forms_are_many_and_some_are_no_reference():
    assert len(FORMS) >= 150
    assert sum(not names for _, names in FORMS) >= 10


@pytest.mark.covers("S2-40", "S2-149", "S2-155")
@pytest.mark.parametrize(("written", "names"), FORMS, ids=[written for written, _ in FORMS])
def test_a_citation_names_what_it_stands_for_wherever_it_stands(written, names):
    for around in AROUND:
        found = legal_references(around.format(written))
        assert [each.name for each in found] == names, around


@pytest.mark.parametrize(
    ("written", "court"),
    [
        ("Súmula Vinculante 10", "STF"),
        ("Súmula 7 do STJ", "STJ"),
        ("Súmula 7", ""),
        ("HC 123.456/SP", ""),
        ("AgInt no AREsp 1.234.567/SP", "STJ"),
        ("RE 574.706", "STF"),
        ("E-RR-1125-36.2010.5.06.0171", "TST"),
        ("OJ 394 da SDI-1", "TST"),
        ("Acórdão 123/2020-Plenário", "TCU"),
    ],
)
def test_the_court_of_a_ruling_is_the_one_of_its_series_and_never_guessed(written, court):
    assert [each.court for each in legal_references(written)] == [court]


@pytest.mark.parametrize(
    ("text", "citation"),
    [
        ("Veja o § 8º do art. 477 da CLT.", "§ 8º do art. 477 da CLT"),
        (
            "pelos incisos I e III do § 3º do art. 8º da Lei nº 9.504/97, sim",
            "incisos I e III do § 3º do art. 8º da Lei nº 9.504/97",
        ),
        ("a Constituição Federal (art. 226, § 8º) protege", "Constituição Federal (art. 226, § 8º)"),
        ("a Súmula nº 331, IV, do TST trata", "Súmula nº 331, IV, do TST"),
        ("nos Autos n.º 0715337-93.2014.8.01.0001 consta", "Autos n.º 0715337-93.2014.8.01.0001"),
    ],
)
def test_the_position_is_that_of_the_whole_citation(text, citation):
    assert {text[each.start : each.end] for each in legal_references(text)} == {citation}


def test_the_articles_of_a_list_share_their_citation():
    found = legal_references("arts. 186 e 927 do Código Civil")
    assert {(each.start, each.end) for each in found} == {(0, 31)}
    assert [each.article for each in found] == ["186", "927"]
