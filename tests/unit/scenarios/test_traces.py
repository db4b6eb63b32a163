"""Traces of messages: one for each, whole from what came in to the pack, and nothing of it in the log."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS
from streams.telemetry import traces
from streams.telemetry.tracing import NextIds, StageTracer
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT
from tests.builders.examples import few
from tests.builders.untimed import untimed

MESSAGES = few(200, 40)
TRACE, ABOVE = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAID = ("Qual o email do João Silva?", "O prazo do projeto é dia 20.", "Por que o prazo mudou?", "What did we decide?")


@pytest.fixture
def exported() -> Iterator[InMemorySpanExporter]:
    ids, kept = NextIds(), InMemorySpanExporter()
    provider = TracerProvider(id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    traces.trace_with(StageTracer(provider.get_tracer("fathom"), ids))
    yield kept
    traces.trace_with(None)


def by_trace(spans: Sequence[ReadableSpan]) -> dict[str, list[ReadableSpan]]:
    found = defaultdict(list)
    for span in spans:
        found[f"{span.context.trace_id:032x}"].append(span)
    return dict(found)


def strangers(spans: Sequence[ReadableSpan]) -> list[str]:
    """The spans whose parent is in no trace, and is none that a producer named."""
    known = {(span.context.trace_id, span.context.span_id) for span in spans}
    return [
        f"{span.name} by {span.attributes['fathom.stage']}"
        for span in spans
        if span.parent is not None
        and not (span.parent.is_remote and f"{span.parent.span_id:016x}" == ABOVE)
        and (span.context.trace_id, span.parent.span_id) not in known
    ]


def answered(fathom: Pipeline) -> list[ContextPack]:
    return [each.event for each in fathom.events(CONTEXT_PACKS)]


def talk(fathom: Pipeline, messages: int) -> None:
    for number in range(messages):
        headers = {"traceparent": f"00-{TRACE[:-4]}{number:04x}-{ABOVE}-01"} if number % 2 else {}
        fathom.say(SAID[number % len(SAID)], conversation=f"c{number % 20}", headers=headers)


def test_two_hundred_messages_have_a_whole_trace_each_to_their_pack(exported: InMemorySpanExporter):
    """Two hundred where all cases are tried."""
    with Pipeline() as fathom:
        talk(fathom, MESSAGES)
        packs = {pack.message_id for pack in answered(fathom)}
    spans = exported.get_finished_spans()
    assert strangers(spans) == []
    found = by_trace(spans)
    assert (len(packs), len(found)) == (MESSAGES, MESSAGES)
    assert {trace for trace in found if trace.startswith(TRACE[:-4])} == {
        f"{TRACE[:-4]}{number:04x}" for number in range(1, MESSAGES, 2)
    }
    for spans in found.values():
        names = [span.name for span in spans]
        assert names.count("process messages.in") == names.count("send context-packs.out") == 1
        assert {"process conversation.turns", "process memory.decisions"} <= set(names)
        assert len({span.context.span_id for span in spans}) == len(spans)
        tops = [span for span in spans if span.parent is None or span.parent.is_remote]
        assert [span.name for span in tops] == ["process messages.in"]


def test_a_pack_has_its_items_for_openinference_and_no_text(exported: InMemorySpanExporter):
    with Pipeline() as fathom:
        fathom.document("d1", "Contrato", "O prazo do contrato é de três meses porque a obra é pequena.")
        pack = fathom.ask("Por que o prazo do contrato é de três meses?")
    [span] = [span for span in exported.get_finished_spans() if span.name == "send context-packs.out"]
    said = dict(span.attributes)
    assert (said["openinference.span.kind"], said["session.id"]) == ("RETRIEVER", "c1")
    shown = {said[name]: said[name.replace(".id", ".score")] for name in said if name.endswith(".document.id")}
    assert pack.semantic is not None
    [chunk] = pack.semantic.knowledge_chunks
    assert shown[chunk.id] == chunk.score
    [first] = [span for span in exported.get_finished_spans() if span.name == "process messages.in"]
    assert first.kind == SpanKind.CONSUMER
    assert first.attributes["messaging.system"] == "kafka"
    assert first.attributes["messaging.operation.name"] == first.attributes["messaging.operation.type"] == "process"
    assert first.attributes["messaging.destination.name"] == "messages.in"
    assert first.attributes["messaging.destination.partition.id"] in {"0", "1", "2"}
    assert first.attributes["messaging.consumer.group.name"] == "fathom.depth"
    assert first.attributes["messaging.kafka.offset"] == 0
    assert "prazo" not in str([dict(each.attributes) for each in exported.get_finished_spans()])


def test_a_pack_at_its_deadline_is_in_the_trace_of_its_message(exported: InMemorySpanExporter):
    with Pipeline(stages=[stage for stage in SPLIT if stage.name != "retrieval-semantic"]) as fathom:
        message = fathom.say("Por que o prazo do contrato é de três meses?")
        fathom.wait(60)
        assert fathom.pack_of(message).settled_by == "deadline"
    spans = exported.get_finished_spans()
    assert (strangers(spans), len(by_trace(spans))) == ([], 1)
    assert [span.name for span in spans].count("send context-packs.out") == 1


def test_the_log_is_the_same_with_and_without_traces(exported: InMemorySpanExporter):
    def logged() -> list[tuple[object, ...]]:
        with Pipeline() as fathom:
            talk(fathom, 8)
            records = [record for each in fathom.log.records.values() for record in each]
            return [(r.topic, r.key, untimed(r.value), r.headers) for r in records]

    traced = logged()
    once = {span.context.span_id for span in exported.get_finished_spans()}
    exported.clear()
    assert logged() == traced
    # As after a redelivery: the same records are the same spans.
    assert {span.context.span_id for span in exported.get_finished_spans()} == once
    traces.trace_with(None)
    assert logged() == traced


def test_what_is_not_sampled_is_not_traced_and_what_fails_is_an_error(exported: InMemorySpanExporter):
    with Pipeline() as fathom:
        fathom.say("Bom dia!", headers={"traceparent": f"00-{TRACE}-{ABOVE}-00"})
        assert exported.get_finished_spans() == ()
        fathom.say("Bom dia!", headers={"traceparent": "nonsense", "tier": "none such"})
    [span] = exported.get_finished_spans()
    assert (span.status.status_code, span.attributes["error.type"]) == (StatusCode.ERROR, "unknown_tier")


def test_a_failure_of_tracing_costs_no_record(caplog: pytest.LogCaptureFixture):
    class Broken:
        def handled(self, what: traces.Handled) -> None:
            raise RuntimeError("no collector")

    traces.trace_with(Broken())
    try:
        with Pipeline() as fathom:
            assert fathom.ask("Bom dia!").message_id
    finally:
        traces.trace_with(None)
    assert "stage.untraced" in caplog.messages
