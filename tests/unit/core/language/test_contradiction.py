"""Two sentences: what denies, what contradicts by its meaning, and what only looks like it. All pairs are invented."""

import base64
import json
import time
from collections.abc import Callable

import pytest

from agents.core.language import contradiction
from agents.core.language.contradiction import (
    NEAR,
    EmbeddedSentence,
    Network,
    RelationProbabilities,
    against,
    cosine,
    denied,
    judged,
    opposed,
    readings,
    unpacked,
)
from streams.stores.passages.vectors import UseEmbedder
from tests.checkout import ROOT

Pair = tuple[str, str]
Make = Callable[[str], EmbeddedSentence]

DENIALS = [
    ("Um menino joga bola no quintal.", "Não há nenhum menino jogando bola no quintal."),
    ("Duas moças tocam violão na praça.", "Ninguém toca violão na praça."),
    ("O gato está dormindo no tapete.", "O gato não está dormindo no tapete."),
    ("A loja nunca entrega aos sábados.", "A loja entrega aos sábados."),
    ("A man is painting the fence.", "Nobody is painting the fence."),
    ("The old ferry leaves at noon.", "The old ferry never leaves at noon."),
    ("The dog is barking at the gate.", "The dog isn't barking at the gate."),
    ("There is no snow on the road.", "There is snow on the road."),
]
OTHERWISE = [
    ("O armazém está cheio.", "O armazém está vazio."),
    ("Uma mulher corre no parque.", "Uma mulher está sentada no sofá de casa."),
    ("O menino está chorando.", "O menino está rindo."),
    ("O cliente aceitou a oferta.", "O cliente recusou a oferta."),
    ("The warehouse is full.", "The warehouse is empty."),
    ("The shop is open on Sundays.", "The shop is closed on Sundays."),
]
OPPOSITES = [
    ("The gate of the mill is open.", "The gate of the mill is shut."),
    ("The porter walks up the hill.", "The porter walks down the hill."),
    ("The train is entering the tunnel.", "The train is leaving the tunnel."),
    ("The attic is dark.", "The attic is bright."),
    ("The nanny pushes the pram.", "The nanny pulls the pram."),
    ("The badge is mandatory in the lab.", "The badge is optional in the lab."),
    ("O portão do moinho está aberto.", "O portão do moinho está fechado."),
    ("O carteiro sobe o morro.", "O carteiro desce o morro."),
    ("O trem está entrando no túnel.", "O trem está saindo do túnel."),
    ("O sótão está escuro.", "O sótão está claro."),
    ("A babá empurra o berço.", "A babá puxa o berço."),
    ("O crachá é obrigatório no laboratório.", "O crachá é opcional no laboratório."),
]
# A denial of something else than was said of the same people.
OF_OTHER_THINGS = [
    ("A porter is carrying a trunk.", "No porter is sweeping the hall."),
    ("A girl is flying a kite.", "There is no girl baking a pie."),
    ("Two men are mending a net.", "Nobody is mending a roof."),
    ("The pilot is reading a map.", "The pilot is not drinking tea."),
    ("A dog is digging a hole.", "There is no dog guarding the sheep."),
    ("A tailor is sewing a coat.", "No tailor is ironing a shirt."),
    ("Um carregador leva um baú.", "Nenhum carregador está varrendo o salão."),
    ("Uma menina solta uma pipa.", "Não há nenhuma menina assando uma torta."),
    ("Dois homens remendam uma rede.", "Ninguém está consertando um telhado."),
    ("O piloto lê um mapa.", "O piloto não está bebendo chá."),
    ("Um cão cava um buraco.", "Não há nenhum cão vigiando as ovelhas."),
    ("Um alfaiate costura um casaco.", "Nenhum alfaiate está passando uma camisa."),
]
COMPATIBLE = [
    ("Um menino joga bola no quintal.", "O menino usa uma camiseta nova."),
    ("O gato está dormindo no tapete.", "O gato se chama Fumaça."),
    ("Uma mulher corre no parque.", "Uma pessoa está correndo no parque."),
    ("The old ferry leaves at noon.", "The ferry carries forty cars."),
    ("Nobody is in the garden.", "No one is in the garden."),
    ("O cão não está latindo.", "O cachorro não late."),
]


@pytest.fixture(scope="module")
def sentence() -> Make:
    embedder = UseEmbedder()
    return lambda text: EmbeddedSentence(text, embedder.encode([text])[0])


def of(pair: Pair, make: Make) -> RelationProbabilities:
    return judged(make(pair[0]), make(pair[1]))


@pytest.mark.parametrize("pair", DENIALS, ids=str)
def test_a_denial_of_what_was_said_is_a_contradiction(pair: Pair, sentence: Make) -> None:
    assert denied(*readings(*pair)) >= contradiction.COVERED
    assert of(pair, sentence).label == "contradiction"


