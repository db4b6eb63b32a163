"""`fathom erase …` that is killed at its step number AT."""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import wraps
from itertools import count
from typing import Any

from streams.edges.cli.main import run
from streams.edges.client import forgetting, send
from streams.edges.client.persons import subject_records
from streams.stores.keys.redis_keys import RedisKeyStore

# Where each step is done and nothing after it is begun.
STEPS: tuple[tuple[Any, str], ...] = (
    (forgetting, "conversations_of"),
    (send, "deliver"),
    (forgetting.Erasing, "wait"),
    (RedisKeyStore, "destroy"),
    (subject_records, "records_of"),
)


def main(at: int, *arguments: str) -> int:
    """Run the command; the process dies behind its step number `at`, counted from one."""
    numbers = count(1)

    def dying(step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(step)
        async def stepped(*given: Any, **named: Any) -> Any:
            done = await step(*given, **named)
            if next(numbers) == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return stepped

    for owner, name in STEPS:
        setattr(owner, name, dying(getattr(owner, name)))
    return run([*arguments])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))
