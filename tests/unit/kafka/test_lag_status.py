"""Whether a group keeps up: by its offsets over some seconds."""

import pytest

from streams.kafka.lag_status import LagSample, LagStatus, LagWindow, judged, worst


def samples(*positions_and_ends: tuple[int, int], every: float = 5.0) -> list[LagSample]:
    return [LagSample(number * every, position, end) for number, (position, end) in enumerate(positions_and_ends)]


@pytest.mark.parametrize(
    ("found", "members", "status", "why"),
    [
        (((10, 10),), True, "OK", "read to its end"),
        (((10, 10),), False, "OK", "read to its end"),
        (((5, 10), (8, 10), (9, 12)), True, "OK", "3 to read, and they get fewer"),
        (((5, 10), (6, 20), (7, 30)), True, "WARN", "23 to read, 18 more than before"),
        (((5, 10), (5, 20), (5, 30)), True, "WARN", "25 to read, 20 more than before"),
        (((5, 10), (5, 10), (5, 10), (5, 10), (5, 10)), True, "STALL", "5 to read, and for 20 s none of them was"),
        (((5, 10), (5, 10), (5, 10), (5, 10), (6, 10)), True, "OK", "4 to read, and they get fewer"),
        (((10, 10), (10, 12), (10, 14), (10, 15), (10, 16)), True, "OK", "6 to read, a moment ago none"),
        (((5, 10), (5, 10)), False, "STOP", "5 to read, and no member reads them"),
        (((9, 10), (3, 10)), True, "REWIND", "an offset that went back from 9 to 3"),
    ],
)
def test_a_partition_has_the_status_of_its_offsets(found, members: bool, status: str, why: str) -> None:
    told = judged(samples(*found), members=members)
    assert (told.status, told.why) == (status, why)


def test_a_group_is_as_its_worst_partition() -> None:
    well, more = judged(samples((10, 10))), judged(samples((5, 10), (6, 20)))
    back = judged(samples((9, 10), (3, 10)))
    assert worst({"turns[0]": well, "turns[1]": well}).status is LagStatus.OK
    told = worst({"turns[0]": well, "turns[1]": more})
    assert (told.status, told.lag, told.why) == (LagStatus.WARN, 14, "turns[1] has 14 to read, 9 more than before")
    told = worst({"turns[0]": back, "turns[1]": more})
    assert (told.status, told.lag) == (LagStatus.ERROR, 21)
    assert told.why == "REWIND: turns[0] has an offset that went back from 9 to 3"
    assert worst({}).status is LagStatus.OK


def test_a_window_forgets_what_is_old_and_what_is_no_longer_held() -> None:
    window = LagWindow(seconds=10)
    for number in range(10):
        window.add([("turns[0]", LagSample(number * 5.0, 5, 10)), ("turns[1]", LagSample(number * 5.0, number, 10))])
    assert {name: each.status for name, each in window.judged().items()} == {"turns[0]": "OK", "turns[1]": "OK"}
    window.add([("turns[1]", LagSample(50.0, 10, 10))])
    assert [*window.judged()] == ["turns[1]"]
