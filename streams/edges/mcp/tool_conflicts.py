"""`check_conflicts`: claims of the tenant that contradict each other or a statement.

Read from the log, which has every claim: the embedded graph is locked by the process of `fathom up`. Stores nothing.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import uuid4

from pydantic import AwareDatetime, Field, model_validator

from agents.core.claims.checks import Checked, of_statement, on_subject, with_corrections
from agents.core.conversation.utterances import Utterance
from agents.core.language.identification import first_language
from agents.core.language.messages import DEFAULT
from schemas.base import Conversation, Id, Source, Value
from schemas.items import ClaimStatus, Contradiction
from schemas.memory import ClaimAsserted
from schemas.topics import MEMORY_CLAIMS, MEMORY_CORRECTIONS, MESSAGES_IN
from streams.edges.client.arguments import Arguments
from streams.edges.mcp.log_memories import events
from streams.edges.mcp.tool import READS, Call, Tool, filled

SUBJECT_CHARS, STATEMENT_CHARS, MAX_SHOWN = 200, 4_000, 50


class ConflictArguments(Arguments):
    subject: Annotated[str, Field(min_length=1, max_length=SUBJECT_CHARS)] | None = None
    statement: Annotated[str, Field(min_length=1, max_length=STATEMENT_CHARS)] | None = None
    conversation_id: Id | None = Field(default=None, description="where it would be made")

    @model_validator(mode="after")
    def _something(self) -> "ConflictArguments":
        if self.subject is None and self.statement is None:
            raise ValueError("give subject, statement, or both")
        return self


class ClaimShown(Value):
    """A claim with its author, time and position in the log; `source` is `statement` for one in the given statement."""

    claim_id: Id
    author: Literal["user", "system"]
    text: str
    subject: str
    attribute: str
    value: str
    status: ClaimStatus
    asserted_at: AwareDatetime
    source: str


class ConflictShown(Value):
    """Two claims that cannot both hold; `current` is the one that holds today by the newest assertion, if any."""

    kind: str
    status: Literal["pending_reconciliation", "resolved"]
    newer: ClaimShown
    older: ClaimShown | None
    current: Id | None
    explanation: str


class Conflicts(Value):
    """`complete` is false where the time sufficed only for the newest claims, those since `looked_back_to`.

    `stated` are the claims found in the statement; without any there is nothing to contradict. The newest conflicts are
    shown, at most 50; `found` counts all of them.
    """

    has_conflicts: bool
    found: int
    conflicts: tuple[ConflictShown, ...]
    stated: tuple[ClaimShown, ...]
    considered: int
    complete: bool
    looked_back_to: AwareDatetime | None


async def answer(asked: ConflictArguments, call: Call) -> Conflicts:
    """Raises `CommandFailed` where no broker answers."""
    (asserted, all_claims), (corrections, all_corrections) = await asyncio.gather(
        events(MEMORY_CLAIMS, call), events(MEMORY_CORRECTIONS, call)
    )
    known = with_corrections(asserted, corrections)
    checks = []
    if asked.subject is not None:
        checks.append(on_subject(known, asked.subject, call.caller.user))
    if asked.statement is not None:
        checks.append(of_statement(known, _utterance(asked.statement, asked.conversation_id, known, call)))
    return _shown(checks, known, complete=all_claims and all_corrections)


def _utterance(statement: str, conversation_id: str | None, known: Iterable[ClaimAsserted], call: Call) -> Utterance:
    """The statement as if made now by the caller, in the conversation's current frame."""
    caller = call.caller
    here = (caller.client, conversation_id)
    frames = [claim.frame_id for claim in known if (claim.client_id, claim.conversation_id) == here]
    return Utterance(
        conversation=Conversation(
            tenant=caller.tenant, client_id=caller.client, conversation_id=conversation_id or str(uuid4())
        ),
        message_id=str(uuid4()),
        author="user",
        text=statement,
        lang=first_language(statement, DEFAULT),
        seq=0,
        frame_id=frames[-1] if frames else "statement",
        user_id=caller.user,
        at=datetime.now(UTC),
        source=Source(topic=MESSAGES_IN.name, partition=0, offset=0),
    )


def _shown(checks: Iterable[Checked], known: Iterable[ClaimAsserted], *, complete: bool) -> Conflicts:
    checks = list(checks)
    stated = {claim.claim_id: claim for check in checks for claim in check.stated}
    claims = {claim.claim_id: claim for claim in known} | stated
    pairs = {each.id: each for check in checks for each in check.contradictions}
    shown = [_conflict(each, claims, stated) for each in pairs.values()]
    return Conflicts(
        has_conflicts=bool(shown),
        found=len(shown),
        conflicts=tuple(shown[:MAX_SHOWN]),
        stated=tuple(_claim(claim, stated) for claim in stated.values()),
        considered=len({claim.claim_id for check in checks for claim in check.considered}),
        complete=complete,
        looked_back_to=min((claim.asserted_at for claim in known), default=None),
    )


def _conflict(each: Contradiction, claims: dict[str, ClaimAsserted], stated: dict[str, ClaimAsserted]) -> ConflictShown:
    older = claims.get(each.contradicts)
    return filled(
        ConflictShown,
        each,
        newer=_claim(claims[each.claim_id], stated),
        older=None if older is None else _claim(older, stated),
    )


def _claim(claim: ClaimAsserted, stated: dict[str, ClaimAsserted]) -> ClaimShown:
    place = f"{claim.source.topic}[{claim.source.partition}]@{claim.source.offset}"
    return filled(ClaimShown, claim, source="statement" if claim.claim_id in stated else place)


def shown_as_text(found: Conflicts) -> str:
    """The conflicts, one a line, and whether all claims were looked at."""
    lines = [f"- {each.explanation} ({each.status})" for each in found.conflicts]
    rest = "" if found.complete else f"; only claims since {found.looked_back_to} were looked at"
    return "\n".join([f"{found.found} conflicts among {found.considered} claims{rest}", *lines])


TOOL = Tool(
    name="check_conflicts",
    title="Check conflicts",
    description=(
        "Says which claims of conversations contradict each other on a subject, or a statement before it is made: "
        "both sides with author, time and source, and which is current."
    ),
    takes=ConflictArguments,
    gives=Conflicts,
    annotations=READS,
    answer=answer,
    text=shown_as_text,
)
