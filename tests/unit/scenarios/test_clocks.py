"""Clocks that are wrong: a step back of ours, and records from the future, empty no pack but those of that moment."""

from datetime import timedelta

import pytest

from schemas.topics import PACKS_PARTIAL
from streams.testing.pipeline import Pipeline


@pytest.mark.parametrize("ahead", [timedelta(seconds=5), timedelta(hours=1), timedelta(days=5_000)])
def test_a_step_back_of_the_clock_leaves_later_packs_whole(ahead: timedelta) -> None:
    with Pipeline(partitions=1) as fathom:
        fathom.document("d1", "Farol", "O prazo do projeto Farol é 15 de maio.")
        fathom.clock.at += ahead
        assert not fathom.ask("Qual é o prazo do projeto Farol?", conversation="c1").degraded
        fathom.clock.at -= ahead
        fathom.wait(2.0)
        for number in range(3):
            fathom.clock.advance(0.1)
            pack = fathom.ask("Qual é o prazo do projeto Farol?", conversation=f"d{number}")
            assert not pack.degraded
            assert "15 de maio" in (pack.text or "")


@pytest.mark.parametrize("ahead", [timedelta(seconds=3), timedelta(hours=1), timedelta(days=5_000)])
def test_records_of_a_host_whose_clock_is_ahead_cost_no_pack_its_parts(ahead: timedelta) -> None:
    with Pipeline(partitions=1) as fathom:
        fathom.ask("Bom dia!", conversation="c1")
        part = fathom.log.of(PACKS_PARTIAL.name)[-1]
        for number in range(3):
            fathom.clock.at += ahead
            fathom.log.append(PACKS_PARTIAL.name, part.key, part.value, part.headers)
            fathom.clock.at -= ahead
            assert not fathom.ask("Bom dia!", conversation=f"d{number}").degraded


def test_no_more_ticks_than_one_a_second_set_the_time_back() -> None:
    with Pipeline(partitions=1) as fathom:
        fathom.clock.at += timedelta(hours=1)
        fathom.ask("Bom dia!", conversation="c1")
        fathom.clock.at -= timedelta(hours=1)
        before = len(fathom.log.of(PACKS_PARTIAL.name))
        for _ in range(20):
            fathom.wait(0.1)
        assert len(fathom.log.of(PACKS_PARTIAL.name)) - before <= 2
