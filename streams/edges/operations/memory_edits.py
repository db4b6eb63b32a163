"""Edits of what is remembered of a user, as events of `messages.in` and `corrections.in`; refused in one sentence."""

from collections.abc import Sequence
from datetime import datetime

from agents.ports.memories import MemoryReader
from schemas.chat import notes_of
from schemas.memory import ClaimAsserted
from streams.edges.operations.memories import OVER, memory, of_subject, stated_too


class EditRefused(Exception):
    """An edit of a fact that was edited meanwhile; the text is a sentence with the next step."""


def note(user: str, text: str, client: str) -> dict[str, object]:
    """A fact as a turn of its user in a conversation of its own; no pack is made for it."""
    return {"role": "user", "content": text, "conversation_id": notes_of(user), "pack": False, "client_id": client}


def change(user: str, value: str | None, reason: str) -> dict[str, str]:
    """Another value of a fact; without one it holds still."""
    fields = {"ruling": "confirm"} if value is None else {"new_value": value}
    text = reason.strip() or (f"It is {value}." if value else "It holds still.")
    return {"usuario_id": user, "tipo": "factual", **fields, "texto": text}


def withdrawal(user: str, reason: str) -> dict[str, str]:
    """A fact that its user takes back."""
    return {"usuario_id": user, "tipo": "factual", "ruling": "retract", "texto": reason.strip() or "Taken back."}


async def check_current(reader: MemoryReader, tenant: str, claim: ClaimAsserted, now: datetime) -> None:
    """Raises `EditRefused` for a fact that was replaced or taken back, and `Unavailable`."""
    shown = await memory(reader, tenant, claim, now)
    if shown.status in OVER:
        newer = f" by {', '.join(shown.by)}" if shown.by else ""
        was = "replaced" if shown.status == "replaced" else "taken back"
        raise EditRefused(f"this memory was {was}{newer} meanwhile; edit the one that is current")


async def to_withdraw(
    reader: MemoryReader, tenant: str, claim: ClaimAsserted, now: datetime, client: str | None
) -> Sequence[str]:
    """The facts that go with one that is taken back: all that state it; raises `EditRefused`, `Unavailable`."""
    ids = [each.memory_id for each in stated_too(await of_subject(reader, tenant, claim, now, client), claim)]
    if claim.claim_id not in ids:
        raise EditRefused("this memory was taken back before")
    return ids
