"""Token counts and vectors, and what stands in for a model; the embedder's own is in the contract suite."""

import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.core.caching.budget import ENTRY_BYTES, share_of
from streams.stores.passages import vectors
from streams.stores.passages.vectors import NUMBER_BYTES, HashingEmbedder, UseEmbedder
from streams.stores.tokens import EstimatedTokens, O200kTokens, best_tokens
from tests.builders.examples import examples

COUNTERS = {"o200k": O200kTokens(), "estimate": EstimatedTokens()}
TEXTS = st.text(max_size=120) | st.sampled_from(
    ["🧑🏽‍🚀🧑🏽‍🚀 ok", "çãõ漢字テスト𓀀", "<|endoftext|> oi", "   \n\n  x", "def f():\n    pass"]
)


@pytest.fixture(params=COUNTERS)
def counter(request):
    return COUNTERS[request.param]


@settings(max_examples=examples(150), deadline=None)
@given(text=TEXTS, limit=st.integers(-1, 60))
@pytest.mark.parametrize("name", COUNTERS)
def test_a_cut_text_is_a_prefix_within_the_limit(name, text, limit):
    counter = COUNTERS[name]
    cut = counter.cut(text, limit)
    assert text.startswith(cut)
    assert counter.count(cut) <= max(limit, 0)


@settings(max_examples=examples(100), deadline=None)
@given(text=TEXTS)
@pytest.mark.parametrize("name", COUNTERS)
def test_a_text_within_the_limit_is_not_cut(name, text):
    counter = COUNTERS[name]
    assert counter.cut(text, counter.count(text)) == text


def test_a_cut_keeps_as_many_tokens_as_it_may(counter):
    text = "o prazo do projeto mudou para dia vinte " * 20
    for limit in (10, 33, 100):
        assert counter.count(counter.cut(text, limit)) >= limit - 1


def test_counts_are_those_of_the_vocabulary():
    tokens = O200kTokens()
    assert [tokens.count(text) for text in ("", "hello world", "olá mundo 😀")] == [0, 2, 4]
    assert tokens.count("<|endoftext|>") == 7


def test_the_estimate_is_never_below_the_count_on_usual_text():
    exact, estimate = O200kTokens(), EstimatedTokens()
    for text in ("oi", "Qual é o prazo do projeto?", "Não, o prazo mudou para dia 20.", "How does it work?", "a b c d"):
        assert estimate.count(text) >= exact.count(text)


def test_the_estimate_stands_in_where_the_tokenizer_is_missing(monkeypatch):
    assert isinstance(best_tokens(), O200kTokens)
    monkeypatch.setitem(sys.modules, "rs_bpe.bpe", None)
    assert isinstance(best_tokens(), EstimatedTokens)


def test_hashed_vectors_have_the_promised_size_and_length_one():
    embedder = HashingEmbedder()
    for vector in embedder.encode(["o prazo é dia 15", "", "!?"]):
        assert len(vector) == embedder.size
        assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-4)
    assert embedder.encode([]) == []


def test_only_recent_texts_are_remembered(monkeypatch):
    embedder = UseEmbedder()
    embedder._compute = lambda texts: [[float(len(text))] for text in texts]
    monkeypatch.setattr(share_of("vectors"), "allowed", 20 * (embedder.size * NUMBER_BYTES + 2 * ENTRY_BYTES))
    first = embedder.encode(["primeira"])[0]
    for number in range(10):
        embedder.encode([f"t{number}"])
    assert embedder.encode(["primeira"])[0] is first
    for number in range(30):
        embedder.encode([f"u{number}"])
    assert embedder.encode(["primeira"])[0] is not first


def test_late_setting_of_the_blas_threads_is_told(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "numpy", object())
    for name in (vectors.BLAS_THREADS, vectors.BLAS_KERNELS):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    vectors.one_blas_thread()
    assert "numpy was imported before" in caplog.text
    assert vectors.os.environ[vectors.BLAS_THREADS] == "1"


@pytest.mark.parametrize(
    ("cpu", "chosen"),
    [
        ("vendor_id : AuthenticAMD\nflags : fma avx2 avx512f avx512cd avx512bw avx512dq avx512vl sha_ni", "SkylakeX"),
        ("vendor_id : AuthenticAMD\nflags : fma avx2 avx512f sha_ni", None),
        ("vendor_id : GenuineIntel\nflags : fma avx2 avx512f avx512cd avx512bw avx512dq avx512vl", None),
        ("", None),
    ],
)
def test_wide_kernels_are_chosen_only_where_the_processor_has_them(monkeypatch, cpu, chosen):
    for name in (vectors.BLAS_THREADS, vectors.BLAS_KERNELS):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(vectors, "_cpu", lambda: cpu)
    vectors.one_blas_thread()
    assert vectors.os.environ.get(vectors.BLAS_KERNELS) == chosen
    monkeypatch.setenv(vectors.BLAS_KERNELS, "Haswell")
    vectors.one_blas_thread()
    assert vectors.os.environ[vectors.BLAS_KERNELS] == "Haswell"


def test_hashed_vectors_are_the_same_in_every_process():
    [vector] = HashingEmbedder().encode(["prazo"])
    assert [index for index, number in enumerate(vector) if number] == [39, 58]
