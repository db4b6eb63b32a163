"""Logs and metrics: each metric is defined once, here, in `event_metrics` or `registry`; one log line per record.

Labels have few values by construction: never a tenant, user, conversation or free text.
"""

import logging
import sys
import time
from datetime import UTC, datetime
from typing import IO

import orjson
from prometheus_client import Counter, Gauge, Histogram, generate_latest

from schemas.assessment import AssessmentMade
from schemas.base import Event
from schemas.cognition import CognitionStep, CognitiveState, Node
from schemas.depth import DepthClassified
from schemas.memory import AuditDecision
from schemas.packs import ContextPack
from schemas.retrieval import PackInputs, PartFound, PartsFound
from schemas.tools import ToolCallResolved
from streams.telemetry import event_metrics, registry
from streams.telemetry.repeat_filter import RepeatFilter

REGISTRY, _SECONDS = registry.REGISTRY, registry.SECONDS

PROCESS = Histogram(
    "fathom_process_duration_seconds",
    "From a record's delivery to its acknowledgement",
    ("stage", "outcome"),
    buckets=_SECONDS,
    registry=REGISTRY,
)
DEAD_LETTERS = Counter(
    "fathom_dead_letters_total", "Records sent to a dead-letter topic", ("stage", "reason"), registry=REGISTRY
)
ERASED = Counter(
    "fathom_erased_records_total", "Records read whose content was erased with a person's key", ("stage",),
    registry=REGISTRY,
)  # fmt: skip
RETRIES = Counter(
    "fathom_retries_total", "Attempts that met an unavailable store", ("stage", "what"), registry=REGISTRY
)
DEPTH = Counter("fathom_depth_total", "Classified messages", ("level", "classifier"), registry=REGISTRY)
CLASSIFY = Histogram(
    "fathom_classify_duration_seconds",
    "From a turn read to its depth decided",
    buckets=_SECONDS,
    registry=REGISTRY,
)
PACK = Histogram(
    "fathom_pack_duration_seconds",
    "From a message accepted to its pack assembled",
    ("level",),
    buckets=_SECONDS,
    registry=REGISTRY,
)
PACK_TOKENS = Histogram(
    "fathom_pack_tokens",
    "Tokens of a pack, metadata included",
    ("level",),
    buckets=(50, 100, 200, 500, 1000, 1500, 2000, 2500, 3000, 4000),
    registry=REGISTRY,
)
PARTS = Counter("fathom_parts_total", "Answers of the memory classes", ("memory_class", "status"), registry=REGISTRY)
DEGRADED = Counter(
    "fathom_packs_degraded_total", "Packs that went out with a section missing", ("reason",), registry=REGISTRY
)
OVERLOAD = Counter(
    "fathom_overload_messages_total",
    "Messages classified while more came than could be handled",
    ("level",),
    registry=REGISTRY,
)
REFUSED = Counter(
    "fathom_records_refused_total",
    "Records of producers that are no event, or one that is refused; the log names their tenants",
    ("stage",),
    registry=REGISTRY,
)
COGNITION_JOBS = Counter(
    "fathom_cognition_jobs_total",
    "Finished jobs of cognition: answered, partial, abstained, evidence (nothing to be answered), fallback (one hop), "
    "failed (a dead letter)",
    ("outcome",),
    registry=REGISTRY,
)
COGNITION_SOURCES = Counter(
    "fathom_cognition_sources_total",
    "What the sources answered to sub-questions: ok, empty, timeout, error",
    ("source", "status"),
    registry=REGISTRY,
)
COGNITION_ROUNDS = Counter("fathom_cognition_rounds_total", "Rounds that the verifier sent back", registry=REGISTRY)
COGNITION_CHECKS = Counter(
    "fathom_cognition_failed_checks_total",
    "Claims of finished jobs that failed a check, by its number",
    ("check",),
    registry=REGISTRY,
)
LATE_PARTS = Counter("fathom_late_parts_total", "Parts that came after their pack", registry=REGISTRY)
IN_FLIGHT = Gauge("fathom_records_in_flight", "Records being handled", ("group",), registry=REGISTRY)
SUSPECTED = Gauge(
    "fathom_suspected_partitions",
    "Partitions whose records are set apart, after deaths at one place",
    ("group",),
    registry=REGISTRY,
)
HELD = Gauge("fathom_records_held", "Inputs held by open joins", ("stage",), registry=REGISTRY)
LAG = Gauge("fathom_consumer_lag_records", "Records of the log not yet read", ("group", "topic"), registry=REGISTRY)
LAG_STATUS = Gauge(
    "fathom_consumer_lag_status",
    "How a group keeps up: 0 OK, 1 WARN, 2 ERROR, for the worst of its partitions here",
    ("group",),
    registry=REGISTRY,
)
UNCOMMITTED = Gauge(
    "fathom_uncommitted_records", "Records delivered and not yet committed", ("group",), registry=REGISTRY
)
OLDEST_HELD = Gauge(
    "fathom_oldest_held_seconds", "Age of the oldest record that holds a commit", ("group",), registry=REGISTRY
)
LOOP_LAG = Gauge("fathom_loop_lag_seconds", "How late the event loop woke up, last measured", registry=REGISTRY)
RESTORED = Counter(
    "fathom_working_set_restored_total", "Partitions of the working set made again from the log", registry=REGISTRY
)
RESTORED_TURNS = Counter(
    "fathom_working_set_restored_turns_total", "Turns that the working set lacked and the log had", registry=REGISTRY
)
RESTORE_SECONDS = Histogram(
    "fathom_working_set_restore_duration_seconds",
    "From the working set found incomplete to its being whole",
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60),
    registry=REGISTRY,
)
ASKED = Histogram(
    "fathom_ask_duration_seconds",
    "From a question over HTTP to its answer, by HTTP status",
    ("status",),
    buckets=_SECONDS,
    registry=REGISTRY,
)
ASK_WAITING = Gauge("fathom_ask_waiting", "Questions over HTTP that wait for their answers", registry=REGISTRY)
LLM_CALLS = Counter(
    "fathom_llm_calls_total",
    "What was asked of a language model: answered, failed, late (nobody waited any more), skipped (it kept failing)",
    ("purpose", "outcome"),
    registry=REGISTRY,
)
LLM_SECONDS = Histogram(
    "fathom_llm_call_duration_seconds",
    "From a language model asked to its answer, its failure or the end of patience",
    ("purpose",),
    buckets=_SECONDS,
    registry=REGISTRY,
)
STORE_UP = Gauge(
    "fathom_store_up",
    "Whether a store, the broker, or the disk of the data directory answered at the last check",
    ("store",),
    registry=REGISTRY,
)
STORE_SECONDS = Histogram(
    "fathom_store_check_duration_seconds",
    "How long a store, the broker or the disk took to answer a check, or to miss it",
    ("store",),
    buckets=_SECONDS,
    registry=REGISTRY,
)
DISK_FREE = Gauge("fathom_disk_free_bytes", "Free bytes on the disk of the data directory", registry=REGISTRY)
READY = Gauge("fathom_ready", "Whether /health/ready is 200, at the moment of the scrape", registry=REGISTRY)
VERDICTS = Counter(
    "fathom_tool_verdicts_total",
    "Verdicts of the tool gate: resolved, confirmation_required, error with its code",
    ("status", "code"),
    registry=REGISTRY,
)
ASSESSMENTS = Counter(
    "fathom_assessments_total",
    "Assessments on assessments.out, by the action they recommend and by what decided",
    ("action", "classifier"),
    registry=REGISTRY,
)
BUILD = Gauge("fathom_build_info", "Version of the running code", ("version",), registry=REGISTRY)

