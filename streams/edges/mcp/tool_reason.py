"""`reason`: a question answered by cognition, over the topics of a running Fathom."""

from operator import not_
from secrets import token_urlsafe
from typing import Annotated

from pydantic import Field

from schemas.base import Id, Value
from schemas.cognition import AnswerStatus, Section
from streams.edges.client import deep_answers, records
from streams.edges.client.arguments import MAX_CHARS, Arguments
from streams.edges.client.deep_answers import DeepAnswerShown
from streams.edges.mcp.tool import RECORDS, Call, Tool, filled
from streams.edges.mcp.tool_search import CONVERSATION_BYTES


class ReasonArguments(Arguments):
    question: Annotated[str, Field(min_length=1, max_length=MAX_CHARS)]
    conversation_id: Id | None = None


class Reasoned(Value):
    """The answer; its text goes before its fields.

    `missing` is what would have been needed; empty fields are left out.
    """

    text: str = Field(exclude=True)
    message_id: Id = Field(exclude=True)
    status: AnswerStatus
    sections: tuple[Section, ...]
    citations: tuple[str, ...] = Field(exclude_if=not_)
    missing: tuple[str, ...] = Field(exclude_if=not_)
    job_id: Id
    conversation_id: Id


async def answer(asked: ReasonArguments, call: Call) -> Reasoned:
    """Raises `CommandFailed` where no broker answers, cognition is off, or no answer comes in time."""
    conversation = asked.conversation_id or token_urlsafe(CONVERSATION_BYTES)
    question = records.turn(
        asked.question, call.identity, client=call.caller.client, conversation=conversation, deep=True
    )
    reply = await deep_answers.reply_to(question, call.site.bootstrap(), call.site.seconds)
    return reasoned(reply.answer, conversation)


def reasoned(found: DeepAnswerShown, conversation_id: str) -> Reasoned:
    """The answer of a deep answer, without its sources."""
    return filled(Reasoned, found, conversation_id=conversation_id)


TOOL = Tool(
    name="reason",
    title="Answer with citations",
    description=(
        "Answers a complex question with checked quotations of documents, and says what is missing. Remembers it as "
        "a user's turn."
    ),
    takes=ReasonArguments,
    gives=Reasoned,
    # As a search: a call adds a turn to the conversation.
    annotations=RECORDS,
    answer=answer,
    text=lambda found: f"{found.status}\n{found.text}",
    explained_by=lambda found: found.message_id,
)
