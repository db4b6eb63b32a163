"""What is remembered of a user: single facts with their author, time, source turn, status and history."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from pydantic import AwareDatetime

from agents.core.claims.lifecycle import NOTE, known_together
from agents.core.claims.subjects import filed_under, subject_key
from agents.core.language.text import fold
from agents.ports.graph import ClaimContested
from agents.ports.memories import MemoryReader
from schemas.base import Absent, Id, Value
from schemas.items import ClaimStatus
from schemas.memory import ClaimAsserted

Status = Literal["holds", "confirmed", "contested", "replaced", "taken_back"]
STATUSES: Mapping[ClaimStatus, Status] = {
    "asserted": "holds",
    "confirmed": "confirmed",
    "contested": "contested",
    "superseded": "replaced",
    "retracted": "taken_back",
}
OVER = frozenset({"replaced", "taken_back"})
PAGE, MAX_SCANNED, MAX_ABOUT = 200, 5_000, 5_000
# Between the time and the id of the last fact of a page; no time has it.
CURSOR = "~"


class RememberedFact(Value):
    """One fact as somebody stated it; `by` are the ids of the facts that replaced or contest it."""

    memory_id: Id
    text: str
    subject: str
    attribute: str
    value: str
    author: Literal["user", "assistant"]
    status: Status
    by: Absent[tuple[Id, ...]] = None
    said_at: AwareDatetime
    user_id: Id
    client_id: Id
    conversation_id: Id
    message_id: Id


class MemoriesShown(Value):
    """Facts, newest first; `next` is where the next page begins, if there is one."""

    memories: tuple[RememberedFact, ...]
    next: Absent[str] = None


class MemoryEdit(Value):
    """What its user, or who administers the tenant, said of a fact later."""

    kind: str
    text: str
    new_value: Absent[str] = None
    user_id: Id
    at: AwareDatetime


class MemoryShown(RememberedFact):
    """A fact with the others of its user on the same thing, newest first, and its edits, oldest first."""

    history: tuple[RememberedFact, ...]
    edits: tuple[MemoryEdit, ...]


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Whose facts, those that have all of some words; without `all`, those that are current."""

    tenant: str
    user_id: str
    client_id: str | None = None
    words: str = ""
    all: bool = False
    limit: int = 50
    after: str | None = None


class BadCursor(ValueError):
    """Not a `next` of an earlier page."""


async def memories(reader: MemoryReader, query: MemoryQuery, now: datetime) -> MemoriesShown:
    """A page of a user's facts, a value that was stated again once; raises `BadCursor`, `Unavailable`."""
    as_of, after = (now, "") if query.after is None else _place(query.after)
    words = fold(query.words).split()
    found: dict[tuple[str, ...], RememberedFact] = {}
    scanned = 0
    while True:
        page = await reader.claims_of(query.tenant, user_id=query.user_id, as_of=as_of, after=after, limit=PAGE)
        for each in await _judged(reader, query, page.asserted, now):
            scanned, as_of, after = scanned + 1, each.said_at, each.memory_id
            if _is_wanted(each, query, words):
                found.setdefault(_sameness(each), each)
            if len(found) == query.limit or scanned == MAX_SCANNED:
                return MemoriesShown(memories=tuple(found.values()), next=f"{as_of.isoformat()}{CURSOR}{after}")
        if len(page.asserted) < PAGE:
            return MemoriesShown(memories=tuple(found.values()))


async def memory(
    reader: MemoryReader, tenant: str, claim: ClaimAsserted, now: datetime, client: str | None = None
) -> MemoryShown:
    """A fact with its history, that of one client where it is named; raises `Unavailable`."""
    found = await of_subject(reader, tenant, claim, now, client)
    [own] = [each for each in found if each.memory_id == claim.claim_id]
    edits = await reader.contested(tenant, [claim.claim_id], now)
    return MemoryShown(
        **dict(own),
        history=tuple(each for each in found if each.memory_id != claim.claim_id),
        edits=tuple(map(_edit, edits)),
    )


