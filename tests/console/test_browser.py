"""The page in a browser, without a window: against a server that says what a test wants, and against Fathom."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.npm import npm_package
from tests.clients import tools
from tests.console import stub
from tests.console.sites import SITES, Site, lacking, serving
from tests.console.test_rules import check
from tests.servers.install import InstallError, ensure_tool

HERE = Path(__file__).parent
# Pictures of the last run, for who wants to look at the page: a folder for each server.
SCREENS = HERE / "screens"
PLAYWRIGHT = "playwright-core@1.65.1"
PLAYWRIGHT_SHA256 = "6f5a60be62a4fddfbe7d10c448d8fbd54547da3358f2f8a04211440471ee863e"


@pytest.fixture(scope="module")
def browser() -> dict[str, str]:
    """The environment that names Debian's Chromium and its driver."""
    try:
        ensure_tool("chromium", "The console's tests in a browser", "chromium")
        driver = npm_package(PLAYWRIGHT, PLAYWRIGHT_SHA256)
    except InstallError as error:
        pytest.skip(str(error))
    chromium = shutil.which("chromium")
    assert chromium is not None
    return {
        **os.environ, "CONSOLE_CHROMIUM": chromium,
        "CONSOLE_PLAYWRIGHT": str(driver / "node_modules" / "playwright-core"),
    }  # fmt: skip


def run(script: str, least: int, environment: dict[str, str], server: str, **named: str) -> str:
    """What Node's runner says of a script that finds nothing wrong; its pictures are those of the server."""
    screens = SCREENS / server
    shutil.rmtree(screens, ignore_errors=True)
    command = ("node", "--test", "--test-reporter=spec", str(HERE / "browser" / script))
    said = tools.ran(*command, environment={**environment, **named, "CONSOLE_SCREENS": str(screens)})
    check(said, least)
    return said


@pytest.mark.covers(
    "AC-80", "S2-140", "S2-141", "S2-142", "S2-143", "S2-144", "S2-145", "S2-146",
)  # fmt: skip
def test_the_page_shows_all_that_is_told_and_is_used_by_keyboard(browser: dict[str, str]) -> None:
    with stub.serving() as url:
        said = run("page.test.mjs", 21, browser, "stub", CONSOLE_URL=url, CONSOLE_TOKEN=stub.TOKEN)
    print(next(line for line in said.splitlines() if line.startswith("measured ")))
    assert len(list((SCREENS / "stub").glob("*.png"))) > 10


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[pytest.mark.kafka] if "kafka" in servers else []) for name, servers in SITES.items()
    ],
)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A running Fathom that remembers some documents and answers in depth, on each broker in turn."""
    if (why := lacking(request.param)) is not None:
        pytest.skip(why)
    with serving(request.param, tmp_path_factory.mktemp(request.param)) as running:
        yield running


@pytest.mark.covers("AC-80", "S2-140", "S2-144", "S2-146")
def test_what_a_running_fathom_makes_of_questions_is_shown_on_each_broker(browser: dict[str, str], site: Site) -> None:
    run("fathom.test.mjs", 6, browser, site.name, **site.environment())
