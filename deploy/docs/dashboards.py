"""Two Grafana dashboards: what an operator watches, and what an analyst asks of packs and memory."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

WIDTH, HEIGHT, ACROSS = 8, 8, 3
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
PER_S, SECONDS, SHARE, PLAIN, BYTES = "reqps", "s", "percentunit", "short", "bytes"


class Panel(NamedTuple):
    """A chart: its title, its unit, and the queries in it with how each series is named."""

    title: str
    unit: str
    queries: Sequence[tuple[str, str]]
    kind: str = "timeseries"


def _rate(metric: str, *by: str) -> tuple[str, str]:
    """So many a second, by labels."""
    groups = f" by ({', '.join(by)}) " if by else ""
    return f"sum{groups}(rate({metric}[$__rate_interval]))", " ".join("{{" + label + "}}" for label in by) or metric


def _quantiles(metric: str, by: str = "", quantiles: Sequence[float] = (0.5, 0.95, 0.99)) -> list[tuple[str, str]]:
    groups, name = (f"le, {by}", "{{" + by + "}} ") if by else ("le", "")
    rates = f"sum by ({groups}) (rate({metric}_bucket[$__rate_interval]))"
    return [(f"histogram_quantile({each}, {rates})", f"{name}p{100 * each:g}") for each in quantiles]


def _p95(metric: str, by: str) -> list[tuple[str, str]]:
    return _quantiles(metric, by, (0.95,))


def _median(metric: str, by: str) -> list[tuple[str, str]]:
    return _quantiles(metric, by, (0.5,))


def _share(metric: str, matcher: str) -> str:
    """The share of those with a label's value among all."""
    return f"sum(rate({metric}{{{matcher}}}[$__rate_interval])) / sum(rate({metric}[$__rate_interval]))"


