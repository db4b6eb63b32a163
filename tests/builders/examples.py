"""How many generated cases a test tries: some, or all of them where `FATHOM_TEST_EXAMPLES=full` asks for it."""

import os

FULL = os.environ.get("FATHOM_TEST_EXAMPLES") == "full"


def examples(number: int) -> int:
    """`number` when all are tried; otherwise a quarter of it, and no fewer than twenty."""
    return number if FULL else min(number, max(20, number // 4))


def few(number: int, tried: int) -> int:
    """`number` when all are tried, otherwise `tried`: for cases that cost much each."""
    return number if FULL else tried
