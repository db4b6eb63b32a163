"""The table of stages and how they are built: one builder for each row, and none beside."""

from streams.builders import BUILDERS
from streams.topology import NAMED


def test_every_stage_has_a_builder_and_every_builder_a_stage():
    assert BUILDERS.keys() == NAMED.keys()
