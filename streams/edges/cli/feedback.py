"""`fathom feedback` and `fathom correct`: users' judgements of answers, sent to the topics that learn from them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from agents.core.packs.planning import pack_id_of
from schemas.base import DEFAULT_TENANT, Conversation
from schemas.topics import CORRECTIONS_IN, FEEDBACK_IN
from streams.edges.cli.arguments import Broker, Client, ConversationId, Json, Tenant, TenantOfUser, User
from streams.edges.client import log_lookup, records, send
from streams.edges.client.in_english import wire_kind
from streams.edges.client.records import Identity, OutgoingRecord


def feedback(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="The message whose pack is meant.")],
    rating: Annotated[int, typer.Option("--rating", min=1, max=5, help="How good the pack was, 1 to 5.")],
    expected: Annotated[
        str | None, typer.Option("--expected", metavar="D0..D4", help="How deep it should have gone.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    as_json: Json = False,
) -> None:
    """Rate a pack. If three people say it was too shallow, similar messages get deeper packs."""
    # Unchecked: the topic's event reports an invalid id.
    whose = Conversation.model_construct(tenant=tenant or client, client_id=client, conversation_id=conversation)
    pack_id = pack_id_of(whose, message)
    fields = {
        "message_id": message,
        "pack_id": pack_id,
        "conversation_id": conversation,
        "client_id": client,
        "rating": rating,
        "expected_depth": expected,
        "reason": reason,
        "created_at": datetime.now(UTC),
    }
    prepared = records.of_fields(FEEDBACK_IN, fields, Identity(tenant, user))
    send.send_one(
        replace(prepared, name=pack_id), broker, as_json=as_json,
        names=lambda bootstrap: log_lookup.check_message(bootstrap, whose, message),
    )  # fmt: skip


def correct(
    text: Annotated[str, typer.Argument(help="What is wrong; - reads it from stdin.")],
    user: Annotated[str, typer.Option("--user", help="Who says so.")],
    claim: Annotated[str | None, typer.Option("--claim", help="The claim that is wrong, by its id in a pack.")] = None,
    consultation: Annotated[
        str | None,
        typer.Option("--consultation", help="The deep answer that is wrong: its job_id, or its consultation's id."),
    ] = None,
    value: Annotated[str | None, typer.Option("--value", help="The value that is right.")] = None,
    kind: Annotated[str, typer.Option("--type", help="factual, legal or formatting.")] = "factual",
    broker: Broker = None,
    tenant: TenantOfUser = None,
    as_json: Json = False,
) -> None:
    """Contest a claim or the answer of a consultation."""
    if (claim is None) == (consultation is None):
        raise typer.BadParameter("give one of --claim and --consultation")
    fields = {
        "claim_id": claim,
        "consulta_id": consultation,
        "texto": send.text_of(text),
        "usuario_id": user,
        "tipo": wire_kind(kind),
        "new_value": value,
        "created_at": datetime.now(UTC),
    }
    whose = Identity(tenant, user)

    def record() -> OutgoingRecord:
        made = records.of_fields(CORRECTIONS_IN, fields, whose)
        return replace(made, name=dict(made.headers)["ce_id"].decode())

    async def names(bootstrap: str) -> OutgoingRecord | None:
        if claim is not None:
            await log_lookup.check_claim(bootstrap, tenant or DEFAULT_TENANT, claim)
            return None
        fields["consulta_id"] = await log_lookup.consultation_of(
            bootstrap, tenant or DEFAULT_TENANT, consultation or ""
        )
        return record()

    send.send_one(record(), broker, as_json=as_json, names=names)
