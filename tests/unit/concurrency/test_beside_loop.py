"""Work on long texts: others go on meanwhile; that on short ones is done at once."""

import asyncio
import threading

from agents.concurrency import LONG_TEXT, beside_loop


def test_the_loop_goes_on_beside_work_on_a_long_text():
    async def story() -> bool:
        go = threading.Event()
        working = asyncio.create_task(beside_loop(LONG_TEXT + 1, lambda: go.wait(30)))
        await asyncio.sleep(0)
        go.set()
        return await working

    assert asyncio.run(story())


def test_work_on_a_short_text_costs_no_thread():
    assert asyncio.run(beside_loop(LONG_TEXT, threading.get_ident)) == threading.get_ident()
