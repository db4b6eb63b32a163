"""What an optional language model adds to the rules: completed follow-ups, chosen passages, facts of statements.

Each is asked within a time limit; where it is late, fails or answers nonsense, everything stays as the rules have it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.concurrency import call_with_deadline
from agents.core.assessment.question import MAX_USER_CHARS
from agents.core.claims.extraction import Assertion
from agents.core.conversation.memory import Turns
from agents.core.model_prompts import facts as fact_prompts
from agents.core.model_prompts import reranking, rewriting
from agents.core.retrieval.evidence import JudgedHit
from agents.ports.models import LanguageModel
from agents.ports.passages import Hit


@dataclass(frozen=True, slots=True)
class TimedModel:
    """A language model that is waited for so many seconds."""

    model: LanguageModel
    seconds: float

    async def says(self, prompt: str, max_tokens: int, within: float = math.inf) -> str | None:
        """The answer; None where it fails or is late, or where the caller itself has no time `within` which to wait."""
        seconds = min(self.seconds, within)
        if seconds <= 0:
            return None

        async def complete() -> str:
            return await self.model.complete(prompt, tier="fast", max_tokens=max_tokens, temperature=0.0)

        return (await call_with_deadline(complete, seconds))[0]


async def completed(model: TimedModel, message: str, history: Turns, within: float) -> str | None:
    """A follow-up as a question that stands alone; None where the model gives none."""
    answer = await model.says(rewriting.prompt(message, history), rewriting.MAX_TOKENS, within)
    found = None if answer is None else rewriting.read(answer)
    return None if found is None else found[:MAX_USER_CHARS]


async def chosen(
    model: TimedModel,
    query: str,
    context: str,
    kept: Sequence[JudgedHit[Hit]],
    left_out: Sequence[JudgedHit[Hit]],
    within: float,
) -> tuple[list[JudgedHit[Hit]], list[JudgedHit[Hit]]]:
    """What is kept and left out of the first twenty, by the model; unchanged where it chooses none of them.

    Each keeps its own probability. What the rules put first always stays, and where they keep nothing the model adds
    nothing: a passage cannot talk itself into being evidence.
    """
    judged = [*kept, *(each for each in left_out if each.left_out == "irrelevant")][: reranking.MOST]
    if not kept or len(judged) < 2:
        return [*kept], [*left_out]
    texts = [each.hit.passage.text for each in judged]
    answer = await model.says(reranking.prompt(query, context, texts), reranking.MAX_TOKENS, within)
    places = None if answer is None else reranking.read(answer, len(judged))
    if places is None:
        return [*kept], [*left_out]
    best = [replace(judged[place], left_out="") for place in dict.fromkeys((0, *places))]
    taken = {each.hit.passage.id for each in best}
    rest = [each for each in (*kept, *left_out) if each.hit.passage.id not in taken]
    return best, [each if each.left_out else replace(each, left_out="irrelevant") for each in rest]


async def facts(model: TimedModel, said: str, lang: str) -> Sequence[Assertion]:
    """The facts of a statement in which the rules find none."""
    answer = await model.says(fact_prompts.prompt(said, lang), fact_prompts.MAX_TOKENS)
    return () if answer is None else fact_prompts.read(answer, said, lang)
