"""Questions over HTTP that could not be answered while their callers wait are refused before they are sent."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from agents.core.caching.budget import CacheShare
from schemas.base import Conversation
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, MESSAGES_IN
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import SentRecord
from streams.edges.http.load_shedding import MOST_WAITING, LoadShedding
from streams.edges.http.pending_replies import ExpectedReply, PendingReplies, TooMany
from streams.edges.http.problems import Problem
from streams.edges.http.request_reply import Exchange, NotReachable
from streams.telemetry import metrics
from tests.builders.http_server import QUESTION, Echo, served
from tests.unit.edges.http.test_ask import answers, detail


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def key_of(tenant: str = "acme", number: int = 0) -> bytes:
    return Conversation(tenant=tenant, client_id="web", conversation_id=f"c{number}").key().encode()


def turn_of(message_id: str) -> bytes:
    return json.dumps({"message_id": message_id, "content": "Qual o prazo?"}).encode()


class Callers:
    """Questions of tenants, and their turns, in the order in which they were sent."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.shedding = LoadShedding(self.clock)
        self.waiting: dict[str, list[str]] = {}
        self._number = 0

    def send(self, count: int, tenant: str = "acme") -> None:
        for _ in range(count):
            self._number += 1
            self.waiting.setdefault(tenant, []).append(f"m{self._number}")
            self.shedding.sent(key_of(tenant), f"m{self._number}")

    def turns(self, count: int, tenant: str = "acme") -> None:
        for _ in range(count):
            self.shedding.turn(key_of(tenant), turn_of(self.waiting[tenant].pop(0)))

    def run(self, seconds: float, sent: int, turns: int) -> None:
        """So many questions and turns a second."""
        for _ in range(int(seconds * 10)):
            self.clock.now += 0.1
            self.send(sent // 10)
            self.turns(min(turns // 10, len(self.waiting["acme"])))

    def refusal(self, seconds: float = 10.0, tenant: str = "acme") -> Problem | None:
        try:
            self.shedding.check(tenant, seconds)
        except Problem as problem:
            return problem
        return None


@pytest.fixture
def callers() -> Callers:
    return Callers()


@pytest.mark.covers("B16")
def test_who_would_wait_in_vain_is_refused_and_told_when_to_ask_again(callers: Callers):
    counted = metrics.CALLS_REFUSED.labels("503")._value
    before = counted.get()
    callers.run(1.0, sent=400, turns=40)
    problem = callers.refusal()
    assert problem is not None
    assert counted.get() == before + 1
    # 360 wait, of which 40 have their turns in a second.
    assert (problem.status_code, problem.headers) == (503, {"retry-after": "9"})
    assert problem.detail == (
        "too many questions wait: one more would not be answered within 10 s, and is not taken; ask again in 9 s"
    )


def test_who_waits_for_longer_and_who_has_no_part_in_it_are_taken(callers: Callers):
    callers.send(1, "quiet")
    callers.run(1.0, sent=400, turns=40)
    assert callers.refusal(30.0) is None
    assert callers.refusal(tenant="quiet") is None
    assert callers.refusal(tenant="nobody asked") is None


def test_as_many_are_taken_as_are_answered_in_time(callers: Callers):
    callers.send(1)
    taken = 0
    for _ in range(200):
        callers.clock.now += 0.1
        for _ in range(40):
            if callers.refusal() is None:
                callers.send(1)
                taken += 1
        callers.turns(4)
    # 40 a second for 20 s have their turns, and those of the next 3.3 wait for theirs.
    assert 900 <= taken <= 970
    assert len(callers.waiting["acme"]) <= 150


def test_a_burst_that_is_over_soon_and_an_even_load_are_no_overload(callers: Callers):
    callers.send(400)
    callers.clock.now += 0.5
    assert callers.refusal() is None
    callers.turns(400)
    callers.run(30.0, sent=40, turns=40)
    callers.clock.now += 1.0
    assert callers.refusal() is None


def test_a_burst_is_none_while_the_first_has_waited_for_half_a_second(callers: Callers):
    callers.send(100)
    callers.clock.now += 0.3
    callers.turns(2)
    assert callers.refusal() is None
    callers.clock.now += 0.3
    assert callers.refusal() is not None


def test_who_asks_seldom_and_waits_a_little_is_taken(callers: Callers):
    for second in range(30):
        callers.clock.now += 1.0
        assert callers.refusal() is None
        callers.send(1)
        if second >= 2:
            callers.turns(1)


def test_how_many_turns_came_before_a_pause_says_nothing_after_it(callers: Callers):
    callers.run(10.0, sent=40, turns=40)
    callers.clock.now += 60.0
    callers.send(30)
    callers.clock.now += 0.6
    callers.turns(10)
    callers.send(10)
    assert callers.refusal() is None


def test_where_turns_stop_coming_the_last_ones_say_how_long(callers: Callers):
    callers.run(1.0, sent=100, turns=80)
    callers.clock.now += 5.0
    callers.send(1)
    callers.clock.now += 2.5
    assert callers.refusal() is not None


def test_what_is_known_of_a_tenant_is_bounded(callers: Callers):
    callers.send(MOST_WAITING + 10)
    [backlog] = callers.shedding._backlogs.values()
    assert len(backlog.sent) == MOST_WAITING


def test_a_pause_of_what_gives_turns_is_no_overload_until_it_is_long(callers: Callers):
    callers.run(10.0, sent=40, turns=40)
    callers.send(4)
    callers.run(1.0, sent=40, turns=0)
    assert callers.refusal() is None
    callers.run(5.0, sent=40, turns=0)
    assert callers.refusal() is not None


def test_once_all_have_their_turns_everybody_is_taken(callers: Callers):
    callers.run(2.0, sent=400, turns=40)
    assert callers.refusal() is not None
    callers.turns(len(callers.waiting["acme"]))
    assert callers.refusal() is None


def test_where_nothing_comes_one_question_at_a_time_finds_out_whether_it_does_again(callers: Callers):
    for _ in range(10):
        callers.clock.now += 1.0
        callers.send(1)
    assert callers.refusal() is not None
    callers.clock.now += 5.0
    assert callers.refusal() is None
    callers.send(1)
    callers.clock.now += 0.1
    assert callers.refusal() is not None


def test_a_repeat_whose_turn_never_comes_is_forgotten(callers: Callers):
    callers.shedding.sent(key_of(), "a repeat")
    callers.clock.now += 31.0
    callers.send(1)
    callers.turns(1)
    callers.send(2)
    callers.clock.now += 1.0
    assert callers.refusal() is None


def test_what_was_not_taken_does_not_wait(callers: Callers):
    callers.shedding.sent(key_of(), "refused")
    callers.clock.now += 8.0
    callers.send(1)
    assert callers.refusal() is not None
    callers.shedding.not_sent(key_of(), "refused")
    assert callers.refusal() is None


def test_turns_of_others_and_of_other_writers_are_passed_over(callers: Callers):
    callers.run(1.0, sent=400, turns=40)
    for value in (b"no JSON", b"[]", turn_of("of somebody else")):
        callers.shedding.turn(key_of(), value)
    callers.shedding.turn(key_of("nobody asked"), b"no JSON")
    assert callers.refusal() is not None


# --- at the exchange --------------------------------------------------------------------------------------------------


def record_of(message_id: str) -> OutgoingRecord:
    return OutgoingRecord(MESSAGES_IN.name, key_of(), b"{}", [("ce_id", message_id.encode())], message_id)


def pack_of(message_id: str) -> ExpectedReply:
    return ExpectedReply(CONTEXT_PACKS.name, key_of(), message_id)


class Connected:
    """An exchange whose broker takes what it is given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self.sent: list[str] = []
        self.down = False
        self.exchange = Exchange(
            lambda: "", PendingReplies(100, CacheShare(1_000_000)), shedding=LoadShedding(self.clock)
        )

        async def deliver(_: object, prepared: OutgoingRecord) -> SentRecord:
            if self.down:
                raise NotReachable("down")
            self.sent.append(prepared.name)
            return SentRecord(prepared.topic, 0, len(self.sent), prepared.name)

        monkeypatch.setattr("streams.edges.http.request_reply.deliver", deliver)
        self.exchange._session = SimpleNamespace(producer=None, broken=False)  # type: ignore[assignment]

    async def overloaded(self) -> None:
        """Questions that wait for two minutes in vain, of callers that are gone."""
        for number in range(120):
            self.clock.now += 1.0
            await self.asked(f"m{number}", 1e9)

    async def asked(self, message_id: str, within: float | None = 10.0) -> None:
        _, answer = await self.exchange.ask(record_of(message_id), pack_of(message_id), within)
        answer.cancel()

    def came(self, topic: str, value: bytes, headers: tuple[tuple[str, bytes], ...] = ()) -> None:
        self.exchange._came(SimpleNamespace(topic=topic, key=key_of(), value=value, headers=headers))


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> Connected:
    return Connected(monkeypatch)


def test_a_refused_question_is_not_sent_and_one_that_is_sent_is_waited_for(connected: Connected):
    async def story() -> None:
        await connected.overloaded()
        with pytest.raises(Problem):
            await connected.asked("new")
        await connected.asked("m7")
        await connected.asked("for its turn", None)
        await asyncio.sleep(0)
        assert connected.exchange.waiting == 0

    asyncio.run(story())
    assert connected.sent == [*(f"m{number}" for number in range(120)), "for its turn"]


def test_an_answer_that_is_there_is_given_in_an_overload(connected: Connected):
    async def story() -> bytes:
        await connected.overloaded()
        pack = json.dumps({"message_id": "old", "revision": 1}).encode()
        connected.came(CONTEXT_PACKS.name, pack)
        _, answer = await connected.exchange.ask(record_of("old"), pack_of("old"), 10.0)
        return await answer

    assert b'"old"' in asyncio.run(story())
    assert "old" not in connected.sent


LETTER = (("ce_id", b"m0"), ("fathom_reason", b"empty_content"))


@pytest.mark.parametrize("how", ["a turn", "a dead letter"])
def test_what_the_first_stage_has_done_with_waits_no_longer(connected: Connected, how: str):
    async def story() -> None:
        await connected.asked("m0")
        connected.clock.now += 6.0
        await connected.asked("m1")
        with pytest.raises(Problem):
            await connected.asked("m2")
        if how == "a turn":
            connected.came(CONVERSATION_TURNS.name, turn_of("m0"))
        else:
            connected.came("dead-letters.depth", b"{}", LETTER)
        await connected.asked("m2")

    asyncio.run(story())


def test_a_broker_that_is_away_is_no_overload(connected: Connected):
    async def story() -> None:
        connected.down = True
        for number in range(20):
            connected.clock.now += 1.0
            with pytest.raises(NotReachable):
                await connected.asked(f"m{number}")

    asyncio.run(story())


# --- over HTTP --------------------------------------------------------------------------------------------------------

MESSAGE = {"role": "user", "content": "Qual o prazo?", "conversation_id": "c1", "client_id": "web"}


def overloaded(age: float = 20.0) -> Echo:
    """The exchange of a server at which a question has waited for so many seconds, and another was sent just now."""
    exchange = Echo(answers)
    exchange.shedding = LoadShedding(clock := Clock())
    exchange.shedding.sent(key_of(), "m1")
    clock.now += age
    exchange.shedding.sent(key_of(), "m2")
    return exchange


def answered(
    tmp_path: Path, exchange: Echo, path: str, body: Any, headers: dict[str, str] | None = None
) -> httpx.Response:
    async def story(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(path, json=body, headers=headers)

    return served(tmp_path, exchange, story)


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/ask", QUESTION, {}),
        ("/ask?wait=answer", QUESTION, {}),
        ("/ask?deep=true", QUESTION, {}),
        ("/ask", QUESTION, {"idempotency-key": "k"}),
        ("/messages?wait=pack", MESSAGE, {}),
        ("/messages?deep=true", MESSAGE, {"idempotency-key": "k"}),
    ],
)
def test_in_an_overload_a_question_is_refused_before_it_is_sent(
    tmp_path: Path, path: str, body: Any, headers: dict[str, str]
):
    exchange = overloaded()
    response = answered(tmp_path, exchange, path, body, headers)
    assert "too many questions wait" in detail(response, 503)
    assert response.headers["retry-after"] == "10"
    assert (exchange.asked, exchange.sent) == ([], [])


def test_without_an_idempotency_key_a_question_is_refused_before_it_is_read(tmp_path: Path):
    assert detail(answered(tmp_path, overloaded(), "/ask", "no question"), 503)
    assert detail(answered(tmp_path, overloaded(), "/ask", "no question", {"idempotency-key": "k"}), 422)


@pytest.mark.parametrize(
    ("path", "body", "status"), [("/messages", MESSAGE, 202), ("/assess", {"query": "Qual o prazo?"}, 200)]
)
def test_what_nobody_waits_for_is_taken_in_an_overload(tmp_path: Path, path: str, body: Any, status: int):
    assert answered(tmp_path, overloaded(), path, body).status_code == status


@pytest.mark.parametrize(
    ("path", "prefer", "status"),
    [("/messages?wait=pack", "", 503), ("/messages?deep=true", "", 429), ("/messages?deep=true", "wait=12", 503)],
)
def test_who_waits_for_longer_is_refused_later(tmp_path: Path, path: str, prefer: str, status: int):
    exchange = overloaded(5.0)
    exchange.reply = lambda _, __: TooMany()  # asked
    assert answered(tmp_path, exchange, path, MESSAGE, {"prefer": prefer}).status_code == status


def test_no_other_call_of_the_path_is_refused(tmp_path: Path):
    async def story(client: httpx.AsyncClient) -> httpx.Response:
        return await client.get("/ask")

    assert served(tmp_path, overloaded(), story).status_code == 405
