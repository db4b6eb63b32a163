"""What tenants say, ask and hand in, through the whole pipeline, and what of it comes out where."""

from collections.abc import Sequence

import orjson

from agents.core.packs.planning import pack_id_of
from schemas.base import entity_key
from schemas.depth import MAX_HELD
from schemas.topics import ASSESSMENTS_IN, TOPICS
from streams.kafka.records import Record
from streams.testing.pipeline import Pipeline
from tests.tenants.canaries import Tenant

# Each asks about what the one before it says: depths from D0 to D4, a correction, a question that repeats.
SAYINGS = (
    ("user", "O prazo do reembolso {mark} é dia 15."),
    ("assistant", "Anotado: o prazo do reembolso {mark} é dia 15."),
    ("user", "Qual é o prazo do reembolso {mark}?"),
    ("user", "explica melhor o que é o reembolso {mark}"),
    ("user", "explica de novo o que é o reembolso {mark}"),
    ("user", "Não, o prazo do reembolso {mark} mudou para dia 20"),
)  # fmt: skip
HANDBOOK = """# Reembolso {mark}

O reembolso {mark} é pago em 10 dias depois da aprovação da diretoria financeira.

# Como pedir o reembolso {mark}

1. Junte os recibos {mark}.
2. Envie o pedido {mark}.
"""


def hand_in(fathom: Pipeline, tenant: Tenant) -> None:
    """A document, a profile, and a query to be assessed."""
    text = HANDBOOK.format(mark=tenant.canary)
    fathom.document("d1", f"Manual {tenant.canary}", text, tenant=tenant.name)
    profile = {
        "user_id": "web",
        "user_role": f"analista {tenant.canary}",
        "department": "RH",
        "objectives": [{"id": "o1", "title": f"reembolso {tenant.canary}"}],
    }
    fathom.document("p1", "Perfil", tenant=tenant.name, tipo="profile", profile=profile)
    asked = {"request_id": "r1", "query": f"Qual o prazo do projeto {tenant.canary}?"}
    key = entity_key(tenant.name, "r1").encode()
    fathom.publish(ASSESSMENTS_IN, asked, {"tenant": tenant.name, "user_id": "web"}, key)


def talk(
    fathom: Pipeline,
    tenant: Tenant,
    sayings: Sequence[tuple[str, str]] = SAYINGS,
    first: int = 0,
    conversation: str = "c1",
) -> None:
    """A conversation that every tenant has, with the same ids."""
    for number, (role, text) in enumerate(sayings, first):
        # A step of the clock of one length for each: what is made of it must not differ in times either.
        fathom.clock.advance(1)
        said = text.format(mark=tenant.canary)
        # The packs before it are held by the caller: what is remembered of them is a tenant's, too.
        own = fathom.conversation(conversation, tenant=tenant.name)
        held = (
            {"have": [pack_id_of(own, f"m{before}") for before in range(max(number - MAX_HELD, 0), number)]}
            if role == "user"
            else {}
        )
        fathom.say(said, role=role, tenant=tenant.name, message_id=f"m{number}", conversation=conversation, **held)


def shown(fathom: Pipeline) -> dict[str, list[tuple[str, str, str]]]:
    """Every event on every topic by its tenant: topic, key, the whole event with its envelope."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for topic in TOPICS:
        for received in fathom.events(topic):
            envelope = {name: str(value) for name, value in received.envelope._asdict().items() if value is not None}
            text = orjson.dumps({"envelope": envelope, "event": received.event.model_dump(mode="json")}).decode()
            found.setdefault(received.envelope.tenant, []).append((topic.name, received.key, text))
    return found


def refusals(fathom: Pipeline) -> list[Record]:
    """All dead letters."""
    return [record for tp in sorted(fathom.log.records) if "dead" in tp.topic for record in fathom.log.records[tp]]
