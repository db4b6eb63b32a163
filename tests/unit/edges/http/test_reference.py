"""The page at `/docs`: every call of the interface, as its document has it, and nothing that runs."""

import html

from streams.edges.http.reference import page_of
from tests.builders.http_server import document

DOCUMENT = document()
PAGE = page_of(DOCUMENT)


def test_every_call_is_there_with_its_parameters_body_and_refusals():
    for path, calls in DOCUMENT["paths"].items():
        for method, call in calls.items():
            assert f"<code>{method.upper()} {html.escape(path)}</code>" in PAGE
            assert html.escape(call["summary"]) in PAGE
            for parameter in call.get("parameters", ()):
                assert f"<code>{html.escape(parameter['name'])}</code>" in PAGE
            for status in call["responses"]:
                assert f"<code>{status}</code>" in PAGE
    assert "<code>conversation_id</code> string, required" in PAGE
    assert "<code>depth_level</code>" not in PAGE  # what an answer holds is in openapi.json


def test_the_page_says_how_to_call_and_what_is_written_in_it_is_text():
    assert "Authorization: Bearer" in PAGE
    assert "<script" not in PAGE
    made = page_of({"info": {"version": "1<b>"}, "paths": {"/x": {"get": {"summary": "<i>", "responses": {}}}}})
    assert "1&lt;b&gt;" in made
    assert "&lt;i&gt;" in made
    assert "<i>" not in made
