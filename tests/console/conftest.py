"""Headless Chromium and its driver."""

import os
import shutil

import pytest

from tests.builders.npm import npm_package
from tests.servers.install import InstallError, ensure_tool

PLAYWRIGHT = "playwright-core@1.65.1"
PLAYWRIGHT_SHA256 = "6f5a60be62a4fddfbe7d10c448d8fbd54547da3358f2f8a04211440471ee863e"


@pytest.fixture(scope="session")
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
