"""The client with coroutines; a test holds its methods equal to those of `Fathom`."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from pydantic import BaseModel

from fathom_client import calls
from fathom_client.base import AT_ONCE, FOLLOW_S, FOLLOWED_TURNS, MAX_TURNS, UNTIL_S, ClientBase
from fathom_client.calls import Access, Call, CorrectionKind, Depth, Kind, Lang, LookUp, Options
from fathom_client.connection import pause, read, unreachable
from fathom_client.errors import NotFound, Refused
from fathom_client.models import (
    Assessment,
    Conversation,
    Conversations,
    Document,
    Found,
    Item,
    Memories,
    Memory,
    Pack,
    Receipt,
)

T = TypeVar("T", bound=BaseModel)


class AsyncFathom(ClientBase):
    """A client of a running Fathom, with coroutines; use it in an `async with`, or `aclose` it. Of one event loop."""

    def _open(self, **how: Any) -> None:
        self._http = httpx.AsyncClient(**how)

    async def ask(
        self,
        question: str,
        *,
        conversation: str | None = None,
        user: str | None = None,
        message_id: str | None = None,
        min_depth: Depth | None = None,
        max_depth: Depth | None = None,
        look_up: LookUp | None = None,
        max_tokens: int | None = None,
        have: Sequence[Pack | str] = (),
        template: str | None = None,
        deep: bool = False,
    ) -> Pack:
        """The pack of a user's message; `have` names packs that the prompt still holds: they are not repeated.

        With `deep` its `answer` is there, too, within 30 s or `wait_s`; raises `Refused` where cognition is off.
        """
        options = Options(min_depth, max_depth, look_up, max_tokens, have, template)
        here = self._here(conversation, user, message_id)
        call = calls.question(question, wait_s=self.wait_s, options=options, deep=deep, **here)
        return self._has_asked(await self._send(call), question)

    async def remember(
        self, text: str, *, conversation: str | None = None, user: str | None = None, message_id: str | None = None
    ) -> Receipt:
        """Send something that a user said, without waiting for a pack."""
        return await self._send(calls.turn(text, **self._here(conversation, user, message_id)))

    async def say(
        self,
        text: str,
        *,
        answers: Pack | str | None = None,
        conversation: str | None = None,
        user: str | None = None,
        message_id: str | None = None,
    ) -> Receipt:
        """Send the assistant's answer to a message, named by its pack, which says the conversation, or by its id."""
        return await self._send(calls.answer(text, answers, **self._here(conversation, user, message_id)))

    async def ingest(
        self, *paths: str | Path, lang: Lang | None = None, access: Access = "public", wait: bool = True
    ) -> list[Document]:
        """Remember files, and the documents in folders; returns when they can be found, unless `wait` is false."""
        made = await asyncio.to_thread(calls.documents, paths, lang=lang, access=access, wait=wait)
        free = asyncio.Semaphore(AT_ONCE)

        async def sent(call: Call[Document]) -> Document:
            async with free:
                return await self._send(call)

        tasks = [asyncio.ensure_future(sent(call)) for call in made]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def ingest_text(
        self,
        text: str,
        *,
        title: str | None = None,
        document_id: str | None = None,
        lang: Lang | None = None,
        access: Access = "public",
        wait: bool = True,
    ) -> Document:
        """Remember a document given as text or Markdown; with the same `document_id` it replaces the earlier one."""
        return await self._send(
            calls.document(text, title=title, document_id=document_id, lang=lang, access=access, wait=wait)
        )

    async def forget(self, document: Document | str) -> Receipt:
        """Offer a document's passages no more, from within a second on."""
        return await self._send(calls.forgotten(document))

    async def correct(
        self,
        claim: Item | str,
        text: str,
        *,
        new_value: str | None = None,
        kind: CorrectionKind = "factual",
        user: str | None = None,
    ) -> Receipt:
        """Contest a claim, an item of a pack or its id; with `new_value` that is the newer claim."""
        who = self._who(user)
        return await self._send(calls.correction(claim, text, new_value=new_value, kind=kind, user=who))

    async def feedback(
        self, pack: Pack, rating: int, *, expected_depth: Depth | None = None, reason: str = "", user: str | None = None
    ) -> Receipt:
        """Say how good a pack was, from 1 to 5, and how deep it should have gone; its user says it by default."""
        return await self._send(calls.feedback(pack, rating, expected_depth=expected_depth, reason=reason, user=user))

    async def profile(
        self,
        user: str,
        *,
        user_role: str = "unknown",
        department: str = "unknown",
        access_level: Access = "public",
        objectives: Sequence[Mapping[str, str]] = (),
    ) -> Receipt:
        """Say who a user is, and what they may see; this replaces what was said before."""
        fields = {"user_role": user_role, "department": department, "access_level": access_level}
        return await self._send(calls.profile(user, {**fields, "objectives": list(objectives)}))

    async def memories(
        self,
        words: str = "",
        *,
        every: bool = False,
        limit: int = 50,
        after: str | None = None,
        user: str | None = None,
    ) -> Memories:
        """The facts that are remembered of a user, newest first; those that have all the words.

        With `every` also what was replaced or taken back. `after` is the `next` of the page before.
        """
        return await self._send(calls.memories(words, user=self._who(user), every=every, limit=limit, after=after))

    async def add_memory(self, text: str, *, user: str | None = None) -> Receipt:
        """Remember a fact, in a sentence that its user would say."""
        return await self._send(calls.noted(text, client=self.client, user=self._who(user)))

    async def correct_memory(self, memory: Memory | str, value: str, *, reason: str = "") -> Receipt:
        """Give a fact another value; the old one stays in its history."""
        return await self._send(calls.changed(memory, value=value, reason=reason))

    async def confirm_memory(self, memory: Memory | str, *, reason: str = "") -> Receipt:
        """Say that a fact holds still, whatever was said against it."""
        return await self._send(calls.changed(memory, value=None, reason=reason))

    async def delete_memory(self, memory: Memory | str, *, reason: str = "") -> Receipt:
        """Take a fact back: neither it nor the turns that stated it are in any later pack; the log keeps them."""
        return await self._send(calls.taken_back(memory, reason=reason))

    async def search(
        self,
        query: str,
        *,
        limit: int = 10,
        kind: Kind | None = None,
        document: Document | str | None = None,
        conversation: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        user: str | None = None,
    ) -> Found:
        """What memory has on a query; the query is no message, and nothing of it is stored."""
        times = {"since": since, "until": until}
        narrowing: dict[str, Any] = {"limit": limit, "kind": kind, "conversation_id": conversation, **times}
        who: dict[str, Any] = {"client": self.client, "user": self._who(user), "wait_s": self.wait_s}
        return await self._send(calls.search(query, document=document, **narrowing, **who))

    async def assess(self, query: str, *, conversation_summary: str | None = None) -> Assessment:
        """Whether a query needs context, by rules, in milliseconds; nothing is searched or stored."""
        return await self._send(calls.assessment(query, conversation_summary))

    async def pack(self, message_id: str) -> Pack:
        """The pack that a message was given."""
        return await self._send(calls.pack(message_id))

    async def conversations(
        self, words: str = "", *, days: int = 30, limit: int = 50, offset: int = 0
    ) -> Conversations:
        """The conversations of the last days, that of the last use first; those whose title or id has all the words."""
        return await self._send(calls.conversations(words, days=days, limit=limit, offset=offset))

    async def conversation(
        self, conversation: str | None = None, *, limit: int = 100, until: str | None = None
    ) -> Conversation:
        """The newest turns of a conversation; `until` waits for the turn of this id, which takes part of a second."""
        name = self.conversation_id if conversation is None else conversation
        call = calls.conversation(name, client=self.client, limit=limit)
        deadline = time.monotonic() + self.wait_s
        while True:
            try:
                talk = await self._send(call)
                if until is None or until in [turn.message_id for turn in talk.turns] or time.monotonic() > deadline:
                    return talk
            except NotFound:
                if until is None or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(UNTIL_S)

    async def packs(self, conversation: str | None = None, *, follow: bool = False) -> AsyncIterator[Pack]:
        """The packs of a conversation's messages, in order; with `follow` also those to come, without an end."""
        unseen, limit = calls.Unseen(), MAX_TURNS
        while True:
            for name in await self._unseen(unseen, conversation, limit, follow):
                try:
                    found = await self.pack(name)
                except NotFound:
                    unseen.missing(name)
                else:
                    unseen.given(name)
                    yield found
            if not follow:
                return
            limit = FOLLOWED_TURNS
            await asyncio.sleep(FOLLOW_S)

    async def _unseen(self, unseen: calls.Unseen, conversation: str | None, limit: int, follow: bool) -> list[str]:
        try:
            return unseen.among(await self.conversation(conversation, limit=limit))
        except NotFound:
            if not follow:
                raise
            return []  # it has not begun

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _send(self, call: Call[T]) -> T:
        if self._http.is_closed:
            raise Refused("this client is closed; make another one")
        attempt = 0
        while True:
            response: httpx.Response | None = None
            try:
                response = await self._http.request(call.method, call.path, **call.arguments())
            except httpx.TransportError as error:
                if isinstance(error, httpx.ReadTimeout) or (seconds := pause(None, attempt)) is None:
                    raise unreachable(self.url, error, call.about, call.message_id) from None
            else:
                if (seconds := pause(response, attempt)) is None:
                    return read(call.answer, response, call.about, call.message_id)
            attempt += 1
            await asyncio.sleep(seconds)
