"""Requirement ids stand in tests, which are marked with them; whoever reads the product cannot look them up."""

import io
import re
import tokenize
from pathlib import Path

from tests.unit.house import tree

REQUIREMENT = re.compile(r"\b(?:S\d-[A-Z]?\d+|CF-\d+|AC-\d+|CD-\d+|REQ-[A-Z\d]+)\b")


def named(path: Path) -> list[str]:
    """The ids in the comments and docstrings of a file."""
    source = path.read_text()
    # Most files have none anywhere, and are not taken apart.
    if not REQUIREMENT.search(source):
        return []
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    texts = (t.string for t in tokens if t.type == tokenize.COMMENT or t.string.startswith(('"""', 'r"""')))
    return [f"{path.name}: {found}" for text in texts for found in REQUIREMENT.findall(text)]


def test_no_requirement_is_named_in_the_product() -> None:
    assert len(tree.sources()) > 300
    assert [found for path in tree.sources() for found in named(path)] == []


def test_a_requirement_that_is_named_is_found(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text('"""Said (S0-18)."""\nX = "REQ-CDC-013"  # as CF-77 says\n')
    assert named(source) == ["a.py: S0-18", "a.py: CF-77"]
