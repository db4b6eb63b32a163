"""A seeded history of everything the writers store, once and in order: what is said, decided, claimed and learnt.

Claims contradict and supersede each other, corrections name claims that come later, summaries grow under one id, and
documents come in batches and in versions.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.base import Event, Source
from schemas.chat import Role, Turn
from schemas.depth import DepthLevel
from schemas.envelope import Envelope, Received
from schemas.memory import (
    AuditDecision,
    ChunkEntry,
    ClaimAsserted,
    ConceptEntry,
    Conflict,
    CorrectionIssued,
    DefinitionEntry,
    EventMention,
    KnowledgeRecorded,
    ObjectiveEntry,
    PackDecision,
    ProcessEntry,
    Profile,
    ProfileEntry,
    StepEntry,
    SummaryMade,
)

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TENANTS = ("acme", "globex")
PROFILES = (None, "org_context", "document_evidence")
SUBJECTS = ("prazo", "orçamento", "fornecedor", "versão", "local")
TERMS = ("Reembolso", "Férias", "Diária", "Adiantamento", "Auditoria", "Alçada", "Fornecedor", "Centro de custo")
ROLES = ("analista", "gestor", "auditor")


class History:
    """Makes events one after the other; each is about what came before it, or names what will come."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._number = 0
        self._turns: dict[tuple[str, str], list[Turn]] = {}
        self._claims: dict[str, list[str]] = {tenant: [] for tenant in TENANTS}
        self._versions: dict[tuple[str, str], int] = {}

    def events(self, count: int, conversations: int) -> Iterator[Received[Any]]:
        """So many events of so many conversations, all different."""
        makers = (self._turn, self._decision, self._audit, self._claim, self._correction, self._summary)
        weights = (40, 20, 4, 16, 5, 9)
        while self._number < count:
            tenant = self._chance.choice(TENANTS)
            if self._chance.random() < 0.06:
                for event in self._document(tenant):
                    yield self._received(event, tenant)
                continue
            conversation = f"c{self._chance.randrange(conversations)}"
            known = (tenant, conversation) in self._turns
            [maker] = self._chance.choices(makers, weights) if known else [self._turn]
            yield self._received(maker(tenant, conversation), tenant)

    def _received(self, event: Event, tenant: str) -> Received[Any]:
        self._number += 1
        envelope = Envelope(f"e{self._number}", event.TYPE, "urn:test", self._now(), tenant, "correlation")
        return Received(event, envelope, tenant, "topic", 0, self._number, 0)

    def _now(self) -> datetime:
        return NOON + timedelta(seconds=self._number)

    def _source(self) -> Source:
        return Source(topic="messages.in", partition=self._number % 12, offset=self._number)

    def _turn(self, tenant: str, conversation: str) -> Turn:
        said = self._turns.setdefault((tenant, conversation), [])
        seq = len(said)
        turn = Turn(
            message_id=f"{conversation}-m{seq}",
            role=Role.ASSISTANT if seq % 2 else Role.USER,
            content=f"O {self._chance.choice(SUBJECTS)} do projeto {conversation} é o de número {self._number}.",
            conversation_id=conversation,
            client_id="web",
            user_id=_user(conversation),
            created_at=self._now(),
            seq=seq,
            frame_id=f"f{seq // 9}",
            lang="pt",
            source=self._source(),
            answers=said[-1].message_id if seq % 2 else None,
            depth_level=None if seq % 2 else DepthLevel.D2,
        )
        said.append(turn)
        return turn

    def _about(self, tenant: str, conversation: str) -> Turn:
        return self._chance.choice(self._turns[tenant, conversation])

    def _decision(self, tenant: str, conversation: str) -> PackDecision:
        level = self._chance.choice(tuple(DepthLevel))
        return PackDecision(
            id=f"d{self._number}",
            conversation_id=conversation,
            client_id="web",
            message_id=self._about(tenant, conversation).message_id,
            pack_id=f"p{self._number}",
            plan_id=f"l{self._number}",
            detected_signals=("anaphora", "follow_up")[: self._chance.randrange(3)],
            depth_level=level,
            query_profile_used=self._chance.choice(PROFILES),
            sources_retrieved=("working_set", "semantic"),
            tokens_used=self._number % 4_000,
            latency_ms=self._number % 900,
            created_at=self._now(),
            confidence=self._chance.random(),
            classifier="heuristic",
            strategy="continue_thread",
            degraded=self._number % 7 == 0,
        )

    def _audit(self, tenant: str, conversation: str) -> AuditDecision:
        return AuditDecision(
            id=f"a{self._number}",
            kind=self._chance.choice(("late-part", "tool", "weights", "penalty")),
            actor="assembler",
            subject_id=self._about(tenant, conversation).message_id,
            detail={"of": conversation, "number": self._number, "none": None},
            created_at=self._now(),
        )

    def _claim(self, tenant: str, conversation: str) -> ClaimAsserted:
        made = self._claims[tenant]
        turn, subject = self._about(tenant, conversation), self._chance.choice(SUBJECTS)
        older = self._chance.sample(made[-20:], min(self._chance.randrange(3), len(made)))
        made.append(f"k{self._number}")
        return ClaimAsserted(
            claim_id=made[-1],
            author="user" if turn.role == Role.USER else "system",
            text=f"O {subject} é {self._number}",
            subject=subject,
            attribute="valor",
            value=str(self._number),
            functional=True,
            lang="pt",
            message_id=turn.message_id,
            conversation_id=conversation,
            client_id="web",
            user_id=turn.user_id,
            frame_id=turn.frame_id,
            seq=turn.seq,
            confidence=0.9,
            status=self._chance.choice(("asserted", "confirmed", "contested")),
            asserted_at=self._now(),
            source=turn.source,
            contradicts=tuple(Conflict(claim_id=each, kind="correction", score=0.95) for each in older),
            supersedes=tuple(older[: self._chance.randrange(2)]),
        )

    def _correction(self, tenant: str, conversation: str) -> CorrectionIssued:
        turn, kind = self._about(tenant, conversation), self._chance.choice(("claim", "claim", "consulta"))
        # The claim may be one that was made, one that comes soon, or one that never comes.
        target = f"k{self._number + self._chance.randrange(-40, 40)}" if kind == "claim" else f"q{self._number % 50}"
        return CorrectionIssued(
            correction_id=f"x{self._number}",
            kind=kind,
            target_id=target,
            text="mudou",
            user_id=turn.user_id,
            correction_kind=self._chance.choice(("factual", "juridico", "formatacao")),
            new_value=str(self._number) if kind == "claim" else None,
            message_id=turn.message_id,
            conversation_id=conversation,
            client_id="web",
            penalised_paths=("chunk-1",),
            issued_at=self._now(),
        )

    def _summary(self, tenant: str, conversation: str) -> SummaryMade:
        said = self._turns[tenant, conversation]
        frame = self._chance.choice(said).frame_id
        turns = [turn for turn in said if turn.frame_id == frame]
        first, last = turns[0], turns[-1]
        mentioned = self._chance.sample(turns, min(2, len(turns)))
        return SummaryMade(
            # One id while the stretch grows.
            summary_id=f"s-{conversation}-{frame}",
            conversation_id=conversation,
            client_id="web",
            user_id=last.user_id,
            frame_id=frame,
            text=f"Falou-se de {' '.join(turn.message_id for turn in turns)}.",
            topic="projeto",
            terms=("projeto", frame),
            lang="pt",
            from_message=first.message_id,
            to_message=last.message_id,
            from_seq=first.seq,
            to_seq=last.seq,
            relevant_events=tuple(
                EventMention(
                    id=f"ev-{turn.message_id}",
                    label=f"reunião {turn.seq}",
                    at=turn.created_at + timedelta(days=3),
                    kind="date",
                    message_id=turn.message_id,
                )
                for turn in mentioned
            ),
            # Made of the same turns it is the same summary, whenever it is made.
            made_at=last.created_at,
        )

    def _document(self, tenant: str) -> Iterator[KnowledgeRecorded]:
        document = f"doc{self._chance.randrange(12)}"
        version = self._versions[tenant, document] = self._versions.get((tenant, document), 0) + 1
        common = {"document_id": document, "recency": self._now(), "lang": "pt"}
        entries: list[Any] = [*_chunks(document, version, common), *_named(document, common)]
        entries += [_process(document, version, common), _profile(document, version, common)]
        self._chance.shuffle(entries)
        half, recorded_at = len(entries) // 2, self._now()
        for batch, part in enumerate((entries[:half], entries[half:])):
            yield KnowledgeRecorded(
                document_id=document,
                title=f"Manual {document}",
                content_hash=f"h{version}",
                batch=batch,
                entries=tuple(part),
                recorded_at=recorded_at,
            )


