"""A language model's opinion on a message: on a doubtful depth, and on what a follow-up leaves out."""

import math
from dataclasses import dataclass
from typing import Literal

from agents.concurrency import call_with_deadline
from agents.core.assessment.question import MemoryNeed
from agents.core.conversation.memory import Turns
from agents.core.depth import prompt as depth_prompt
from agents.core.depth.accept import Message
from agents.core.depth.levels import DepthDecision
from agents.model_help import TimedModel, completed
from agents.ports.models import LanguageModel
from schemas.depth import DepthLevel

# The share of a decision's time for storing the turn and sending the events.
OVERHEAD_S = 0.02
Classifier = Literal["heuristic", "llm", "heuristic_timeout"]


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """A language model for decisions of the rules with a confidence below `least`.

    `seconds` is the time limit of the whole decision, including the steps before and after the model's call; where a
    model `rewrites`, the completion of a follow-up has one of its own.
    """

    model: LanguageModel
    least: float = 0.6
    seconds: float = 0.1
    rewrites: TimedModel | None = None

    async def on(
        self, decision: DepthDecision, query: str, history: Turns, spent: float
    ) -> tuple[DepthDecision, Classifier]:
        """The decision and its classifier; unchanged where it is confident, or the model fails or is late."""
        if decision.confidence >= self.least:
            return decision, "heuristic"

        async def complete() -> depth_prompt.Chosen | None:
            prompt = depth_prompt.prompt(query, history)
            tokens, temperature = depth_prompt.MAX_TOKENS, depth_prompt.TEMPERATURE
            return depth_prompt.read(
                await self.model.complete(prompt, tier="fast", max_tokens=tokens, temperature=temperature)
            )

        left = self.seconds - spent - OVERHEAD_S
        chosen, late = await call_with_deadline(complete, left) if left > 0 else (None, True)
        if chosen is None:
            return decision, "heuristic_timeout" if late else "heuristic"
        if chosen.level is DepthLevel.D4 and not history:
            return decision, "heuristic"  # there is no topic to leave
        return depth_prompt.decided(decision, chosen, least=self.least), "llm"

    async def standing_alone(self, need: MemoryNeed, message: Message, history: Turns) -> MemoryNeed:
        """The need with a follow-up completed as the text to search with; unchanged where no model completes it.

        Of the time that a caller waits it takes a third; for the quickest tier, which searches no documents, none.
        """
        if self.rewrites is None or need["context"] is None or message.tier == "minimal":
            return need
        waits = message.options.wait_ms if message.options and message.options.wait_ms else math.inf
        found = await completed(self.rewrites, message.content, history, waits / 3000)
        return {**need, "context": found or need["context"]}
