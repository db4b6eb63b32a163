"""A worker waits for the layout of a cluster that cannot say it yet, and takes no half answer for one."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import GroupAuthorizationFailedError, GroupLoadInProgressError
from aiokafka.protocol.commit import OffsetFetchRequest

from agents.errors import Unavailable
from streams import config
from streams.config import ConfigError
from streams.kafka.aiokafka_private import asks
from streams.kafka.security import PLAINTEXT
from streams.runtime.layout import at_start, cluster
from streams.topology import stages_of

LOADS, UNASKED = 14, 0


def admin(code: int) -> Any:
    """A client whose broker answers with no offsets, and with this error."""

    async def stock(self: Any, request: Any, node_id: int | None = None) -> Any:
        return SimpleNamespace(error_code=code, topics=())

    ask = asks(stock)

    async def listed(group: str) -> dict[Any, Any]:
        assert not (await ask(None, OffsetFetchRequest(group, None))).topics
        return {}

    return SimpleNamespace(list_consumer_group_offsets=listed)


def test_a_coordinator_that_still_loads_is_not_taken_for_a_group_that_has_committed_nothing():
    with pytest.raises(GroupLoadInProgressError):
        asyncio.run(cluster.layout_by(admin(LOADS)))
    assert asyncio.run(cluster.layout_by(admin(UNASKED))) == "chained"


def test_who_may_not_see_the_layout_is_told_which_right_is_missing():
    with pytest.raises(ConfigError, match=r"Describe on the group fathom\.assembler and the topic packs\.partial"):
        asyncio.run(cluster.layout_by(admin(GroupAuthorizationFailedError.errno)))


def test_a_worker_waits_until_the_cluster_can_say_its_layout(monkeypatch: pytest.MonkeyPatch):
    answers: list[Exception | None] = [
        Unavailable("broker", "no coordinator"),
        Unavailable("broker", "loads"),
        None,
    ]

    async def check(*asked: object) -> None:
        assert asked == ("k:9092", PLAINTEXT, "split")
        if (error := answers.pop(0)) is not None:
            raise error

    monkeypatch.setattr(cluster, "check", check)
    monkeypatch.setattr(at_start, "RETRY_S", 0.0)
    settings = config.load({"FATHOM_BROKER": "k:9092", "FATHOM_LAYOUT": "split"})
    asyncio.run(at_start.settle(settings, stages_of(["depth"]), "k:9092", None))
    assert answers == []


def test_a_worker_of_another_layout_does_not_wait(monkeypatch: pytest.MonkeyPatch):
    async def check(*_: object) -> None:
        raise ConfigError("another layout")

    monkeypatch.setattr(cluster, "check", check)
    settings = config.load({"FATHOM_BROKER": "k:9092"})
    with pytest.raises(ConfigError, match="another layout"):
        asyncio.run(at_start.settle(settings, stages_of(["depth"]), "k:9092", None))
