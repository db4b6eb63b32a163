"""What an assistant without Fathom sends with a message: its last messages and the best passages of a plain search."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agents.core.documents.blocks import blocks
from agents.core.documents.passages import passages
from schemas.packs import ContextPack
from streams.edges.cli.demo.plain_search import Bm25, spelled
from streams.edges.cli.demo.play import StepOutcome
from streams.edges.cli.demo.script import ScriptStep
from streams.edges.cli.demo.short_script import ShortScript
from streams.stores.tokens import best_tokens

LAST_MESSAGES, TOP_PASSAGES = 20, 5


@dataclass(frozen=True, slots=True)
class Side:
    """What one side puts into the prompt beside the message: its text, its tokens, and whether it has all evidence."""

    text: str
    tokens: int
    holds: bool


@dataclass(frozen=True, slots=True)
class ComparedQuestion:
    """Both sides for one question, and the words that its answer depends on."""

    question: str
    evidence: tuple[str, ...]
    pack: Side
    rival: Side


class Rival:
    """The last messages and the best passages by BM25, over the passages that the index has."""

    def __init__(self, script: ShortScript) -> None:
        self._search = Bm25([unit for title, text in script.documents for unit in _units(title, text, script.lang)])
        self._turns = script.turns
        self._count = best_tokens().count

    def compared(self, outcome: StepOutcome) -> ComparedQuestion | None:
        """A message's pack beside the rival's text; None without a pack, or where the script names no evidence."""
        step, pack = outcome.step, outcome.answer
        if not (step.evidence and isinstance(pack, ContextPack)):
            return None
        sides = [self._side(text, step) for text in (pack.text or "", self._text(step))]
        return ComparedQuestion(step.event.content, step.evidence, *sides)

    def _side(self, text: str, step: ScriptStep) -> Side:
        """A side's text; the message itself is part of either prompt, so its words are there and its tokens equal."""
        prompt = (spelled(text), spelled(step.event.content))
        holds = all(any(spelled(phrase) in part for part in prompt) for phrase in step.evidence)
        return Side(text, self._count(text), holds)

    def _text(self, step: ScriptStep) -> str:
        names = [turn.record.name for turn in self._turns]
        before = self._turns[: names.index(step.record.name)][-LAST_MESSAGES:]
        found = self._search.ranked(step.event.content)[:TOP_PASSAGES]
        return "\n".join([*found, *(f"- {turn.event.role}: {turn.event.content}" for turn in before)])


def equal_answers(compared: Iterable[ComparedQuestion]) -> dict[str, Any]:
    """How often each side had the evidence, and the tokens of both over the messages where both had it."""
    every = list(compared)
    both = [each for each in every if each.pack.holds and each.rival.holds]
    return {
        "questions": len(every),
        "held": sum(each.pack.holds for each in every),
        "held_by_rival": sum(each.rival.holds for each in every),
        "both": len(both),
        "tokens": sum(each.pack.tokens for each in both),
        "tokens_of_rival": sum(each.rival.tokens for each in both),
    }


def _units(title: str, text: str, lang: str) -> Iterable[str]:
    for passage in passages(blocks(text), lang):
        yield f"{' › '.join(dict.fromkeys((title, *passage.path)))}\n- {passage.text}"
