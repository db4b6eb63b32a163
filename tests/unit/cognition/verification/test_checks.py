"""The checks of a claim: what is changed against its source is refused, and the check that refuses it is named."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from agents.cognition.verification import checks
from agents.cognition.verification.checks import checked
from schemas.cognition import Claim, ClaimVerdict, EvidenceConflict, EvidencePassage

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


def passage(text: str, cite: str, title: str = "", lang: str = "pt", uid: str = "c1") -> EvidencePassage:
    return EvidencePassage(
        chunk_uid=uid, text=text, title=title, document_id="d", cite=cite, lang=lang, recorded_at=NOON
    )


# (sentence, citation, title): each lies between two others in its passage.
PT = [
    ("O empregado receberá adicional de 20% sobre a hora diurna.", "lei:CLT-art73", "CLT"),
    ("A multa será de 40% (quarenta por cento) do saldo da conta.", "lei:CLT-art477", "CLT"),
    ("O prazo para apresentar defesa é de 15 dias úteis.", "lei:CPC-art335", "CPC"),
    ("As férias durarão trinta dias corridos.", "lei:CLT-art130", "CLT"),
    ("A jornada não excederá de 8 (oito) horas diárias.", "lei:CLT-art58", "CLT"),
    ("Não cabe recurso da decisão que homologa o acordo.", "lei:CPC-art1009", "CPC"),
    ("O fiador não responde pelos juros vencidos após a notificação.", "lei:CC-art835", "Código Civil"),
    ("É vedada a cobrança de taxa de matrícula na universidade pública.", "sumula-vinculante:STF-12", "Súmulas"),
    ("É nula a cláusula que exonera o fornecedor de responsabilidade.", "lei:CDC-art51", "CDC"),
    ("A indenização é devida ainda que o dano seja apenas moral.", "lei:CC-art186", "Código Civil"),
    ("Nos termos do art. 1.022 do CPC, os embargos corrigem erro material.", "lei:CPC-art1022", "CPC"),
    ("O § 2º do art. 59 da CLT trata da compensação de jornada.", "lei:CLT-art59", "CLT"),
    ("O art. 7º, XVI, da CF assegura a remuneração do serviço extraordinário.", "lei:CF-art7", "Constituição"),
    ("O contrato foi assinado em 12 de março de 2019.", "processo:0000002-65.2005.4.05.8100", "Sentença"),
    ("A autora pagou R$ 1.250,00 pela passagem em 03/05/2021.", "processo:0000002-65.2005.4.05.8100", "Sentença"),
    ("O benefício foi suspenso em 1º de julho de 2020.", "processo:0000002-65.2005.4.05.8100", "Sentença"),
    ("O locatário tem direito à devolução em dobro do que pagou a mais.", "lei:8245-1991-art43", "Lei do Inquilinato"),
    ("A Súmula 331 do TST trata da responsabilidade subsidiária.", "sumula:TST-331", "Súmulas do TST"),
    ("O sindicato deve ser avisado com antecedência de 72 horas.", "lei:7783-1989-art13", "Lei de Greve"),
    ("Em regra, o depósito recursal não é exigido da massa falida.", "sumula:TST-86", "Súmulas do TST"),
]
EN = [
    ("The tenant must give notice of at least 30 days.", "act:housing-act-s5", "Housing Act"),
    ("A licence is valid for three years.", "act:harbour-act-s4", "Harbour Act"),
    ("No vessel shall enter the dock without a pilot.", "act:harbour-act-s6", "Harbour Act"),
    ("The fee is 12 per cent of the price.", "act:fees-act-s2", "Fees Act"),
    ("An appeal does not suspend the order.", "act:appeals-act-s9", "Appeals Act"),
    ("The deposit must be returned within 14 days.", "act:housing-act-s8", "Housing Act"),
    ("Under section 12 of the Housing Act the landlord must repair the roof.", "act:housing-act-s12", "Housing Act"),
    ("The lease was signed on 4 June 2018.", "case:lane-v-moor", "Lane v Moor"),
    ("A fine of up to $20,000 is due for each offence.", "act:fees-act-s7", "Fees Act"),
    ("The seller is not liable for damage caused by the buyer.", "act:sales-act-s3", "Sales Act"),
    ("The waiver is void.", "act:sales-act-s4", "Sales Act"),
    ("Smoking is prohibited on the quay.", "act:harbour-act-s40", "Harbour Act"),
]
AROUND = {"pt": ("A regra anterior cuida de assunto diverso.", "Outra frase encerra o trecho."),
          "en": ("The rule before concerns another subject.", "Another sentence ends the extract.")}  # fmt: skip
ALL = [*((*each, "pt") for each in PT), *((*each, "en") for each in EN)]


def verdict(claimed: str, said: str, source: str, title: str, lang: str, **changes: object) -> ClaimVerdict:
    before, after = AROUND[lang]
    text = f"{before} {said} {after}"
    start = text.index(said)
    fields = {"text": claimed, "chunk_uid": "c1", "start": start, "end": start + len(said), "cite": source} | changes
    own = {"c1": passage(text, source, title, lang)}
    return checked(Claim.model_validate(fields), "o que vale?", own, (), {"c1"}, lang)


def failed(found: ClaimVerdict) -> set[int]:
    return {each.number for each in found.checks if each.verdict == "fail"}


def test_there_are_thirty_sentences() -> None:
    assert len(ALL) >= 30


@pytest.mark.parametrize(("said", "cite", "title", "lang"), ALL, ids=[each[0] for each in ALL])
def test_a_sentence_as_it_stands_in_its_source_is_supported(said: str, cite: str, title: str, lang: str) -> None:
    found = verdict(said, said, cite, title, lang)
    assert [each for each in found.checks if each.verdict != "pass"] == []
    assert found.support == 1.0


def _next_number(match: re.Match[str]) -> str:
    return str(int(match[0]) + 10)


MONTHS = {"março": "maio", "julho": "agosto", "June": "July", "03/05": "04/05"}
WORDS = {"trinta": "sessenta", "three": "four", "dobro": "triplo"}
ACTS = {"da CLT": "da CF", "do CPC": "do CPP", "da CF": "da CLT", "do TST": "do STJ", "Housing Act": "Harbour Act"}
LOST = {"não ": "", "Não cabe": "Cabe", "No vessel": "A vessel", "does not suspend": "suspends", "is not": "is",
        "vedada": "permitida", "nula": "válida", "void": "valid", "prohibited": "permitted"}  # fmt: skip
ADDED = {"receberá": "não receberá", "será": "não será", " é de": " não é de", "durarão": "não durarão",
         "é devida": "é indevida", "corrigem": "não corrigem", "assegura": "não assegura",
         "tem direito": "não tem direito",
         "must give": "must not give", "is valid": "is not valid", "must be": "must not be",
         "must repair": "need not repair",
         "is due": "is not due", "deve ser": "não deve ser"}  # fmt: skip


def swapped(pairs: dict[str, str]) -> Callable[[str], str]:
    def change(said: str) -> str:
        for old, new in pairs.items():
            if old in said:
                return said.replace(old, new, 1)
        return said

    return change


def renumbered(said: str) -> str:
    """Another amount, in figures and in its words; those of provisions and dates stay."""
    if re.search(r"§|art\.|Súmula|section \d|de \d{4}|\d{2}/\d{2}/|June", said):
        return said
    return re.sub(r"\b\d{1,3}\b", _next_number, said)


CORRUPTIONS: dict[str, tuple[Callable[[str], str], int]] = {
    "amount": (renumbered, 6),
    "amount in words": (swapped(WORDS), 6),
    "date": (swapped(MONTHS), 6),
    "act": (swapped(ACTS), 5),
    "part": (swapped({"§ 2º": "§ 3º", "XVI": "XVII"}), 5),
    "article": (swapped({"1.022": "1.021", "art. 59": "art. 62", "section 12": "section 13", "331": "332"}), 5),
    "negation lost": (swapped(LOST), 8),
    "negation added": (swapped(ADDED), 8),
}
CHANGED = [
    (name, change(said), said, cite, title, lang, number)
    for name, (change, number) in CORRUPTIONS.items()
    for said, cite, title, lang in ALL
    if change(said) != said
]


def test_each_corruption_is_tried_more_than_once() -> None:
    counts = {name: sum(each[0] == name for each in CHANGED) for name in CORRUPTIONS}
    assert min(counts.values()) >= 2
    assert len(CHANGED) >= 50


@pytest.mark.covers("S2-114", "S2-115")
@pytest.mark.parametrize(
    ("name", "claimed", "said", "cite", "title", "lang", "number"), CHANGED, ids=[f"{c[0]}: {c[1]}" for c in CHANGED]
)
def test_a_changed_sentence_is_refused_by_the_check_of_what_was_changed(
    name: str, claimed: str, said: str, cite: str, title: str, lang: str, number: int
) -> None:
    found = verdict(claimed, said, cite, title, lang)
    assert found.support == 0
    assert {3, number} <= failed(found)


@pytest.mark.covers("S2-115", "S2-127")
@pytest.mark.parametrize(("said", "cite", "title", "lang"), ALL, ids=[each[0] for each in ALL])
def test_no_invented_foreign_or_absent_citation_is_accepted(said: str, cite: str, title: str, lang: str) -> None:
    invented = verdict(said, said, cite, title, lang, cite="lei:CLT-art999")
    foreign = verdict(said, said, cite, title, lang, chunk_uid="c2")
    written = verdict(f"{said} [lei:CLT-art999]", said, cite, title, lang)
    assert [each.support for each in (invented, foreign, written)] == [0, 0, 0]
    assert all(2 in failed(each) for each in (invented, foreign, written))


# --- what the public implementation did, and what must not come back ------------------------------------------------


@pytest.mark.covers("S2-127")
def test_on_empty_evidence_every_citation_is_invalid() -> None:
    claim = Claim(text="Cabe recurso.", chunk_uid="c1", start=0, end=13, cite="lei:CPC-art1")
    found = checked(claim, "cabe?", {}, (), {"c1"}, "pt")
    assert {1, 2, 3} <= failed(found)
    assert found.support == 0
    assert not {each.verdict for each in found.checks if each.number > 4 and each.number != 10} & {"pass", "warn"}


@pytest.mark.covers("S2-126")
@pytest.mark.parametrize(
    ("claimed", "said", "cite", "number"),
    [
        ("O art. 468 da CF veda a alteração.", "O art. 468 da CLT veda a alteração.", "lei:CLT-art468", 5),
        ("A multa é de 50%.", "A multa é de 40%.", "lei:CLT-art477", 6),
        ("O aviso é exigido.", "O aviso não é exigido.", "lei:CLT-art487", 8),
    ],
)
def test_act_amount_or_negation_changed_is_refused_and_the_check_named(
    claimed: str, said: str, cite: str, number: int
) -> None:
    assert number in failed(verdict(claimed, said, cite, "CLT", "pt"))


@pytest.mark.covers("S2-126")
def test_a_normative_sentence_without_a_citation_is_refused() -> None:
    for said, lang in (("O prazo é de 15 dias.", "pt"), ("The tenant must pay.", "en"), ("O art. 5º é claro.", "pt")):
        found = verdict(said, said, "lei:CPC-art5", "CPC, art. 5º", lang, cite="")
        assert (failed(found), found.support) == ({4}, 0), said
    plain = verdict("A casa é azul.", "A casa é azul.", "doc:x", "", "pt", cite="")
    assert (failed(plain), plain.support) == (set(), 1.0)


def test_the_whole_of_a_long_passage_counts_and_a_thousand_and_twenty_two_is_not_one() -> None:
    filler = "O relatório descreve o andamento do processo na origem. " * 60
    said = "Cabem embargos de declaração para corrigir erro material, diz o art. 1.022 do CPC."
    text = f"{filler}{said}"
    assert len(text) > 3_000
    own = {"c1": passage(text, "lei:CPC-art1022", "CPC")}

    def of(claimed: str) -> ClaimVerdict:
        claim = Claim(text=claimed, chunk_uid="c1", start=len(filler), end=len(text), cite="lei:CPC-art1022")
        return checked(claim, "cabem embargos?", own, (), {"c1"}, "pt")

    assert of(said).support == 1.0
    assert 5 in failed(of(said.replace("1.022", "1")))
    assert 5 in failed(of(said.replace("1.022", "1.023")))


# --- single checks --------------------------------------------------------------------------------------------------


def test_a_cut_that_leaves_the_negation_out_is_refused() -> None:
    for said, part, lang in (
        ("Não cabe recurso da decisão.", "cabe recurso da decisão.", "pt"),
        ("É vedado cobrar taxa de matrícula.", "cobrar taxa de matrícula.", "pt"),
        ("No vessel shall enter the dock.", "vessel shall enter the dock.", "en"),
    ):
        text = f"{AROUND[lang][0]} {said}"
        start = text.index(part)
        claim = Claim(text=part, chunk_uid="c1", start=start, end=len(text), cite="doc:x")
        found = checked(claim, "?", {"c1": passage(text, "doc:x", lang=lang)}, (), {"c1"}, lang)
        assert (failed(found), found.support) == ({8}, 0), said


def test_a_part_without_the_negation_of_the_other_part_is_kept() -> None:
    text = "O empregador não pode reduzir o salário; o empregado tem direito a férias."
    start = text.index("o empregado")
    claim = Claim(text=text[start:], chunk_uid="c1", start=start, end=len(text), cite="doc:x")
    assert checked(claim, "?", {"c1": passage(text, "doc:x")}, (), {"c1"}, "pt").support == 1.0


def test_at_least_is_not_at_most() -> None:
    assert 6 in failed(verdict("O aviso é de no máximo 10 dias.", "O aviso é de no mínimo 10 dias.", "doc:x", "", "pt"))
    assert 6 in failed(verdict("The notice is up to 10 days.", "The notice is at least 10 days.", "doc:x", "", "en"))


def test_a_sum_is_recomputed() -> None:
    said = "O aviso é de 10 dias e a prorrogação de 5 dias."
    right, wrong = "Somam 15 dias: 10 dias e 5 dias.", "Somam 16 dias: 10 dias e 5 dias."
    assert 6 not in failed(verdict(right, said, "doc:x", "", "pt"))
    assert 6 in failed(verdict(wrong, said, "doc:x", "", "pt"))
    assert 6 in failed(verdict("10 dias + 5 dias = 5 dias", said, "doc:x", "", "pt"))


def test_a_case_number_is_warned_of_or_refused() -> None:
    bad, good = "0001234-56.2024.5.02.0000", "0000002-65.2005.4.05.8100"
    told = "O processo {} foi julgado."
    literal = verdict(told.format(bad), told.format(bad), "doc:x", "", "pt")
    assert literal.checks[6].verdict == "warn"
    assert literal.support == 1.0
    assert 7 in failed(verdict(told.format(bad), told.format(good), "doc:x", "", "pt"))
    assert 5 in failed(verdict(told.format(good), told.format(bad), "doc:x", "", "pt"))


@pytest.mark.covers("S2-117")
def test_one_side_of_an_open_conflict_is_refused_until_the_other_is_cited() -> None:
    text = "O dano moral é presumido."
    own = {"c1": passage(text, "doc:x"), "c2": passage("O dano moral não é presumido.", "doc:y", uid="c2")}
    claim = Claim(text=text, chunk_uid="c1", start=0, end=len(text), cite="doc:x")
    conflict = EvidenceConflict(
        node_id="n", a="c1", b="c2", motivo="", type="polarity", spans=((0, len(text)), (0, 29))
    )

    def side(cited: set[str], given: EvidenceConflict = conflict) -> str:
        return checked(claim, "?", own, (given,), cited, "pt").checks[9].verdict

    assert side({"c1"}) == "fail"
    assert side({"c1", "c2"}) == "pass"
    assert side({"c1"}, conflict.model_copy(update={"resolution": "a"})) == "warn"
    assert side({"c1"}, conflict.model_copy(update={"resolution": "b"})) == "fail"
    assert side({"c1"}, conflict.model_copy(update={"spans": ((90, 99), (0, 29))})) == "warn"


@pytest.mark.covers("S2-116")
def test_a_claim_surer_than_its_source_is_refused() -> None:
    said = "Em regra, o depósito é exigido."
    assert 11 in failed(verdict("O depósito é exigido.", said, "doc:x", "", "pt"))
    assert 11 not in failed(verdict(said, said, "doc:x", "", "pt"))
    far = verdict("O depósito judicial vinculado permanece exigido.", said, "doc:x", "", "pt")
    assert {9, 11} <= failed(far)


@pytest.mark.covers("S2-118")
def test_a_court_that_does_not_judge_the_matter_is_a_warning() -> None:
    text = "O pedido foi julgado."
    claim = Claim(text=text, chunk_uid="c1", start=0, end=len(text), cite="doc:x")

    def of(question: str, title: str) -> tuple[str, float]:
        found = checked(claim, question, {"c1": passage(text, "doc:x", title)}, (), {"c1"}, "pt")
        return found.checks[11].verdict, found.support

    assert of("O empregado tem direito a férias?", "Tribunal Superior Eleitoral") == ("warn", 1.0)
    assert of("O empregado tem direito a férias?", "Tribunal Superior do Trabalho") == ("pass", 1.0)
    assert of("O prazo corre em dobro?", "Tribunal Superior Eleitoral") == ("pass", 1.0)


@pytest.mark.parametrize("number", range(1, 10))
def test_a_check_that_raises_approves_nothing(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: checks.CheckedClaim) -> checks.Finding:
        raise ZeroDivisionError

    said, cite, title, lang = ALL[0]
    assert verdict(said, said, cite, title, lang).support == 1.0
    monkeypatch.setattr(checks, "CHECKS", (*checks.CHECKS[: number - 1], broken, *checks.CHECKS[number:]))
    found = verdict(said, said, cite, title, lang)
    assert found.checks[number - 1].verdict == "unverified"
    assert found.support == 0


@pytest.mark.parametrize(
    "said", ["", " ", "[lei:X-art1]", "\x00", "§", "art. art. art.", "9" * 400, "não " * 500, "=+="]
)
def test_no_text_raises_or_is_approved_by_accident(said: str) -> None:
    claim = Claim(text=said, chunk_uid="c1", start=0, end=5, cite="doc:x")
    own = {"c1": passage("Cabe recurso no prazo de 15 dias.", "doc:x")}
    assert checked(claim, "?", own, (), {"c1"}, "pt").support == 0


@pytest.mark.covers("S2-117")
@pytest.mark.parametrize("claimed", ["c1", "c2"])
def test_either_side_of_an_open_conflict_is_refused_alone(claimed: str) -> None:
    # What the second passage says of it stands behind another sentence, at other places than in the first.
    texts = {"c1": "O dano moral é presumido.", "c2": "Há duas correntes. O dano moral não é presumido."}
    spans = {"c1": (0, 25), "c2": (19, 48)}
    own = {uid: passage(said, f"doc:{uid}", uid=uid) for uid, said in texts.items()}
    start, end = spans[claimed]
    claim = Claim(text=texts[claimed][start:end], chunk_uid=claimed, start=start, end=end, cite=f"doc:{claimed}")
    conflict = EvidenceConflict(
        node_id="n", a="c1", b="c2", motivo="", type="polarity", spans=(spans["c1"], spans["c2"])
    )

    def side(cited: set[str]) -> tuple[str, str]:
        found = checked(claim, "?", own, (conflict,), cited, "pt").checks[9]
        return found.verdict, found.expected

    [other] = {"c1", "c2"} - {claimed}
    assert side({claimed}) == ("fail", other)
    assert side({claimed, other}) == ("pass", "")


@pytest.mark.covers("S2-116")
@pytest.mark.parametrize(("claimed", "share", "fails"), [
    ("O prazo para apresentar defesa é de 15 dias úteis.", 1.0, False),
    ("O prazo para apresentar recurso e defesa na vara é de 15 dias úteis.", 0.75, False),
    ("O prazo para apresentar recurso e defesa na vara cível é de 15 dias úteis.", 0.67, True),
])  # fmt: skip
def test_a_claim_that_its_source_has_barely_enough_words_of_has_to_say_so(
    claimed: str, share: float, fails: bool
) -> None:
    found = verdict(claimed, "O prazo para apresentar defesa é de 15 dias úteis.", "lei:CPC-art335", "CPC", "pt")
    [coverage] = [float(each.found) for each in found.checks if each.number == 9]
    assert coverage == pytest.approx(share, abs=0.03)
    assert (9 in failed(found), 11 in failed(found)) == (False, fails)
