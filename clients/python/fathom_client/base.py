"""What both clients are made of: address, token, whose calls these are, and how patient they are."""

import os
from collections import OrderedDict
from typing import Any, NamedTuple
from uuid import uuid4

import httpx

from fathom_client.connection import address, header
from fathom_client.models import Pack

WAIT_S = 10.0
CONNECT_S = 5.0
# The server's own longest wait, for a document's passages, and some more.
MIN_READ_S = 45.0
FOLLOW_S = 0.5
UNTIL_S = 0.1
# Read once, then as many as come between two looks.
MAX_TURNS, FOLLOWED_TURNS = 1_000, 50
# Conversations whose newest question is known here.
MAX_ASKED = 1_000
# Documents on their way side by side.
AT_ONCE = 8


class Asked(NamedTuple):
    """A question that was asked, by its message."""

    text: str
    message_id: str


class ClientBase:
    """Address, token, and whose calls these are."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        data: str | os.PathLike[str] | None = None,
        user: str | None = None,
        client: str = "default",
        conversation: str | None = None,
        wait_s: float = WAIT_S,
    ) -> None:
        """`url` and `token` default to FATHOM_URL and FATHOM_TOKEN, then to `fathom up` in the folder `data` (.fathom).

        `user`, `client` and `conversation` are those of calls that name none; without `conversation` each client has
        its own. `wait_s` is how long a pack may take. Raises `FathomError`; nothing is connected yet.
        """
        self.url, token = address(url, token, data)
        if user is not None:
            header("user", user)
        self.user, self.client, self.wait_s = user, client, wait_s
        self.conversation_id = str(uuid4()) if conversation is None else conversation
        self._asked: OrderedDict[str, Asked] = OrderedDict()
        patience = httpx.Timeout(max(MIN_READ_S, wait_s + MIN_READ_S / 3), connect=CONNECT_S)
        # A proxy of the environment is for other machines.
        here = {"all://127.0.0.1": None, "all://localhost": None, "all://[::1]": None}
        self._open(
            base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=patience, mounts=here,
        )  # fmt: skip

    def _open(self, **how: Any) -> None:
        raise NotImplementedError

    def _here(self, conversation: str | None, user: str | None, message_id: str | None) -> dict[str, Any]:
        return {
            "client": self.client,
            "conversation": self.conversation_id if conversation is None else conversation,
            "user": self._who(user),
            "message_id": str(uuid4()) if message_id is None else message_id,
        }

    def _who(self, user: str | None) -> str | None:
        return self.user if user is None else user

    def _has_asked(self, pack: Pack, question: str) -> Pack:
        """Keep the newest question of a conversation, so that an adapter that is told it does not send it again."""
        self._asked[pack.conversation_id] = Asked(question, pack.message_id)
        if len(self._asked) > MAX_ASKED:
            self._asked.popitem(last=False)
        return pack

    def _taken(self, conversation: str, text: str) -> str | None:
        """The message of the newest question, where it is this one; once."""
        asked = self._asked.pop(conversation, None)
        return asked.message_id if asked is not None and asked.text == text else None
