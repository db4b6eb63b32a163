"""Traces of deep answers."""

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from deploy.docs.examples import load
from schemas.topics import ASSESSMENTS_IN, TOOLS_CALLS_IN
from streams.testing.pipeline import Pipeline
from tests.builders.deep_answers import LAW, QUESTION
from tests.unit.scenarios.test_traces import by_trace, exported, strangers  # noqa: F401


def test_a_deep_answer_and_a_tool_call_have_whole_traces_too(exported: InMemorySpanExporter):  # noqa: F811
    with Pipeline(rag_enable_cograg=True, rag_cograg_verification_enabled=True) as fathom:
        fathom.document("clt", "CLT", LAW)
        fathom.ask(QUESTION)
        for example in load(topics=[TOOLS_CALLS_IN, ASSESSMENTS_IN]):
            fathom.publish(example.topic, example.raw, example.headers, example.key.encode())
    spans = exported.get_finished_spans()
    assert strangers(spans) == []
    names = {span.name for span in spans}
    assert {"process cognition.steps", "process tools.calls.in", "process assessments.in"} <= names
    [trace] = [own for own in by_trace(spans).values() if "process messages.in" in {span.name for span in own}]
    assert "process cognition.steps" in {span.name for span in trace}
