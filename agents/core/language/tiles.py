"""Whether a whole message is made of known phrases: one after the other, until nothing is left.

The texts are folded (no case, no accents) and are words with one blank between them.
"""

import re
from collections.abc import Sequence


def pieces(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """Each pattern as one kind of piece, which ends where a word does."""
    return tuple(re.compile(rf"(?:{each})(?= |$)") for each in patterns)


def tiles(text: str, core: Sequence[re.Pattern[str]], around: Sequence[re.Pattern[str]] = ()) -> bool:
    """Whether the text divides into pieces of `core`, one at least, and of `around`; in time linear in its length."""
    reached: dict[int, bool] = {0: False}
    for start in range(len(text)):
        if start not in reached:
            continue
        for pieces, says in ((core, True), (around, reached[start])):
            for piece in pieces:
                found = piece.match(text, start)
                if found is not None and found.end() > start:
                    following = found.end() + 1
                    reached[following] = reached.get(following, False) or says
    return reached.get(len(text) + 1, False)
