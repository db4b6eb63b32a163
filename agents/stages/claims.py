"""Extract the claims of each turn, relate them to earlier ones, and emit corrections.

reads   conversation.turns  key conversation
writes  memory.claims       one event per claim
        memory.corrections  when a user contests an earlier claim
state   the working set (read), up to the turn, so that a replay gives the same claims; the graph (read): the role of
        the user, where the policy shares claims by role
"""

from collections.abc import Sequence
from functools import partial

from agents.concurrency import beside_loop
from agents.core.claims import lifecycle
from agents.core.claims.extraction import Assertion
from agents.core.claims.lifecycle import Utterance
from agents.core.claims.subjects import subject_key
from agents.core.language.interrogatives import wants_an_answer
from agents.model_help import TimedModel, facts
from agents.ports.graph import GraphReader
from agents.ports.sessions import WorkingSets
from schemas.base import Conversation, entity_key
from schemas.chat import Role, Turn, notes_of
from schemas.envelope import Outgoing, Received
from schemas.memory import ClaimAsserted
from schemas.policy import ContextPolicy
from schemas.topics import MEMORY_CLAIMS, MEMORY_CORRECTIONS

MAX_TURNS = 200


class ClaimsAgent:
    """The claims stage; with `enabled: false` in the policy nothing is extracted."""

    def __init__(
        self, working_sets: WorkingSets, graph: GraphReader, policy: ContextPolicy, model: TimedModel | None = None
    ) -> None:
        self._working_sets = working_sets
        self._graph = graph
        self._enabled = policy.enabled
        self._policy = policy.claims
        self._model = model
        # By concept: "deadline" names "prazo", too.
        self._attributes = {subject_key(name).head for name in policy.claims.attributes} | {*policy.claims.attributes}

    async def handle(self, record: Received[Turn]) -> Sequence[Outgoing]:
        """Emit the claims of one turn; most turns have none."""
        turn = record.event
        if not self._enabled or turn.role == Role.SYSTEM:
            return ()
        utterance = Utterance.from_turn(turn, record.envelope.tenant)
        is_note = turn.role == Role.USER and turn.conversation_id == notes_of(turn.user_id)
        is_read = await beside_loop(len(turn.content), partial(_claims_anything, turn, utterance))
        by_model = () if is_read or self._model is None else await _by_model(self._model, turn)
        if not is_read and not is_note and not by_model:
            return ()
        conversation = record.conversation(turn.client_id, turn.conversation_id)
        before = await self._before(conversation, turn)
        longest = max(map(len, (turn.content, *(each.text for each in before))))
        earlier = await beside_loop(longest, lambda: lifecycle.session_claims(before))
        heard = await beside_loop(longest, lambda: lifecycle.heard(utterance, earlier))
        key = entity_key(record.envelope.tenant, conversation.key())
        told, shares = _told(turn, before), await self._shares(record)
        made = heard.claims or lifecycle.stated(utterance, by_model, earlier)
        made = made or ((lifecycle.noted(utterance),) if is_note else ())
        claims = [claim.model_copy(update={**told, **self._shared(claim, shares)}) for claim in made]
        steps = [Outgoing(MEMORY_CLAIMS, key, claim, record.envelope, claim.claim_id) for claim in claims]
        if (correction := heard.correction) is not None and turn.role == Role.USER:
            steps.append(Outgoing(MEMORY_CORRECTIONS, key, correction, record.envelope, correction.correction_id))
        return steps

    async def _shares(self, record: Received[Turn]) -> bool:
        """Whether the policy shares what the user of a turn says, by the user's role; raises `Unavailable`."""
        turn, policy = record.event, self._policy
        if policy.share != "tenant" or not policy.roles:
            return policy.share == "tenant"
        found = await self._graph.persona(record.envelope.tenant, turn.user_id, turn.created_at)
        return found is not None and found.person.user_role in policy.roles

    def _shared(self, claim: ClaimAsserted, shares: bool) -> dict[str, object]:
        about = subject_key(claim.subject)
        named = not self._attributes or not self._attributes.isdisjoint((about.head, claim.attribute))
        return {"shared": True} if shares and named and not about.owned else {}

    async def _before(self, conversation: Conversation, turn: Turn) -> list[Utterance]:
        turns = await self._working_sets.session_turns(conversation, up_to_seq=turn.seq - 1, limit=MAX_TURNS)
        return [Utterance.from_memory(earlier, conversation) for earlier in turns]


def _told(turn: Turn, before: Sequence[Utterance]) -> dict[str, object]:
    """Who knows the claims of a turn beside its user: the users who spoke before it, or all where no user is named."""
    if turn.user_named is False and turn.user_id == turn.client_id:
        return {"tenant_wide": True}
    others = {each.user_id: None for each in before if each.author == "user"}
    return {"audience": tuple(each for each in others if each not in (turn.user_id, turn.client_id)) or None}


async def _by_model(model: TimedModel, turn: Turn) -> Sequence[Assertion]:
    """The facts that a model finds in what a user states; a question states nothing."""
    if turn.role != Role.USER or wants_an_answer(turn.content, turn.lang):
        return ()
    return await facts(model, turn.content, turn.lang)


def _claims_anything(turn: Turn, utterance: Utterance) -> bool:
    return bool(turn.link or lifecycle.is_correction(turn.content, turn.lang) or lifecycle.claims_of(utterance))
