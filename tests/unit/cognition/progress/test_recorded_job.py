"""The recorded job of the documents is what the stages make."""

import sys

import pytest

from tests.builders import progress_job
from tests.unit.core.progress.test_reduction import RECORDED, rounded


@pytest.mark.covers("S2-92", "S2-142", "S2-143")
def test_the_recorded_job_is_what_the_stages_make() -> None:
    made = progress_job.as_json(progress_job.recorded())
    # To the last digit on the version that recorded it.
    assert made == RECORDED if sys.version_info < (3, 12) else rounded(made) == rounded(RECORDED)
