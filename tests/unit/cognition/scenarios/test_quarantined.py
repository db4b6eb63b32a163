"""What is quarantined is in no deep answer."""

import pytest

from tests.unit.cognition.scenarios.test_cognition_recall import asked, pipeline, taught


@pytest.mark.covers("B23")
def test_a_deep_answer_quotes_nothing_of_it() -> None:
    with pipeline() as fathom:
        taught(fathom)
        before = asked(fathom)
        assert "clt" in {each.document_id for each in before[-1].state.passages.values()}
        fathom.quarantine("document", "clt")
        after = asked(fathom)
        assert "clt" not in {each.document_id for step in after for each in step.state.passages.values()}
        assert not any(theme.name == "Intervalo de almoço" for step in after for theme in step.state.themes)
        fathom.quarantine("document", "clt", state="lifted")
        assert asked(fathom)[-1].state.passages.keys() == before[-1].state.passages.keys()
