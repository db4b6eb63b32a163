"""Argument values that a tool call may take from its dialogue, by speaker: turns and calls in one sequence. Pure.

The permitted values depend on the speaker. A tool whose mistakes are costly takes only values that the user stated or
confirmed, never those stated only in an answer, a document or a tool's result.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.core.conversation.memory import ConversationTurn
from agents.core.language.quotes import strip_quoted
from agents.core.tools import slot_carryover
from agents.core.tools.argument_reading import FLAGS
from agents.core.tools.argument_types import sort_of
from agents.core.tools.open_spans import plain
from agents.core.tools.slot_carryover import NOTHING, Recalled, Used
from schemas.tool_policy import Argument, Contract
from schemas.tool_session import Done, Waiting

LONGEST_VALUE = 500
LONGEST_TURN = 2_000
_WHOLE = re.compile(r"-?\d{1,15}")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class ArgumentCandidates:
    """The possible values of an argument (none, one or several), and the message or call they come from."""

    values: Sequence[object]
    source: slot_carryover.Source
    evidence: str
    at: datetime


@dataclass(frozen=True, slots=True)
class DialogueState:
    """The dialogue before a call: its turns, the session's calls, and the calls shown for confirmation."""

    turns: Sequence[ConversationTurn] = ()
    calls: Sequence[Done] = ()
    confirmed: Sequence[Waiting] = ()

    def since(self, now: datetime, seconds: float) -> "DialogueState":
        """The same without older items."""
        first = now - timedelta(seconds=seconds)
        return DialogueState(
            [turn for turn in self.turns if turn.created_at >= first],
            [call for call in self.calls if call.at >= first],
            [each for each in self.confirmed if each.asked_at >= first],
        )

    def values(
        self, tool: str, contract: Contract, missing: Sequence[str], given: Mapping[str, object] = NOTHING
    ) -> Mapping[str, ArgumentCandidates]:
        """The candidates for each missing argument, converted to its type and permitted for this tool.

        `given` are the arguments that the call has: what they say is not read for others.
        """
        dialogue, origins = _in_one_line(self.turns, self.calls)
        found = {}
        for name, each in slot_carryover.candidates(dialogue, tool, missing, given).items():
            evidence, at = origins[each.place][each.source == "proposal"]
            found[name] = ArgumentCandidates(self._allowed(name, contract, each), each.source, evidence, at)
        return found

    def _allowed(self, name: str, contract: Contract, recalled: Recalled) -> Sequence[object]:
        rule, dear = contract.arguments[name], contract.confirm_values.get(name, ())
        fit = (fitting(rule, value) for value in recalled.among or (recalled.value,))
        if recalled.source == "proposal" and recalled.value in FLAGS and rule.type != "boolean":
            return []  # a mention of a flag does not give its value
        values = [value for value in dict.fromkeys(fit) if value is not None]
        return [value for value in values if self._user_s(name, value) or not (contract.sensitive or value in dear)]

    def _user_s(self, name: str, value: object) -> bool:
        """Whether the user stated the value, or confirmed a call shown with it for an argument of the same type."""
        words = f" {plain(value)} "
        said = (strip_quoted(turn.content) for turn in self.turns if turn.role == "user")
        if words.strip() and any(words in f" {plain(own)} " for own in said):
            return True
        shown = (each.args for each in self.confirmed if each.approved)
        return any(
            sort_of(other) == sort_of(name) and plain(v) == plain(value) for a in shown for other, v in a.items()
        )


def fitting(rule: Argument, value: object) -> object:
    """The value converted to the argument's type; None where it does not fit. Values in dialogues are untyped text."""
    text = str(value).strip()
    if isinstance(value, list | tuple | Mapping) or value is None or not 0 < len(text) <= LONGEST_VALUE:
        return None
    match rule.type:
        case "string":
            return None if isinstance(value, bool) else _chosen(rule, text)
        case "boolean":
            return _BOOLEANS.get(text.lower())
        case "integer":
            return int(text) if not isinstance(value, bool) and _WHOLE.fullmatch(text) else None
        case "number":
            known = not isinstance(value, bool) and _NUMBER.fullmatch(text)
            return None if not known else float(text) if "." in text else int(text)
        case _:
            return None


def _chosen(rule: Argument, text: str) -> str | None:
    if rule.choices is None:
        return text
    return next((choice for choice in rule.choices if plain(choice) == plain(text)), None)


# The origins of a turn: the call before it and its message, or the only one of the two, each with its time.
_Origin = tuple[tuple[str, datetime], tuple[str, datetime]]


def _in_one_line(
    turns: Sequence[ConversationTurn], calls: Sequence[Done]
) -> tuple[list[slot_carryover.EarlierTurn], list[_Origin]]:
    """The turns, each call before the first answer that follows it, and the origin of each item."""
    said: list[slot_carryover.EarlierTurn] = []
    origins: list[_Origin] = []
    for turn, done in _lined_up(turns, calls):
        role, text = ("assistant", "") if turn is None else (turn.role, turn.content)
        said.append(slot_carryover.EarlierTurn(role, text, None if done is None else _used(done)))
        known = [] if turn is None else [(turn.message_id, turn.created_at)]
        known += [] if done is None else [(done.call_id, done.at)]
        origins.append((known[-1], known[0]))
    return said, origins


def _lined_up(
    turns: Sequence[ConversationTurn], calls: Iterable[Done]
) -> Iterator[tuple[ConversationTurn | None, Done | None]]:
    left = sorted(calls, key=lambda call: call.at)
    for turn in turns:
        before = [call for call in left if call.at <= turn.created_at]
        left = left[len(before) :]
        told = before.pop() if before and turn.role == "assistant" else None
        yield from ((None, call) for call in before)
        yield turn, told
    yield from ((None, call) for call in left)


def _used(done: Done) -> Used:
    # A call that succeeded without rows was carried out, too.
    return Used(done.tool_name, done.args, done.rows or ([{}] if done.succeeded else []))
