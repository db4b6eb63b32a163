"""Where a group begins to read a partition, by what it has committed and what the log has."""

import pytest

from streams.faust.watermark import first_to_read


@pytest.mark.parametrize(
    ("committed", "first", "end", "begins"),
    [
        pytest.param(None, 10, 990, 10, id="no commit"),
        pytest.param(500, 10, 990, 500, id="in the log"),
        pytest.param(990, 10, 990, 990, id="at the end"),
        pytest.param(1_000, 10, 990, 990, id="beyond the end: all that is there was done"),
        pytest.param(5, 10, 990, 10, id="before the first: removed by retention"),
        pytest.param(3, 0, 0, 0, id="an empty log"),
    ],
)
def test_reading_begins_within_the_log_and_repeats_nothing_that_was_done(
    committed: int | None, first: int, end: int, begins: int
) -> None:
    assert first_to_read(committed, first, end) == begins
