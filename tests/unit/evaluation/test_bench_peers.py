"""What the benchmark beside others makes of its inputs and figures; the measuring itself is its own run."""

import json
import re

from bench import runtime
from bench.evaluation.held_packs import Content
from bench.evaluation.questions import Evidence, Material, PackQuestion, Utterable
from bench.measure import ROOT
from bench.peers import packs, stages, streaming
from bench.peers.__main__ import in_turns
from bench.peers.contestants import Unmeasured
from bench.peers.packs import Play, cost_rows, found_rows, job_of

MATERIAL = Material(
    "kestrel", "d", "en", documents=(("Manual", "It is loud."),), talks=(("1", (Utterable("user", "I like tea."),)),)
)
ASKED = PackQuestion("a", "d", "kestrel", "g", "en", "How loud?", evidence=(Evidence("58 dB"),))
GREETING = PackQuestion("b", "d", "kestrel", "g", "en", "Hello!", turns=(Utterable("user", "Hi"),))


def test_every_stage_makes_the_same_plan():
    message = runtime.message_of(7)
    assert stages.plan_of(json.loads(message.model_dump_json())) == json.loads(
        runtime.plan_of(message).model_dump_json()
    )
    topics = (runtime.SOURCE.name, runtime.SINK.name, runtime.PARTITIONS)
    assert topics == (stages.SOURCE, stages.SINK, stages.PARTITIONS)
    assert stages.STAGES.keys() == streaming.SYSTEMS.keys()


def test_others_get_the_same_items_and_a_question_with_its_last_turns():
    job = job_of(([MATERIAL], [ASKED, GREETING]))
    assert job["items"] == [{"tenant": "kestrel", "text": text} for text in ("It is loud.", "I like tea.")]
    assert [each["text"] for each in job["questions"]] == ["How loud?", "Hi\nHello!"]


def test_questions_that_follow_something_are_asked_first_and_not_timed():
    _, questions = packs.everyday()
    timed = packs.timed(questions)
    assert 0 < len(timed) < len(questions)
    assert questions[-len(timed) :] == timed


def test_the_best_texts_are_judged_at_each_cut_and_a_pack_as_it_came():
    play = Play(got=[["nothing", "so so", "It makes 58 dB."], ["a", "b", "c"]])
    rows = {row["found"]: row["d evidence"] for row in found_rows("Other", [ASKED, GREETING], play)}
    assert rows == {"Other, best 2": 0.0, "Other, best 4": 1.0, "Other, best 10": 1.0}
    packed = Play(got=[["58 dB"], [""]], chosen=[Content.of(["58 dB"]), Content.of([])])
    assert found_rows("Fathom", [ASKED, GREETING], packed) == [
        {"found": "Fathom", "d evidence": 1.0, "d tokens": 3, "d tokens for nothing": 0, "degraded": 0}
    ]
    other_set = PackQuestion("c", "e", "hotel", "g", "en", "Pool?", evidence=(Evidence("at noon"),))
    [row] = found_rows("Fathom", [ASKED, other_set], Play(got=packed.got, chosen=packed.chosen))
    assert (row["d evidence"], row["e evidence"]) == (1.0, 0.0)


def test_percentiles_are_over_all_rounds_and_cpu_is_their_median():
    plays = [
        Play([ms], cpu, learnt, {"Other": ([ms, ms], cpu)}) for ms, cpu, learnt in ((1, 2, 3), (3, 4, 9), (5, 9, 6))
    ]
    ingest, asks = cost_rows("Other", plays)
    assert ingest == {"ingest": "Other", "wait_p50_ms": 3, "wait_p95_ms": 5, "learnt_ms": 6, "cpu_ms": 4}
    assert asks == [{"ask": "Other", "p50_ms": 3, "p95_ms": 5, "cpu_ms": 4}]


def test_what_does_not_run_is_left_out_with_its_reason():
    turns: list[str] = []

    def once(name: str) -> int:
        turns.append(name)
        if name == "broken":
            raise Unmeasured("no\n  wheel")
        return 1

    assert in_turns(2, ("good", "broken"), once) == ({"good": [1, 1]}, {"broken": "no wheel"})
    assert turns == ["good", "broken", "good"]


def test_all_that_is_named_is_locked():
    named = re.findall(r"^[\w-]+==\S+", (ROOT / "bench/peers/requirements.in").read_text(), re.M)
    locked = (ROOT / "deploy/requirements/peers.txt").read_text()
    assert named
    assert [each for each in named if f"\n{each} " not in locked] == []
