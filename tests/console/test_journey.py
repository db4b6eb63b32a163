"""One journey through the console in a browser: what a running Fathom makes of questions."""

from pathlib import Path

import pytest

from tests.console.browsers import run
from tests.console.sites import serving


@pytest.mark.covers("AC-80", "S2-140", "S2-144", "S2-146")
def test_what_a_running_fathom_makes_of_questions_is_shown(browser: dict[str, str], tmp_path: Path) -> None:
    with serving("up", tmp_path) as site:
        run("fathom.test.mjs", 7, browser, site.name, **site.environment())