@pytest.mark.parametrize(
    "pair",
    [
        *[(one, one) for one, _ in DENIALS],
        ("O cão não está latindo.", "O cão não está latindo no portão."),
        ("Nobody is painting the fence.", "No one is painting the fence."),
        # The Portuguese `no` is `in the`.
        ("O gato dorme no tapete.", "O gato dorme sobre tapete."),
        # Both deny, one of them without a negation.
        ("A praça está deserta à noite.", "Não há ninguém na praça à noite."),
        ("The street is empty of cars.", "There are no cars in the street."),
    ],
    ids=str,
)
def test_a_negation_on_both_sides_or_none_denies_nothing(pair: Pair) -> None:
    assert denied(*readings(*pair)) == 0


def test_a_denial_of_something_else_is_none() -> None:
    assert denied(*readings("O gato dorme no tapete.", "Nenhuma padaria vende bolo.")) == 0


@pytest.mark.parametrize("pair", OPPOSITES, ids=str)
def test_opposites_of_one_thing_contradict_each_other(pair: Pair) -> None:
    assert opposed(*readings(*pair)) == 1.0


@pytest.mark.parametrize(
    "pair",
    [
        ("The door is open.", "The shop next to the old bakery closed."),
        ("The gate is open.", "The gate is not shut."),
        ("He opens and closes the lid.", "He closes the lid."),
        ("A porta está aberta.", "A loja ao lado da velha padaria fechou."),
        ("O portão está aberto.", "O portão não está fechado."),
        ("Ele abre e fecha a tampa.", "Ele fecha a tampa."),
    ],
    ids=str,
)
def test_opposites_of_two_things_or_denied_ones_do_not(pair: Pair) -> None:
    assert opposed(*readings(*pair)) < contradiction.SAME_OTHERWISE


def test_denials_of_another_thing_are_seldom_contradictions(sentence: Make) -> None:
    called = [pair for pair in OF_OTHER_THINGS if of(pair, sentence).label == "contradiction"]
    assert len(called) <= 3, called


def test_a_denial_is_a_contradiction_whatever_the_network_says() -> None:
    unsure = RelationProbabilities(0.1, 0.2, 0.7)
    assert (unsure.label, unsure.score) == ("neutral", 0.1)
    denies = RelationProbabilities(0.1, 0.2, 0.7, negated=True)
    assert (denies.label, denies.score) == ("contradiction", contradiction.DENIED)


@pytest.mark.parametrize("far", [True, False])
def test_a_negation_counts_only_where_the_sentences_are_near(far: bool) -> None:
    u = [1.0, *[0.0] * (contradiction.SIZE - 1)]
    v = [*[0.0] * (contradiction.SIZE - 1), 1.0] if far else u
    assert judged(EmbeddedSentence("O trem parou.", u), EmbeddedSentence("O trem não parou.", v)).negated is not far


@pytest.mark.parametrize("pair", OTHERWISE, ids=str)
def test_another_state_or_deed_is_a_contradiction_without_a_negation(pair: Pair, sentence: Make) -> None:
    assert denied(*readings(*pair)) == 0
    assert of(pair, sentence).label == "contradiction"


@pytest.mark.parametrize("pair", COMPATIBLE, ids=str)
def test_what_can_both_hold_is_no_contradiction(pair: Pair, sentence: Make) -> None:
    assert of(pair, sentence).label != "contradiction"


def test_what_follows_is_told_from_what_is_only_possible(sentence: Make) -> None:
    assert of(("Uma mulher corre no parque.", "Uma mulher está correndo."), sentence).label == "entailment"
    assert of(("Uma mulher corre no parque.", "A mulher está esperando uma amiga."), sentence).label == "neutral"


def test_a_hypothesis_contradicts_its_own_premise_and_no_strangers(sentence: Make) -> None:
    pairs = [*DENIALS, *OTHERWISE]
    shifted = [(premise, other[1]) for (premise, _), other in zip(pairs, pairs[3:] + pairs[:3], strict=True)]
    called = [pair for pair in shifted if of(pair, sentence).label == "contradiction"]
    assert len(called) <= 1, called


@pytest.mark.parametrize("text", ["", "   ", "?!", "\u0000"])
def test_a_text_without_words_contradicts_nothing(text: str, sentence: Make) -> None:
    for pair in ((text, "O trem não parou."), ("O trem parou.", text), (text, text)):
        assert of(pair, sentence) == contradiction.NOTHING
        assert against(sentence(pair[0]), sentence(pair[1])) == 0


@pytest.mark.parametrize("text", ["O trem não parou.", "Nobody came.", "Não"])
def test_a_sentence_never_contradicts_itself(text: str, sentence: Make) -> None:
    assert of((text, text.upper()), sentence) == contradiction.SAME
    assert against(sentence(text), sentence(text)) == 0


def test_of_a_long_text_its_beginning_and_its_end_are_read() -> None:
    one, _ = readings("O trem parou. " + "x " * 50_000 + "E não voltou.", "O trem parou.")
    assert one.negated
    assert len(one.words) < 2_000


