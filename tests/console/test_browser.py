"""The page in a browser, without a window: against a server that says what the test wants, and against `fathom up`."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.builders.npm import npm_package
from tests.clients import tools
from tests.console import stub
from tests.console.test_rules import check
from tests.e2e.test_up import IN_MEMORY, UNHURRIED, running
from tests.servers.install import InstallError, ensure_tool

HERE = Path(__file__).parent
# Pictures of the last run, for who wants to look at the page.
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
        **os.environ, "CONSOLE_CHROMIUM": chromium, "CONSOLE_SCREENS": str(SCREENS),
        "CONSOLE_PLAYWRIGHT": str(driver / "node_modules" / "playwright-core"),
    }  # fmt: skip


def run(script: str, least: int, environment: dict[str, str], **named: str) -> str:
    """What Node's runner says of a script that finds nothing wrong."""
    command = ("node", "--test", "--test-reporter=spec", str(HERE / "browser" / script))
    said = tools.ran(*command, environment={**environment, **named})
    check(said, least)
    return said


@pytest.mark.covers(
    "AC-80", "S2-140", "S2-141", "S2-142", "S2-143", "S2-144", "S2-145", "S2-146",
)  # fmt: skip
def test_the_page_shows_all_that_is_told_and_is_used_by_keyboard(browser: dict[str, str]) -> None:
    shutil.rmtree(SCREENS, ignore_errors=True)
    with stub.serving() as url:
        said = run("page.test.mjs", 19, browser, CONSOLE_URL=url, CONSOLE_TOKEN=stub.TOKEN)
    print(next(line for line in said.splitlines() if line.startswith("measured ")))
    assert len(list(SCREENS.glob("*.png"))) > 10


DOCUMENTS = {
    "Refunds": "# Refunds\n\nThe team lead approves refunds. A refund is paid within five days.",
    "CLT": "# CLT: artigos\n\n## Art. 71\nEm qualquer trabalho contínuo de mais de seis horas é obrigatório um "
    "intervalo para almoço de no mínimo uma hora.\n",
    "Julgados": "# Julgados\n\n## Processo 0000111-45.2023.5.02.0001\nO adicional de insalubridade é devido ao "
    "empregado do frigorífico.\n\n## Processo 0000222-45.2023.5.15.0002\nO adicional de insalubridade não é devido ao "
    "empregado do frigorífico.\n",
}
COGNITION = {
    "RAG_ENABLE_COGRAG": "on",
    "RAG_COGRAG_VERIFICATION_ENABLED": "on",
    "RAG_COGRAG_EVIDENCE_REFINEMENT_ENABLED": "on",
}


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A `fathom up` that remembers some documents and answers in depth."""
    place = tmp_path_factory.mktemp("up")
    quick = {"FATHOM_LOG_LEVEL": "error", "FATHOM_ASK_CALLS_PER_MINUTE": "6000"}
    settings = {**UNHURRIED, **IN_MEMORY, **COGNITION, **quick}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        token = (place / "data" / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        for title, text in DOCUMENTS.items():
            body = json.dumps({"title": title, "text": text}).encode()
            with urlopen(
                Request(f"http://{ready['http']}/documents?wait=visible", body, headers), timeout=60
            ) as answer:
                assert answer.status == 200
        yield {"CONSOLE_URL": ready["console"].removesuffix("/console"), "CONSOLE_TOKEN": token}
        assert process.end()[0] == 0
        assert token not in process.said()


@pytest.mark.covers("S2-140", "S2-144", "S2-146")
def test_a_question_to_fathom_up_shows_its_pack_and_its_deep_answer(
    browser: dict[str, str], up: dict[str, str]
) -> None:
    run("up.test.mjs", 3, browser, **up)
