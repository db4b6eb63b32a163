"""A pack explained: every item with source and reason, and everything that is not in it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from streams.edges.mcp import tool_search
from streams.edges.mcp.explaining import explain
from streams.testing.pipeline import Pipeline
from tests.builders.mcp_client import call


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def test_every_item_of_a_pack_is_named_with_its_source_and_reason(fathom: Pipeline):
    fathom.say("O prazo do projeto X é dia 15.", role="assistant")
    pack = fathom.ask("Não, o prazo do projeto X mudou para dia 20.")
    found = explain(pack)
    names = [section.name for section in found.sections]
    assert names == ["working_set", "persona", "episodic", "semantic", "claims"]
    by_name = {section.name: section for section in found.sections}
    texts = [item.text for item in by_name["working_set"].items]
    assert "assistant: O prazo do projeto X é dia 15." in texts
    assert pack.claims is not None
    claims = pack.claims
    held = {item.id for item in (*claims.user_claims, *claims.system_claims, *claims.contradictions)}
    assert {item.id for item in by_name["claims"].items} == held
    for section in found.sections:
        assert section.tokens == sum(item.tokens for item in section.items)
        assert all(item.reason for item in section.items)
    assert all("[" in item.source for item in by_name["working_set"].items)
    assert (found.parts, found.dropped, found.signals) == (pack.parts, pack.dropped, pack.signals)
    assert (found.max_tokens, found.total_tokens) == (pack.max_tokens, pack.total_tokens_estimated)


def test_a_long_text_is_shown_by_its_beginning(fathom: Pipeline):
    fathom.say("O orçamento é de R$ 40 mil. " + "Detalhe do orçamento. " * 60)
    found = explain(fathom.ask("Explica melhor o orçamento."))
    assert max(len(item.text) for section in found.sections for item in section.items) == 80


@pytest.mark.parametrize("console", ["http://127.0.0.1:8088/console", None])
def test_an_answer_about_a_message_links_to_the_page_that_explains_it(fathom: Pipeline, console: str | None):
    pack = fathom.ask("What is the warranty?")

    async def answer(asked: Any, _: Any) -> Any:
        return tool_search.searched(pack)

    result = call(
        "search_context", {"query": "x"}, tools=[replace(tool_search.TOOL, answer=answer)], console=lambda: console
    )
    wanted = None if console is None else f"{console}#/message/{pack.message_id}"
    assert result.meta.get("explain_url") == wanted
    assert "message_id" not in result.structured_content
    assert "explain_url" not in call("assess_context_needs", {"query": "x"}, console=lambda: console).meta