CANARY_SECONDS = Histogram(
    "fathom_canary_roundtrip_seconds",
    "From a question of our own sent to its pack read, every FATHOM_CANARY_EVERY_S",
    buckets=_SECONDS,
    registry=REGISTRY,
)
CANARY_LOST = Counter(
    "fathom_canary_lost_total", "Questions of our own without a pack in 20 seconds", registry=REGISTRY
)
CANARY_LEFT = Counter(
    "fathom_canary_left_total", "Questions of our own that were not erased in 30 seconds", registry=REGISTRY
)

CALLS_REFUSED = Counter(
    "fathom_calls_refused_total",
    "Calls over HTTP that were refused: without a known token (401), for this token, origin or host (403), as one of"
    " too many (429), or because it would not be answered in time (503)",
    ("status",),
    registry=REGISTRY,
)

RECORDS = logging.getLogger("fathom.record")


def sent(event: Event) -> None:
    """Update the metrics of an event that the broker has acknowledged."""
    event_metrics.count(event)
    match event:
        case DepthClassified():
            DEPTH.labels(event.depth_level.value, event.classifier).inc()
            CLASSIFY.observe(event.latency_ms / 1000)
            if event.overload:
                OVERLOAD.labels(event.depth_level.value).inc()
        case PartFound():
            PARTS.labels(event.memory_class.value, event.status.value).inc()
        case PartsFound() | PackInputs():
            for part in event.parts:
                PARTS.labels(part.memory_class.value, part.status.value).inc()
        case ContextPack(revision=1):  # later revisions have no waiting reader
            PACK.labels(event.depth_level.value).observe(event.latency_ms / 1000)
            PACK_TOKENS.labels(event.depth_level.value).observe(event.total_tokens_estimated)
            for section in event.missing_sections:
                DEGRADED.labels(section).inc()
        case AuditDecision(kind="late-part"):
            LATE_PARTS.inc()
        case ToolCallResolved():
            VERDICTS.labels(event.status, event.error_code or "").inc()
        case AssessmentMade():
            ASSESSMENTS.labels(event.recommended_action, event.classifier).inc()
        case CognitionStep(next=Node.END):
            _job_ended(event.state, failed=event.failed is not None)