def test_a_text_of_any_length_takes_little_time() -> None:
    vector = [1.0, *[0.0] * (contradiction.SIZE - 1)]
    long = [
        EmbeddedSentence(unit * (100_000 // len(unit)), vector) for unit in ("não ", "x", "O trem Z9 parou. ", "n't'")
    ]
    began = time.perf_counter()
    for one in long:
        for other in long:
            against(one, other)
    assert time.perf_counter() - began < 8


# --- what is shown to people ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pair",
    [
        ("O cliente aprovou a proposta.", "O cliente recusou a proposta."),
        ("O café está incluído na diária.", "O café não está incluído na diária."),
        ("The budget was increased.", "Nobody increased the budget."),
        ("The shop is open on Sundays.", "The shop is closed on Sundays."),
    ],
    ids=str,
)
def test_it_is_as_sure_whichever_was_said_first(pair: Pair, sentence: Make) -> None:
    one, other = map(sentence, pair)
    assert against(one, other) > contradiction.SURE
    assert against(one, other) == pytest.approx(against(other, one))


@pytest.fixture
def certain(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], float]:
    """`against` of two sentences of one vector, by a network that calls everything a contradiction."""
    wide = 4 * contradiction.SIZE + len(contradiction.of_words(*readings("a", "b"), 1.0))
    network = Network(((0.0,) * wide,), (0.0,), ((0.0,),) * 3, (9.0, 0.0, 0.0))
    monkeypatch.setattr(contradiction, "network", lambda: network)
    vector = [1.0, *[0.0] * (contradiction.SIZE - 1)]
    return lambda one, other: against(EmbeddedSentence(one, vector), EmbeddedSentence(other, vector))


@pytest.mark.parametrize(
    ("one", "other", "elsewhere"),
    [
        ("As vendas subiram em maio.", "As vendas caíram em maio.", "As vendas caíram em abril."),
        ("A loja abre na segunda.", "A loja fecha na segunda.", "A loja fecha na terça."),
        ("A loja do Porto abriu.", "A loja do Porto fechou.", "A loja de Lisboa fechou."),
        ("O pedido 881 foi enviado.", "O pedido 881 foi perdido.", "O pedido 882 foi perdido."),
        ("The shop is open on Sundays.", "The shop is closed on Sundays.", "The shop is closed on Mondays."),
        ("Room B12 is full.", "Room B12 is empty.", "Room B14 is empty."),
    ],
)
def test_what_names_something_else_is_in_doubt(
    one: str, other: str, elsewhere: str, certain: Callable[[str, str], float]
) -> None:
    assert certain(one, other) > contradiction.SURE
    assert certain(one, elsewhere) == 0


def test_a_denial_of_more_than_was_said_is_in_doubt(sentence: Make) -> None:
    one, other = sentence("A garantia cobre quedas."), sentence("A garantia não cobre roubo.")
    assert judged(one, other).label == "contradiction"
    assert against(one, other) == 0


def test_sentences_that_are_far_apart_are_in_doubt(sentence: Make) -> None:
    one, other = sentence("Aceitamos devoluções em até 30 dias."), sentence("Não aceitamos nenhuma devolução.")
    assert cosine(one.vector, other.vector) < NEAR
    assert judged(one, other).label == "contradiction"
    assert against(one, other) == 0


@pytest.mark.parametrize("name", ["first", "second"])
def test_of_our_own_office_pairs_hardly_one_is_called_falsely(name: str, sentence: Make) -> None:
    lines = [line.split("\t") for line in (ROOT / "bench/contradiction/pairs.tsv").read_text("utf-8").splitlines()]
    called: dict[str, list[bool]] = {"contradiction": [], "neutral": []}
    for of_set, _, label, one, other in lines:
        if of_set == name:
            called[label].append(against(sentence(one), sentence(other)) > 0)
    assert sum(called["neutral"]) / len(called["neutral"]) <= 0.05
    assert sum(called["contradiction"]) / len(called["contradiction"]) >= 0.3


# --- the table -----------------------------------------------------------------------------------------------------


def test_a_row_of_weights_is_eight_bits_and_a_scale() -> None:
    packed = base64.b64encode(bytes([127, 0, 0x81])).decode()
    network = unpacked({
        "hidden": [packed], "scales": [0.5], "hidden_bias": [1.0],
        "out": [[1.0], [0.0], [-1.0]], "out_bias": [0.0, 0.0, 0.0],
    })  # fmt: skip
    assert network.hidden == ((63.5, 0.0, -63.5),)
    assert network.probabilities([0.0, 9.0, 1.0]) == pytest.approx([1 / 3] * 3)
    first, second, third = network.probabilities([0.0, 9.0, 0.0])
    assert first > second > third
    assert first + second + third == pytest.approx(1)


def test_the_weights_fit_the_inputs_and_say_where_they_come_from() -> None:
    says = json.loads((ROOT / "agents/core/weights/contradiction.json").read_text("utf-8"))
    assert says["fitted_on"] == {"inferbr": "MIT"}
    assert (ROOT / says["script"]).is_file()
    assert says["cross_validated"]["f1"] >= 0.78
    assert says["cross_validated"]["f1_shuffled_premises"] < 0.45
    assert says["cross_validated"]["false_on_neutral"] <= 0.03
    vector = [0.0] * contradiction.SIZE
    wide = len(contradiction.inputs(*readings("a b", "c d"), vector, vector))
    assert {len(row) for row in contradiction.network().hidden} == {wide}
