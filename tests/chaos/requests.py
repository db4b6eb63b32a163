"""What comes in beside the messages: assessments, searches, tool calls with their results and confirmations,
consultations, corrections and feedback, of the conversations and by the messages of the run.

Each is made by the number of the message that it follows and a seed alone. What answers something waits for it: a
confirmation for its preview, feedback for its pack, a correction of a claim for the claim.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from agents.core.packs.planning import pack_id_of
from schemas.base import Conversation, derive, entity_key
from schemas.topics import (
    ASSESSMENTS_IN,
    ASSESSMENTS_OUT,
    CORRECTIONS_IN,
    FEEDBACK_IN,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    MEMORY_VOTES,
    SEARCHES_IN,
    SEARCHES_OUT,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
    Topic,
)
from tests.chaos.entries import Given
from tests.chaos.messages import CANARIES, Message

PACKED, AUDITED, JUDGED = (f"{MEMORY_DECISIONS.name} ({kind})" for kind in ("pack", "weights", "tool"))
VERDICTS = (TOOLS_CALLS_OUT.name, JUDGED)
# Of a hundred messages so many are followed by one of these; a tool's step is one to three records.
SHARES = {"assessment": 6, "tool": 12, "feedback": 10, "consultation": 4, "search": 4}
# Answers of the scripts that a claim is made of, and the share of them that somebody contests.
CLAIMING = ("O prazo do", "A responsável", "O orçamento", "The deadline", "The budget")
CORRECTED = 0.25
USERS = ("ana", "bruno", "carla")
CHANGE, EMAIL, READ, STATUS = (
    "criar_duimp", "enviar_relatorio_email", "buscar_secao_relatorio_salvo", "consultar_status_processo",
)  # fmt: skip
Place = tuple[str, str, str]  # stream, tenant, what the record there is about


@dataclass(frozen=True, slots=True)
class Request:
    """A record to send, and what must come of it: `wants` are streams, `refused` a dead letter; `status` a verdict's.

    It waits for a record in the log where it has an `after`; `named` is the field that this record's own id goes into.
    """

    topic: Topic
    id: str
    conversation: Conversation
    key: str
    subject: str
    event: Mapping[str, Any]
    wants: tuple[str, ...] = ()
    status: str = ""
    refused: bool = False
    user_id: str = USERS[0]
    after: Place | None = None
    named: str | None = None

    def record(self, at: datetime, found: str) -> tuple[bytes, bytes, list[tuple[str, bytes]]]:
        """Key, value and headers; `found` is the id of what it waited for."""
        given = self.given(found, 0, 0)
        headers = {"tenant": self.conversation.tenant, "user_id": self.user_id, "ce_id": self.id}
        headers["ce_time"] = at.isoformat()
        return given.key.encode(), orjson.dumps(given.event), [(n, text.encode()) for n, text in headers.items()]

    def given(self, found: str, partition: int, offset: int) -> Given:
        """The request as it was acknowledged."""
        event = self.event if self.named is None else {**self.event, self.named: found}
        key = self.key if self.named is None else entity_key(self.conversation.tenant, found)
        return Given(
            self.topic.name, self.id, self.conversation, key, self.subject, event, partition, offset, self.wants,
            self.status, self.refused,
        )  # fmt: skip


class Requests:
    """What follows each message, in the order in which they are said; `often` times as often as in a run."""

    def __init__(self, seed: int, *, often: int = 1) -> None:
        self._seed = seed
        self._often = often
        self._number = 0
        self._steps: dict[str, int] = defaultdict(int)

    def after(self, message: Message) -> list[Request]:
        """What comes in behind a message; often nothing."""
        self._number += 1
        choose = random.Random(f"{self._seed}|{self._number}")
        made = _Made(message, self._number, choose)
        weights = [share * self._often for share in SHARES.values()]
        (kind,) = choose.choices((*SHARES, ""), (*weights, 100 - sum(weights)))
        found: Iterator[Request] = iter(())
        if message.role == "assistant" and message.content.startswith(CLAIMING):
            if choose.random() < CORRECTED:
                found = made.correction_of_claim()
        elif kind == "tool":
            key = made.own.key()
            found = made.tool(self._steps[key])
            self._steps[key] += 1
        elif kind == "assessment":
            found = made.assessment()
        elif kind == "search":
            found = made.search()
        elif kind == "consultation":
            found = made.consultation()
        elif kind == "feedback" and message.role == "user":
            found = made.feedback()
        return list(found)


@dataclass(frozen=True, slots=True)
class _Made:
    message: Message
    number: int
    choose: random.Random

    @property
    def own(self) -> Conversation:
        return self.message.conversation

    def _id(self, *names: object) -> str:
        return derive("chaos-request", self.own.key(), self.number, *names)

    def assessment(self) -> Iterator[Request]:
        own = self._id("assessment")
        event = {"request_id": own, "query": self.message.content}
        yield Request(
            ASSESSMENTS_IN, own, self.own, entity_key(self.own.tenant, own), own, event, (ASSESSMENTS_OUT.name,)
        )

    def search(self) -> Iterator[Request]:
        own = self._id("search")
        event = {"request_id": own, "client_id": self.own.client_id, "query": self.message.content or "?"}
        yield Request(SEARCHES_IN, own, self.own, entity_key(self.own.tenant, own), own, event, (SEARCHES_OUT.name,))

    def feedback(self) -> Iterator[Request]:
        pack_id = pack_id_of(self.own, self.message.message_id)
        event = {
            "message_id": self.message.message_id,
            "pack_id": pack_id,
            "conversation_id": self.own.conversation_id,
            "client_id": self.own.client_id,
            "rating": self.choose.randint(1, 5),
            "expected_depth": self.choose.choice(("D0", "D1", "D2")),
        }
        yield Request(
            FEEDBACK_IN,
            self._id("feedback"),
            self.own,
            self.own.key(),
            pack_id,
            event,
            (MEMORY_VOTES.name, AUDITED),
            user_id=self.choose.choice(USERS),
            after=(PACKED, self.own.tenant, self.message.message_id),
        )

    def consultation(self) -> Iterator[Request]:
        """A consultation, and at once the correction of every other."""
        own, word = self._id("consultation"), CANARIES[self.own.tenant]
        uses = [
            {"label": "Dispositivo", "id": f"CLT-art{self.number % 20}", "public": True},
            {"label": "Processo", "id": f"DMD.{self.number % 50:04d}/26"},
        ]
        whole = {"node_id": "n1", "texto": f"Como anda {word}?", "resposta": "Bem.", "confidence": 0.9}
        part = {**whole, "node_id": "n1.1", "texto": "Quem paga?", "parent_id": "n1", "uses": uses}
        event = {
            "consulta_id": own,
            "pergunta_usuario": f"Como anda o projeto {word}, e quem paga a parcela {self.number}?",
            "resposta_final": f"O projeto {word} anda bem.",
            "sub_perguntas": [whole, part],
            "verification_status": "approved",
            "access_level": "internal",
            "lang": "pt",
            "data": datetime(2026, 3, 2, 9, tzinfo=UTC),
        }
        key = entity_key(self.own.tenant, own)
        yield Request(MEMORY_CONSULTATIONS, self._id("consulted"), self.own, key, own, event)
        if self.choose.random() < 0.5:
            kind = self.choose.choice(("factual", "formatacao"))
            said = {"consulta_id": own, "texto": f"{word} anda mal.", "usuario_id": USERS[0], "tipo": kind}
            yield Request(CORRECTIONS_IN, self._id("contested"), self.own, key, own, said, (MEMORY_CORRECTIONS.name,))

    def correction_of_claim(self) -> Iterator[Request]:
        event = {"texto": "Não é bem assim.", "usuario_id": self.choose.choice(USERS), "tipo": "factual"}
        wants: tuple[str, ...] = (MEMORY_CORRECTIONS.name,)
        if self.choose.random() < 0.5:
            event["new_value"] = f"{self.number} de novembro"
            wants += (MEMORY_CLAIMS.name,)
        yield Request(
            CORRECTIONS_IN,
            self._id("correction"),
            self.own,
            "",
            self.message.message_id,
            event,
            wants,
            after=(MEMORY_CLAIMS.name, self.own.tenant, self.message.message_id),
            named="claim_id",
        )

    def tool(self, step: int) -> Iterator[Request]:
        """The next step of a session: what a call needs came two steps before: topics have no order."""
        match step % 6:
            case 0:
                yield self._result()
            case 1:
                yield self._call(STATUS, {"processo_referencia": f"ABC.{self.number % 9999:04d}/26"}, "resolved")
            case 2:
                yield self._call(EMAIL, {}, "confirmation_required")
                yield from self._answers()
            case 3:
                yield self._call("apagar_relatorio", {}, "error")
            case 4:
                args = {"secao": CANARIES[self.own.tenant]}
                yield self._call(READ, args, "resolved")
                yield self._call(READ, args, "resolved", again=True)
            case _:
                yield self._call(CHANGE, {"ambiente": "Producao"}, "confirmation_required")
                yield self._confirmation(approved=False, status="error")

    def _event(self, **more: Any) -> dict[str, Any]:
        return {
            "call_id": self._id("call"),
            "client_id": self.own.client_id,
            "session_id": self.own.conversation_id,
            **more,
        }

    def _call(self, tool: str, args: Mapping[str, Any], status: str, *, again: bool = False) -> Request:
        event, own = self._event(nome_tool=tool, args=args), self._id("called", again)
        return Request(TOOLS_CALLS_IN, own, self.own, self.own.key(), event["call_id"], event, VERDICTS, status)

    def _result(self) -> Request:
        made = {"report_id": f"rel_{self.number}", "processo_referencia": f"DMD.{self.number % 9999:04d}/26"}
        event = self._event(nome_tool="gerar_relatorio", sucesso=True, **made) | {"call_id": self._id("made")}
        return Request(TOOLS_RESULTS_IN, self._id("result"), self.own, self.own.key(), event["call_id"], event)

    def _answers(self) -> Iterator[Request]:
        """A yes or a no, now and then with somebody else's before it, or a second one behind it."""
        roll, approved = self.choose.random(), self.choose.random() < 0.7
        if roll < 0.3:
            yield self._confirmation(approved=True, user=USERS[1], refused="foreign")
        yield self._confirmation(approved=approved, status="resolved" if approved else "error")
        if roll > 0.7:
            yield self._confirmation(approved=not approved, refused="again")

    def _confirmation(self, *, approved: bool, status: str = "", user: str = USERS[0], refused: str = "") -> Request:
        event = self._event(approved=approved, usuario_id=user)
        return Request(
            TOOLS_CONFIRMATIONS_IN,
            self._id("confirmation", refused),
            self.own,
            self.own.key(),
            event["call_id"],
            event,
            () if refused else VERDICTS,
            status,
            refused=bool(refused),
            user_id=user,
            after=(TOOLS_CALLS_OUT.name, self.own.tenant, event["call_id"]),
        )
