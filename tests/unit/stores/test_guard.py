"""Guards of stores, tenants in keys."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis._parsers.base import BaseParser
from redis.exceptions import ConnectionError as RedisConnectionError

from agents.errors import Rejected, Unavailable
from schemas.base import MAX_ID_CHARS, Conversation
from streams.stores import tenant
from streams.stores.guard import CircuitBreaker
from streams.stores.sessions.redis_calls import is_outage

# What `str.isprintable` takes: drawing from all of Unicode and refusing would draw most ids in vain.
PRINTABLE = st.characters(exclude_categories=("C", "Z"), include_characters=" ")
IDS = st.text(PRINTABLE, min_size=1, max_size=30).filter(lambda each: each == each.strip())


class Driver(Exception):
    pass


class Store:
    """Answers, fails or hangs as told, and counts how often it was asked."""

    def __init__(self, answer: str = "ok") -> None:
        self.answer = answer
        self.asked = 0

    async def call(self) -> str:
        self.asked += 1
        match self.answer:
            case "error":
                raise Driver("refused")
            case "hang":
                await asyncio.Event().wait()
            case "bug":
                raise TypeError("ours")
        return self.answer


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def guarded(store: Store, time: Time | None = None) -> Callable[[], Awaitable[str]]:
    guard = CircuitBreaker("index", timeout=0.02, errors=(Driver,), clock=time or Time())
    return lambda: guard.run(store.call)


async def outcome(call: Callable[[], Awaitable[str]]) -> str:
    try:
        return await call()
    except Unavailable as unavailable:
        return str(unavailable)


def outcomes(call: Callable[[], Awaitable[str]], count: int) -> list[str]:
    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(outcome(call) for _ in range(count)))

    return asyncio.run(all_at_once())


def one(call: Callable[[], Awaitable[str]]) -> str:
    return asyncio.run(outcome(call))


def test_an_answer_passes_and_a_failure_names_the_store():
    assert one(guarded(Store("yes"))) == "yes"
    assert one(guarded(Store("error"))) == "index is unavailable: refused"
    assert one(guarded(Store("hang"))) == "index is unavailable: no answer in 0.02 s"


def test_a_bug_is_not_taken_for_an_outage():
    store = Store("bug")
    call = guarded(store)
    for _ in range(2):
        with pytest.raises(TypeError, match="ours"):
            one(call)
    assert store.asked == 2


@pytest.mark.covers("AC-27", "AC-37")
def test_a_dead_store_is_asked_once_a_second_and_costs_the_others_nothing():
    # 100.0 fails --- 100.9 refused --- 101.0 one probe of many --- 101.9 refused --- 102.0 probe answers
    store, time = Store("hang"), Time()
    call = guarded(store, time)
    one(call)
    time.now += 0.9
    assert outcomes(call, 50) == ["index is unavailable: no answer in 0.02 s"] * 50
    assert store.asked == 1
    time.now += 0.1
    outcomes(call, 50)
    assert store.asked == 2
    time.now += 0.9
    outcomes(call, 50)
    assert store.asked == 2
    time.now += 0.1
    store.answer = "back"
    assert outcomes(call, 3) == ["back"] * 3


def test_a_pause_that_is_short_at_first_grows_to_a_second_and_is_short_again_after_an_answer():
    store, time = Store("error"), Time()
    guard = CircuitBreaker("index", timeout=0.02, errors=(Driver,), clock=time, pause=0.05)

    def asked_within(seconds: float) -> int:
        before, steps = store.asked, round(seconds * 100)
        for _ in range(steps):
            outcomes(lambda: guard.run(store.call), 3)
            time.now += 0.01
        return store.asked - before

    assert asked_within(1.0) == 5  # at once, and after .05, .15, .35 and .75 s
    assert asked_within(10.0) == 10
    store.answer = "back"
    assert asked_within(2.0) >= 3 * 100
    store.answer = "error"
    assert asked_within(1.0) == 5


@pytest.mark.covers("AC-37")
def test_what_uvloop_says_of_a_connection_that_ended_is_an_outage_and_no_bug():
    guard = CircuitBreaker("graph", timeout=1, errors=(Driver,), pause=0)

    async def fails(with_: str) -> str:
        raise RuntimeError(with_)

    closed = "unable to perform operation on <TCPTransport closed=True reading=False 0x1>; the handler is closed"
    assert one(lambda: guard.run(lambda: fails(closed))) == "graph is unavailable: the connection is closed"
    with pytest.raises(RuntimeError, match="ours"):
        one(lambda: guard.run(lambda: fails("ours")))


class Narrow(Store):
    """Answers one caller at a time, each within the limit."""

    def __init__(self) -> None:
        super().__init__()
        self._free = asyncio.Lock()

    async def call(self) -> str:
        async with self._free:
            await asyncio.sleep(0.03)
            return await super().call()


def test_a_queue_before_a_store_that_answers_is_no_outage():
    store = Narrow()
    guard = CircuitBreaker("index", timeout=0.2, errors=(Driver,), at_once=1)
    assert outcomes(lambda: guard.run(store.call), 20) == ["ok"] * 20


@pytest.mark.covers("AC-37")
def test_a_queue_before_a_store_that_is_silent_is_refused_by_the_first_silence():
    store = Store("hang")
    guard = CircuitBreaker("index", timeout=0.02, errors=(Driver,), clock=Time(), at_once=2)
    assert outcomes(lambda: guard.run(store.call), 50) == ["index is unavailable: no answer in 0.02 s"] * 50
    assert store.asked == 2


def test_a_callers_own_deadline_is_not_the_stores_fault():
    store = Store("hang")
    guard = CircuitBreaker("index", timeout=10, errors=(Driver,))

    async def story() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(guard.run(store.call), 0.01)

    asyncio.run(story())
    assert guard.state is None


def test_a_guard_tells_what_was_last_wrong():
    store = Store("error")
    guard = CircuitBreaker("index", timeout=1, errors=(Driver,), pause=0)
    with pytest.raises(Unavailable):
        asyncio.run(guard.run(store.call))
    assert guard.state == "refused"
    store.answer = "ok"
    asyncio.run(guard.run(store.call))
    assert guard.state is None


@pytest.mark.covers("AC-27", "AC-37")
def test_no_caller_waits_for_a_store_that_is_known_to_be_silent():
    store, time = Store("hang"), Time()
    guard = CircuitBreaker("index", timeout=0.02, errors=(Driver,), clock=time, probe=store.call)

    async def story() -> None:
        assert await outcome(lambda: guard.run(store.call)) == "index is unavailable: no answer in 0.02 s"
        time.now += 1.0
        refused = asyncio.gather(*(outcome(lambda: guard.run(store.call)) for _ in range(50)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert refused.done()  # in two turns of the loop: none of them waits for anything
        await until(lambda: store.asked == 2)
        time.now += 1.0
        await outcome(lambda: guard.run(store.call))
        assert store.asked == 2  # one probe at a time
        await guard.close()
        store.answer = "back"
        time.now += 1.0
        assert "unavailable" in await outcome(lambda: guard.run(store.call))
        await until(lambda: guard.state is None)
        assert await guard.run(store.call) == "back"

    asyncio.run(story())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110  (what it waits for knows nothing of it)
            await asyncio.sleep(0)


def test_who_asks_how_a_store_is_now_is_told_whatever_was_known():
    store, time = Store("error"), Time()
    guard = CircuitBreaker("index", timeout=1, errors=(Driver,), clock=time)

    async def story() -> None:
        assert "refused" in await outcome(lambda: guard.run(store.call))
        store.answer = "back"
        assert await guard.check(store.call) == "back"
        assert await guard.run(store.call) == "back"

    asyncio.run(story())


def test_an_answer_that_came_while_our_own_loop_stood_still_counts():
    guard = CircuitBreaker("index", timeout=0.01, errors=(Driver,))

    async def story() -> str:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()

        def stand_still() -> None:
            time.sleep(0.15)
            # Two turns of the loop from its socket to whoever waits.
            loop.call_soon(loop.call_soon, answer.set_result, "late")

        loop.call_soon(stand_still)
        return await guard.run(lambda: answer)

    assert asyncio.run(story()) == "late"


def test_redis_answers_that_mean_later_are_told_from_bugs():
    later = ["MISCONF disk", "OOM command not allowed", "READONLY replica", "LOADING", "NOPERM no", "NOAUTH needed"]
    wrong = ["WRONGTYPE Operation against a key", "ERR user_script:3: nil"]
    # As the driver makes them of what comes over the wire: the code of some is no longer in their text.
    assert all(is_outage(BaseParser.parse_error(text)) for text in later)
    assert not any(is_outage(BaseParser.parse_error(text)) for text in wrong)
    assert is_outage(RedisConnectionError("gone"))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(IDS, IDS, IDS, IDS)
def test_no_two_ids_of_any_tenants_share_a_node_a_point_or_a_key(first, second, third, fourth):
    if (first, second) != (third, fourth):
        assert tenant.node_id(first, second) != tenant.node_id(third, fourth)
        assert tenant.point_id(first, second) != tenant.point_id(third, fourth)
    assert tenant.natural_id(tenant.node_id(first, second)) == second


@given(IDS)
def test_a_key_of_a_conversation_has_one_cluster_slot_and_no_way_out_of_it(identity):
    key = tenant.key(Conversation(tenant="acme", client_id=identity, conversation_id=identity))
    assert key.startswith("fathom:{acme|")
    assert (key.count("{"), key.count("}"), key.count("|"), key[-1]) == (1, 1, 2, "}")


@pytest.mark.parametrize("none", ["", " ", "acme ", "a\nb", "a\u202eb", "x" * (MAX_ID_CHARS + 1)])
def test_what_is_no_tenant_is_refused(none):
    for ask in (tenant.checked, tenant.readable, tenant.writable):
        with pytest.raises(Rejected, match="tenant_invalid"):
            ask(none)
    with pytest.raises(Rejected, match="tenant_invalid"):
        tenant.node_id(none, "x")
    with pytest.raises(Rejected, match="tenant_invalid"):
        tenant.point_id(none, "x")


def test_the_public_tenant_is_read_by_all_and_written_by_administrators():
    assert tenant.readable("acme") == ("acme", "_public")
    assert tenant.readable("_public") == ("_public",)
    assert tenant.writable("_public", admin=True) == "_public"
    with pytest.raises(Rejected, match="public_tenant_read_only"):
        tenant.writable("_public")
