"""The AsyncAPI document by the official parser, which resolves every schema that it refers to."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.servers.install import SERVERS

PARSER = "@asyncapi/parser@3.4.0"
# Severities: 0 an error, 1 a warning.
PROGRAM = """
import { readFile } from "node:fs/promises";
import { Parser } from "@asyncapi/parser";
const source = process.argv[2];
const { document, diagnostics } = await new Parser().parse(await readFile(source, "utf8"), { source });
const wrong = diagnostics.filter((each) => each.severity < 2).map((each) => `${each.code}: ${each.message}`);
console.log(JSON.stringify({ channels: document?.channels().all().length ?? 0, wrong }));
"""


@pytest.fixture(scope="module")
def parser() -> Path:
    """A folder with the parser; fetched once."""
    home = SERVERS / "node-asyncapi" / PARSER.rpartition("@")[2]
    if not (home / "done").exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        (home / "package.json").write_text('{"type": "module"}')
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", PARSER]
        subprocess.run(command, cwd=home, check=True, capture_output=True, timeout=280)
        (home / "parse.mjs").write_text(PROGRAM)
        (home / "done").touch()
    return home


def parsed(parser: Path, document: Path) -> dict[str, object]:
    done = subprocess.run(
        ["node", "parse.mjs", str(document)], cwd=parser, check=True, capture_output=True, text=True, timeout=120
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_the_official_parser_finds_nothing_wrong(parser: Path, tmp_path: Path) -> None:
    stated = json.loads((ROOT / "schemas/asyncapi.json").read_text())
    found = parsed(parser, ROOT / "schemas/asyncapi.json")
    assert found == {"channels": len(stated["channels"]), "wrong": []}
    # It would notice a channel without its messages, and a schema that is not there.
    broken = tmp_path / "asyncapi.json"
    broken.write_text(json.dumps(stated | {"channels": {"x": {"messages": []}}}))
    assert parsed(parser, broken)["wrong"] != []
