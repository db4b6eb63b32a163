"""Send each answer to the client: four fields, without conversation memory.

reads   conversation.turns  assistant turns
writes  answers.out         the answer, key conversation
state   none; the working set is read where a narrator may see the history
"""

from collections.abc import Sequence

from agents.concurrency import call_with_deadline
from agents.context import ContextManager
from agents.core.conversation import answers
from agents.core.conversation.answers import narrator_allows_entity
from agents.errors import Unavailable
from agents.ports.models import Narrator
from schemas.base import Conversation
from schemas.chat import Role, Turn
from schemas.envelope import Outgoing, Received
from schemas.topics import ANSWERS_OUT

NARRATOR_S = 5.0


class Presenter:
    """Presents answers in the deterministic wording, or a narrator's if in time; narrator failures stay internal."""

    def __init__(
        self, context: ContextManager, narrator: Narrator | None = None, *, seconds: float = NARRATOR_S
    ) -> None:
        self._context = context
        self._narrator = narrator
        self._seconds = seconds

    async def handle(self, record: Received[Turn]) -> Sequence[Outgoing]:
        """Emit the answer of an assistant's turn; nothing for other turns, and those that are only remembered."""
        turn = record.event
        if turn.role != Role.ASSISTANT or turn.pack is False:
            return ()
        conversation = record.conversation(turn.client_id, turn.conversation_id)
        ids, aggregates = answers.identifiers(turn), turn.results
        answer = turn.content
        if self._narrator is not None and answers.wants_narrator(turn, self._context.policy):
            history = await self._history(conversation, turn)
            meta = answers.meta_for_narrator(turn, ids, aggregates, history)
            answer = await self._narrated(self._narrator, meta) or turn.content
        given = answers.present(turn, answer, ids, aggregates)
        return (Outgoing(ANSWERS_OUT, conversation.key(), given, record.envelope),)

    async def _history(self, conversation: Conversation, turn: Turn) -> list[dict[str, object]] | None:
        """The turns before the answer, in wire form; None where the policy denies them or they cannot be read."""
        policy = self._context.policy
        if not policy.enabled or not narrator_allows_entity(policy, turn.entity):
            return None
        try:
            recent = await self._context.load_recent(
                conversation, turn.created_at, turn.frame_id, up_to_seq=turn.seq - 1
            )
        except Unavailable:
            return None
        return self._context.to_wire(recent)

    async def _narrated(self, narrator: Narrator, meta: dict[str, object]) -> str:
        async def narrate() -> str:
            return str(await narrator.narrate(meta)).strip()

        words, _ = await call_with_deadline(narrate, self._seconds)
        return words or ""
