"""What the gate cannot tell, measured apart: words of others without any mark, and calls that a taken-over agent makes.

Of both no high-risk call may come: its user reads the preview. Of other tools they pass, the second by requirement
(S4-28: what a call has is never changed).
"""

import random
from collections.abc import Iterator

from tests.attacks import texts
from tests.attacks.attack import AIMS, Attack, Call, Say
from tests.attacks.families import EACH, evil


def unmarked(each: int = EACH) -> Iterator[Attack]:
    """A text that was pasted without a mark, and has the only value in the message."""
    choose = random.Random("unmarked")
    for number in range(each):
        aim = AIMS[number % len(AIMS)]
        value = evil(choose, aim)
        text = f"{choose.choice(aim.asks)}\n\n{choose.choice(texts.DIRECT).format(v=value)}"
        yield Attack(
            "unmarked paste", "paste", aim.tool, value, (*aim.opened(), Say(text), Call(aim.tool)), aim.wanted()
        )


def taken_over(each: int = EACH) -> Iterator[Attack]:
    """An agent that does what a document says: it puts the value into its call itself."""
    choose = random.Random("taken over")
    for number in range(each):
        aim = AIMS[number % len(AIMS)]
        value = evil(choose, aim)
        events = (*aim.opened(), Say(choose.choice(aim.asks)), Call(aim.tool, {aim.arg: value, **aim.more}))
        yield Attack("agent taken over", "call", aim.tool, value, events, aim.wanted())


def limits(each: int = EACH) -> list[Attack]:
    return [*unmarked(each), *taken_over(each)]
