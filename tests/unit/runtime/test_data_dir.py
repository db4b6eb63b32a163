"""A data directory and its disk."""

from pathlib import Path

from streams.runtime import data_dir


def test_a_directory_that_is_not_there_is_not_full(tmp_path: Path):
    assert data_dir.full(tmp_path / "none", least=2**62) is None
    assert str(data_dir.full(tmp_path, least=2**62)).startswith(f"the disk of {tmp_path} is full")
