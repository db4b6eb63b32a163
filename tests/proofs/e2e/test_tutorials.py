"""The tutorials, executed as they are typed: every command, every program, in a fresh folder.

A block is `sh` (runs and must succeed), `sh background` (runs until the page ends; its ready line is waited for),
`sh interrupt` (a Ctrl-C for what runs), a program with its file's name (`python chat.py`), or what was printed since
the block of this kind before: each of its lines must be in the output, with `…` for what differs.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streams.edges.cli.serve import MCP_PORT
from streams.edges.cli.up import HTTP_PORT
from tests.builders.chat_model import ScriptedModel, completion
from tests.checkout import ROOT
from tests.e2e.chat_front import in_background

BLOCK = re.compile(r"^```(?P<kind>\w*) ?(?P<about>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# What a page may reach from its folder, as in a checkout.
PARTS = ("docs", "clients", "deploy")
START_S, STEP_S = 60, 90
# The pages show what memory holds. A machine that stalls for a tenth of a second would leave a part out of a pack.
PATIENT = {f"FATHOM_PACK_DEADLINE_MS_D{level}": "10000" for level in range(5)}


class Typist:
    """Types the blocks of a page, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed, self._read = "", 0
        self._background: list[subprocess.Popen[str]] = []
        for part in PARTS:
            if (ROOT / part).exists():
                (folder / part).symlink_to(ROOT / part)
        (folder / ".venv" / "bin").mkdir(parents=True)
        # Ports that a page names may be taken: the broker has a free one, and those of HTTP and MCP are typed instead.
        self._ports = {str(port): str(port) for port in (HTTP_PORT, MCP_PORT)}
        paths = os.pathsep.join((str(ROOT), str(ROOT / "clients" / "python")))
        free = (
            'case "$1 $2" in up\\ *) set -- "$@" --port 0 --http-port 0;; "mcp --http") set -- "$@" --port 0;; esac\n'
        )
        for name, command in (
            ("fathom", f'{free}exec "{sys.executable}" -m streams'),
            ("python", f'exec "{sys.executable}"'),
        ):
            script = folder / ".venv" / "bin" / name
            # What starts it may not hand its environment on: MCP clients do not.
            script.write_text(f'#!/bin/sh\nexport PYTHONPATH="{paths}"\n{command} "$@"\n')
            script.chmod(0o755)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
        # Nothing is installed into the environment that runs the tests: what a page installs is there.
        installs_nothing = {"PIP_DRY_RUN": "1", "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}
        self._environment = {**clean, **PATIENT, **installs_nothing, "PYTHONPATH": paths}

    def type(self, kind: str, about: str, text: str) -> None:
        for named, free in self._ports.items():
            text = text.replace(named, free)
        if kind == "sh" and about == "background":
            self._start(text)
        elif kind == "sh" and about == "interrupt":
            self.stop()
        elif kind == "sh":
            commands = "\n".join(line for line in text.splitlines() if " pip install " not in line)
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", commands], cwd=self.folder, env=self._environment,
                capture_output=True, text=True, timeout=STEP_S,
            )  # fmt: skip
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            self.printed += done.stdout + done.stderr
        elif about:
            (self.folder / about).write_text(text)
        elif not kind:
            fresh, self._read = self.printed[self._read :], len(self.printed)
            for line in text.splitlines():
                assert re.search(re.escape(line).replace("…", ".*"), fresh), f"{line}\n--- of\n{fresh}"

    def _start(self, text: str) -> None:
        process = subprocess.Popen(
            ["bash", "-c", f"exec env {text.strip()}"], cwd=self.folder, env=self._environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self._background.append(process)
        assert process.stdout is not None
        late = threading.Timer(START_S, process.kill)
        late.start()
        ready = process.stdout.readline()
        late.cancel()
        assert '"event":"ready"' in ready, ready or (process.stderr and process.stderr.read())
        self.printed += ready
        said = json.loads(ready)
        # `fathom mcp` says its `url` instead.
        named, address = (HTTP_PORT, said["http"]) if "http" in said else (MCP_PORT, said["url"])
        self._ports[str(named)] = re.findall(r":(\d+)", address)[-1]

    def stop(self) -> None:
        while self._background:
            process = self._background.pop()
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=30)
            assert process.returncode == 0


