"""What a process has in hand is read from its journal after it died, and nothing is left when it ends in order."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streams.runtime.crashes.journal import InHand, InHandJournal, deployment, left_behind, opened
from tests.checkout import ROOT

STAGES, TOPICS = ("depth", "claims"), ("messages.in", "conversation.turns")
DYING = """
import os, signal, sys
from pathlib import Path
from streams.runtime.crashes.journal import opened
journal = opened(Path(sys.argv[1]), "here", ("depth", "claims"), ("messages.in", "conversation.turns")).journal
turns, messages = journal.place("claims", "conversation.turns"), journal.place("depth", "messages.in")
done = journal.begin(turns | 3, 41)
journal.begin(turns | 3, 2**40)
journal.begin(messages | 7, 0)
journal.end(done)
if sys.argv[2] == "alone":
    journal.alone(messages | 7, 0)
print("in hand", flush=True)
if sys.argv[2] == "faulted":
    os.abort()
if sys.argv[2] == "stopped":
    signal.pause()
os.kill(os.getpid(), signal.SIGKILL)
"""


def died(folder: Path, how: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", DYING, str(folder), how], cwd=ROOT, timeout=60, check=False, stdout=subprocess.DEVNULL
    )
    assert ended.returncode == -signal.SIGKILL


@pytest.mark.covers("B13")
@pytest.mark.parametrize("how", ["beside others", "alone"])
def test_what_a_killed_process_had_in_hand_is_there_once(tmp_path: Path, how: str):
    died(tmp_path, how)
    [found] = left_behind(tmp_path, "here")
    message = InHand("depth", "messages.in", 7, 0)
    assert found.in_hand == {message, InHand("claims", "conversation.turns", 3, 2**40)}
    assert found.alone == (message if how == "alone" else None)
    found.keep()
    [again] = left_behind(tmp_path, "here")
    assert again.in_hand == found.in_hand
    again.discard()
    assert list(left_behind(tmp_path, "here")) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("B13")
def test_a_fault_is_told_from_a_kill(tmp_path: Path):
    died(tmp_path, "alone")
    command = [sys.executable, "-c", DYING, str(tmp_path), "faulted"]
    subprocess.run(command, cwd=ROOT, timeout=60, check=False, stdout=subprocess.DEVNULL)
    found = list(left_behind(tmp_path, "here"))
    assert sorted(each.faulted for each in found) == [False, True]
    for each in found:
        each.discard()
    assert list(tmp_path.iterdir()) == []


def test_journals_of_the_living_and_of_other_deployments_are_left_alone(tmp_path: Path):
    living = subprocess.Popen([sys.executable, "-c", DYING, str(tmp_path), "stopped"], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert living.stdout is not None
        assert living.stdout.readline() == b"in hand\n"
        assert list(left_behind(tmp_path, "here")) == []
    finally:
        living.kill()
        living.wait()
    assert list(left_behind(tmp_path, deployment("elsewhere:9092"))) == []
    assert len(list(left_behind(tmp_path, "here"))) == 1


def test_an_end_in_order_leaves_nothing(tmp_path: Path):
    file = opened(tmp_path / "new", "here", STAGES, TOPICS)
    file.journal.begin(file.journal.place("depth", "messages.in"), 5)
    assert list(left_behind(tmp_path / "new", "here")) == []  # ours
    file.close()
    file.close()
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b'{"stages": [], "topics": []}' + b"\0" * 16_356 + b"\1" * 64, b"\xff" * 20_000]
)
def test_a_journal_that_is_none_accuses_nobody(tmp_path: Path, raw: bytes):
    (tmp_path / "here-1-a.journal").write_bytes(raw)
    [found] = left_behind(tmp_path, "here")
    assert (found.in_hand, found.alone) == (frozenset(), None)


def test_more_in_hand_than_there_are_slots_is_no_error():
    journal = InHandJournal.private()
    slots = [journal.begin(1, offset) for offset in range(1_000)]
    assert journal.in_hand == 1_000
    for slot in slots:
        journal.end(slot)
    assert journal.in_hand == 0


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(PermissionError):
        opened(tmp_path / "link", "here", STAGES, TOPICS)
    assert os.listdir(tmp_path / "real") == []


def test_a_record_costs_two_entries_of_a_microsecond_at_most(tmp_path: Path):
    file = opened(tmp_path, "here", STAGES, TOPICS)
    journal, place = file.journal, file.journal.place("depth", "messages.in")
    best = min(_seconds(journal, place) for _ in range(20))
    file.close()
    # Far above what is measured on any machine (a fifth of it): it would notice a system call for each record.
    assert best / 1_000 < 5e-6


def _seconds(journal: InHandJournal, place: int) -> float:
    began = time.process_time()
    for offset in range(1_000):
        journal.end(journal.begin(place | 3, offset))
    return time.process_time() - began
