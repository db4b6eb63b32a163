"""Conversations of an evaluation set played through the depth rules as the depth agent plays them."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, cast

from agents.core.conversation.memory import ConversationTurn, turn_of
from agents.core.depth.levels import DepthDecision, classify
from agents.core.language.identification import first_language, identify_language
from schemas.depth import Anchor, DepthLevel

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WINDOW = 10
Item = dict[str, Any]


def items(path: Path) -> Iterator[Item]:
    """The records of a set, one JSON object a line, compressed or not."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        yield from map(json.loads, lines)


@dataclass
class Playback:
    """One conversation under way: the turns of the current frame, its anchor, what was decided last."""

    turns: list[ConversationTurn] = field(default_factory=list)
    anchor: Anchor | None = None
    lang: str = ""
    said: int = 0

    def history(self) -> tuple[ConversationTurn, ...]:
        return tuple(self.turns[-WINDOW:])

    def hear(self, role: str, text: str) -> DepthDecision | None:
        """File a turn; the decision on it where the user said it."""
        decision = self.judge(text) if role == "user" else None
        if decision is not None:
            if decision.level is DepthLevel.D4:
                self.turns.clear()
            if decision.level is DepthLevel.D4 or self.anchor is None:
                self.anchor = Anchor(topic=text[:160], terms=decision.terms)
        at = START + timedelta(seconds=self.said)
        self.said += 1
        known = cast("Literal['user', 'assistant', 'system']", role)
        self.turns.append(turn_of(known, text, at, {"message_id": f"m{self.said}", "seq": self.said}))
        return decision

    def judge(self, text: str) -> DepthDecision:
        """The decision on a user's message, which is not filed."""
        self.lang = identify_language(text, self.lang or first_language(text, "en"))
        return classify(text, self.history(), lang=self.lang, anchor=self.anchor)


def plain(turns: Sequence[Item]) -> list[ConversationTurn]:
    """The turns of a conversation as they are remembered, without what was decided on them."""
    return [
        ConversationTurn(
            cast("Literal['user', 'assistant', 'system']", turn["role"]), turn["text"], START + timedelta(seconds=at)
        )
        for at, turn in enumerate(turns)
    ]


def played(turns: Sequence[Item]) -> Playback:
    """A conversation after its turns; what is neither the user's nor the assistant's is left out."""
    talk = Playback()
    for turn in turns:
        if turn["role"] in ("user", "assistant"):
            talk.hear(turn["role"], turn["text"])
    return talk
