"""The MCP tool that reasons: an answer's sections with citations, or what is missing."""

import pytest
from jsonschema import Draft202012Validator

from streams.edges.client.deep_answers import answer_of
from streams.edges.mcp import tool_reason
from tests.builders.deep_answers import QUESTION, UNKNOWN, pack_and_answer


@pytest.mark.parametrize(("question", "status"), [(QUESTION, "answered"), (UNKNOWN, "abstained")])
def test_a_question_is_answered_in_sections_with_citations_or_what_is_missing(question: str, status: str):
    value = pack_and_answer(question)[1]
    assert value is not None
    answer = answer_of(value)
    assert answer is not None
    found = tool_reason.reasoned(answer, "c1")
    structured = found.model_dump(mode="json")
    Draft202012Validator(tool_reason.TOOL.output_schema()).validate(structured)
    assert (structured["status"], structured["job_id"], structured["conversation_id"]) == (status, answer.job_id, "c1")
    assert ("citations" in structured) is (status == "answered")
    assert ("missing" in structured) is (status == "abstained")
    assert {each["title"] for each in structured["sections"]} <= set(_titles(answer.text))
    assert tool_reason.TOOL.text(found).startswith(f"{status}\n## ")


def _titles(text: str) -> list[str]:
    return [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
