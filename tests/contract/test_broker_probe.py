"""The probe of a broker: an answer is an answer, also a slow one; silence and refusal are told apart in words."""

import asyncio
from collections.abc import Sequence

import pytest

from agents.errors import Unavailable
from streams.kafka import broker_probe
from streams.kafka.broker_probe import BrokerProbe
from tests.servers import fault_proxy as proxy
from tests.servers.fault_proxy import FaultProxy, Mode


def told(bootstrap: str, modes: Sequence[Mode], also: Sequence[str] = ()) -> tuple[list[str], int]:
    """What the probe said in each of these modes, and how many connections it took for all."""

    async def scenario() -> tuple[list[str], int]:
        said = []
        async with FaultProxy(int(bootstrap.rpartition(":")[2])) as way:
            probe = BrokerProbe(lambda: ",".join([f"127.0.0.1:{way.port}", *also]))
            for mode in modes:
                await way.be(mode)
                try:
                    await probe.ask()
                    said.append("answers")
                except Unavailable as unavailable:
                    said.append(unavailable.detail.partition(": ")[2])
            probe.close()
            return said, way.connections

    return asyncio.run(scenario())


def test_one_connection_is_enough_for_many_questions(bootstrap: str):
    assert told(bootstrap, [Mode.OPEN] * 5) == (["answers"] * 5, 1)


def test_a_broker_that_answers_after_three_seconds_answers(bootstrap: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(proxy, "SLOW_S", 3.0)
    # From the first connection on, and on one that was there before.
    assert told(bootstrap, [Mode.SLOW])[0] == ["answers"]
    assert told(bootstrap, [Mode.OPEN, Mode.SLOW])[0] == ["answers"] * 2


def test_a_broker_that_does_not_answer_is_away_until_it_does(bootstrap: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(broker_probe, "KEPT_S", 0.5)
    monkeypatch.setattr(broker_probe, "NEW_S", 1.0)
    modes = [Mode.OPEN, Mode.HUNG, Mode.HUNG, Mode.OPEN, Mode.REFUSED, Mode.OPEN, Mode.RESET, Mode.OPEN]
    said, _ = told(bootstrap, modes)
    assert [each if each == "answers" else "away" for each in said] == [
        "answers", "away", "away", "answers", "away", "answers", "away", "answers",
    ]  # fmt: skip
    assert said[1] == "no answer in 1 s"
    assert "Connect call failed" in said[4]


def test_one_broker_of_several_is_enough(bootstrap: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(broker_probe, "KEPT_S", 0.5)
    assert told(bootstrap, [Mode.HUNG, Mode.OPEN, Mode.HUNG], also=[bootstrap])[0] == ["answers"] * 3
