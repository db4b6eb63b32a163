"""A short test of isolation in what comes from outside a conversation: votes, corrections, consultations, documents."""

import asyncio
import logging
from typing import Any
from urllib.parse import unquote

from agents.core.claims.outside_corrections import of_claim
from agents.core.tools.refused_calls import UNREADABLE, RefusedCalls
from agents.stages.ingestion import Ingestion
from schemas.base import PUBLIC_TENANT, Conversation, derive, entity_key
from schemas.envelope import Received
from schemas.learning import CorrectionSubmitted, DepthVote
from schemas.memory import DocumentSubmitted
from schemas.tools import ToolCallRequested, ToolCallResolved
from schemas.topics import (
    CONTEXT_PACKS,
    CORRECTIONS_IN,
    FEEDBACK_IN,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    MEMORY_QUARANTINES,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_RESULTS_IN,
)
from streams.testing.pipeline import Pipeline
from tests.builders.customs import CUSTOMS
from tests.builders.vote_log import MemoryVoteLog
from tests.tenants import memories
from tests.tenants.canaries import Tenant, canaries, foreign
from tests.tenants.memories import received
from tests.tenants.probes import ACME, BETA, GAMA, THREE, refused
from tests.tenants.talks import SAYINGS, hand_in, refusals, shown, talk

TWO = (ACME, GAMA)
NEW = """# Férias {mark}

As férias {mark} são pagas antes do primeiro dia.
"""


def outside() -> None:
    """Whoever votes, corrects, consults or hands in a new version, finds and changes only what is its own."""
    with Pipeline(partitions=1, reference_wait_ms=0) as fathom:
        for tenant in TWO:
            hand_in(fathom, tenant)
            talk(fathom, tenant, SAYINGS[:3])
        for tenant in TWO:
            consult(fathom, tenant)
            vote(fathom, tenant)
            correct(fathom, tenant)
            fathom.document("d1", "Manual", NEW.format(mark=tenant.canary), tenant=tenant.name)
        assert [dict(letter.headers) for letter in refusals(fathom)] == []
        events = shown(fathom)
        assert events.keys() == {tenant.name for tenant in TWO}, events.keys()
        for tenant in TWO:
            assert not (wrong := foreign(tenant, *(text for _, _, text in events[tenant.name]))), wrong
            made = [key for topic, key, _ in events[tenant.name] if topic.startswith(("memory.", "conversation."))]
            assert all(unquote(key.partition("|")[0]) == tenant.name for key in made), "a key of somebody else's"
            assert not any(BETA.name in f"{key}{text}" for _, key, text in events[tenant.name]), "nobody was here"
            votes = fathom._run(fathom.weights.votes(tenant.name))
            assert canaries(votes) == {tenant.canary}, f"{tenant.name}'s votes"
            assert canaries(_votes_of_the_log(fathom)[tenant.name]) == {tenant.canary}, (
                f"{tenant.name}'s recorded votes"
            )
            assert fathom._run(fathom.index.listed(tenant.name, "consultas")).ids == ("q1",)
            gone = [kept.passage for kept in fathom.index._indexed.values() if kept.passage.retired_at is not None]
            assert tenant.canary in canaries(gone), "what a new version does not contain is found"
        _ids_apart(fathom)


def _votes_of_the_log(fathom: Pipeline) -> dict[str, list[DepthVote]]:
    """What a worker that lost all votes reads back, by the tenant that it would count for."""

    async def read() -> list[tuple[str, DepthVote]]:
        read = MemoryVoteLog(fathom.log.of).read(range(fathom.log.partitions), None)
        return [found async for portion in read for votes in portion.values() for found in votes]

    found: dict[str, list[DepthVote]] = {}
    for tenant, vote in asyncio.run(read()):
        found.setdefault(tenant, []).append(vote)
    return found


def gated() -> None:
    """A tool call is completed from its own tenant's session, and its verdict is filed and logged under its tenant."""
    logged: list[object] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(vars(record).get("fields", {}).get("tenant"))  # type: ignore[method-assign]
    logger = logging.getLogger("fathom.tools")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        _called()
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert sorted(map(str, logged)) == sorted(tenant.name for tenant in THREE)


