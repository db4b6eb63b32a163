"""What has been read of texts: `functools.lru_cache`, whose entries are counted in bytes as well."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from agents.core.caching.budget import ENTRY_BYTES, CacheShare, bytes_of, share_of

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

R = TypeVar("R")
# The caches of the share are added up once in so many bytes of one: for each word it would take longer than reading it.
CHECKED_BYTES = 8_192
# Most texts are single words: what these and their readings take on average is not measured again for each.
WORD_CHARS, WORD_BYTES = 50, 550


class _Counted:
    """A function's cache, and at most how many bytes it holds."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self._unchecked = 0
        self.clear: Callable[[], None] = lambda: None

    def add(self, size: int, share: CacheShare) -> None:
        """Count an entry, before it is kept; beyond the bytes of the share its largest cache is emptied."""
        self.size_bytes += size
        self._unchecked += size
        if self._unchecked < CHECKED_BYTES:
            return
        self._unchecked = 0
        if share.used > share.allowed:
            with share.lock:
                others = [each for each in share.members() if isinstance(each, _Counted)]
                largest = max(others, key=lambda each: each.size_bytes)
                largest.clear()
                largest.size_bytes = size if largest is self else 0


def text_cache(max_entries: int, share: str = "texts") -> "Callable[[Callable[..., R]], _lru_cache_wrapper[R]]":
    """A decorator that remembers results by texts, which may be long."""

    def decorated(read: Callable[..., R]) -> "_lru_cache_wrapper[R]":
        counted, mine = _Counted(), share_of(share)

        # Runs for a text that is not remembered only: others are found in C, which a look at their length would
        # make several times slower. What `lru_cache` drops is not taken off: it does not say what that was.
        @wraps(read)
        def made(*args: Any, **named: Any) -> R:
            found = read(*args, **named)
            text = args[0] if args else None
            is_word = type(text) is str and len(text) <= WORD_CHARS
            counted.add(WORD_BYTES if is_word else ENTRY_BYTES + bytes_of((args, named, found)), mine)
            return found

        cached = lru_cache(max_entries)(made)
        counted.clear = cached.cache_clear
        mine.join(counted)
        return cached

    return decorated
