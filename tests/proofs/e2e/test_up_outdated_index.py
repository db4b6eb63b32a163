"""A data directory of an earlier version starts: its index, a view, is emptied and filled again from the log."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from streams.stores.passages.index_layout import NOTE, note_of
from streams.stores.passages.points import TERMS
from tests.checkout import ROOT
from tests.e2e.processes import START_S, UNHURRIED, clean, running

MANUAL = "# Moinho\n\nO moinho de café Turma 300 tem garantia de dezoito meses.\n"


def fathom(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        [sys.executable, "-m", "streams", *arguments],
        cwd=ROOT, env=clean(), input=text, capture_output=True, text=True, timeout=START_S,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended


def found(broker: str, question: str, wanted: str) -> dict[str, Any]:
    """The pack of a question once it holds what is wanted; the last one where it never does."""
    until = time.monotonic() + START_S
    while True:
        pack: dict[str, Any] = json.loads(fathom("ask", question, "--broker", broker, "--json").stdout)
        if wanted in json.dumps(pack, ensure_ascii=False) or time.monotonic() > until:
            return pack
        time.sleep(0.5)


def test_an_index_of_an_earlier_version_is_filled_again_from_the_log(tmp_path: Path) -> None:
    data, manual = tmp_path / "data", tmp_path / "moinho.md"
    manual.write_text(MANUAL)
    question, answer = "Qual a garantia do moinho Turma 300?", "dezoito meses"
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err", **UNHURRIED) as first:
        broker = first.ready()["bootstrap"]
        fathom("ingest", str(manual), "--broker", broker)
        assert answer in json.dumps(found(broker, question, answer), ensure_ascii=False)
        assert first.end()[0] == 0
    note = data / "index" / NOTE
    assert note.read_text() == note_of("HashingEmbedder", 64)
    note.write_text(note.read_text().removesuffix(f" {TERMS}"))
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err", **UNHURRIED) as second:
        broker = second.ready()["bootstrap"]
        assert "index.outdated" in second.said()
        pack = found(broker, question, answer)
        assert answer in json.dumps(pack["semantic"], ensure_ascii=False)
        assert second.end()[0] == 0
    assert TERMS in note.read_text()
