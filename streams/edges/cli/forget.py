"""`fathom forget`: documents to be offered no more."""

from typing import Annotated

import typer

from schemas.topics import DOCUMENTS_IN
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.profile import DEFAULT_TENANT
from streams.edges.client import clients, known, records, send
from streams.edges.client.records import Identity


def forget(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="The document's id, as ingesting it said.")],
    broker: Broker = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Whose document. Default: default.")] = None,
    as_json: Json = False,
) -> None:
    """Forget a document: nothing of it is offered from now on; ingested again it is there again."""
    bootstrap = clients.bootstrap_of(broker, writes=True)
    clients.run(known.check_document(bootstrap, tenant or DEFAULT_TENANT, document))
    prepared = records.of_fields(DOCUMENTS_IN, {"document_id": document, "deleted": True}, Identity(tenant))
    send.send_one(prepared, bootstrap, as_json=as_json)
