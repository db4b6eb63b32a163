"""What follows the log of quarantines goes on through every refusal of a broker once it has read the log."""

import asyncio

import pytest

from agents.core.quarantine.sources import Quarantines
from streams.kafka.broker_diagnosis import BrokerRejected
from streams.views import quarantines
from streams.views.quarantines import QuarantineFollower


@pytest.mark.parametrize("refused", [1, 3])
def test_a_login_that_is_refused_during_a_rotation_does_not_end_it(
    monkeypatch: pytest.MonkeyPatch, refused: int
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(quarantines, "RETRY_S", 0.0)

    async def story() -> bool:
        again = asyncio.Event()

        async def follow(self: QuarantineFollower) -> None:
            calls.append(1)
            if len(calls) == 1:
                self._read.set()
                await asyncio.sleep(0)
            if len(calls) > 1 + refused:
                again.set()
                await asyncio.Event().wait()
            raise BrokerRejected("the broker refuses the login")

        monkeypatch.setattr(QuarantineFollower, "_follow", follow)
        following = await QuarantineFollower(Quarantines(), "localhost:1").start()
        await asyncio.wait_for(again.wait(), 10)
        going_on = not following.done()
        following.cancel()
        return going_on

    assert asyncio.run(story())


def test_one_that_may_never_read_the_log_stops_the_start() -> None:
    async def story() -> None:
        class Refused(QuarantineFollower):
            async def _follow(self) -> None:
                raise BrokerRejected("the broker refuses the login")

        await Refused(Quarantines(), "localhost:1").start()

    with pytest.raises(BrokerRejected):
        asyncio.run(story())
