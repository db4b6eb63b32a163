"""The hash chain over the audit topics: whatever is done to a sealed log afterwards is found, and where."""

import os
from dataclasses import replace
from datetime import timedelta

import pytest

from streams.audit.chain import Partition
from tests import counters
from tests.builders.sealed_log import AT, HEADS, YEAR, SealedLog, sealed, tampered

# `make proofs PART=rules SIZE=full` makes a thousand.
CHANGES = int(os.environ.get("FATHOM_TEST_CHANGES", "50"))
DECISIONS = Partition("memory.decisions", 0)


@pytest.mark.covers("B25")
def test_every_random_change_of_a_sealed_log_is_found() -> None:
    clean = sealed(1)
    assert clean.breaks() == []
    seen, missed = set(), []
    for seed in range(CHANGES):
        name, where, log = tampered(seed, clean)
        missed += [] if log.breaks() else [f"{name} in {where}, seed {seed}"]
        seen.add(name)
    counters.record("B25", "a sealed log", {"changes": CHANGES}, {"missed": len(missed)})
    assert missed == []
    assert len(seen) == 5


def log_of(count: int = 30, every: int = 10) -> SealedLog:
    log = SealedLog()
    for number in range(count):
        log.append(DECISIONS, f"decision {number}".encode())
        if number % every == every - 1:
            log.seal()
    return log


@pytest.mark.covers("B25")
def test_the_first_place_that_differs_is_named() -> None:
    log = log_of()
    log.records[DECISIONS][17] = replace(log.records[DECISIONS][17], value=b"another")
    [found] = log.breaks()
    assert str(found) == "memory.decisions[0]@17: it was changed, moved, or another stands in its place"
    log = log_of()
    del log.records[DECISIONS][12:14]
    [found] = log.breaks()
    assert str(found) == "memory.decisions[0]@12: a record was removed before it"
    log = log_of()
    del log.records[DECISIONS][25:]
    [found] = log.breaks()
    assert str(found) == "memory.decisions[0]@25: 5 sealed records are gone: the log was cut off"


@pytest.mark.covers("B25")
def test_heads_that_are_cut_off_or_made_anew_are_found_by_a_head_kept_elsewhere() -> None:
    log = log_of()
    del log.records[HEADS][2:], log.records[DECISIONS][20:]
    assert log.breaks(anchored=False) == []
    [found] = log.breaks()
    assert "the anchored head 3 is not there, the newest one is number 2" in str(found)
    again = SealedLog(anchor=log.anchor)
    for record in log_of().records[DECISIONS]:
        again.append(DECISIONS, (record.value or b"").replace(b"decision 3", b"decision X"))
    anchor = again.anchor
    again.seal()
    again.anchor = anchor
    assert again.breaks(anchored=False) == []
    assert [each.topic for each in again.breaks()] == ["audit.heads"]


@pytest.mark.covers("B25")
def test_what_retention_removes_breaks_nothing_and_what_goes_early_does() -> None:
    log, later = log_of(), AT + YEAR + timedelta(days=1)
    for gone in (1, 10, 15, 29):
        kept = log.copy()
        del kept.records[DECISIONS][:gone]
        assert kept.breaks(later) == [], gone
        assert "gone before their time" in str(kept.breaks(AT)[0])
    heads = log.copy()
    del heads.records[HEADS][:2]
    assert heads.breaks(later) == []
    kept = log.copy()
    del kept.records[DECISIONS][:12]
    kept.records[DECISIONS][-1] = replace(kept.records[DECISIONS][-1], key=b"beta|1")
    assert [each.offset for each in kept.breaks(later)] == [29]


@pytest.mark.covers("B25")
def test_records_that_are_appended_break_nothing_and_a_forgotten_conversation_neither() -> None:
    log = log_of()
    log.append(DECISIONS, b'{"kind":"erasure"}')
    assert log.breaks() == []
    log.seal()
    log.append(DECISIONS, b"not sealed yet")
    assert log.breaks() == []


@pytest.mark.covers("B25")
def test_two_sealers_at_once_break_nothing() -> None:
    log = log_of()
    log.append(DECISIONS, b"one more")
    other = log.copy()
    log.seal()
    log.append(DECISIONS, b"another")
    other.append(DECISIONS, b"another")
    other.seal()
    [*_, late] = other.records[HEADS]
    log.records[HEADS].append(replace(late, offset=log.records[HEADS][-1].offset + 1))
    assert log.breaks(anchored=False) == []
    log.append(DECISIONS, b"a third")
    log.seal()
    assert log.breaks() == []
    log.records[DECISIONS][-2] = replace(log.records[DECISIONS][-2], value=b"changed")
    assert log.breaks() != []
