"""What is said during a run: conversations of two tenants in two languages, with every reason to need context.

Each message is made by its number and a seed alone. Each tenant has a project of its own, whose name no message of
the other holds.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from schemas.base import Conversation, derive

CANARIES = {"norte": "Jacarandá", "sul": "Quaresmeira"}
AGAIN = 0.04  # share of messages that their producer sends a second time
ASK_SHAPE = 0.1  # share of user messages in the shape with four fields

Script = tuple[tuple[str, str], ...]
# Look-up, follow-up, explanation, correction, how-to, steps, change of topic; with the answers in between.
SCRIPTS: dict[str, Script] = {
    "pt": (
        ("user", "Qual é o prazo do projeto {project}?"),
        ("assistant", "O prazo do projeto {project} é dia {day} de maio de 2026."),
        ("user", "E quem é o responsável por ele?"),
        ("assistant", "A responsável pelo projeto {project} é Marina, da área {area}."),
        ("user", "Por que o orçamento do projeto {project} cresceu {percent}% neste trimestre?"),
        ("assistant", "O orçamento do projeto {project} é de {amount} mil reais, por causa das contratações."),
        ("user", "Não, o prazo do projeto {project} mudou para dia {other} de maio."),
        ("user", "Como faço para pedir reembolso de viagem?"),
        ("assistant", "Guarde os recibos e envie o formulário ao financeiro em até {day} dias."),
        ("user", "Explica passo a passo como envio o formulário de reembolso"),
        ("user", "Como abrir um chamado do projeto {project} e quando acaba o prazo do projeto {project}?"),
        ("user", "Mudando de assunto: quantos dias de férias eu tenho este ano?"),
        ("assistant", "Você tem {day} dias de férias."),
        ("user", "Bom dia!"),
    ),
    "en": (
        ("user", "What is the deadline of project {project}?"),
        ("assistant", "The deadline of project {project} is May {day}, 2026."),
        ("user", "And who is in charge of it?"),
        ("assistant", "Marina from {area} is in charge of project {project}."),
        ("user", "Why did the budget of project {project} grow by {percent}% this quarter?"),
        ("assistant", "The budget of project {project} is {amount} thousand, because of new hires."),
        ("user", "No, that is wrong: the deadline of project {project} is May {other}."),
        ("user", "How do I claim travel expenses?"),
        ("assistant", "Keep the receipts and send the form to finance within {day} days."),
        ("user", "Explain step by step how to send the expenses form"),
        ("user", "How do I open a ticket of project {project} and when does the deadline of project {project} end?"),
        ("user", "On another subject, how many days of leave do I have left?"),
        ("assistant", "You have {day} days of leave left."),
        ("user", "Thanks, that is all."),
    ),
}
# How the questions begin that are answered in several steps.
COMPLEX = ("Como abrir um chamado", "How do I open a ticket")
AREAS = ("logística", "compras", "engenharia", "vendas")


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send, as its producer holds it."""

    message_id: str
    conversation: Conversation
    role: str
    content: str
    ask_shape: bool

    def record(self, at: datetime) -> tuple[bytes, bytes, list[tuple[str, bytes]]]:
        """Key, value and headers."""
        own = self.conversation
        event: dict[str, Any] = {"conversation_id": own.conversation_id, "client_id": own.client_id}
        headers = [("tenant", own.tenant.encode())]
        if self.ask_shape:
            event |= {"question": self.content, "nickname": None}
            headers += [("ce_id", self.message_id.encode()), ("ce_time", at.isoformat().encode())]
        else:
            event |= {"message_id": self.message_id, "role": self.role, "content": self.content, "created_at": at}
        return own.key().encode(), orjson.dumps(event), headers


def conversations(count: int) -> tuple[Conversation, ...]:
    """So many conversations, of both tenants by turns."""
    tenants = tuple(CANARIES)
    return tuple(
        Conversation(tenant=tenants[n % 2], client_id=f"app-{n % 3}", conversation_id=f"c{n:03d}") for n in range(count)
    )


def messages(*, among: int, seed: int) -> Iterator[Message]:
    """Messages without end, of `among` conversations in random turn; some of them come a second time."""
    choose = random.Random(seed)
    own = conversations(among)
    said = dict.fromkeys(own, 0)
    while True:
        conversation = choose.choice(own)
        message = _next(conversation, said[conversation], choose)
        said[conversation] += 1
        yield message
        if choose.random() < AGAIN:
            yield message


def _next(conversation: Conversation, number: int, choose: random.Random) -> Message:
    lang = "pt" if conversation.conversation_id[-1] in "02468" else "en"
    role, text = SCRIPTS[lang][number % len(SCRIPTS[lang])]
    content = text.format(
        project=CANARIES[conversation.tenant],
        area=choose.choice(AREAS),
        day=choose.randint(1, 27),
        other=choose.randint(1, 27),
        percent=choose.randint(2, 40),
        amount=choose.randint(10, 900),
    )
    message_id = derive("chaos", conversation.key(), number)
    return Message(message_id, conversation, role, content, role == "user" and choose.random() < ASK_SHAPE)


def is_complex(content: str) -> bool:
    """Whether a message opens a job of cognition."""
    return content.startswith(COMPLEX)


def document(number: int) -> tuple[str, bytes, list[tuple[str, bytes]]]:
    """A document to remember: its id, its value, its headers."""
    tenant, project = list(CANARIES.items())[number % 2]
    document_id = f"manual-{number:03d}"
    event = {
        "document_id": document_id,
        "title": f"Manual {number} do projeto {project}",
        "text": f"# Como abrir um chamado do projeto {project}\n\n1. Entre no portal.\n2. Descreva o caso {number}.\n",
        "created_at": datetime(2026, 3, 2, 9, number % 60, tzinfo=UTC),
    }
    return document_id, orjson.dumps(event), [("tenant", tenant.encode())]
