"""A member that neither dies nor comes back ends the run, which says where it is."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos import fleet
from tests.chaos.points import Point


def test_waiting_for_deaths_that_do_not_come_ends_and_names_who_is_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "READY_S", 0.05)
    idle = fleet.Member("hot-1", (), {}, tmp_path / "hot-1.log", point=Point("produce/depth/after"))

    async def spent() -> None:
        all_of_them = fleet.Fleet({}, tmp_path)
        all_of_them.members["hot-1"] = idle
        await all_of_them.spent()

    with pytest.raises(fleet.Stuck, match=r"hot-1 is not ready, dies at produce/depth/after, then at 0 more"):
        asyncio.run(spent())


def test_waiting_goes_on_as_long_as_somebody_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "READY_S", 0.1)
    member = fleet.Member("hot-1", (), {}, tmp_path / "hot-1.log")

    async def spent() -> int:
        all_of_them = fleet.Fleet({}, tmp_path)
        all_of_them.members["hot-1"] = member
        waiting = asyncio.create_task(all_of_them.spent())
        for number in range(4):
            await asyncio.sleep(0.06)
            member.ready_at = number + 1.0
        member.unarmed.set()
        await waiting
        return int(member.ready_at)

    assert asyncio.run(spent()) == 4