@contextmanager
def typed(folder: Path, page: str) -> Iterator[Typist]:
    """A page that was typed to its end, and still runs."""
    typist = Typist(folder)
    try:
        for block in BLOCK.finditer((ROOT / "docs" / page).read_text(encoding="utf-8")):
            typist.type(*block.group("kind", "about", "text"))
        yield typist
    finally:
        typist.stop()


def test_an_assistant_over_http(tmp_path: Path):
    with typed(tmp_path, "tutorial-ask.md") as page:
        # Every line that the page expects was printed; the last is the answer that was waited for.
        assert page.printed.rstrip().endswith('"answer":"The team lead."}')
        # What no document says is in no answer.
        deep = page.printed.partition("## Analysis")[2].partition("event: ")[0]
        assert "courier" not in deep


def test_a_backup_a_restore_and_an_upgrade(tmp_path: Path):
    with typed(tmp_path, "backup.md") as page:
        # Before, from the whole copy, from the log alone, and after the upgrade.
        assert page.printed.count("- The door code of the archive is 4711.") == 4


def test_a_chat_behind_the_openai_front(tmp_path: Path):
    model = ScriptedModel([completion({"content": "The team lead, up to 500 euros [1]."})])
    with in_background(model, port=11434), typed(tmp_path, "tutorial-openai.md") as page:
        assert "The team lead, up to 500 euros [1]." in page.printed
        assert "tokens of context" in page.printed
        system = next(each["content"] for each in model.asked[-1]["messages"] if each["role"] == "system")
        expected = BLOCK.findall((ROOT / "docs" / "tutorial-openai.md").read_text(encoding="utf-8"))[-1][-1]
        assert system.strip() == expected.strip()


def test_tools_with_context(tmp_path: Path):
    with typed(tmp_path, "tutorial-tools.md") as page:
        # Each expected line was found; of all verdicts as many let the call through, and no more.
        verdicts = Counter(re.findall(r"^  (resolved|refused|to be confirmed)", page.printed, re.MULTILINE))
        assert verdicts == {"resolved": 5, "refused": 4, "to be confirmed": 1}


def test_an_agent_over_mcp(tmp_path: Path):
    with typed(tmp_path, "tutorial-mcp.md") as page:
        # Over stdio, and over HTTP.
        assert page.printed.count("refund_order -> confirmation_required: ") == 2


def test_an_assistant_in_sixty_lines(tmp_path: Path):
    page = (ROOT / "docs" / "tutorial-assistant.md").read_text(encoding="utf-8")
    [program] = [block["text"] for block in BLOCK.finditer(page) if block["about"] == "assistant.py"]
    assert len(program.splitlines()) <= 60
    with typed(tmp_path, "tutorial-assistant.md") as ana:
        asked = ana.printed.split("> What am I allergic to?")
        assert "I am allergic to peanuts." in asked[1]
        assert "I do not know." in asked[2]
        assert "peanuts" not in asked[2]


def test_what_is_quarantined_is_out_and_back_as_the_page_says(tmp_path: Path):
    with typed(tmp_path, "quarantine.md") as page:
        assert "nothing of it" in page.printed
        assert "still there" not in page.printed


def test_what_is_forgotten_is_gone_as_the_page_says(tmp_path: Path):
    with typed(tmp_path, "erasure.md") as page:
        assert "nothing of it" in page.printed
        assert "still there" not in page.printed


def test_recipes_for_four_assistants(tmp_path: Path):
    with typed(tmp_path, "recipes.md") as page:
        # The customer was not told what is internal.
        assert page.printed.count("free repair") == 0


def test_an_answer_is_explained_contested_sealed_and_verified(tmp_path: Path):
    with typed(tmp_path, "tutorial-audit.md") as page:
        assert re.fullmatch(r"[0-9a-f]{64}:\d+\n", (tmp_path / "head.txt").read_text())
        assert "the log is not what was sealed" not in page.printed
