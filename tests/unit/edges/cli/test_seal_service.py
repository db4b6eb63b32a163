"""Sealing as a process: it goes on until SIGTERM, says whether it works, and ends the head that it writes."""

import asyncio
import os
import signal

import httpx
import pytest

from streams import config
from streams.edges.cli.audit.seal_service import LATE_S, SealerHealth, keep_sealing
from tests.servers.process import free_port

PAGES = ("startup", "live")


def test_it_is_ready_once_it_has_sealed_and_while_it_does() -> None:
    at = [0.0]
    health = SealerHealth(60.0, lambda: at[0])
    assert health.startup()[0] == 503
    health.sealed()
    assert (health.startup()[0], health.ready()[0], health.live()[0]) == (200, 200, 200)
    at[0] = 60 + LATE_S + 1
    status, said = health.ready()
    assert (status, said["why"]) == (503, [f"nothing was sealed for {60 + LATE_S + 1:.0f} s"])


def test_sigterm_ends_it_after_the_head_that_it_writes() -> None:
    begun, ended = [], []

    async def seal() -> None:
        begun.append(1)
        if len(begun) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.05)
        ended.append(1)

    asyncio.run(asyncio.wait_for(keep_sealing(seal, 0.01, config.load({})), 20))
    assert (len(begun), len(ended)) == (2, 2)


def test_probes_are_answered_at_the_port_that_is_asked_for_and_at_no_other() -> None:
    port = free_port()
    seen: list[int] = []

    async def seal() -> None:
        async with httpx.AsyncClient() as client:
            seen.extend([(await client.get(f"http://127.0.0.1:{port}/health/{each}")).status_code for each in PAGES])
        if len(seen) == 4:
            os.kill(os.getpid(), signal.SIGTERM)

    settings = config.load({"FATHOM_HTTP_PORT": str(port)})
    asyncio.run(asyncio.wait_for(keep_sealing(seal, 0.01, settings), 20))
    assert seen == [503, 200, 200, 200]

    async def refused() -> None:
        async with httpx.AsyncClient() as client:
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://127.0.0.1:{port}/health/live")
        os.kill(os.getpid(), signal.SIGTERM)

    asyncio.run(asyncio.wait_for(keep_sealing(refused, 0.01, config.load({})), 20))
