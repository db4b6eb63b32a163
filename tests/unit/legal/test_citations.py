"""The normal form and the LexML name of a citation, and the check digits of a unified number."""

from itertools import pairwise
from pathlib import Path

import pytest

from agents.legal import case_numbers
from agents.legal.citations import citation, citations, urn
from agents.legal.references import legal_references

GOLDEN = [
    (written.strip(), [name.strip() for name in names.split("|") if name.strip()])
    for written, arrow, names in (
        line.partition("=>") for line in Path(__file__).with_name("citations.txt").read_text("utf-8").splitlines()
    )
    if arrow
    if not written.startswith("#")
]
VALID = "0000002-65.2005.4.05.8100"
DIGITS = [place for place, each in enumerate(VALID) if each.isdecimal()]


def named(written):
    found = legal_references(written)
    both = (f"{citation(each)} {urn(each).replace('urn:lex:br:federal:', 'lex:')}".strip() for each in found)
    return list(dict.fromkeys(both))


def test_the_golden_forms_are_many():
    assert len(GOLDEN) >= 150


@pytest.mark.covers("S2-40", "S2-155")
@pytest.mark.parametrize(("written", "names"), GOLDEN, ids=[written for written, _ in GOLDEN])
def test_a_citation_has_one_normal_form_and_one_lexml_name(written, names):
    assert named(written) == names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Súmula nº 331 do TST", "SUMULA 331/TST"),
        ("art. 1.022, II, do NCPC", "art. 1022, inciso II, da Lei nº 13.105/15"),
        ("AgInt no AREsp 1.234.567/SP", "Agravo em Recurso Especial nº 1234567"),
        ("parágrafo único do art. 7º da CLT", "CLT, art. 7o, parágrafo único"),
        ("2-65.2005.4.05.8100", VALID),
    ],
)
def test_two_spellings_have_one_normal_form(one, other):
    assert citations(one) == citations(other) != ()


def test_a_law_is_inherited_both_ways_and_never_guessed():
    assert citations("art. 186 c/c art. 927 do CC") == citations("art. 186 do CC c/c art. 927")
    assert citations("art. 186 do CC e art. 3º do contrato") == ("[lei:CC-art186]",)
    assert citations("art. 3º do contrato e art. 4º") == ()


def test_a_law_of_a_state_is_not_the_federal_one_of_its_number():
    assert citations("Lei Estadual nº 13.105/2015") == ("[lei:estadual-13105-2015]",)
    assert urn(legal_references("Lei Estadual nº 13.105/2015")[0]) == ""


@pytest.mark.parametrize(
    ("written", "valid"),
    [
        (VALID, True),
        ("2-65.2005.4.05.8100", True),
        ("0001234-56.2024.5.02.0000", False),
        ("0001234-98.2024.5.02.0000", True),
        ("RR-0001234-56.2024.5.02.0000", False),
        ("REsp 1.234.567/SP", True),
        ("2001.34.00.024796-9", True),
    ],
)
def test_wrong_check_digits_warn_and_the_number_is_still_a_reference(written, valid):
    assert [each.valid for each in legal_references(written)] == [valid]


def test_the_check_digits_are_compared_and_not_the_remainder():
    numbers = [f"{sequence:07d}-{check:02d}.2005.4.05.8100" for sequence in range(200) for check in range(100)]
    right = [number for number in numbers if case_numbers.valid(number)]
    assert len(right) == 200  # one pair of digits for each number: 01 is not 98


def test_every_edit_of_a_digit_is_found():
    edited = [f"{VALID[:at]}{new}{VALID[at + 1 :]}" for at in DIGITS for new in "0123456789" if new != VALID[at]]
    assert len(edited) == 180
    assert not [number for number in edited if case_numbers.valid(number)]


@pytest.mark.parametrize("number", [VALID, "0001234-98.2024.5.02.0000"])
def test_every_swap_of_two_neighbouring_digits_is_found(number):
    assert case_numbers.valid(number)
    for left, right in pairwise(DIGITS):
        digits = list(number)
        digits[left], digits[right] = digits[right], digits[left]
        assert number[left] == number[right] or not case_numbers.valid("".join(digits))