def _job_ended(state: CognitiveState, *, failed: bool) -> None:
    COGNITION_JOBS.labels("failed" if failed else "fallback" if state.fallback else _outcome(state)).inc()
    for source in state.sources:
        COGNITION_SOURCES.labels(source.source, source.status).inc()
    COGNITION_ROUNDS.inc(state.rethink_count)
    for claim in (claim for each in state.verifications.values() for claim in each.claims):
        for check in claim.checks:
            if check.verdict == "fail":
                COGNITION_CHECKS.labels(str(check.number)).inc()


def _outcome(state: CognitiveState) -> str:
    if not state.flags.verification:
        return "evidence"
    if state.verification_status == "abstain":
        return "abstained"
    return "partial" if state.abstain_info else "answered"


def metrics_page() -> bytes:
    """All metrics in the Prometheus text format."""
    return generate_latest(REGISTRY)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            **_event(record),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def _event(record: logging.LogRecord) -> dict[str, str]:
    """Our events are constants; a library's sentence is a field, since it may hold anything."""
    if record.name.split(".")[0] == "fathom":
        return {"event": record.getMessage()}
    return {"event": "library", "logger": record.name, "message": record.getMessage()}


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        fields = " ".join(f"{name}={value}" for name, value in getattr(record, "fields", {}).items())
        line = f"{clock} {record.levelname.lower():<7} {record.getMessage()}{' ' if fields else ''}{fields}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up_logging(level: str, form: str, stream: IO[str] | None = None) -> None:
    """Logs on stderr: JSON lines, or plain text on a terminal (`form`: auto, json, text)."""
    out = stream or sys.stderr
    handler = logging.StreamHandler(out)
    text = form == "text" or (form == "auto" and out.isatty())
    handler.setFormatter(_Text() if text else _Json())
    handler.addFilter(RepeatFilter("fathom"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fathom").setLevel(level.upper())


def refused(status: int) -> None:
    """Count a call that was refused for who makes it, or how often."""
    if status in (401, 403, 429):
        CALLS_REFUSED.labels(str(status)).inc()


def log(logger: logging.Logger, level: int, event: str, **fields: object) -> None:
    """Log an event with its fields; builds nothing when the level is off."""
    if logger.isEnabledFor(level):
        logger.log(level, event, extra={"fields": fields})


def record_processed(
    *,
    stage: str,
    topic: str,
    partition: int,
    offset: int,
    key: str,
    event_type: str,
    correlation_id: str,
    outcome: str,
    attempts: int,
    seconds: float,
    reason: str | None = None,
) -> None:
    """The canonical line of one record."""
    level = logging.DEBUG if outcome == "ok" else logging.WARNING
    if not RECORDS.isEnabledFor(level):
        return
    fields = {
        "stage": stage,
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "key": key,
        "event_type": event_type,
        "correlation_id": correlation_id,
        "outcome": outcome,
        "attempts": attempts,
        "duration_s": round(seconds, 6),
    }
    if reason is not None:
        fields["reason"] = reason
    RECORDS.log(level, "record.processed", extra={"fields": fields})
