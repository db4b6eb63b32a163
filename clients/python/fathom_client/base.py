"""What both clients are made of: address, token, whose calls these are, and how patient they are."""

import os
from typing import Any
from uuid import uuid4

from fathom_client.connection import address

WAIT_S = 10.0
# Beside the wait for a pack; a document is waited for as long as its passages take.
SPARE_S = 50.0
FOLLOW_S = 0.5
UNTIL_S = 0.1
# Read once, then as many as come between two looks.
MAX_TURNS, FOLLOWED_TURNS = 1_000, 50
NOT_FOUND = 404


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
        """`url` and `token` default to FATHOM_URL and FATHOM_TOKEN, then to `fathom up` in the folder `data`.

        Without `conversation` each client has its own. `wait_s` is how long a pack may take. Raises `FathomError`.
        """
        self.url, token = address(url, token, data)
        self.user, self.client, self.wait_s = user, client, wait_s
        self.conversation_id = conversation or str(uuid4())
        headers = {"Authorization": f"Bearer {token}"}
        self._open(base_url=self.url, headers=headers, timeout=wait_s + SPARE_S)

    def _open(self, **how: Any) -> None:
        raise NotImplementedError

    def _here(self, conversation: str | None, user: str | None) -> dict[str, Any]:
        return {
            "client": self.client,
            "conversation": conversation or self.conversation_id,
            "user": user or self.user,
        }