def refused_calls() -> None:
    """A refusal is that of the tenant whose call was refused, here and read back from the output."""
    named = {"call_id": "c1", "client_id": "web", "session_id": "s1", "tool_name": "filtrar_relatorio"}
    call = ToolCallRequested.model_validate(named)
    calls = {tenant: _record(call, tenant.name) for tenant in (ACME, BETA)}
    mine, theirs = calls[ACME], calls[BETA]
    verdict = ToolCallResolved.model_validate({**named, "status": "error", "error": "x", "error_code": UNREADABLE})
    for told in ("add", "assigned"):
        refused = RefusedCalls()
        take = refused.assigned(0)
        if told == "add":
            refused.add(mine, verdict)
        else:
            emitted = mine.envelope._replace(causation_id=mine.envelope.id)
            take(mine._replace(event=verdict, envelope=emitted))
        assert refused.of(mine, call) is verdict, told
        assert refused.of(theirs, call) is None, told


def _record(call: ToolCallRequested, tenant: str) -> Received[ToolCallRequested]:
    """Two tenants' records of one id, at one place."""
    record = memories.received(call, tenant)
    return record._replace(partition=0, envelope=record.envelope._replace(id="e1"))


def _called() -> None:
    with Pipeline(partitions=1, tools=CUSTOMS) as fathom:
        for number, topic in enumerate((TOOLS_RESULTS_IN, TOOLS_CALLS_IN)):
            for tenant in THREE:
                call = {
                    "call_id": f"c{number}",
                    "client_id": "web",
                    "session_id": "c1",
                    "nome_tool": "filtrar_relatorio",
                }
                done = {"sucesso": True, "report_id": f"rel_{tenant.canary}"} if topic is TOOLS_RESULTS_IN else {}
                key = memories.conversation(tenant.name).key().encode()
                fathom.publish(topic, {**call, **done}, {"tenant": tenant.name}, key)
        verdicts = {each.envelope.tenant: each.event for each in fathom.events(TOOLS_CALLS_OUT)}
        for tenant in THREE:
            assert verdicts[tenant.name].resolved_args == {"report_id": f"rel_{tenant.canary}"}
        for topic in (TOOLS_CALLS_OUT, MEMORY_DECISIONS):
            records = fathom.log.of(topic.name)
            keys = sorted(unquote(record.key.decode().partition("|")[0]) for record in records if record.key)
            assert keys == sorted(tenant.name for tenant in THREE), f"{topic.name} under somebody else's key"


def _ids_apart(fathom: Pipeline) -> None:
    """Records of one id give corrections of different ids, and claims whose ids are made of the tenant."""
    issued = {each.event.correction_id: each for each in fathom.events(MEMORY_CORRECTIONS)}
    assert len(issued) == 2 * len(TWO), "one id for two corrections"
    made = [each for each in fathom.events(MEMORY_CLAIMS) if each.event.value == "dia 25"]
    assert len(made) == len(TWO)
    for claim in made:
        [id_] = [key for key, each in issued.items() if each.event.new_claim_id == claim.event.claim_id]
        of = Conversation(tenant=claim.envelope.tenant, client_id="web", conversation_id="c1").key()
        right = derive("claim", of, id_, claim.event.subject, claim.event.attribute, "dia 25")
        assert claim.event.claim_id == right, "an id that is made of somebody else"


def claimed() -> None:
    """The claim that a correction makes has another id for each tenant."""
    submitted = CorrectionSubmitted(
        claim_id="k1", text="É outro", user_id="ana", correction_kind="factual", new_value="20"
    )
    given: dict[str, Any] = {"at": memories.NOON, "source": memories.PLACE, "id": "x1"}
    found = [of_claim(submitted, memories.claim(1, "x"), tenant=tenant.name, **given)[1] for tenant in THREE]
    assert len({each.claim_id for each in found if each is not None}) == len(THREE)


