"""What is remembered of users, read from the log, which has every claim; no store is opened."""

# ruff: noqa: ARG002 - the arguments are those of the port; the claims are of one tenant already

import asyncio
from collections.abc import Collection, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any

from aiokafka import ConsumerRecord

from agents.core.claims.checks import visible, with_corrections
from agents.core.claims.subjects import filed_under
from agents.ports.graph import ClaimContested, ClaimsFound
from schemas.memory import ClaimAsserted, CorrectionIssued
from schemas.topics import MEMORY_CLAIMS, MEMORY_CORRECTIONS, MEMORY_ERASURES, Topic
from streams.edges.mcp.log_search import newest_first, received
from streams.edges.mcp.tool import Call


class LogMemories:
    """A reader of one tenant's claims; `complete` where the whole log was read."""

    def __init__(
        self, claims: Collection[ClaimAsserted], corrections: Sequence[CorrectionIssued], *, complete: bool = True
    ) -> None:
        self.claims = with_corrections(claims, corrections)
        self.complete = complete
        self._corrections = sorted(corrections, key=lambda each: each.issued_at)

    async def claims_of(
        self, tenant: str, *, user_id: str, as_of: datetime, after: str = "", limit: int
    ) -> ClaimsFound:
        """The claims of a user, newest first, behind the claim `after` of the time `as_of`."""
        own = [claim for claim in self.claims if claim.user_id == user_id and _is_behind(claim, as_of, after)]
        own.sort(key=lambda claim: (-claim.asserted_at.timestamp(), claim.claim_id))
        return ClaimsFound((), (), tuple(own[:limit]))

    async def claims_about(
        self, tenant: str, *, reader: str, subjects: Sequence[str], as_of: datetime, limit: int, shared: bool = False
    ) -> ClaimsFound:
        """The claims about these subjects that a user may see, newest first."""
        found = [
            claim
            for claim in reversed(visible(self.claims, reader))
            if claim.asserted_at <= as_of and filed_under(claim.subject, claim.user_id) in subjects
        ]
        return ClaimsFound((), (), tuple(found[:limit]))

    async def claim(self, tenant: str, claim_id: str, as_of: datetime) -> ClaimAsserted | None:
        """The claim of this id."""
        return next((claim for claim in self.claims if claim.claim_id == claim_id), None)

    async def contested(self, tenant: str, claim_ids: Sequence[str], as_of: datetime) -> tuple[ClaimContested, ...]:
        """The corrections of claims, oldest first."""
        return tuple(_contested(each) for each in self._corrections if each.target_id in claim_ids)


async def read(call: Call) -> LogMemories:
    """The claims of the caller's tenant, without those of erased conversations; raises `CommandFailed`."""
    (claims, all_claims), (corrections, all_corrections), (erasures, all_erasures) = await asyncio.gather(
        events(MEMORY_CLAIMS, call), events(MEMORY_CORRECTIONS, call), events(MEMORY_ERASURES, call)
    )
    erased: dict[tuple[str, str], int] = {}
    for each in erasures:
        where = (each.client_id, each.conversation_id)
        erased[where] = max(erased.get(where, -1), each.up_to_seq)
    own = (claim for claim in claims if call.caller.only in (None, claim.client_id))
    kept = [claim for claim in own if claim.seq > erased.get((claim.client_id, claim.conversation_id), -1)]
    return LogMemories(kept, corrections, complete=all_claims and all_corrections and all_erasures)


async def events(topic: Topic, call: Call) -> tuple[list[Any], bool]:
    """The tenant's events of a topic, and whether there was time for the whole log."""
    found: list[ConsumerRecord] = []
    whole = False
    async with aclosing(newest_first(topic, call, call.caller.tenant)) as windows:
        async for window in windows:
            records, whole = window
            found += records
    return [one.event for one in received(topic, found, call)], whole


def _is_behind(claim: ClaimAsserted, as_of: datetime, after: str) -> bool:
    return claim.asserted_at < as_of or (claim.asserted_at == as_of and claim.claim_id > after)


def _contested(made: CorrectionIssued) -> ClaimContested:
    return ClaimContested(
        correction_id=made.correction_id,
        claim_id=made.target_id,
        user_id=made.user_id,
        kind=made.correction_kind,
        text=made.text,
        new_value=made.new_value,
        at=made.issued_at,
        ruling=made.ruling,
    )
