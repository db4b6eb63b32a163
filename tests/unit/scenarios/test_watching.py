"""What the metrics of a process say after a conversation: packs, memory classes, signs, records of what was decided."""

from collections.abc import Callable

import pytest

from streams.telemetry.metrics import REGISTRY, metrics_page
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT
from tests.builders import promql

Counted = Callable[..., float]


@pytest.fixture
def more() -> Counted:
    """By how much the series of a metric that have these labels have grown together since the test began."""

    def total(name: str, **labels: str) -> float:
        return sum(
            sample.value
            for family in REGISTRY.collect()
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    before = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in REGISTRY.collect()
        for sample in family.samples
    }

    def grown(name: str, **labels: str) -> float:
        was = sum(
            value for (known, *own), value in before.items() if known == name and labels.items() <= dict(own).items()
        )
        return total(name, **labels) - was

    return grown


def test_packs_parts_and_decisions_are_counted_by_level_class_and_outcome(more: Counted):
    with Pipeline() as fathom:
        fathom.document("d1", "Contrato", "O prazo do contrato é de três meses porque a obra é pequena.")
        fathom.say("O prazo do contrato é de três meses.", role="assistant")
        pack = fathom.ask("Por que o prazo do contrato é de três meses?")
    assert more("fathom_turns_total", role="user") == more("fathom_turns_total", role="assistant") == 1
    assert more("fathom_packs_total", level=pack.depth_level.value, settled_by="complete", degraded="false") == 1
    assert more("fathom_packs_total") == 1
    for part in pack.parts:
        named = {"memory_class": part.memory_class.value}
        assert more("fathom_pack_parts_total", **named, status=part.status) == 1
        assert more("fathom_part_hits_total", **named) == part.items
        assert more("fathom_part_duration_seconds_count", **named) == 1
    assert more("fathom_part_hits_total") > 0
    assert more("fathom_pack_dropped_items_total") == len(pack.dropped) > 0
    assert more("fathom_audit_records_total", kind="pack") == 1
    assert more("fathom_knowledge_entries_total", kind="chunk") >= 1
    assert more("fathom_events_total", type="context.pack-assembled.v1") == 1
    assert {signal.name for signal in pack.signals} == {
        labels["signal"]
        for name, labels in promql.series_of(metrics_page().decode())
        if name == "fathom_signals_total" and more(name, **labels)
    }


def test_a_pack_that_could_not_wait_is_counted_as_degraded_and_at_its_deadline(more: Counted):
    with Pipeline(stages=[stage for stage in SPLIT if stage.name != "retrieval-semantic"]) as fathom:
        message = fathom.say("Por que o prazo do contrato é de três meses?")
        fathom.wait(60)
        pack = fathom.pack_of(message)
    assert more("fathom_packs_total", settled_by="deadline", degraded="true") == 1
    assert more("fathom_pack_parts_total", memory_class="semantic", status="missing") == 1
    assert pack.degraded


def test_what_is_contested_is_counted(more: Counted):
    with Pipeline() as fathom:
        fathom.say("O prazo do projeto é dia 15.", role="assistant")
        fathom.ask("Não, o prazo do projeto mudou para dia 20.")
    assert more("fathom_claims_total", author="user") >= 1
    assert more("fathom_claim_conflicts_total") >= 1
    assert more("fathom_signals_total", signal="disagreement") >= 1