def ruled() -> None:
    """What a user takes back or confirms is weighed against the tenant's own claims, and hidden from it alone."""
    with Pipeline(partitions=1, reference_wait_ms=0) as fathom:
        for tenant in TWO:
            for number, code in enumerate(("7781", "9002")):
                fathom.clock.advance(60)
                text = f"My locker code is {code}."
                fathom.say(text, tenant=tenant.name, message_id=f"m{number}", conversation=f"c{number}")
        for tenant in TWO:
            older, newer = (each.event for each in fathom.events(MEMORY_CLAIMS) if each.envelope.tenant == tenant.name)
            said = {"texto": "ruled", "usuario_id": older.user_id, "tipo": "factual"}
            fathom.clock.advance(60)
            _publish(fathom, CORRECTIONS_IN, tenant, "k", {**said, "claim_id": older.claim_id, "ruling": "confirm"})
            confirmed = fathom.events(MEMORY_CLAIMS)[-1].event
            against = {each.claim_id for each in confirmed.contradicts} | {*confirmed.supersedes}
            assert newer.claim_id in against, "not weighed against what its tenant has"
            _publish(fathom, CORRECTIONS_IN, tenant, "k", {**said, "claim_id": newer.claim_id, "ruling": "retract"})
            hidden = fathom.events(MEMORY_QUARANTINES)[-1]
            assert hidden.envelope.tenant == tenant.name
            assert unquote(hidden.key.partition("|")[0]) == tenant.name, "hidden under a key of somebody else's"


def handed_in() -> None:
    """What everybody reads is handed in by an administrator's worker; nobody else's worker takes it."""
    record = received(DocumentSubmitted(document_id="d1", title="Manual", text=NEW.format(mark="")), PUBLIC_TENANT)
    reader: Any = None  # a plain text needs none

    async def written(tenant: str, *, admin: bool) -> int:
        agent = Ingestion(reader, admin=admin)
        of = record._replace(envelope=record.envelope._replace(tenant=tenant))
        return len(await agent.handle(of))

    async def story() -> None:
        await refused(lambda: written(PUBLIC_TENANT, admin=False), "public_tenant_read_only")
        for tenant, admin in ((PUBLIC_TENANT, True), (ACME.name, False), (ACME.name, True)):
            assert await written(tenant, admin=admin) > 0

    asyncio.run(story())


def consult(fathom: Pipeline, tenant: Tenant) -> None:
    part = {"node_id": "n1", "texto": "Qual?", "resposta": tenant.canary, "confidence": 0.9}
    value = {
        "consulta_id": "q1", "pergunta_usuario": f"Qual o prazo {tenant.canary}?", "resposta_final": tenant.canary,
        "sub_perguntas": [part], "verification_status": "approved", "access_level": "public", "lang": "pt",
        "data": fathom.clock.now(),
    }  # fmt: skip
    _publish(fathom, MEMORY_CONSULTATIONS, tenant, entity_key(tenant.name, "q1"), value)


def vote(fathom: Pipeline, tenant: Tenant) -> None:
    packs = [(key, pack) for key, pack in _packs(fathom, tenant)]
    key, pack = packs[-1]
    names = ("message_id", "pack_id", "conversation_id", "client_id")
    given = {name: getattr(pack, name) for name in names}
    _publish(fathom, FEEDBACK_IN, tenant, key, {**given, "rating": 1, "reason": tenant.canary})


def _packs(fathom: Pipeline, tenant: Tenant) -> Any:
    for found in fathom.events(CONTEXT_PACKS):
        if found.envelope.tenant == tenant.name:
            pack = found.event
            of = Conversation(tenant=tenant.name, client_id=pack.client_id, conversation_id=pack.conversation_id)
            yield of.key(), pack


def correct(fathom: Pipeline, tenant: Tenant) -> None:
    own = [claim for claim in fathom.events(MEMORY_CLAIMS) if claim.envelope.tenant == tenant.name]
    said = {"texto": f"É outro {tenant.canary}", "usuario_id": "lia", "tipo": "factual"}
    claimed = {**said, "claim_id": own[0].event.claim_id, "new_value": "dia 25"}
    for number, value in enumerate((claimed, {**said, "consulta_id": "q1"})):
        fathom.clock.advance(1)
        # Records of both tenants have one id, as two clients may give it.
        value["created_at"] = fathom.clock.now()
        _publish(fathom, CORRECTIONS_IN, tenant, "k", value, ce_id=f"one-id-{number}")


def _publish(fathom: Pipeline, topic: Any, tenant: Tenant, key: str, value: Any, **headers: str) -> None:
    fathom.publish(topic, value, {"tenant": tenant.name, "user_id": "ana", **headers}, key.encode())
