"""The replays of a broker, and what one made otherwise, for the command and for HTTP."""

from streams.edges.client.errors import USAGE, CommandFailed, nearest
from streams.kafka.security import Security
from streams.kafka.topics_admin import existing
from streams.replay import runs
from streams.replay.differences import Differences
from streams.replay.log import opened
from streams.replay.runs import Run
from streams.replay.selection import Selection


async def records_of_replays(bootstrap: str, security: Security) -> dict[str, dict[str, int]]:
    """The number of records by topic, of each replay by its id, oldest first; raises `Unavailable`."""
    async with opened(bootstrap, security) as log:
        found = runs.replays(await existing(bootstrap, security))
        return {
            replay_id: {topic: sum(map(len, await log.spans(topic))) for topic in topics}
            for replay_id, topics in found.items()
        }


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


def topics_of_replay(replay_id: str, found: dict[str, list[str]]) -> list[str]:
    """The topics of a replay; raises `CommandFailed` for an unknown one."""
    if replay_id not in found:
        hint = nearest(replay_id, list(found)) or "; `fathom replay list` shows all"
        raise CommandFailed(f"there is no replay {replay_id}{hint}", USAGE)
    return found[replay_id]
