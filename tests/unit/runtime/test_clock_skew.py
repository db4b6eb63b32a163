"""Records from the future are counted, and told once a minute with how far ahead they are."""

import logging
import time

import pytest

from streams.kafka.records import Record
from streams.runtime.admission import clock_skew
from streams.runtime.admission.clock_skew import ClockSkew


def stamped(ahead_s: float, offset: int) -> Record:
    return Record("packs.partial", 3, offset, int((time.time() + ahead_s) * 1000), None, b"{}", ())


def test_records_from_the_future_are_counted_and_told_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fathom.clock")
    counted = clock_skew.FROM_THE_FUTURE.labels("packs.partial")
    before, skew = counted._value.get(), ClockSkew()
    for offset, ahead in enumerate((-3_600, 0, 0.2, 3.2, 3.2, 86_400)):
        skew.look(stamped(ahead, offset))
    assert counted._value.get() - before == 3
    [warning] = caplog.records
    assert warning.getMessage() == "clock.ahead"
    fields = warning.fields  # type: ignore[attr-defined]
    assert (fields["topic"], fields["partition"], fields["offset"]) == ("packs.partial", 3, 3)
    assert fields["seconds"] == pytest.approx(3.2, abs=0.2)
    monkeypatch.setattr(clock_skew, "TOLD_EVERY_S", -1.0)
    skew.look(stamped(3.2, 6))
    assert len(caplog.records) == 2
