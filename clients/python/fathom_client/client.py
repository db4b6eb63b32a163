"""The blocking client; a test holds its methods equal to those of `AsyncFathom`."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from pydantic import BaseModel

from fathom_client import calls
from fathom_client.base import FOLLOW_S, FOLLOWED_TURNS, MAX_TURNS, NOT_FOUND, UNTIL_S, ClientBase
from fathom_client.calls import Access, Call, Depth, LookUp, Options
from fathom_client.connection import FathomError, checked, pause, unreachable
from fathom_client.models import Conversation, Document, Pack, Receipt

T = TypeVar("T", bound=BaseModel)


class Fathom(ClientBase):
    """A client of a running Fathom, blocking; use it in a `with`, or `close` it."""

    def _open(self, **how: Any) -> None:
        self._http = httpx.Client(**how)

    def ask(
        self,
        question: str,
        *,
        conversation: str | None = None,
        user: str | None = None,
        min_depth: Depth | None = None,
        max_depth: Depth | None = None,
        look_up: LookUp | None = None,
        max_tokens: int | None = None,
        have: Sequence[Pack | str] = (),
        template: str | None = None,
    ) -> Pack:
        """The pack of a user's message; `have` names packs that the prompt still holds: they are not repeated."""
        held = [each.pack_id if isinstance(each, Pack) else each for each in have]
        options = Options(min_depth, max_depth, look_up, max_tokens, held, template)
        here = self._here(conversation, user)
        return self._send(calls.question(question, wait_s=self.wait_s, options=options, **here))

    def remember(self, text: str, *, conversation: str | None = None, user: str | None = None) -> Receipt:
        """Send something that a user said, without waiting for a pack."""
        return self._send(calls.turn(text, **self._here(conversation, user)))

    def say(
        self, text: str, *, answers: Pack | str | None = None, conversation: str | None = None, user: str | None = None
    ) -> Receipt:
        """Send the assistant's answer to a message, named by its pack or its id."""
        return self._send(calls.answer(text, answers, **self._here(conversation, user)))

    def ingest(
        self, *paths: str | Path, lang: str | None = None, access: Access = "public", wait: bool = True
    ) -> list[Document]:
        """Remember files, and the documents in folders; returns when they can be found, unless `wait` is false."""
        made = calls.documents(paths, lang=lang, access=access, wait=wait)
        return [self._send(call) for call in made]

    def ingest_text(
        self,
        text: str,
        *,
        title: str | None = None,
        document_id: str | None = None,
        lang: str | None = None,
        access: Access = "public",
        wait: bool = True,
    ) -> Document:
        """Remember a document given as text or Markdown; with the same `document_id` it replaces the earlier one."""
        return self._send(
            calls.document(text, title=title, document_id=document_id, lang=lang, access=access, wait=wait)
        )

    def correct(
        self, claim_id: str, text: str, *, new_value: str | None = None, kind: str = "factual", user: str | None = None
    ) -> Receipt:
        """Contest a claim; with `new_value` that is the newer claim."""
        return self._send(calls.correction(claim_id, text, new_value=new_value, kind=kind, user=user or self.user))

    def feedback(
        self, pack: Pack, rating: int, *, expected_depth: Depth | None = None, reason: str = "", user: str | None = None
    ) -> Receipt:
        """Say how good a pack was, from 1 to 5, and how deep it should have gone."""
        return self._send(
            calls.feedback(pack, rating, expected_depth=expected_depth, reason=reason, user=user or self.user)
        )

    def profile(
        self,
        user: str,
        *,
        user_role: str = "unknown",
        department: str = "unknown",
        access_level: Access = "public",
        objectives: Sequence[dict[str, str]] = (),
    ) -> Receipt:
        """Say who a user is, and what they may see."""
        fields = {"user_role": user_role, "department": department, "access_level": access_level}
        return self._send(calls.profile(user, {**fields, "objectives": list(objectives)}))

    def pack(self, message_id: str) -> Pack:
        """The pack that a message was given."""
        return self._send(calls.pack(message_id))

    def conversation(
        self, conversation: str | None = None, *, limit: int = 100, until: str | None = None
    ) -> Conversation:
        """The newest turns of a conversation; `until` waits for the turn of this id, which takes part of a second."""
        call = calls.conversation(conversation or self.conversation_id, client=self.client, limit=limit)
        deadline = time.monotonic() + self.wait_s
        while True:
            try:
                talk = self._send(call)
                if until is None or until in [turn.message_id for turn in talk.turns] or time.monotonic() > deadline:
                    return talk
            except FathomError as error:
                if error.status != NOT_FOUND or until is None or time.monotonic() > deadline:
                    raise
            time.sleep(UNTIL_S)

    def packs(self, conversation: str | None = None, *, follow: bool = False) -> Iterator[Pack]:
        """The packs of a conversation's messages, in order; with `follow` also those to come, without an end."""
        unseen, limit = calls.Unseen(), MAX_TURNS
        while True:
            for name in self._unseen(unseen, conversation, limit, follow):
                try:
                    found = self.pack(name)
                except FathomError as error:
                    if error.status != NOT_FOUND:
                        raise
                    unseen.missing(name)
                else:
                    unseen.given(name)
                    yield found
            if not follow:
                return
            limit = FOLLOWED_TURNS
            time.sleep(FOLLOW_S)

    def _unseen(self, unseen: calls.Unseen, conversation: str | None, limit: int, follow: bool) -> list[str]:
        try:
            return unseen.among(self.conversation(conversation, limit=limit))
        except FathomError as error:
            if follow and error.status == NOT_FOUND:
                return []  # it has not begun
            raise

    def forget_document(self, document_id: str) -> Receipt:
        """Offer a document's passages no more."""
        return self._send(calls.forgotten(document_id))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = self._http.request(call.method, call.path, **call.arguments())
            except httpx.TransportError as error:
                if (seconds := pause(None, attempt)) is None:
                    raise unreachable(self.url, error) from None
            else:
                if (seconds := pause(response, attempt)) is None:
                    return call.answer.model_validate_json(checked(response).content)
            attempt += 1
            time.sleep(seconds)