def _user(conversation: str) -> str:
    return f"u{int(conversation[1:]) % 7}"


def _chunks(document: str, version: int, common: dict[str, Any]) -> Iterator[ChunkEntry]:
    """Most passages are those of the version before, at another place."""
    for number in range(version, version + 6):
        position = number - version
        yield ChunkEntry(
            id=f"{document}-ch{number}",
            title=f"Manual {document}",
            text=f"Regra {number} do manual {document}.",
            position=position,
            context=f"na versão {version}",
            access_level=("public", "internal")[version % 2],
            **common,
        )


def _named(document: str, common: dict[str, Any]) -> Iterator[ConceptEntry | DefinitionEntry]:
    """Documents share their terms: a concept of one is what the knowledge of another is about."""
    first = int(document[3:])
    for term in (TERMS[first % len(TERMS)], TERMS[(first + 1) % len(TERMS)]):
        yield ConceptEntry(id=f"{document}-{term}-co", name=term, definition=f"{term} é o que diz {document}", **common)
        yield DefinitionEntry(
            id=f"{document}-{term}-kn", title=term.lower(), text=f"{term} é o que diz {document}.", **common
        )


def _process(document: str, version: int, common: dict[str, Any]) -> ProcessEntry:
    own = f"{document}-pr{version // 3}"
    steps = tuple(StepEntry(id=f"{own}-{order}", order=order, text=f"passo {order}") for order in (1, 2, 3))
    terms = ("solicitar", document)
    return ProcessEntry(id=own, name=f"Solicitar {document}", how_to_terms=terms, steps=steps, **common)


def _profile(document: str, version: int, common: dict[str, Any]) -> ProfileEntry:
    user = f"u-{document}"
    objectives = (ObjectiveEntry(id=f"o{version % 4}", title=f"meta {version}"),)
    person = Profile(user_id=user, user_role=ROLES[version % 3], department="vendas", objectives=objectives)
    return ProfileEntry(id=f"pf-{user}", profile=person, **common)
