"""What of a chat request is the caller's own: the context of an earlier request is not."""

import pytest

from streams.edges.http.openai.chat_request import CLOSING, OPENING, without_block

BLOCK = f"{OPENING}\nold\n{CLOSING}"


@pytest.mark.parametrize(
    ("instructions", "own"),
    [
        ("Be brief.", "Be brief."),
        (f"Be brief.\n\n{BLOCK}", "Be brief."),
        (f"{BLOCK} Be brief. {BLOCK}\n{BLOCK}\nNow.", " Be brief.\nNow."),
        (f"Be brief. {OPENING} old", f"Be brief. {OPENING} old"),
        (f"{CLOSING} Be brief. {OPENING} {BLOCK}", f"{CLOSING} Be brief."),
        (" " * 200_000 + "x", " " * 200_000 + "x"),
        (OPENING * 20_000, OPENING * 20_000),
    ],
)
def test_the_context_of_an_earlier_request_goes_with_the_blanks_before_it(instructions: str, own: str):
    assert without_block(instructions) == own
