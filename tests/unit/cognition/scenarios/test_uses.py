"""The deep answers that used a document."""

import pytest

from tests.unit.cognition.scenarios.test_cognition_recall import asked as asked_deep
from tests.unit.cognition.scenarios.test_cognition_recall import pipeline, taught
from tests.unit.usage.test_report import of_kind, used


@pytest.mark.covers("B23")
def test_deep_answers_and_kept_ones_that_cite_a_document_are_listed() -> None:
    with pipeline() as fathom:
        taught(fathom)
        steps = asked_deep(fathom)
        found = used(fathom, "document", "clt")
        assert of_kind(found, "deep answer") == {steps[-1].state.message_id}
        assert found.count("kept answer") == 1
        assert used(fathom, "document", "julgados").count("deep answer") == 0
