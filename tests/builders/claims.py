"""Utterances for the tests of claims: one conversation, one minute apart, in log order."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.core.claims.lifecycle import Utterance, session_claims
from schemas.base import Conversation, Source
from schemas.memory import ClaimAsserted

NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
HERE = Conversation(tenant="acme", client_id="web", conversation_id="c1")


def said(number: int, author: str, text: str, lang: str = "pt", **fields: Any) -> Utterance:
    known: dict[str, Any] = {
        "conversation": HERE,
        "message_id": f"m{number}",
        "author": author,
        "text": text,
        "lang": lang,
        "seq": number,
        "frame_id": "f1",
        "user_id": "ana",
        "at": NOON + timedelta(minutes=number),
        "source": Source(topic="messages.in", partition=0, offset=number),
    }
    return Utterance(**{**known, **fields})


def talk(*turns: tuple[str, str], lang: str = "pt") -> list[Utterance]:
    return [said(number, author, text, lang) for number, (author, text) in enumerate(turns)]


def session(*turns: tuple[str, str], lang: str = "pt") -> tuple[ClaimAsserted, ...]:
    return session_claims(talk(*turns, lang=lang))


def values(claims: Sequence[ClaimAsserted]) -> list[tuple[str, str, str]]:
    return [(claim.subject, claim.attribute, claim.value) for claim in claims]
