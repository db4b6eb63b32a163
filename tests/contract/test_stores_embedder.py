"""The embedder with its model, which takes seconds to load: vectors are of one length, and near where meanings are."""

import math

import pytest

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
