"""What a command line of `fathom replay` asks for."""

from dataclasses import dataclass
from pathlib import Path

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
