"""Questions are divided by their form, in both languages; what belongs together stays together."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.cognition.decomposition.complexity import is_complex
from agents.cognition.decomposition.tree import MAX_ANSWERED, decompose
from bench.evaluation.deep.tasks import steps
from schemas.cognition import CognitionLimits, CognitiveTree, NodeState

LIMITS = CognitionLimits()
HOME_OFFICE = (
    "Empregado em home office tem direito a horas extras e o empregador pode reduzir o salário por acordo individual?"
)


def tree(question: str, lang: str = "pt", limits: CognitionLimits = LIMITS) -> CognitiveTree:
    return decompose(question, lang, limits)


def leaves(question: str, lang: str = "pt") -> list[str]:
    return [leaf.question for leaf in tree(question, lang).leaves()]


@pytest.mark.covers("AC-70", "S2-24", "S2-26")
def test_two_questions_of_one_sentence_are_two_leaves() -> None:
    made = tree(HOME_OFFICE)
    assert [leaf.question for leaf in made.leaves()] == [
        "Empregado em home office tem direito a horas extras?",
        "O empregador pode reduzir o salário por acordo individual?",
    ]
    assert made.root().kind == "list"
    assert made.root().state is NodeState.CONTINUE
    assert {leaf.state for leaf in made.leaves()} == {NodeState.END}


@pytest.mark.parametrize(
    ("lang", "question", "kind", "parts"),
    [
        (
            "pt",
            "Qual é o prazo para apelação e qual é o prazo para embargos?",
            "list",
            ["Qual é o prazo para apelação?", "Qual é o prazo para embargos?"],
        ),
        (
            "en",
            "What is the notice period and who pays the deposit?",
            "list",
            ["What is the notice period?", "Who pays the deposit?"],
        ),
        (
            "en",
            "How long is a permit valid, and within how many days must an appeal be lodged?",
            "list",
            ["How long is a permit valid?", "Within how many days must an appeal be lodged?"],
        ),
        (
            "pt",
            "O que é uma debênture e a partir de quando ela pode ser resgatada?",
            "list",
            ["O que é uma debênture?", "A partir de quando ela pode ser resgatada?"],
        ),
        (
            "pt",
            "Responda: a) qual o prazo do recurso b) quem julga o recurso",
            "list",
            ["Qual o prazo do recurso?", "Quem julga o recurso?"],
        ),
        (
            "pt",
            "Qual é o prazo para apelação e para embargos?",
            "list",
            ["Qual é o prazo para apelação?", "Qual é o prazo para embargos?"],
        ),
        ("pt", "Quais as diferenças entre dolo e culpa?", "comparison", ["O que é dolo?", "O que é culpa?"]),
        ("pt", "QUAIS AS DIFERENCAS ENTRE DOLO E CULPA", "comparison", ["O que é DOLO?", "O que é CULPA?"]),
        (
            "en",
            "What is the difference between a will and a trust?",
            "comparison",
            ["What is a will?", "What is a trust?"],
        ),
        (
            "en",
            "Which bridge is older, Tower Bridge or Rialto?",
            "comparison",
            ["How old is Tower Bridge?", "How old is Rialto?"],
        ),
        ("en", "Are both Lisbon and Porto capitals?", "both", ["Is Lisbon capitals?", "Is Porto capitals?"]),
        (
            "pt",
            "Ana, Bruno e Carla moram em Recife?",
            "list",
            ["Ana moram em Recife?", "Bruno moram em Recife?", "Carla moram em Recife?"],
        ),
        (
            "en",
            "What do we owe Anna Reed, Bob Stone and Carl Moss?",
            "list",
            ["What do we owe Anna Reed?", "What do we owe Bob Stone?", "What do we owe Carl Moss?"],
        ),
    ],
)
def test_each_form_has_its_parts(lang: str, question: str, kind: str, parts: list[str]) -> None:
    assert (tree(question, lang).root().kind, leaves(question, lang)) == (kind, parts)


@pytest.mark.parametrize(
    ("lang", "question", "inner", "outer", "expects"),
    [
        (
            "pt",
            "Qual é a pena prevista no artigo que trata de furto qualificado?",
            "Qual é o artigo que trata de furto qualificado?",
            "Qual é a pena prevista em #1?",
            "provision",
        ),
        (
            "pt",
            "Quem é o relator da súmula aplicável a contratos bancários?",
            "Qual é a súmula aplicável a contratos bancários?",
            "Quem é o relator de #1?",
            "ruling",
        ),
        (
            "en",
            "How many people live in the city that hosted the fair of 1889?",
            "What is the city that hosted the fair of 1889?",
            "How many people live in #1?",
            "place",
        ),
    ],
)
def test_a_description_is_asked_first_and_its_answer_used(
    lang: str, question: str, inner: str, outer: str, expects: str
) -> None:
    made = tree(question, lang)
    first, second = (made.nodes[child] for child in made.root().children)
    assert made.root().kind == "bridge"
    assert (first.question, first.expects) == (inner, expects)
    assert (second.question, second.uses) == (outer, (first.node_id,))


@pytest.mark.covers("S2-33")
def test_nested_descriptions_name_the_node_they_use() -> None:
    question = "Who married the director of the film that won in 1994 and what did the wedding cost?"
    made = tree(question, "en")
    used = [(leaf.uses, leaf.question) for leaf in made.leaves() if leaf.uses]
    assert used == [(("1.1",), "Who married the director of #1.1?")]
    # Level by level.
    assert [each.level for each in made.nodes.values()] == sorted(each.level for each in made.nodes.values())


@pytest.mark.covers("S2-33", "CF-32")
def test_of_questions_of_one_level_the_first_has_the_room_that_is_left() -> None:
    first, second, third = (
        "Qual é o prazo e quem recorre?",
        "Qual é a multa e quem a paga?",
        "Qual é o foro e quem vai?",
    )
    made = tree(f"a) {first} b) {second} c) {third}", "pt")
    assert list(made.nodes) == ["0", "1", "2", "3", "1.1", "1.2"]


@pytest.mark.parametrize(
    ("question", "last", "uses"),
    [
        ("Who approved ticket #7 of the customer that reported the outage?", "Who approved ticket #7 of #1?", ("1",)),
        ("Who approved ticket #1 of the customer that reported the outage?", "Who approved ticket # 1 of #1?", ("1",)),
        ("Who approved #12 and #1.2 of the customer that left in May?", "Who approved #12 and #1.2 of #1?", ("1",)),
        ("Who fixed ticket #7 and who reported bug #1?", "Who reported bug #1?", ()),
    ],
)
def test_a_number_sign_of_the_users_own_is_no_reference(question: str, last: str, uses: tuple[str, ...]) -> None:
    leaf = tree(question, "en").leaves()[-1]
    assert (leaf.question, leaf.uses) == (last, uses)
    assert "#7" in question or steps(tree(question, "en"))[-1] == last


@pytest.mark.parametrize(
    ("lang", "question"),
    [
        ("pt", "Cabe indenização por perdas e danos?"),
        ("pt", "A Johnson & Johnson responde pelo talco?"),
        ("pt", "A Silva e Souza Ltda deve pagar a multa?"),
        ("pt", 'O que diz a cláusula "multa e qual é o juro" do contrato?'),
        ("pt", "O que dizem os arts. 186 e 927 do Código Civil?"),
        ("pt", "Qual é o artigo que trata de prescrição?"),
        ("pt", "Qual é o prazo para apelação?"),
        ("en", "Does Smith and Jones Ltd owe the rent?"),
        ("en", "What are the terms and conditions of the lease?"),
        ("en", "What are the opening hours of Marks and Spencer?"),
        ("en", "What did the Ministry of Health and Welfare decide?"),
        ("en", "when did the war end"),
        ("en", "does the dog die in the movie"),
    ],
)
def test_what_belongs_together_is_not_divided(lang: str, question: str) -> None:
    made = tree(question, lang)
    assert list(made.nodes) == ["0"]
    assert made.root().question == question
    assert made.conditions == ()


@pytest.mark.parametrize(
    ("lang", "question", "conditions", "parts"),
    [
        (
            "pt",
            "Se o empregado faltar três dias, qual é a punição e quem decide?",
            ("Se o empregado faltar três dias",),
            ["Qual é a punição?", "Quem decide?"],
        ),
        (
            "en",
            "What is the notice period and who pays the deposit if the tenant leaves early?",
            ("if the tenant leaves early",),
            ["What is the notice period?", "Who pays the deposit?"],
        ),
    ],
)
def test_conditions_are_no_leaves(lang: str, question: str, conditions: tuple[str, ...], parts: list[str]) -> None:
    assert tree(question, lang).conditions == conditions
    assert leaves(question, lang) == parts


def test_negations_provisions_and_periods_survive() -> None:
    """Defect 12 of the implementation that this one replaces."""
    parts = leaves("Não é devido o aviso do art. 5 em 15 dias e quem deve pagar a multa do art. 477 da CLT?")
    assert parts == ["Não é devido o aviso do art. 5 em 15 dias?", "Quem deve pagar a multa do art. 477 da CLT?"]


@pytest.mark.parametrize(
    ("lang", "question", "second"),
    [
        ("en", "When did Anna Reed move to Leeds and who helped her?", "Who helped her?"),
        ("en", "Where does Anna work and when did she start?", "When did Anna start?"),
        ("en", "Where does Anna work and when did Bob say she started?", "When did Bob say she started?"),
        ("pt", "Onde trabalha Carla e quando ela começou?", "Quando Carla começou?"),
    ],
)
def test_a_pronoun_becomes_the_one_name_it_can_mean(lang: str, question: str, second: str) -> None:
    assert leaves(question, lang)[1] == second


@pytest.mark.covers("CF-31", "S2-30", "S2-154")
@pytest.mark.parametrize(
    ("lang", "question", "expected"),
    [
        ("pt", HOME_OFFICE, True),
        ("pt", "Qual é o prazo para apelação e qual é o prazo para embargos?", True),
        ("pt", "Quais as diferenças entre posse e propriedade?", True),
        ("pt", "quais as diferencas entre posse e propriedade", True),
        ("pt", "Se o empregado faltar três dias, qual é a punição e quem decide?", True),
        ("pt", "Art. 5 CF", False),
        ("pt", "Art. 5º, inciso LV, da Constituição Federal", False),
        ("pt", "Qual é o prazo da apelação?", False),
        ("pt", "a ou b? e qual é?", False),
        ("pt", "O art. 59 da CLT revoga o art. 7 da CF?", True),
        ("pt", "A CLT e o CPC já valem?", True),
        ("pt", "A CLT e o CPC valem?", False),
        ("en", "Which bridge is older, Tower Bridge or Rialto?", True),
        ("en", "When does the shop open on Monday?", False),
        ("pt", "", False),
    ],
)
def test_complexity_follows_form_and_score(lang: str, question: str, *, expected: bool) -> None:
    assert is_complex(question, lang, 0.5) is expected


def test_a_lower_threshold_makes_more_questions_complex() -> None:
    question = "Quando cabe a multa da CLT?"
    assert (is_complex(question, "pt", 0.05), is_complex(question, "pt", 0.5)) == (True, False)


@pytest.mark.covers("CF-32")
def test_a_tree_never_exceeds_its_limits() -> None:
    many = " ".join(f"Qual é o prazo do recurso {name} e quem julga o caso {name}?" for name in "abcdefgh")
    for limits in (LIMITS, CognitionLimits(max_depth=1, max_children=2)):
        made = tree(many, "pt", limits)
        assert 2 < len(made.nodes) <= MAX_ANSWERED
        assert len(made.root().children) <= limits.max_children
        assert made.max_level() <= limits.max_depth


@pytest.mark.parametrize(
    "unit", ["e qual é ", "a ou b, ", "Ana e Bia, ", "the film that the man who ", "? ", '"', "a) "]
)
def test_long_texts_cost_little_and_raise_nothing(unit: str) -> None:
    began = time.perf_counter()
    for lang in ("pt", "en", "xx"):
        made = tree(unit * (100_000 // len(unit)), lang)
        assert len(made.nodes) <= MAX_ANSWERED
    assert time.perf_counter() - began < 6


PIECES = ["qual é", "e", "ou", "que", "a)", "?", ",", "se o", "o artigo", "Ana", "#1", "mais", "do que"]
PIECES += ["#7", "and", "which", "is both", "the", "older", "of", "the film that"]
WORDS = st.sampled_from(PIECES)


@given(
    said=st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=30).map(" ".join)),
    lang=st.sampled_from(("pt", "en")),
)
def test_every_text_has_a_tree_whose_questions_name_only_earlier_siblings(said: str, lang: str) -> None:
    made = tree(said, lang)
    assert made.root().question == said
    for node in list(made.nodes.values())[1:]:
        siblings = made.nodes[node.parent_id or ""].children
        assert set(node.uses) <= set(siblings[: siblings.index(node.node_id)])
        assert node.question.strip("?")
    is_complex(said, lang, 0.5)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "A Lei de Acesso à Informação e a Lei de Parcelamento e Uso do Solo valem para municípios?",
            ["Lei de Acesso à Informação", "Lei de Parcelamento e Uso do Solo"],
        ),
        ("Que crimes a Lei dos Crimes de Lavagem ou Ocultação de Bens define?", ["Lavagem ou Ocultação de Bens"]),
    ],
)
def test_the_name_of_a_law_is_not_divided_at_its_conjunctions(question: str, parts: list[str]) -> None:
    said = leaves(question)
    assert len(said) == len(parts)
    assert all(part in each for part, each in zip(parts, said, strict=True))


def test_a_mention_with_numbers_swallows_no_question() -> None:
    question = "Qual é o prazo do art. 5 e quem deve pagar a multa do art. 477 da CLT?"
    assert leaves(question) == ["Qual é o prazo do art. 5?", "Quem deve pagar a multa do art. 477 da CLT?"]
