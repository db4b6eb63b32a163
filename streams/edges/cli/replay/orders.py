"""What a command line of `fathom replay` asks for."""

from dataclasses import dataclass
from pathlib import Path

import orjson

from streams.edges.cli.replay.starts import Start
from streams.replay.selection import Selection


@dataclass(frozen=True, slots=True)
class ReplayOrder:
    """The options of a replay: its mode, id, selection and stores, and whether to execute it."""

    mode: str
    replay_id: str
    selection: Selection
    stores: tuple[str, ...]
    execute: bool
    as_json: bool

    def say(self, **found: object) -> None:
        """Print what was found as JSON."""
        print(orjson.dumps({"mode": self.mode, "replay_id": self.replay_id, **found}).decode())


@dataclass(frozen=True, slots=True)
class ReprocessOptions:
    """The options of this mode alone."""

    start: Start
    changed: Path | None = None
    max_rate: float | None = None
    resume: bool = False
    report: Path | None = None
    export: bool = False
    hidden_now: bool = False
