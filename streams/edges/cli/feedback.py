"""`fathom feedback` and `fathom correct`: what people think of answers, to the topics that learn from it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from agents.core.packs.planning import pack_id_of
from schemas.base import entity_key
from schemas.topics import CORRECTIONS_IN, FEEDBACK_IN
from streams.edges.client import records, send
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.options import Correct, Feedback
from streams.edges.client.records import BadInput, Identity, OutgoingRecord


def feedback(wanted: Feedback, broker: str | None, *, as_json: bool) -> None:
    """Send one feedback; raises `CommandFailed`."""
    _send(lambda: prepared_feedback(wanted), broker, as_json=as_json)


def correct(wanted: Correct, broker: str | None, *, as_json: bool) -> None:
    """Send one correction; raises `CommandFailed`."""
    text = send.text_of(wanted.text)
    _send(lambda: prepared_correction(wanted, text), broker, as_json=as_json)


def prepared_feedback(wanted: Feedback) -> OutgoingRecord:
    """The feedback as a record; its pack is the one that the message had. Raises `BadInput`."""
    whose = Identity(wanted.tenant, wanted.user)
    value = {
        "message_id": wanted.message,
        "pack_id": "unknown",
        "conversation_id": wanted.conversation,
        "client_id": wanted.client,
        "rating": wanted.rating,
        "expected_depth": wanted.expected,
        "reason": wanted.reason,
        "created_at": datetime.now(UTC),
    }
    received, _, headers = records.prepare(FEEDBACK_IN, _dumped(value), whose)
    conversation = received.conversation(wanted.client, wanted.conversation)
    pack_id = pack_id_of(conversation, wanted.message)
    final = _dumped({**value, "pack_id": pack_id})
    return OutgoingRecord(FEEDBACK_IN.name, conversation.key().encode(), final, headers, pack_id)


def prepared_correction(wanted: Correct, text: str) -> OutgoingRecord:
    """The correction as a record, keyed by what it corrects. Raises `BadInput`."""
    value = _dumped(
        {
            "claim_id": wanted.claim,
            "consulta_id": wanted.consultation,
            "texto": text,
            "usuario_id": wanted.user,
            "tipo": wanted.tipo,
            "new_value": wanted.value,
            "created_at": datetime.now(UTC),
        }
    )
    received, envelope, headers = records.prepare(CORRECTIONS_IN, value, Identity(wanted.tenant, wanted.user))
    target = wanted.claim or wanted.consultation or ""
    key = entity_key(received.envelope.tenant, target).encode()
    return OutgoingRecord(CORRECTIONS_IN.name, key, value, headers, envelope.id)


def _dumped(value: Mapping[str, Any]) -> bytes:
    return orjson.dumps({name: field for name, field in value.items() if field is not None})


def _send(make: Any, broker: str | None, *, as_json: bool) -> None:
    try:
        prepared = make()
    except BadInput as error:
        raise CommandFailed(f"this cannot be sent: {error}", USAGE) from None
    send.send_one(prepared, broker, as_json=as_json)
