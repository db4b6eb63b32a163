"""What is remembered of texts keeps to its bytes, however long the texts are."""

import pytest

from agents.core.caching import texts
from agents.core.caching.budget import share_of
from agents.core.caching.texts import text_cache
from agents.core.language.text import content_set

SHARE = "record_keys"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share_of(SHARE), "allowed", share_of(SHARE).used + 1_000_000)


def test_a_text_is_read_once() -> None:
    read: list[str] = []

    @text_cache(100, SHARE)
    def length(text: str, *, more: int = 0) -> int:
        """Its length."""
        read.append(text)
        return len(text) + more

    assert [length("abc"), length("abc"), length("abc", more=1)] == [3, 3, 4]
    assert (read, length.__doc__) == (["abc", "abc"], "Its length.")


def test_long_texts_push_others_out_and_take_no_more_than_the_share() -> None:
    @text_cache(4_096, SHARE)
    def upper(text: str) -> str:
        return text.upper()

    before = share_of(SHARE).used
    for number in range(200):
        text = f"{number} " + "é" * 50_000
        assert upper(text) == text.upper()
        assert share_of(SHARE).used - before <= 1_000_000
        assert upper.cache_info().currsize <= 10


def test_words_are_bounded_too() -> None:
    @text_cache(1_000_000, SHARE)
    def upper(text: str) -> str:
        return text.upper()

    before = share_of(SHARE).used
    for number in range(20_000):
        upper(f"w{number}")
    assert share_of(SHARE).used - before <= 1_000_000 + texts.CHECKED_BYTES
    assert upper.cache_info().currsize < 2_500


def test_the_largest_cache_makes_room_and_the_small_ones_stay() -> None:
    @text_cache(4_096, SHARE)
    def small(text: str) -> str:
        return text

    @text_cache(4_096, SHARE)
    def large(text: str) -> str:
        return text[:1]

    small("word")
    for number in range(100):
        large(f"{number} " + "x" * 50_000)
    assert small.cache_info().currsize == 1
    assert large.cache_info().currsize < 25


def test_messages_of_a_quarter_of_a_megabyte_are_read_within_the_share_of_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content_set.cache_clear()
    monkeypatch.setattr(share_of("texts"), "allowed", share_of("texts").used + 3_000_000)
    for number in range(20):
        assert f"palavra{number}" in content_set(f"palavra{number} " + "prazo " * 40_000, "pt")
    assert content_set.cache_info().currsize < 12