LAG = "fathom_consumer_lag"
LACKING = "1 - " + _share("fathom_packs_total", 'degraded="false"')
LATE = "1 - " + _share("fathom_packs_total", 'settled_by="complete"')
HELPED = _share("fathom_pack_evidence_total", 'evidence="found"')
OPERATOR = (
    Panel("Ready", PLAIN, [("fathom_ready", "{{instance}}")], "stat"),
    Panel("Stores, broker and disk", PLAIN, [("min by (store) (fathom_store_up)", "{{store}}")], "stat"),
    Panel("Groups: 0 OK, 1 WARN, 2 ERROR", PLAIN, [(f"max by (group) ({LAG}_status)", "{{group}}")], "stat"),
    Panel("Messages and packs", PER_S, [_rate("fathom_depth_total"), _rate("fathom_packs_total")]),
    Panel("Latency of packs", SECONDS, _quantiles("fathom_pack_duration_seconds")),
    Panel("Packs that lack something", SHARE, [(LACKING, "without a section"), (LATE, "at their deadline")]),
    Panel("Records not yet read", PLAIN, [(f"sum by (group) ({LAG}_records)", "{{group}}")]),
    Panel("Oldest record that holds a commit", SECONDS, [("max by (group) (fathom_oldest_held_seconds)", "{{group}}")]),
    Panel("Records in progress", PLAIN, [("sum by (group) (fathom_records_in_flight)", "{{group}}")]),
    Panel("Latency of stages, p95", SECONDS, _p95("fathom_process_duration_seconds", "stage")),
    Panel("Latency of memory classes, p95", SECONDS, _p95("fathom_part_duration_seconds", "memory_class")),
    Panel("Latency of classification", SECONDS, _quantiles("fathom_classify_duration_seconds")),
    Panel("Answers of memory classes", PER_S, [_rate("fathom_parts_total", "memory_class", "status")]),
    Panel("Dead letters", PER_S, [_rate("fathom_dead_letters_total", "stage", "reason")]),
    Panel("Refused records of producers", PER_S, [_rate("fathom_records_refused_total", "stage")]),
    Panel("Messages in an overload", PER_S, [_rate("fathom_overload_messages_total", "level")]),
    Panel("Attempts that met an unavailable store", PER_S, [_rate("fathom_retries_total", "what")]),
    Panel("Checks of stores, p90", SECONDS, _quantiles("fathom_store_check_duration_seconds", "store", (0.9,))),
    Panel("Answers over HTTP, p95", SECONDS, _p95("fathom_ask_duration_seconds", "status")),
    Panel("Starts in an hour", PLAIN, [("changes(process_start_time_seconds[1h])", "{{instance}}")]),
    Panel("Canaries: from question to pack", SECONDS, _quantiles("fathom_canary_roundtrip_seconds")),
    Panel("Canaries without a pack", PER_S, [_rate("fathom_canary_lost_total"), _rate("fathom_canary_left_total")]),
    Panel("Event loop: how late", SECONDS, [("fathom_loop_lag_seconds", "{{instance}}")]),
    Panel("CPU", PLAIN, [("rate(process_cpu_seconds_total[$__rate_interval])", "{{instance}}")]),
    Panel("Memory", BYTES, [("process_resident_memory_bytes", "{{instance}}")]),
    Panel("Open files", PLAIN, [("process_open_fds", "{{instance}}")]),
    Panel("Free disk", BYTES, [("fathom_disk_free_bytes", "{{instance}}")]),
)
ANALYST = (
    Panel("Messages by depth", PER_S, [_rate("fathom_depth_total", "level")]),
    Panel("Signs in messages", PER_S, [_rate("fathom_signals_total", "signal")]),
    Panel("How sure the classifier is, median", SHARE, _median("fathom_depth_confidence_ratio", "level")),
    Panel("Packs with evidence, where memory was searched", SHARE, [(HELPED, "found")]),
    Panel("Items found, by memory class", PER_S, [_rate("fathom_part_hits_total", "memory_class")]),
    Panel("Items left out, and why", PER_S, [_rate("fathom_pack_dropped_items_total", "reason")]),
    Panel("Tokens of packs, by depth, median", PLAIN, _median("fathom_pack_tokens", "level")),
    Panel("Memory classes in packs", PER_S, [_rate("fathom_pack_parts_total", "memory_class", "status")]),
    Panel("Turns", PER_S, [_rate("fathom_turns_total", "role")]),
    Panel("Claims", PER_S, [_rate("fathom_claims_total", "author")]),
    Panel("Contradictions", PER_S, [_rate("fathom_claim_conflicts_total", "kind")]),
    Panel("Corrections", PER_S, [_rate("fathom_corrections_total", "kind")]),
    Panel("Feedback, by rating", PER_S, [_rate("fathom_feedback_total", "rating")]),
    Panel("Verdicts of the tool gate", PER_S, [_rate("fathom_tool_verdicts_total", "status", "code")]),
    Panel("Assessments, by advice", PER_S, [_rate("fathom_assessments_total", "action")]),
    Panel("Deep answers, by outcome", PER_S, [_rate("fathom_cognition_jobs_total", "outcome")]),
    Panel("Sources of deep answers", PER_S, [_rate("fathom_cognition_sources_total", "source", "status")]),
    Panel("Entries that documents added", PER_S, [_rate("fathom_knowledge_entries_total", "kind")]),
    Panel("Audit records", PER_S, [_rate("fathom_audit_records_total", "kind")]),
    Panel("Conversations forgotten", PER_S, [_rate("fathom_erasures_total")]),
    Panel("Asked of the language model", PER_S, [_rate("fathom_llm_calls_total", "purpose", "outcome")]),
)


def documents() -> dict[str, dict[str, object]]:
    """The dashboards by their path."""
    return {
        "deploy/grafana/operator.json": _dashboard("fathom-operator", "Fathom: operation", OPERATOR),
        "deploy/grafana/analyst.json": _dashboard("fathom-analyst", "Fathom: packs and memory", ANALYST),
    }


def _dashboard(uid: str, title: str, panels: Sequence[Panel]) -> dict[str, object]:
    return {
        "uid": uid,
        "title": title,
        "tags": ["fathom"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}]
        },
        "panels": list(_placed(panels)),
    }


def _placed(panels: Sequence[Panel]) -> Iterator[dict[str, object]]:
    """The panels from left to right, row after row."""
    for number, panel in enumerate(panels):
        row, column = divmod(number, ACROSS)
        yield {
            "id": number + 1,
            "title": panel.title,
            "type": panel.kind,
            "datasource": SOURCE,
            "gridPos": {"h": HEIGHT, "w": WIDTH, "x": column * WIDTH, "y": row * HEIGHT},
            "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
            "targets": [
                {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": query, "legendFormat": legend}
                for place, (query, legend) in enumerate(panel.queries)
            ],
        }
