"""Guards of stores, tenants in keys, fusion of ranks."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ResponseError

from agents.errors import Rejected, Unavailable
from schemas.base import MAX_ID_CHARS, Conversation
from streams.stores import tenant
from streams.stores.fusion import fuse
from streams.stores.guard import Guard
from streams.stores.redis_working_sets import is_outage

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
    guard = Guard("index", timeout=0.02, errors=(Driver,), clock=time or Time())
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


def test_a_callers_own_deadline_is_not_the_stores_fault():
    store = Store("hang")
    guard = Guard("index", timeout=10, errors=(Driver,))

    async def story() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(guard.run(store.call), 0.01)

    asyncio.run(story())
    assert guard.state is None


def test_a_guard_tells_what_was_last_wrong():
    store = Store("error")
    guard = Guard("index", timeout=1, errors=(Driver,), pause=0)
    with pytest.raises(Unavailable):
        asyncio.run(guard.run(store.call))
    assert guard.state == "refused"
    store.answer = "ok"
    asyncio.run(guard.run(store.call))
    assert guard.state is None


def test_redis_answers_that_mean_later_are_told_from_bugs():
    later = [RedisConnectionError("gone"), OutOfMemoryError("OOM command not allowed"), ResponseError("MISCONF disk")]
    wrong = [ResponseError("WRONGTYPE Operation against a key"), ResponseError("ERR user_script:3: nil")]
    assert [is_outage(error) for error in (*later, *wrong)] == [True, True, True, False, False]


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


def test_a_candidate_of_both_lists_beats_the_first_of_one():
    fused = fuse({"dense": [("a", 0.9), ("b", 0.8)], "bm25": [("c", 7.0), ("b", 3.0)]}, 3)
    assert [key for key, _, _ in fused] == ["b", "a", "c"]
    assert fused[0][1] == pytest.approx(2 / 62)
    assert fused[0][2] == {"dense": 0.8, "bm25": 3.0, "rrf": fused[0][1]}
    assert fused[1][2] == {"dense": 0.9, "rrf": pytest.approx(1 / 61)}
    assert fuse({"dense": [("a", 0.9), ("b", 0.8)]}, 1) == [("a", pytest.approx(1 / 61), {"dense": 0.9, "rrf": 1 / 61})]
