"""Whether a whole message is made of known phrases: one after the other, until nothing is left.

The texts are folded (no case, no accents) and are words with one blank between them.
"""

import re
from collections.abc import Sequence
from functools import cache

from agents.core.language.lexicons import lexicon

Pieces = Sequence[re.Pattern[str]]


@cache
def pieces(name: str, *sections: str) -> Pieces:
    """The phrases of sections of a lexicon; each part is one kind of piece, which ends where a word does."""
    patterns = (pattern for section in sections for pattern in lexicon(name).patterns(section))
    return tuple(re.compile(rf"(?:{each})(?= |$)") for each in patterns)


def tiles(text: str, core: Pieces, around: Pieces = ()) -> bool:
    """Whether the text divides into pieces of `core`, one at least, and of `around`; in time linear in its length."""
    reached: dict[int, bool] = {0: False}
    for start in range(len(text)):
        if start not in reached:
            continue
        for some, says in ((core, True), (around, reached[start])):
            for piece in some:
                found = piece.match(text, start)
                if found is not None and found.end() > start:
                    following = found.end() + 1
                    reached[following] = reached.get(following, False) or says
    return reached.get(len(text) + 1, False)
