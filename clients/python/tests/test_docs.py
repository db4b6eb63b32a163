"""The snippets of the page on clients, run as they are, one after the other, in a folder where `fathom up` runs."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from agents import Agent
from test_adapters import Parrot

from fathom_client import Fathom

ROOT = Path(__file__).parents[3]
PAGE, README = ROOT / "docs" / "clients.md", ROOT / "clients" / "python" / "README.md"


def snippets(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [PAGE, README], ids=["page", "readme"])
def test_the_first_example_has_six_lines_at_most(page: Path) -> None:
    assert len(snippets(page)[0].splitlines()) <= 6


def test_the_snippets_run_and_give_what_the_page_says(
    data: Path, clean: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".fathom").symlink_to(data)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "topics.md").write_text("# Topics\n\nMessages go to the topic messages.in.\n")
    said: dict[str, Any] = {}
    first, *others = snippets(PAGE)
    exec(first, said)
    assert "messages.in" in capsys.readouterr().out
    for snippet in others:
        exec(snippet, said)
    assert any("messages.in" in one.page_content for one in said["found"])
    assert any("messages.in" in node.text for node in said["nodes"])
    assert [turn.content for turn in said["fathom"].conversation("c2", until=said["history"]._newest).turns] == [
        "To which topic do messages go?",
        "To the topic messages.in.",
    ]
    said["fathom"].close()
    model = Parrot()
    assert asyncio.run(said["answer"](Agent("a", model=model), "To which topic do messages go?")) == "Answer 1."
    assert "messages.in" in model.given[0][0]["content"]


def test_the_page_names_every_call_and_no_other() -> None:
    rows = "\n".join(line for line in PAGE.read_text().splitlines() if line.startswith("| `"))
    named = set(re.findall(r"`(\w+)\(", rows))
    assert named == {name for name in vars(Fathom) if name[0] != "_"}
