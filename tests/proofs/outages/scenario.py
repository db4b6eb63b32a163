"""One outage: messages before, during and after it; was any pack lost or late, or the store asked in a storm?"""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiokafka import AIOKafkaProducer

from agents.core.packs.planning import Limits
from schemas.base import Conversation
from schemas.depth import DepthLevel
from schemas.topics import CONTEXT_PACKS, DOCUMENTS_IN, MESSAGES_IN
from tests.chaos import messages as said
from tests.chaos.entries import Entry
from tests.chaos.messages import Message
from tests.chaos.reading import Tail
from tests.proofs.outages.site import NEEDED, OTHER, SECRET, SETTING, TOLD, Site
from tests.servers.fault_proxy import Mode

WRONG_AUTH = "wrong auth"
MODES = (*(mode.value for mode in Mode if mode != Mode.OPEN), WRONG_AUTH)
QUESTION = "Explica melhor como funciona o reembolso de viagem do projeto {0}"
ANSWER = "O prazo do projeto {0} é dia {1} de maio de 2026."
SECTION = {"persona": "persona_context"}
PATIENCE_S, PAUSE_S = 90.0, 0.25
# What a pack may come later than the latest one without any outage; a wait for a store would be longer.
GRACE_MS = 2_000.0
# Calls that do not come from messages: a probe a second, a look at all stores every five.
PROBES = 30


@dataclass
class Phase:
    """What was said in it, and what that cost the store; `late` in ms after the deadline, of the latest pack."""

    ids: list[str] = field(default_factory=list)
    packs: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0
    late: float = -1e9


@dataclass
class Outcome:
    """One case and what was wrong in it; empty when nothing was."""

    store: str
    mode: str
    wrong: list[str] = field(default_factory=list)
    calls: tuple[int, int] = (0, 0)
    late: float = 0.0
    lag: int = 0
    took_s: float = 0.0


