"""Every error code of the sources has its section in `docs/errors.md`, and every section has its code."""

import ast
import re
from functools import cache

from streams.edges.cli.doctor.remedies import REMEDIES
from streams.edges.client.errors import CODES, error_page
from streams.runtime.dead_letters import BUG
from streams.runtime.suspects import CODE as CRASH_LOOP
from tests.checkout import ROOT
from tests.rooms import COGNITION, is_left_out
from tests.unit.house import tree

# Where a code is made, and the position of the code among the arguments.
MADE_BY = {"Rejected": 0, "Undecodable": 0, "Refused": 1, "Skipped": 1}
STATUS = {"Problem": 0, "closing": 0}
CODE = re.compile(r"[a-z]+(?:_[a-z]+)*")


def _argument(node: ast.AST, places: dict[str, int]) -> object:
    if not isinstance(node, ast.Call):
        return None
    place = places.get(getattr(node.func, "id", getattr(node.func, "attr", "")), len(node.args))
    argument = node.args[place] if place < len(node.args) else None
    return argument.value if isinstance(argument, ast.Constant) else None


@cache
def _codes() -> set[str]:
    found = {BUG, CRASH_LOOP}
    for path in tree.naming((*MADE_BY, "unacceptable", "code")):
        for node in tree.nodes(path):
            code = _argument(node, MADE_BY)
            if isinstance(code, str) and CODE.fullmatch(code):
                found.add(code)
            # A pair that is raised elsewhere, and a child's answer.
            if isinstance(node, ast.FunctionDef) and node.name == "unacceptable":
                pairs = [each for each in ast.walk(node) if isinstance(each, ast.Tuple) and len(each.elts) == 2]
                found |= {
                    str(pair.elts[0].value)
                    for pair in pairs
                    if isinstance(pair.elts[0], ast.Constant) and isinstance(pair.elts[1], ast.JoinedStr)
                }
            if isinstance(node, ast.Dict):
                named = zip(node.keys, node.values, strict=True)
                found |= {
                    str(value.value)
                    for key, value in named
                    if isinstance(key, ast.Constant) and key.value == "code" and isinstance(value, ast.Constant)
                    if str(value.value).startswith("document_")
                }
    return found


@cache
def _statuses() -> set[str]:
    used = {_argument(node, STATUS) for path in tree.naming(STATUS) for node in tree.nodes(path)}
    return {f"HTTP {status}" for status in used if isinstance(status, int)}


def _sections() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for part in (ROOT / "docs" / "errors.md").read_text().split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        found[title] = set(re.findall(r"^### (.+)$", text, re.M))
    return found


def _anchors(page: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_reason_of_a_dead_letter_has_a_section_and_every_section_a_reason() -> None:
    of_deep_answers = {"endless_job"} if is_left_out(COGNITION) else set()
    assert _sections()["Dead letters"] == _codes() | of_deep_answers


def test_every_status_of_a_problem_has_a_section() -> None:
    # 405 is the router's; 413 and 415 are looked up in a table of codes of documents.
    assert _sections()["HTTP"] == _statuses() | {"HTTP 405", "HTTP 413", "HTTP 415"}


def test_every_error_of_a_command_has_a_section() -> None:
    assert _sections()["Commands"] == {*CODES, "CommandFailed"}


def test_every_section_says_what_it_means_why_and_what_to_do() -> None:
    text = (ROOT / "docs" / "errors.md").read_text()
    for section in text.split("\n### ")[1:]:
        assert all(f"\n- {word}: " in section for word in ("Means", "Cause", "Next")), section


def test_every_error_of_a_command_and_every_refusal_names_a_section_that_is_there() -> None:
    pages = [error_page(code) for code in (*CODES, *_codes(), *_statuses())]
    assert {page.partition("#")[0] for page in pages} == {"docs/errors.md"}
    assert {page.partition("#")[2] for page in pages} <= _anchors("docs/errors.md")


def test_every_page_that_the_doctor_names_has_its_anchor() -> None:
    for check, remedy in REMEDIES.items():
        page, _, anchor = remedy.doc.partition("#")
        assert anchor in _anchors(page), check
        assert remedy.cause
        assert remedy.fix
