"""What an operator's page of metrics has: the process itself, and what became of calls and assessments."""

import pytest

from agents.core.caching.budget import SHARES
from agents.core.caching.lru import ByteCache
from deploy.docs.examples import load
from schemas.base import Event
from schemas.topics import ASSESSMENTS_OUT, TOOLS_CALLS_OUT, Topic
from streams.config import Settings
from streams.telemetry import metrics


def counted(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


def event(topic: Topic, name: str) -> Event:
    """The event of a golden example."""
    (found,) = (example for example in load(topics=[topic]) if example.name == name)
    return found.received().event


def test_the_page_has_the_process_itself():
    page = metrics.metrics_page().decode()
    for name in ("process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"):
        assert f"\n{name} " in page


def test_each_cache_tells_its_bytes_and_how_many_it_may_take():
    cache = ByteCache[str, str]("log_lines")
    before = counted("fathom_cache_bytes", cache="log_lines")
    cache.put("a", "x" * 100_000)
    assert counted("fathom_cache_bytes", cache="log_lines") - before > 100_000
    allowed = {name: counted("fathom_cache_allowed_bytes", cache=name) for name in SHARES}
    assert sum(allowed.values()) == Settings().cache_mb << 20


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("resolved-pt", "resolved", ""),
        ("preview-en", "confirmation_required", ""),
        ("refused-en", "error", "ferramenta_desconhecida"),
    ],
)
def test_each_verdict_of_the_gate_is_counted_by_its_status_and_the_code_of_its_error(name: str, status: str, code: str):
    before = counted("fathom_tool_verdicts_total", status=status, code=code)
    metrics.sent(event(TOOLS_CALLS_OUT, name))
    assert counted("fathom_tool_verdicts_total", status=status, code=code) == before + 1


def test_each_assessment_is_counted_by_its_advice_and_by_what_decided():
    labels = {"action": "respond_directly", "classifier": "heuristic"}
    before = counted("fathom_assessments_total", **labels)
    metrics.sent(event(ASSESSMENTS_OUT, "direct-question-pt"))
    assert counted("fathom_assessments_total", **labels) == before + 1
