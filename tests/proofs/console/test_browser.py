"""Every view of the page in a browser, against a scripted server, and against Fathom on Apache Kafka and Neo4j."""

from pathlib import Path

import pytest

from tests.console import stub
from tests.console.browsers import SCREENS, run
from tests.console.sites import lacking, serving


@pytest.mark.covers(
    "AC-80", "S2-140", "S2-141", "S2-142", "S2-143", "S2-144", "S2-145", "S2-146",
)  # fmt: skip
def test_the_page_shows_all_that_is_told_and_is_used_by_keyboard(browser: dict[str, str]) -> None:
    with stub.serving() as url:
        said = run("page.test.mjs", 22, browser, "stub", CONSOLE_URL=url, CONSOLE_TOKEN=stub.TOKEN)
    print(next(line for line in said.splitlines() if line.startswith("measured ")))
    assert len(list((SCREENS / "stub").glob("*.png"))) > 10


@pytest.mark.covers("AC-80")
def test_the_lists_are_searched_paged_and_edited_at_every_width(browser: dict[str, str]) -> None:
    with stub.serving() as url:
        said = run("lists.test.mjs", 16, browser, "lists", CONSOLE_URL=url, CONSOLE_TOKEN=stub.TOKEN)
    print(next(line for line in said.splitlines() if line.startswith("measured ")))


@pytest.mark.kafka
@pytest.mark.covers("AC-80", "S2-140", "S2-144", "S2-146")
def test_what_a_running_fathom_makes_of_questions_is_shown_on_apache_kafka(
    browser: dict[str, str],
    tmp_path: Path,
) -> None:
    if (why := lacking("kafka")) is not None:
        pytest.skip(why)
    with serving("kafka", tmp_path) as site:
        run("fathom.test.mjs", 7, browser, site.name, **site.environment())
