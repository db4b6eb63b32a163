"""What a reader of the pages types exists: commands with their options, tools of the agent, pages that are linked."""

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from streams.edges.mcp.toolbox import TOOLS
from tests.builders.commands import commands as all_commands
from tests.checkout import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
# Typer names only this one of its family.
UsageError: Any = typer.BadParameter.__base__
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FATHOM = ".venv/bin/fathom "
COMMANDS = cache(all_commands)
LINK = re.compile(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)")


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands(page: Path) -> list[str]:
    lines = [line for text in blocks(page, "sh") for line in text.replace("\\\n", " ").splitlines()]
    # Settings may stand before a command, and after it what is done where it fails.
    lines = [re.sub(r"^(?:[A-Z_]+=\S+ )+", "", line).partition(" || ")[0] for line in lines]
    return [line.removeprefix(FATHOM) for line in lines if line.startswith(FATHOM)]


def parse(words: list[str]) -> None:
    """Raises `UsageError` for a command that does not exist or takes no such argument."""
    command: Any = COMMANDS()
    while isinstance(found := getattr(command, "commands", command), dict):
        if words[0].startswith("-"):
            break  # options of the group itself
        name, *words = words
        if name not in found:
            raise UsageError(f"no command {name}")
        command = found[name]
    command.make_context(command.name, words)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_every_command_of_a_page_can_be_typed_as_it_is(page: Path):
    for line in commands(page):
        parse(shlex.split(line, comments=True))


@pytest.mark.parametrize("line", ["tool cal x", "tool call", "tool call x --sesion s", "tool confirm"])
def test_a_command_that_does_not_exist_is_noticed(line: str):
    with pytest.raises(UsageError):
        parse(shlex.split(line))


def test_the_agent_of_the_tutorial_is_python_and_calls_tools_that_exist():
    agent, over_http = blocks(ROOT / "docs" / "tutorial-mcp.md", "python")
    compile(agent, "agent.py", "exec")
    compile(over_http, "http_agent.py", "exec")
    called = set(re.findall(r'call\("(\w+)"', agent))
    assert called == {"assess_context_needs", "search_context", "explain_pack", "resolve_tool_call"}
    assert called <= {tool.name for tool in TOOLS}


@pytest.mark.parametrize("snippet", blocks(ROOT / "docs" / "testing.md", "python"), ids=lambda text: str(len(text)))
def test_the_snippets_on_testing_run_as_they_are(snippet: str):
    """Their own assertions are the test."""
    assert "assert " in snippet or "@pytest.fixture" in snippet
    exec(compile(snippet, "testing.md", "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_linked_page_exists(page: Path):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).is_file(), target


SHOWN = re.compile(r"`((?:tests|clients|bench)/[^`:]+)(?:::(\w+))?`")


def test_what_shows_an_expectation_is_there():
    shown = SHOWN.findall((ROOT / "docs" / "expectations.md").read_text(encoding="utf-8"))
    assert len(shown) > 30
    for path, name in shown:
        assert (ROOT / path).is_file(), path
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{name}"


def test_the_tutorials_are_found_from_the_readme():
    linked = LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"docs/tutorial-tools.md", "docs/tutorial-mcp.md"} <= set(linked)


def test_no_page_holds_the_readmes_question_that_they_are_asked():
    asked = re.search(r'fathom ask "(.+?)"', (ROOT / "README.md").read_text(encoding="utf-8"))
    assert asked is not None
    assert [page.name for page in (ROOT / "docs").glob("*.md") if asked.group(1) in page.read_text("utf-8")] == []