async def of_subject(
    reader: MemoryReader, tenant: str, claim: ClaimAsserted, now: datetime, client: str | None = None
) -> Sequence[RememberedFact]:
    """The facts of a claim's user on its thing, newest first, those of one client where it is named.

    Raises `Unavailable`.
    """
    found = {each.claim_id: each for each in await _about(reader, tenant, claim.user_id, [claim], now)}
    thing = subject_key(claim.subject)
    return [
        each
        for each in _shown([*(found | {claim.claim_id: found.get(claim.claim_id, claim)}).values()])
        if (each.attribute, subject_key(each.subject)) == (claim.attribute, thing) and client in (None, each.client_id)
    ]


def stated_too(facts: Iterable[RememberedFact], claim: ClaimAsserted) -> list[RememberedFact]:
    """The facts that state what a claim does, whoever said so and whatever came after; none that was taken back."""
    value = fold(claim.value)
    return [each for each in facts if fold(each.value) == value and each.status != "taken_back"]


def _is_wanted(found: RememberedFact, query: MemoryQuery, words: Sequence[str]) -> bool:
    if (found.status in OVER and not query.all) or query.client_id not in (None, found.client_id):
        return False
    text = fold(f"{found.subject} {found.attribute} {found.value} {found.text}")
    return all(word in text for word in words)


def _sameness(found: RememberedFact) -> tuple[str, ...]:
    return found.author, fold(found.subject), found.attribute, fold(found.value), str(found.status in OVER)


async def _judged(
    reader: MemoryReader, query: MemoryQuery, page: Sequence[ClaimAsserted], now: datetime
) -> Sequence[RememberedFact]:
    """The facts of a page, newest first, each judged beside what else is known of its thing."""
    others = await _about(reader, query.tenant, query.user_id, page, now) if page else ()
    known = {claim.claim_id: claim for claim in (*others, *page)}
    shown = {each.memory_id: each for each in _shown([*known.values()])}
    return [shown[claim.claim_id] for claim in page]


async def _about(
    reader: MemoryReader, tenant: str, user: str, claims: Sequence[ClaimAsserted], now: datetime
) -> Sequence[ClaimAsserted]:
    """The newest claims of a user about the subjects of some claims."""
    things = {_thing(claim) for claim in claims if claim.attribute != NOTE}
    if not things:
        return ()
    subjects = sorted({filed_under(claim.subject, user) for claim in claims})
    found = await reader.claims_about(tenant, reader=user, subjects=subjects, as_of=now, limit=MAX_ABOUT)
    return [claim for claim in found.asserted if claim.user_id == user and _thing(claim) in things]


def _thing(claim: ClaimAsserted) -> tuple[str, str]:
    return claim.attribute, subject_key(claim.subject).head


def _shown(claims: Sequence[ClaimAsserted]) -> list[RememberedFact]:
    """Claims as facts, newest first."""
    known = known_together(claims)
    by: dict[str, list[str]] = {}
    for claim in known:
        if claim.status != "retracted":
            for old in (*claim.supersedes, *(conflict.claim_id for conflict in claim.contradicts)):
                by.setdefault(old, []).append(claim.claim_id)
    return [_memory(claim, tuple(dict.fromkeys(by.get(claim.claim_id, ())))) for claim in reversed(known)]


def _memory(claim: ClaimAsserted, by: tuple[str, ...]) -> RememberedFact:
    return RememberedFact(
        memory_id=claim.claim_id,
        text=claim.text,
        subject=claim.subject,
        attribute=claim.attribute,
        value=claim.value,
        author="user" if claim.author == "user" else "assistant",
        status=STATUSES[claim.status],
        by=by or None,
        said_at=claim.asserted_at.astimezone(UTC),
        user_id=claim.user_id,
        client_id=claim.client_id,
        conversation_id=claim.conversation_id,
        message_id=claim.message_id,
    )


def _edit(made: ClaimContested) -> MemoryEdit:
    kinds = {"retract": "taken back", "confirm": "confirmed"}
    return MemoryEdit(
        kind=kinds.get(made.ruling or "", "contested" if made.new_value is None else "corrected"),
        text=made.text,
        new_value=made.new_value,
        user_id=made.user_id,
        at=made.at,
    )


def _place(cursor: str) -> tuple[datetime, str]:
    time, _, claim_id = cursor.partition(CURSOR)
    try:
        at = datetime.fromisoformat(time)
        if at.tzinfo is None or not claim_id:
            raise BadCursor
        return at.astimezone(UTC), claim_id
    except (ValueError, OverflowError):
        raise BadCursor from None
