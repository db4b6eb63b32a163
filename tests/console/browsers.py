"""Scripts in Node that drive a headless Chromium."""

import shutil
from pathlib import Path

from tests.builders import compilers
from tests.console.test_rules import check

HERE = Path(__file__).parent
# Pictures of the last run, for who wants to look at the page: a folder for each server.
SCREENS = HERE / "screens"


def run(script: str, least: int, environment: dict[str, str], server: str, **named: str) -> str:
    """What Node's runner says of a script that finds nothing wrong; its pictures are those of the server."""
    screens = SCREENS / server
    shutil.rmtree(screens, ignore_errors=True)
    command = ("node", "--test", "--test-reporter=spec", str(HERE / "browser" / script))
    said = compilers.ran(*command, environment={**environment, **named, "CONSOLE_SCREENS": str(screens)})
    check(said, least)
    return said
