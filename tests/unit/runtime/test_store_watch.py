"""What readiness says of what a process stands on: at once what is wrong, and not ready when it lasts."""

import asyncio
from collections.abc import Sequence

import pytest

from agents.errors import Unavailable
from streams.runtime.health import LOOP_STALL_S, GroupState, Health, ProcessState
from streams.runtime.store_watch import AWAY_S, EVERY_S, StoreWatch
from streams.telemetry.metrics import REGISTRY

READING: dict[str, GroupState] = {"depth": {"healthy": True, "partitions": 2}}


class Server:
    """A store that answers, or has what is wrong with it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.wrong: Exception | None = None
        self.watch = StoreWatch({"graph": self.check}, clock=lambda: self.now)

    async def check(self) -> str | None:
        if self.wrong is not None:
            raise self.wrong
        return None

    def asked(self, *wrong: Exception | None, after: float = EVERY_S) -> list[dict[str, str]]:
        """What was away after each of these answers, so many seconds apart."""
        return asyncio.run(self._asked(wrong, after))

    async def _asked(self, wrong: Sequence[Exception | None], after: float) -> list[dict[str, str]]:
        found = []
        for self.wrong in wrong:
            self.now += after
            await self.watch.ask("graph")
            found.append(self.watch.away())
        return found


AWAY = Unavailable("graph", "no answer in 5 s")


def test_a_store_is_away_when_it_has_not_answered_for_some_time_and_back_with_its_first_answer():
    server = Server()
    told = {"graph": "graph is unavailable: no answer in 5 s"}
    assert server.asked(None, AWAY, AWAY, AWAY, AWAY, None) == [{}, {}, {}, {}, told, {}]


def test_a_store_that_misses_every_other_check_is_told_but_not_away():
    server = Server()
    assert server.asked(*(None, AWAY) * 5) == [{}] * 10
    assert server.watch.states() == {"graph": "graph is unavailable: no answer in 5 s"}


def test_a_store_that_was_never_there_is_away_at_once():
    assert Server().asked(AWAY) == [{"graph": "graph is unavailable: no answer in 5 s"}]


def test_a_bug_in_a_check_is_no_answer_and_does_not_end_the_watch():
    server = Server()
    assert server.asked(ValueError("odd"), None) == [{"graph": "graph is unavailable: ValueError('odd')"}, {}]


def test_the_metric_has_every_store_and_changes_with_the_first_check():
    server = Server()
    up = []
    for wrong in (None, AWAY, None):
        server.asked(wrong)
        up.append(REGISTRY.get_sample_value("fathom_store_up", {"store": "graph"}))
    assert up == [1, 0, 1]


def test_while_nobody_asks_nothing_is_away():
    """As after a stall of the loop: no news is not bad news."""
    server = Server()
    server.asked(None)
    server.now += 10 * AWAY_S
    assert server.watch.away() == {}


def ready(**known: object) -> tuple[int, object]:
    state: ProcessState = {"groups": READING, **known}  # type: ignore[typeddict-item]
    health = Health(lambda: state)
    health.started = True
    status, said = health.ready()
    assert health.live()[0] == 200
    assert "away" not in said
    return status, said["why"]


def test_readiness_says_why_it_is_not_and_liveness_knows_only_the_loop():
    assert ready() == (200, [])
    assert ready(groups={"depth": {"healthy": False, "partitions": 2}}) == (503, ["group depth does not read"])
    assert ready(away=["graph is unavailable"]) == (503, ["graph is unavailable"])
    assert ready(disk="the disk of .fathom is full") == (503, ["the disk of .fathom is full"])


@pytest.mark.covers("B18")
def test_a_loop_that_stands_is_neither_alive_nor_ready():
    health = Health(lambda: {"groups": READING})
    health.started = True
    health._beat -= LOOP_STALL_S
    assert health.live()[0] == 503
    status, said = health.ready()
    assert (status, said["why"]) == (503, ["the event loop has not moved for 10 s"])


def test_before_the_start_and_at_the_end_it_is_not_ready_and_says_so():
    health = Health(lambda: {"groups": {}})
    assert health.ready()[1]["why"] == ["the process is starting"]
    health.started = health.stopping = True
    assert health.ready()[1]["why"] == ["the process is ending"]
