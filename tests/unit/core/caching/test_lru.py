"""The LRU cache of bytes: what stays, what goes, and how much all caches of a share take together."""

import gc
from collections.abc import Iterator

import pytest

from agents.core.caching import budget
from agents.core.caching.budget import DEFAULT_MB, ENTRY_BYTES, SHARES, CacheShare, bytes_of, share_of
from agents.core.caching.lru import ByteCache
from tests.builders.events import chunk

LARGE = 1_000


@pytest.fixture
def whole_budget() -> Iterator[None]:
    yield
    budget.set_budget(DEFAULT_MB)


def test_the_newest_and_the_used_stay_within_the_bytes() -> None:
    share = CacheShare(20 * LARGE)
    cache = ByteCache[int, str](share)
    for number in range(100):
        cache.put(number, "x" * LARGE)
        assert cache.get(0) == "x" * LARGE
        assert share.used <= share.allowed
    assert [key for key, _ in cache.items()] == [*range(100 - len(cache) + 1, 100), 0]
    assert 10 < len(cache) < 20


def test_a_value_larger_than_its_share_is_not_kept_and_drops_what_it_replaces() -> None:
    cache = ByteCache[str, str](CacheShare(5 * LARGE))
    cache.put("a", "small")
    cache.put("b", "small")
    cache.put("a", "x" * 5 * LARGE)
    assert (cache.get("a"), cache.get("b")) == (None, "small")


def test_caches_of_a_share_have_its_bytes_together_and_the_oldest_entry_of_all_goes_first() -> None:
    share = CacheShare(10 * LARGE)
    one, other = ByteCache[int, str](share), ByteCache[int, str](share)
    for number in range(4):
        one.put(number, "x" * LARGE)
    for number in range(20):
        other.put(number, "x" * LARGE)
    assert len(one) == 0
    assert share.used == other.size_bytes <= share.allowed


def test_a_cache_that_nobody_has_any_more_takes_nothing_of_its_share() -> None:
    share = CacheShare(10 * LARGE)
    cache = ByteCache[int, str](share)
    cache.put(1, "x" * LARGE)
    assert share.used > LARGE
    del cache
    gc.collect()
    assert share.used == 0


def test_what_is_put_again_is_counted_once_and_what_is_dropped_not_at_all() -> None:
    cache = ByteCache[int, str](CacheShare(100 * LARGE))
    for _ in range(3):
        cache.put(1, "x", LARGE)
    assert cache.size_bytes == ENTRY_BYTES + bytes_of(1) + LARGE
    assert cache.pop(1) == "x"
    assert (cache.size_bytes, cache.pop(1)) == (0, None)
    cache.put(2, "y")
    cache.clear()
    assert (cache.size_bytes, len(cache), cache.oldest()) == (0, 0, None)


def test_entries_are_bounded_in_number_too_where_that_is_asked_for() -> None:
    cache = ByteCache[int, str](CacheShare(100 * LARGE), max_entries=2)
    for number in range(5):
        cache.put(number, "x")
    assert [key for key, _ in cache.items()] == [3, 4]


@pytest.mark.usefixtures("whole_budget")
def test_the_shares_are_the_whole_budget_and_keep_their_proportions() -> None:
    assert sum(SHARES.values()) == DEFAULT_MB
    budget.set_budget(DEFAULT_MB // 2)
    assert {name: share_of(name).allowed for name in SHARES} == {name: mb << 19 for name, mb in SHARES.items()}
    cache = ByteCache[int, str]("log_lines")
    for number in range(20):
        cache.put(number, "x" * 100_000)
    assert 1 <= len(cache) <= 5


def test_the_size_of_a_value_is_that_of_its_texts() -> None:
    text = "x" * 100_000
    for value in (text, (text,), {"a": [text]}, chunk("c1", text), frozenset({text})):
        assert 100_000 < bytes_of(value) < 110_000
