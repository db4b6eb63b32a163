"""The replays of a broker, what one made otherwise, and starting one, for the command and for HTTP."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime

from typing_extensions import TypedDict

from streams import config
from streams.child_process import ChildProcess
from streams.config import ConfigError, Settings
from streams.edges.client.errors import USAGE, CommandFailed, nearest
from streams.kafka.security import Security
from streams.kafka.topics_admin import existing
from streams.replay import runs
from streams.replay.differences import MAX_ROWS, Differences, RunsCompared
from streams.replay.folders import ReplayFolder, remove_left_over
from streams.replay.log import opened
from streams.replay.runs import Run
from streams.replay.selection import Selection, new_id

# What a call over HTTP may change: numbers and choices of the pack path and of cognition.
TUNABLE = (
    *("history_window", "max_tokens_", "pack_deadline_ms_", "retrieval_share", "tier_", "look_up", "pack_revisions"),
    *("rag_enable_cograg", "rag_cograg_max_", "rag_cograg_complexity", "rag_cograg_similarity", "rag_cograg_theme"),
    *("rag_cograg_evidence", "rag_cograg_memory", "rag_cograg_abstain", "rag_cograg_verification_enabled"),
    *("rag_cograg_hallucination",),
)
# Settings of where things are, which a replay takes from the process: its stores are its own, the log is that one.
PLACES = ("broker", "redis_url", "qdrant", "neo4j", "kafka_", "partitions", "replication", "http_", "mcp_", "ask_")


class ReplayListed(TypedDict):
    """A replay: the number of records of each of its topics, and the settings that differed from the process's own."""

    replay_id: str
    topics: dict[str, int]
    settings: dict[str, str]


async def replays_there(bootstrap: str, security: Security) -> list[ReplayListed]:
    """The replays whose topics are there, oldest first; raises `Unavailable`."""
    async with opened(bootstrap, security) as log:
        return [
            ReplayListed(
                replay_id=replay_id,
                topics={topic: sum(map(len, await log.spans(topic))) for topic in topics},
                settings=await runs.settings_of(log, replay_id),
            )
            for replay_id, topics in runs.replays(await existing(bootstrap, security)).items()
        ]


async def difference(bootstrap: str, security: Security, replay_id: str, against: str | None) -> Differences:
    """What a replay made otherwise than the recorded run (None) or another replay.

    Raises `CommandFailed` for an unknown one, `Unavailable`.
    """
    async with opened(bootstrap, security) as log:
        there = runs.replays(await existing(bootstrap, security))
        for each in (replay_id, against):
            if each is not None:
                topics_of_replay(each, there)
        return await runs.compare(log, Run(against), Run(replay_id), Selection())


class ReplayCompared(RunsCompared):
    """A replay against the recorded run, or against another replay."""

    replay_id: str
    against: str


def replay_compared(found: Differences, replay_id: str, against: str | None, most: int = MAX_ROWS) -> ReplayCompared:
    """The differences as the command and HTTP show them, with at most so many messages."""
    return ReplayCompared(replay_id=replay_id, against=against or "recorded", **found.as_json(most))


def topics_of_replay(replay_id: str, found: dict[str, list[str]]) -> list[str]:
    """The topics of a replay; raises `CommandFailed` for an unknown one."""
    if replay_id not in found:
        hint = nearest(replay_id, list(found)) or "; `fathom replay list` shows all"
        raise CommandFailed(f"there is no replay {replay_id}{hint}", USAGE)
    return found[replay_id]


def changed_settings(changed: Mapping[str, str], broker: str) -> Settings:
    """The process's settings with those changed by a replay; raises `ConfigError` where a replay cannot have them."""
    for name in changed:
        if name.lower().removeprefix("fathom_").startswith(PLACES):
            raise ConfigError(f"{name} says where things are, and a replay has stores of its own")
    return config.load_changed(changed, broker=broker)


class ReplayProcess:
    """At most one reprocessing at a time, in a process of its own that ends with this one.

    What the replays of a killed process left is removed when this one begins.
    """

    def __init__(self) -> None:
        self._child = ChildProcess()
        self._folder: ReplayFolder | None = None
        self._replay_id = ""
        self._settings: dict[str, str] = {}
        remove_left_over()

    @property
    def running(self) -> str | None:
        """The id of the replay that is under way."""
        return self._replay_id if self._child.running else None

    def failure(self, replay_id: str) -> str | None:
        """Why the replay that was started last failed, in a sentence; None where it runs, or came to its end."""
        code = self._child.returncode
        if replay_id != self._replay_id or not code or self._folder is None:
            return None
        said = (self._folder.path / "said").read_text(errors="replace").splitlines()
        return next((line for line in reversed(said) if line.strip()), f"it ended with code {code}")

    @property
    def listed(self) -> ReplayListed:
        """The replay that was started last, before it has a topic."""
        return ReplayListed(replay_id=self._replay_id, topics={}, settings=self._settings)

    @property
    def last(self) -> str:
        """The id of the replay that was started last; empty where none was."""
        return self._replay_id

    def start(self, bootstrap: str, options: Mapping[str, str], changed: Mapping[str, str]) -> str:
        """Begin a reprocessing with these options of `fathom replay`; its id. Raises `CommandFailed`, `OSError`."""
        try:
            for name in changed:
                _check_tunable(name)
            changed_settings(changed, bootstrap)
        except ConfigError as error:
            raise CommandFailed(f"settings: {error}", USAGE) from None
        replay_id = new_id(datetime.now(UTC))
        if self._folder is not None:
            self._folder.remove()
        self._folder, self._replay_id, self._settings = ReplayFolder(), replay_id, dict(changed)
        folder = self._folder.path
        lines = "".join(f"{name}={_quoted(value)}\n" for name, value in changed.items())
        (folder / "settings.env").write_text(lines)
        command = [sys.executable, "-P", "-m", "streams", "replay", "--mode=reprocess", "--execute", "--json"]
        stated = {**options, "--id": replay_id, "--with": str(folder / "settings.env"), "--broker": bootstrap}
        with (folder / "said").open("wb") as said:
            self._child.start_guarded(*command, *(f"{name}={value}" for name, value in stated.items()), stderr=said)
        return replay_id


def _check_tunable(name: str) -> None:
    """Raises `ConfigError` for what is no number and no choice: texts name files, hosts and code of the server."""
    fields = {config.environment_name(field): field for field in Settings.model_fields}
    if name not in fields:
        raise ConfigError(f"{name!r} is no setting; `fathom config show` lists them")
    if not fields[name].startswith(TUNABLE):
        raise ConfigError(f"{name} is not changed over HTTP: it may name a file or a host; use `fathom replay --with`")


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
