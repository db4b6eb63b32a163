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
from fathom_client.errors import NotFound, Refused

MAX_TURNS = 1_000
MESSAGES: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}


class FathomRetriever(BaseRetriever):
    """What memory has on a query, best first, with its source as metadata.

    The query is no message of a conversation, and nothing of it is stored; `options` are further arguments of `search`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    fathom: Fathom
    user: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # the base's signature
    ) -> list[Document]:
        found = self.fathom.search(query, user=self.user, **self.options)
        return [Document(id=each.id, page_content=each.text, metadata=each.about()) for each in found.results]


class FathomChatMessageHistory(BaseChatMessageHistory):
    """A conversation in Fathom's log, which only grows: what is added is there for every later pack."""

    def __init__(self, fathom: Fathom, conversation: str | None = None, user: str | None = None) -> None:
        self._fathom = fathom
        self._where = fathom.conversation_id if conversation is None else conversation
        self._here: dict[str, Any] = {"conversation": self._where, "user": user}
        self._newest: str | None = None

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base declares an attribute
        """The newest 1,000 turns; none of a conversation that has not begun."""
        try:
            talk = self._fathom.conversation(self._where, limit=MAX_TURNS, until=self._newest)
        except NotFound:
            return []
        return [MESSAGES[turn.role](content=turn.content, id=turn.message_id) for turn in talk.turns]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Send the turns of user and assistant; calls of tools and their results are no turns."""
        asked: str | None = None
        for message in messages:
            if message.type == "human":
                asked = self._fathom._taken(self._where, message.text)
                asked = asked or self._fathom.remember(message.text, **self._here).message_id
                self._newest = asked
            elif message.type == "ai" and message.text:
                self._newest = self._fathom.say(message.text, answers=asked, **self._here).message_id

    def clear(self) -> None:
        """Refused: the log keeps what was said."""
        raise Refused("a conversation stays in Fathom's log; begin another one with a new conversation id")
