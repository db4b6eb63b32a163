"""The tiers of tests: every test runs in one, none that runs on every change needs a proof, and the table is true."""

import math
import re
from pathlib import Path
from threading import Barrier

import pytest

from deploy.docs import examples
from schemas.topics import MESSAGES_IN, Topic
from tests import counters, run
from tests.checkout import ROOT
from tests.proofs import decodes, soak
from tests.proofs.parts import PROOFS
from tests.proofs.run import added, next_seed, read, standing, status, write
from tests.requirements.coverage import PROOF_OF
from tests.rooms import is_left_out
from tests.steps import Run, Step, Verdict

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
TESTS = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
RESULT = {"part": "chaos", "size": "small", "passed": True, "seconds": 7, "day": "2026-01-02", "changed": False}


def paths(arguments: tuple[str, ...]) -> list[Path]:
    return [Path(each) for each in arguments if each.startswith("tests/")]


def test_every_test_file_runs_in_a_tier():
    daily = [path for part in (run.UNIT, *run.PARTS.values()) for path in paths(part.arguments)]
    long = [path for proof in PROOFS.values() for step in proof.small for path in paths(step.command)]
    lost = [path for path in TESTS if not any(path.is_relative_to(each) for each in (*daily, *long))]
    assert lost == []
    assert [path for path in daily if path.is_relative_to("tests/proofs")] == []


def test_what_runs_on_every_change_imports_no_proof():
    pattern = re.compile(r"^\s*(?:from|import) tests\.proofs", re.MULTILINE)
    daily = [path for path in (ROOT / "tests").rglob("*.py") if not path.is_relative_to(ROOT / "tests/proofs")]
    assert [path for path in daily if pattern.search(path.read_text()) and path != Path(__file__)] == []


def test_every_part_is_in_order_or_beside():
    assert sorted((*run.IN_ORDER, *run.BESIDE)) == sorted(run.PARTS)


def test_as_many_parts_run_at_once_as_there_are_lanes_and_those_in_order_one_by_one(monkeypatch: pytest.MonkeyPatch):
    all_run, order = Barrier(run.LANES), []

    def step(self: Run, each: Step) -> None:
        order.append(each.name)
        self.verdicts.append(Verdict(each.name, True, 0, 0))
        if each.name != "second":
            all_run.wait(10)

    monkeypatch.setattr(Run, "step", step)
    going = Run(lambda _: None)
    beside = [Step(f"beside {number}", ()) for number in range(run.LANES - 1)]
    run.side_by_side(going, [Step("first", ()), Step("second", ())], beside, run.LANES)
    assert order.index("first") < order.index("second") == run.LANES
    assert sorted(each.name for each in going.verdicts) == sorted(order)


def test_contributing_names_each_proof_with_the_folders_that_ask_for_it():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", CONTRIBUTING, re.MULTILINE))
    assert {name: re.findall(r"`([^`]+)`", about) for name, about in rows.items()} == {
        name: list(proof.about) for name, proof in PROOFS.items()
    }


def test_what_proofs_are_about_is_there():
    assert [
        each for proof in PROOFS.values() for each in proof.about if not (is_left_out(each) or (ROOT / each).exists())
    ] == []
    assert set(PROOF_OF.values()) <= PROOFS.keys()


def test_the_newest_result_of_a_part_and_size_is_kept(tmp_path: Path):
    file = tmp_path / "results.jsonl"
    for result in (RESULT, {**RESULT, "size": "full"}, {**RESULT, "passed": False}):
        write(result, file)
    assert [each["passed"] for each in read(file).values()] == [True, False]
    assert len(file.read_text().splitlines()) == 2


def counted(messages: int, lost: int, seed: int, workload: str = "Apache Kafka") -> counters.Entry:
    ran, measured = {"messages": messages}, {"duplicate records": 2, "stop s": seed / 2}
    whole = {"rows": ["B1"], "workload": workload, "ran": ran, "faults": {"lost": lost}, "measured": measured}
    return {**whole, "seeds": [seed]}


