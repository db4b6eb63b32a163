"""Cognition with a language model: what it improves at each node, within the calls and the time of a run.

Whatever fails, is late or cannot be read leaves the result of the rules; a call too many is not made.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal, TypeVar

from agents.cognition.core import reasoner, verifier
from agents.cognition.core.missing import missing_of
from agents.cognition.core.prompts import decomposing, integrating, reasoning, refining, verifying
from agents.cognition.core.prompts.prompt import Prompt
from agents.concurrency import call_with_deadline
from agents.ports.models import LanguageModel
from schemas.assessment import ModelTier
from schemas.cognition import CognitiveState, MindMapNode, Node, SubAnswer

LOGGER = logging.getLogger("fathom.cognition")
T = TypeVar("T")
ModelRole = Literal["decomposition", "response", "verification"]
# Which nodes ask a model; the rules do the work of the others.
NODES: Mapping[ModelTier, frozenset[Node]] = {
    "fast": frozenset(),
    "standard": frozenset({Node.PLANNER, Node.REASONER}),
    "advanced": frozenset({Node.PLANNER, Node.EVIDENCE_REFINER, Node.REASONER, Node.VERIFIER, Node.INTEGRATOR}),
}
# A node takes at most the time that its run has left, a call at most this.
CALL_S = 30.0


class _Calls:
    """The calls of one node: how many are left, how many were made, and until when."""

    def __init__(self, state: CognitiveState, now: datetime) -> None:
        self._left = state.limits.max_llm_calls - state.spent.llm_calls
        self._until = asyncio.get_running_loop().time() + (state.deadline_at - now).total_seconds()
        self.made = self.failed = 0

    def take(self, *, reserve: int = 0) -> bool:
        """Whether a call may be made that leaves `reserve` others; it then counts."""
        if self._left - self.made <= reserve or self.seconds <= 0:
            return False
        self.made += 1
        return True

    @property
    def seconds(self) -> float:
        return min(CALL_S, self._until - asyncio.get_running_loop().time())

    def charged(self, state: CognitiveState) -> CognitiveState:
        """The state with the calls in what it has spent."""
        spent = {
            "llm_calls": state.spent.llm_calls + self.made,
            "llm_failed": state.spent.llm_failed + self.failed,
        }
        return state.model_copy(update={"spent": state.spent.model_copy(update=spent)})


@dataclass(frozen=True)
class CognitionModel:
    """The models of each role, and which nodes ask them."""

    models: Mapping[ModelRole, LanguageModel]
    tier: ModelTier = "fast"

    async def improved(self, node: Node, state: CognitiveState, now: datetime) -> CognitiveState:
        """The state after a node's rule as a model improves it; `now` is the time of the record. Total."""
        ways = {
            Node.PLANNER: self._planned,
            Node.EVIDENCE_REFINER: self._refined,
            Node.REASONER: self._reasoned,
            Node.INTEGRATOR: self._integrated,
        }
        calls = _Calls(state, now)
        if node not in NODES[self.tier] or state.mind_map is None:
            return state
        if node is Node.VERIFIER:
            return await self._verified(state, now, calls)
        return calls.charged(await ways[node](state, calls))

    async def _ask(self, role: ModelRole, prompt: Prompt, calls: _Calls, read: Callable[[str], T | None]) -> T | None:
        """What a reply says; None for a failure, which is counted."""
        model, tier = self.models[role], TIERS[role]

        async def complete() -> str:
            return await model.complete(
                prompt.text, tier=tier, max_tokens=prompt.max_tokens, temperature=prompt.temperature
            )

        reply, _ = await call_with_deadline(complete, calls.seconds)
        try:
            found = read(reply) if isinstance(reply, str) else None
        except Exception as error:  # noqa: BLE001 - a reply that the reading does not stand must not stop the run
            # Reading is total: what it raises is a fault of ours, which must be seen. Never with the reply.
            LOGGER.error("model.reply_unread", extra={"fields": {"role": role, "error": type(error).__name__}})
            found = None
        calls.failed += found is None
        return found

    async def _planned(self, state: CognitiveState, calls: _Calls) -> CognitiveState:
        """The tree of a model's sub-questions, level by level; the rules' tree where the first level fails."""
        rules = state.mind_map
        assert rules is not None
        conditions: tuple[str, ...] = rules.conditions
        if calls.take():
            prompt, read = decomposing.ask_conditions(state), partial(decomposing.read_conditions, state=state)
            found = await self._ask("decomposition", prompt, calls, read)
            conditions = tuple(dict.fromkeys((*conditions, *(found or ()))))
        tree = None
        for _ in range(min(decomposing.MAX_LEVELS, state.limits.max_depth)):
            level = decomposing.ask_level(state, tree)
            if level is None or not calls.take():
                break
            read_level = partial(decomposing.read_level, state=state, tree=tree)
            deeper = await self._ask("decomposition", level, calls, read_level)
            if deeper is None:
                break
            tree = deeper
        if tree is None:
            return state
        return state.model_copy(update={"mind_map": decomposing.closed(tree, conditions), "fallback": False})

    async def _refined(self, state: CognitiveState, calls: _Calls) -> CognitiveState:
        prompt = refining.ask(state) if state.flags.refinement else None
        if prompt is None or not calls.take():
            return state
        return await self._ask("response", prompt, calls, lambda reply: refining.read(reply, state)) or state

    async def _reasoned(self, state: CognitiveState, calls: _Calls) -> CognitiveState:
        """The answers from the leaves up, those of one level at a time; without a call left a node abstains.

        Each answer leaves a call for its verification.
        """
        assert state.mind_map is not None
        answers = dict(state.sub_answers)
        checks = int(Node.VERIFIER in NODES[self.tier])
        due = checks * sum(not _is_due(state, each) for each in state.mind_map.nodes.values() if state.todo is None)
        for level in range(state.mind_map.max_level(), -1, -1):
            asked: list[tuple[MindMapNode, Prompt]] = []
            for node in state.mind_map.nodes_by_level(level):
                if not _is_due(state, node):
                    continue
                answers[node.node_id] = reasoner.answered(state, node, answers)
                prompt = reasoning.ask(state, node, answers)
                if prompt is None:
                    continue
                due += checks
                if calls.take(reserve=due):
                    asked.append((node, prompt))
                else:
                    due -= checks
                    answers[node.node_id] = _blocked(state, node)
            found = await asyncio.gather(
                *(self._answer(state, node, prompt, answers[node.node_id], calls) for node, prompt in asked)
            )
            answers |= {each.node_id: each for each in found}
        return state.model_copy(update={"sub_answers": answers})

    async def _answer(
        self, state: CognitiveState, node: MindMapNode, prompt: Prompt, given: SubAnswer, calls: _Calls
    ) -> SubAnswer:
        def read(reply: str) -> SubAnswer | None:
            return reasoning.read(reply, state, node, given)

        return await self._ask("response", prompt, calls, read) or given

    async def _verified(self, state: CognitiveState, now: datetime, calls: _Calls) -> CognitiveState:
        """What the rules approved in this round as a second model sees it; without a call left it abstains."""
        assert state.mind_map is not None
        said: dict[str, verifier.ModelVerdict | None] = {}
        asked: list[tuple[str, Prompt, SubAnswer]] = []
        for node in reasoner.post_order(state):
            found = state.verifications.get(node.node_id)
            if found is None or found.status != "approved" or (state.todo and node.node_id not in state.todo):
                continue
            answer = state.sub_answers[node.node_id]
            if calls.take():
                asked.append((node.node_id, verifying.ask(state, node, answer), answer))
            else:
                said[node.node_id] = None
        told = await asyncio.gather(*(self._verdict(prompt, answer, calls) for _, prompt, answer in asked))
        said |= {name: each for (name, _, _), each in zip(asked, told, strict=True) if each is not None}
        # Charged first: a run without a call left is not sent back.
        return verifier.lowered(calls.charged(state), said, now)

    async def _verdict(self, prompt: Prompt, answer: SubAnswer, calls: _Calls) -> verifier.ModelVerdict | None:
        return await self._ask("verification", prompt, calls, lambda reply: verifying.read(reply, answer))

    async def _integrated(self, state: CognitiveState, calls: _Calls) -> CognitiveState:
        prompt = integrating.ask(state)
        if prompt is None or not calls.take():
            return state
        return await self._ask("response", prompt, calls, lambda reply: integrating.read(reply, state)) or state


TIERS: Mapping[ModelRole, ModelTier] = {"decomposition": "fast", "response": "standard", "verification": "standard"}


def _is_due(state: CognitiveState, node: MindMapNode) -> bool:
    """Whether a node is answered in this round: an answer of an earlier run stands in the first one."""
    if state.todo is not None:
        return node.node_id in state.todo
    given = state.sub_answers.get(node.node_id)
    return given is None or given.reused_from is None


def _blocked(state: CognitiveState, node: MindMapNode) -> SubAnswer:
    """The answer of a node that no call was left for."""
    lacking: Sequence[str] = missing_of(state, node) if not node.children else ()
    return reasoner.abstained(state, node, tuple(lacking) or (node.question.rstrip(" ?"),))
