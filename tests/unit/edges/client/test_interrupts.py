"""An interrupt while modules load is raised when they are loaded, and no other is held back."""

import signal
import sys
from pathlib import Path

import pytest

from streams.edges import cli
from streams.edges.cli.main import LazyVerb
from streams.edges.client.errors import interrupted_later

INTERRUPTS_ITS_OWN_LOADING = """
import signal
signal.raise_signal(signal.SIGINT)
loaded_whole = True

def verb():
    pass
"""


def test_a_verb_is_loaded_whole_before_an_interrupt_ends_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "interrupting.py").write_text(INTERRUPTS_ITS_OWN_LOADING)
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    with pytest.raises(KeyboardInterrupt):
        LazyVerb("interrupting", "interrupting:verb", "").loaded()
    assert sys.modules.pop("streams.edges.cli.interrupting").loaded_whole


def test_an_interrupt_after_it_is_raised_at_once():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupted_later():
            pass
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
