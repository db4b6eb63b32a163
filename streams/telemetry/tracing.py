"""Traces of messages in OpenTelemetry: one span for each record that a stage has handled, one for each pack sent.

Ids follow from the log: the trace from the message's `traceparent`, else from its correlation id, a span from its
stage and record, its parent from the record's source and cause. So nothing is written to the log for it, a redelivered
record makes the same span, and what was logged before there was a trace has one, too.

Attributes are those of the semantic conventions for messaging (1.37) and, for packs, of OpenInference. No text of
anybody is in them.
"""

import re
import time
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from schemas.base import derive
from schemas.envelope import SOURCE, Envelope, Outgoing, Received
from schemas.items import ItemBase
from schemas.packs import ContextPack
from schemas.retrieval import JoinTicked
from streams.telemetry.traces import Handled, TracedStage

OWN = f"{SOURCE}:"
TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
# A span holds 128 attributes, and each document takes two.
MAX_DOCUMENTS = 50
PACK = "pack"


class Origin:
    """The trace of a record and the span that made it; `parent` is None where nobody is known to have."""

    __slots__ = ("parent", "remote", "sampled", "state", "trace_id")

    def __init__(self, envelope: Envelope, *, outside: bool) -> None:
        stated = _stated(envelope.traceparent)
        self.sampled = stated is None or bool(stated[2] & TraceFlags.SAMPLED)
        self.state = TraceState.from_header([envelope.tracestate]) if envelope.tracestate else None
        self.remote = outside or not envelope.source.startswith(OWN) or envelope.causation_id is None
        self.trace_id = stated[0] if stated else _number(16, "trace", envelope.tenant, envelope.correlation_id)
        self.parent: int | None
        if self.remote:
            self.parent = stated[1] if stated else None
        else:
            self.parent = span_id(envelope.source.removeprefix(OWN), str(envelope.causation_id))


def _stated(traceparent: str | None) -> tuple[int, int, int] | None:
    """Trace, span and flags of a valid traceparent."""
    found = TRACEPARENT.fullmatch(traceparent or "")
    if found is None:
        return None
    trace_id, span, flags = (int(part, 16) for part in found.groups())
    return (trace_id, span, flags) if trace_id and span else None


def _number(size: int, *parts: str) -> int:
    return int.from_bytes(blake2b("\0".join(parts).encode(errors="replace"), digest_size=size).digest()) or 1


def span_id(stage: str, record_id: str) -> int:
    """The id of the span in which a stage handles a record."""
    return _number(8, "span", stage, record_id)


class NextIds(IdGenerator):
    """A generator of the ids it is told: spans are made one after the other."""

    def __init__(self) -> None:
        self.span, self.trace = 1, 1

    def generate_span_id(self) -> int:
        return self.span

    def generate_trace_id(self) -> int:
        return self.trace

    def is_trace_id_random(self) -> bool:
        return False


class StageTracer:
    """Makes the spans of stages with a tracer of the SDK, whose ids are `ids`."""

    def __init__(self, tracer: trace.Tracer, ids: NextIds) -> None:
        self._tracer = tracer
        self._ids = ids

    def handled(self, what: Handled) -> None:
        """Make the span of a record that a stage has just handled, and those of the packs it sent."""
        stage, received, failed, now = what.stage, what.received, what.failed, time.time_ns()
        if not isinstance(received.event, JoinTicked):  # of no message
            outside = any(topic.outside and topic.name == received.topic for topic in stage.reads)
            self._span(
                f"process {received.topic}",
                SpanKind.CONSUMER,
                Origin(received.envelope, outside=outside),
                span_id(stage.name, received.envelope.id),
                {**_of_record(received, stage), **({"error.type": failed} if failed else {})},
                (now - int(what.seconds * 1e9), now),
                failed,
            )
        for step in what.steps:
            if isinstance(step, Outgoing) and isinstance(step.event, ContextPack):
                self._pack(stage.name, step, step.event, now)

    def _pack(self, stage: str, step: Outgoing, pack: ContextPack, now: int) -> None:
        cause = step.cause
        origin = Origin(cause, outside=False)
        origin.parent, origin.remote = span_id(stage, cause.id), False
        began = int(pack.assembled_at.timestamp() * 1e9) - int(pack.latency_ms * 1e6)
        own = derive(cause.id, stage, step.topic.name, step.discriminator)
        self._span(
            f"send {step.topic.name}",
            SpanKind.PRODUCER,
            origin,
            span_id(PACK, own),
            {**_sending(step, own), **dict(_of_pack(pack))},
            (min(began, now), now),
            None,
        )

    def _span(
        self,
        name: str,
        kind: SpanKind,
        origin: Origin,
        own: int,
        attributes: Mapping[str, str | int | float | bool],
        times: tuple[int, int],
        error: str | None,
    ) -> None:
        self._ids.span, self._ids.trace = own, origin.trace_id
        context = Context()
        if origin.parent is not None:
            flags = TraceFlags(TraceFlags.SAMPLED if origin.sampled else TraceFlags.DEFAULT)
            above = SpanContext(origin.trace_id, origin.parent, origin.remote, flags, origin.state)
            context = trace.set_span_in_context(NonRecordingSpan(above), context)
        span = self._tracer.start_span(name, context, kind, attributes, start_time=times[0])
        if error is not None:
            span.set_status(Status(StatusCode.ERROR, error))
        span.end(times[1])


def _of_record(received: Received[Any], stage: TracedStage) -> dict[str, str | int]:
    return {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": received.topic,
        "messaging.destination.partition.id": str(received.partition),
        "messaging.consumer.group.name": stage.consumer_group,
        "messaging.kafka.offset": received.offset,
        "messaging.message.id": received.envelope.id,
        "fathom.stage": stage.name,
        "messaging.message.conversation_id": received.envelope.correlation_id,
    }


def _sending(step: Outgoing, own: str) -> dict[str, str | int]:
    return {
        "messaging.system": "kafka",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": step.topic.name,
        "messaging.message.id": own,
        "messaging.message.conversation_id": step.cause.correlation_id,
    }


def _of_pack(pack: ContextPack) -> Iterator[tuple[str, str | int | float | bool]]:
    yield "openinference.span.kind", "RETRIEVER"
    yield "session.id", pack.conversation_id
    yield "fathom.pack.id", pack.pack_id
    yield "fathom.pack.revision", pack.revision
    yield "fathom.depth", pack.depth_level.value
    yield "fathom.tokens", pack.total_tokens_estimated
    yield "fathom.degraded", pack.degraded
    for number, item in zip(range(MAX_DOCUMENTS), _items(pack), strict=False):
        yield f"retrieval.documents.{number}.document.id", item.id
        yield f"retrieval.documents.{number}.document.score", item.score


def _items(pack: ContextPack) -> Iterator[ItemBase]:
    for section in (pack.semantic, pack.episodic, pack.claims, pack.procedural, pack.working_set):
        for _, value in section or ():
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, ItemBase):
                    yield item
