"""Fathom in LangChain: a retriever, and the history of a conversation."""

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from fathom_client.client import Fathom
from fathom_client.connection import FathomError
from fathom_client.models import Pack

MESSAGES = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}
OPTIONS = {"look_up": "always"}


class FathomRetriever(BaseRetriever):
    """What memory holds on a query: an item of its pack each, with its source and the pack's id as metadata."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    fathom: Fathom
    options: dict[str, Any] = Field(default_factory=lambda: dict(OPTIONS), description="keyword arguments of `ask`")

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # the base's signature
    ) -> list[Document]:
        return documents_of(self.fathom.ask(query, **self.options))


def documents_of(pack: Pack) -> list[Document]:
    """The items of a pack, in the order of its sources."""
    return [
        Document(
            id=item.id,
            page_content=str(item),
            metadata={
                "source": source.name,
                "number": source.number,
                "type": item.type,
                "score": item.score,
                "pack_id": pack.pack_id,
            },
        )
        for source, item in pack.cited()
    ]


class FathomChatMessageHistory(BaseChatMessageHistory):
    """A conversation in Fathom's log, which only grows: what is added is there for every later pack."""

    def __init__(self, fathom: Fathom, conversation: str | None = None) -> None:
        self._fathom = fathom
        self._conversation = conversation or fathom.conversation_id
        self._newest: str | None = None

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base declares an attribute
        """The newest 1,000 turns."""
        try:
            talk = self._fathom.conversation(self._conversation, limit=1_000, until=self._newest)
        except FathomError as error:
            if error.status == 404:
                return []  # it has not begun
            raise
        return [MESSAGES[turn.role](content=turn.content, id=turn.message_id) for turn in talk.turns]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Send the turns of user and assistant; calls of tools and their results are no turns."""
        asked: str | None = None
        for message in messages:
            if message.type == "human":
                self._newest = asked = self._fathom.remember(message.text, conversation=self._conversation).message_id
            elif message.type == "ai" and message.text:
                sent = self._fathom.say(message.text, answers=asked, conversation=self._conversation)
                self._newest = sent.message_id

    def clear(self) -> None:
        """Refused: the log keeps what was said."""
        raise FathomError("a conversation stays in Fathom's log; begin another one with a new conversation id")