def test_slices_of_a_release_add_up_and_what_one_of_them_lost_stays():
    line = {**RESULT, "size": "release", "tests": {"passed": 1}, "commit": "a"}
    first = added(None, {**line, "passed": False, "counters": [counted(1_500, 1, 1)]})
    second = added(first, {**line, "commit": "b", "counters": [counted(20_000, 0, 2), counted(7, 0, 2, "embedded")]})
    assert (second["passed"], second["seconds"], second["tests"], second["commit"]) == (False, 14, {"passed": 2}, "b")
    kafka, embedded = second["counters"]
    assert (kafka["ran"], kafka["faults"], kafka["seeds"]) == ({"messages": 21_500}, {"lost": 1}, [1, 2])
    assert kafka["measured"] == {"duplicate records": 4, "stop s": 1.0}
    assert kafka["commits"] == {"a": 1_500, "b": 20_000}
    assert (embedded["ran"], embedded["commits"]) == ({"messages": 7}, {"b": 7})
    assert (next_seed(None), next_seed(second)) == (1, 3)


def test_a_part_without_slices_has_none():
    assert [name for name, proof in PROOFS.items() if proof.release] == ["chaos", "decodes", "soak"]
    [step] = PROOFS["decodes"].steps("release", 2.5, 7)
    assert step.command[-4:] == ("--minutes", "2.5", "--seed", "7")
    assert PROOFS["rules"].steps("release", 2.5, 7) == ()


def test_what_is_counted_reaches_the_file_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "counters.jsonl"
    monkeypatch.delenv(counters.FILE, raising=False)
    counters.record("B1", "nobody asks", {"messages": 1}, {"lost": 0})
    assert counters.gathered(file) == []
    monkeypatch.setenv(counters.FILE, str(file))
    for lost in (0, 1):
        counters.record("B1 B2", "Redis", {"messages": 5}, {"lost": lost}, {"s": 1.5 - lost, "never": math.inf}, [3])
    [entry] = counters.gathered(file)
    assert entry == {
        "rows": ["B1", "B2"], "workload": "Redis", "ran": {"messages": 10}, "faults": {"lost": 1},
        "measured": {"s": 1.5}, "seeds": [3],
    }  # fmt: skip


def test_a_decode_that_crashes_or_hangs_is_counted(monkeypatch: pytest.MonkeyPatch):
    def decode(topic: Topic, raw: bytes, headers: list[tuple[str, bytes]]) -> bool:
        raise RuntimeError("a crash")

    inputs = decodes.Inputs(MESSAGES_IN, examples.load(topics=[MESSAGES_IN]))
    assert decodes.batch(MESSAGES_IN, inputs, 20, 1).keys() == {"events", "refused"}
    monkeypatch.setattr(decodes, "event_or_reason", decode)
    monkeypatch.setattr(decodes, "HANG_S", -1.0)
    found = decodes.batch(MESSAGES_IN, inputs, 20, 1)
    assert (found["crash"], found["hang"]) == (40, 40)


def test_a_leak_is_seen_behind_what_a_new_process_takes():
    grows, flat = soak.Looks(), soak.Looks()
    for second in range(0, 3_600, 30):
        new = 500 * max(300 - second, 0)
        for looks, a_second in ((grows, 10), (flat, 0)):
            looks.at.append(second)
            looks.resident.append(1_000_000 + new + a_second * second)
            looks.handles.append(100 + second // 600 * (a_second > 0))
    assert flat.growth() == {"grown kB": 0, "kB hours": 908_333, "files grown": 0}
    assert grows.growth()["grown kB"] == 10 * 3_270
    assert grows.growth()["files grown"] in (5, 6)
    assert soak.Looks([0.0], [1.0], [1.0]).growth() == {}


def test_a_result_says_whether_the_code_has_changed_since(monkeypatch: pytest.MonkeyPatch):
    chaos = PROOFS["chaos"]
    commits = {"old": "3", "new": "0"}
    monkeypatch.setattr("tests.proofs.run.git", lambda *words: commits[words[2].partition("..")[0]])
    assert standing(chaos, None) == "never run"
    assert standing(chaos, {**RESULT, "commit": "old"}) == "older than its code by 3 commits"
    assert standing(chaos, {**RESULT, "commit": "new"}) == "current"
    assert standing(chaos, {**RESULT, "commit": "new", "changed": True}) == "passed on changes that were not committed"
    assert standing(chaos, {**RESULT, "commit": "new", "passed": False}) == "FAILED"
    lines = status({("chaos", "small"): {**RESULT, "commit": "new"}})
    [line] = [each for each in lines if each.split()[:2] == ["chaos", "small"]]
    assert line.split()[2:] == ["current", "2026-01-02", "new", "7", "s"]
