"""How a refusal is told over HTTP."""

import json
from enum import IntEnum

import pytest

from streams.edges.http import problems
from streams.edges.http.problems import Problem


class LaterStatus(IntEnum):
    """Statuses as Python 3.13 names them."""

    NOT_FOUND = 404
    CONTENT_TOO_LARGE = 413
    UNPROCESSABLE_CONTENT = 422

    @property
    def phrase(self) -> str:
        return self.name.replace("_", " ").title()


@pytest.mark.parametrize(
    ("status", "title"), [(404, "Not Found"), (413, "Request Entity Too Large"), (422, "Unprocessable Entity")]
)
def test_a_title_is_the_same_on_every_python(monkeypatch: pytest.MonkeyPatch, status: int, title: str) -> None:
    said = []
    for names in (problems.HTTPStatus, LaterStatus):
        monkeypatch.setattr(problems, "HTTPStatus", names)
        said.append(json.loads(Problem(status, "no").response("/ask").body))
    assert [each["title"] for each in said] == [title, title]
    assert said[0] == said[1]
