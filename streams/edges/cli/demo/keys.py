"""The key `q`, which ends a command that plays on a terminal."""

import asyncio
import os
import sys
import termios
import tty

QUIT = b"q"


async def until_q(playing: "asyncio.Task[None]") -> None:
    """Wait for a task; on a terminal `q` cancels it and is the end of it, as if it were done."""
    if not _at_keyboard():
        await playing
        return
    pressed = False
    keyboard, loop = sys.stdin.fileno(), asyncio.get_running_loop()

    def read() -> None:
        nonlocal pressed
        if QUIT in os.read(keyboard, 64).lower():
            pressed = True
            playing.cancel()

    before = termios.tcgetattr(keyboard)
    # Keys come one by one and unechoed; what was typed while everything started is read, too.
    tty.setcbreak(keyboard, termios.TCSANOW)
    loop.add_reader(keyboard, read)
    try:
        await playing
    except asyncio.CancelledError:
        if not pressed:
            raise
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSANOW, before)


def _at_keyboard() -> bool:
    """Whether stdin is a terminal that this process may read: one in the background would be stopped."""
    return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
