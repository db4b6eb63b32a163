"""Fathom with these arguments, whose event loop stands while FILE exists.

SIGUSR1 makes it look: the handler runs in the loop's thread and waits there, as a call that blocks does.
"""

import signal
import sys
import time
from pathlib import Path

from streams.__main__ import main

POLL_S = 0.02


def block_while(file: Path) -> None:
    """Stand while the file exists."""
    while file.exists():
        time.sleep(POLL_S)


if __name__ == "__main__":
    held = Path(sys.argv.pop(1))
    signal.signal(signal.SIGUSR1, lambda *_: block_while(held))
    main()