class Case:
    """The case of one store and one mode on a site that runs."""

    numbers = itertools.count()

    def __init__(self, site: Site, tail: Tail, producer: AIOKafkaProducer, messages: int) -> None:
        self._site = site
        self._tail = tail
        self._producer = producer
        self._messages = messages
        self._sent: dict[str, int] = {}

    async def run(self, store: str, mode: str) -> Outcome:
        """Go through it; the site is whole again afterwards."""
        began = time.monotonic()
        counted = self._calls(store)
        before = await self._talk()
        await self._drained()
        before.calls = self._calls(store) - counted
        counted = self._calls(store)
        await self._fail(store, mode)
        during = await self._talk()
        told = await self._told(store, mode)
        lag = await self._tail.lag()
        during.calls = self._calls(store) - counted
        await self._heal(store, mode)
        await self._drained()
        await until(self._all_well, "all stores should answer again")
        answered = await self._answered_again(store)
        await self._drained()
        outcome = Outcome(store, mode, calls=(before.calls, during.calls), late=during.late, lag=lag)
        outcome.wrong = [*_wrong(store, mode, before, during), *told]
        if not answered:
            outcome.wrong.append("no pack has what the store holds, though it answers again")
        if not lag and mode != Mode.FLAPPING:
            outcome.wrong.append("no writer waited")
        outcome.took_s = time.monotonic() - began
        return outcome

    async def _answered_again(self, store: str) -> bool:
        """Whether packs have what the store holds; on a busy machine a part may come late now and then."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if any(_has(pack, NEEDED[store]) for pack in (await self._talk()).packs):
                return True
        return False

    async def _fail(self, store: str, mode: str) -> None:
        if mode == WRONG_AUTH:
            await self._site.expect(store, OTHER)
        else:
            await self._site.ways[store].be(Mode(mode))

    async def _heal(self, store: str, mode: str) -> None:
        if mode == WRONG_AUTH:
            await self._site.expect(store, SECRET)
        else:
            await self._site.ways[store].be(Mode.OPEN)

    def _calls(self, store: str) -> int:
        way = self._site.ways[store]
        return way.calls + way.connections

    async def _talk(self) -> Phase:
        """Questions of conversations of their own, answers with claims, a document; a pack for each question."""
        phase = Phase()
        for _ in range(self._messages):
            number = next(self.numbers)
            for role, text in (("user", QUESTION), ("assistant", ANSWER)):
                message = Message(
                    f"m{number}-{role}",
                    Conversation(tenant="acme", client_id="web", conversation_id=f"c{number}"),
                    role,
                    text.format(f"P{number}", number % 27 + 1),
                    False,
                )
                key, value, headers = message.record(datetime.now(UTC))
                placed = await self._producer.send_and_wait(MESSAGES_IN.name, value, key=key, headers=headers)
                if role == "user":
                    self._sent[message.message_id] = placed.timestamp
                    phase.ids.append(message.message_id)
            await asyncio.sleep(PAUSE_S)
        document_id, value, headers = said.document(next(self.numbers))
        await self._producer.send_and_wait(DOCUMENTS_IN.name, value, key=document_id.encode(), headers=headers)
        await until(lambda: self._answered(phase), f"every message of {phase.ids} should have its pack")
        return phase

    async def _answered(self, phase: Phase) -> bool:
        found = {}
        for entry in self._tail.entries:
            if entry.topic == CONTEXT_PACKS.name and entry.event.get("message_id") in phase.ids:
                found[entry.event["message_id"]] = entry
        if len(found) < len(phase.ids):
            return False
        phase.packs = [entry.whole() for entry in found.values()]
        phase.late = max(self._late(entry) for entry in found.values())
        return True

    def _late(self, entry: Entry) -> float:
        deadline = Limits().deadline_ms[DepthLevel(entry.event["depth_level"])]
        return entry.timestamp - self._sent[entry.event["message_id"]] - deadline

    async def _told(self, store: str, mode: str) -> list[str]:
        """Whether readiness says which store fails, and for an operator's error what to mend."""
        if mode == Mode.FLAPPING:
            return []
        wanted = SETTING[store] if mode == WRONG_AUTH else "unavailable"
        last = ""

        async def is_told() -> bool:
            nonlocal last
            page = await self._site.ready()
            last = page["stores"][TOLD[store]]
            return wanted in last and page["ready"] is False

        try:
            await until(is_told, "", seconds=30)
        except AssertionError:
            return [f"it is ready, or does not say {wanted} of {TOLD[store]}, but {last}"]
        return [f"readiness tells the secret: {last}"] if SECRET in last else []

    async def _all_well(self) -> bool:
        page = await self._site.ready()
        return page["ready"] is True and set(page["stores"].values()) == {"ok"}

    async def _drained(self) -> None:
        async def is_drained() -> bool:
            return await self._tail.lag() == 0

        await until(is_drained, "every record should be handled")


def _wrong(store: str, mode: str, before: Phase, during: Phase) -> list[str]:
    wrong = []
    needed = NEEDED[store]
    for pack in during.packs:
        if _has(pack, needed):
            if mode != Mode.FLAPPING:
                wrong.append(f"{pack['message_id']}: {needed} was answered all the same")
        elif not pack["degraded"] or SECTION.get(needed, needed) not in pack["missing_sections"]:
            wrong.append(f"{pack['message_id']}: {needed} is not named in {pack['missing_sections']}")
    if during.late > max(before.late, 0) + GRACE_MS:
        wrong.append(f"a pack was {during.late:.0f} ms late, without the outage {before.late:.0f}")
    if during.calls > 2 * before.calls + PROBES:
        wrong.append(f"{during.calls} calls of the store during the outage, {before.calls} without")
    return wrong


def _has(pack: dict[str, Any], memory: str) -> bool:
    return any(part["memory_class"] == memory and part["status"] in ("ok", "empty") for part in pack["parts"])


async def until(holds: Callable[[], Awaitable[bool]], what: str, seconds: float = PATIENCE_S) -> None:
    """Wait for it; raises `AssertionError` that says what did not come."""
    deadline = time.monotonic() + seconds
    while not await holds():
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.1)


def table(outcomes: Sequence[Outcome]) -> str:
    """A line for each case."""
    lines = [f"{'store':8}{'mode':12}{'calls before, during':>22}{'latest':>12}{'lag':>6}{'took':>8}"]
    for each in outcomes:
        calls = f"{each.calls[0]}, {each.calls[1]}"
        lines.append(
            f"{each.store:8}{each.mode:12}{calls:>22}{each.late:>9.0f} ms{each.lag:>6}{each.took_s:>6.0f} s"
            f"  {'; '.join(each.wrong) or 'ok'}"
        )
    return "\n".join(lines)
