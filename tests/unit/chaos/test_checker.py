"""The checker is itself checked: every seeded fault is found, a clean run and the repeats it allows raise no alarm."""

import random
from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest

from schemas.topics import ASSESSMENTS_OUT, COGNITION_STEPS, CONTEXT_PACKS, CONVERSATION_TURNS
from streams.topology import SPLIT
from tests import counters
from tests.builders.examples import few
from tests.chaos import checker
from tests.chaos.checker import check
from tests.chaos.entries import Evidence, Link, Node
from tests.chaos.findings import CONFLICT, DOUBLED, LEAKED, LOST, REFUSED, REORDERED
from tests.chaos.making import added, behind, clean, some

TIMES = few(100, 5)
Fault = Callable[[Evidence, random.Random], Evidence]


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return clean(few(90, 50), among=8, seed=11, stages=SPLIT)


def lose_a_record(evidence: Evidence, choose: random.Random) -> Evidence:
    gone = some(evidence, choose, CONVERSATION_TURNS.name, *checker.OF_USER_MESSAGE)
    return replace(evidence, log=tuple(entry for entry in evidence.log if entry is not gone))


def lose_a_node(evidence: Evidence, choose: random.Random) -> Evidence:
    gone = choose.choice([node for node in evidence.graph.nodes if node.label in checker.STORED])
    nodes = tuple(node for node in evidence.graph.nodes if node is not gone)
    return replace(evidence, graph=replace(evidence.graph, nodes=nodes))


def lose_what_a_node_says(evidence: Evidence, choose: random.Random) -> Evidence:
    stub = choose.choice([node for node in evidence.graph.nodes if node.label in checker.COPIED])
    kept = {name: text for name, text in stub.props.items() if name not in checker.COPIED[stub.label]}
    nodes = tuple(Node(n.label, n.id, kept) if n is stub else n for n in evidence.graph.nodes)
    return replace(evidence, graph=replace(evidence.graph, nodes=nodes))


def lose_a_link(evidence: Evidence, choose: random.Random) -> Evidence:
    kinds = ("IN_CONVERSATION", "FOR_MESSAGE", "MADE_IN")
    gone = choose.choice([link for link in evidence.graph.links if link.type in kinds])
    links = tuple(link for link in evidence.graph.links if link is not gone)
    return replace(evidence, graph=replace(evidence.graph, links=links))


def send_a_pack_again(evidence: Evidence, choose: random.Random) -> Evidence:
    return added(evidence, behind(evidence, some(evidence, choose, CONTEXT_PACKS.name)))


def make_a_second_event(evidence: Evidence, choose: random.Random) -> Evidence:
    twin = some(evidence, choose, CONVERSATION_TURNS.name, *checker.OF_USER_MESSAGE)
    return added(evidence, behind(evidence, twin, headers={**twin.headers, "ce_id": f"another-{choose.random()}"}))


def double_a_node(evidence: Evidence, choose: random.Random) -> Evidence:
    twin = choose.choice([node for node in evidence.graph.nodes if node.label in checker.STORED])
    return replace(evidence, graph=replace(evidence.graph, nodes=(*evidence.graph.nodes, twin)))


def double_a_link(evidence: Evidence, choose: random.Random) -> Evidence:
    twin = choose.choice(evidence.graph.links)
    return replace(evidence, graph=replace(evidence.graph, links=(*evidence.graph.links, twin)))


def answer_nobody(evidence: Evidence, choose: random.Random) -> Evidence:
    other = some(evidence, choose, CONVERSATION_TURNS.name, *checker.OF_USER_MESSAGE)
    said = orjson.dumps({**other.whole(), "message_id": f"nobody-{choose.random()}"})
    headers = {**other.headers, "ce_id": f"nobody-{choose.random()}"}
    return added(evidence, behind(evidence, other, value=said, headers=headers))


def contradict_a_record(evidence: Evidence, choose: random.Random) -> Evidence:
    # A bit of the time that an assessment took is no contradiction: see `test_requests_checker`.
    outside = (*checker.FROM_OUTSIDE, checker.PARTS, CONTEXT_PACKS.name, ASSESSMENTS_OUT.name)
    twin = choose.choice([entry for entry in evidence.log if checker.stream_of(entry) not in outside])
    at = choose.randrange(len(twin.value))
    other = twin.value[:at] + bytes([twin.value[at] ^ 1]) + twin.value[at + 1 :]
    return added(evidence, behind(evidence, twin, value=other))


def swap_two_records(evidence: Evidence, choose: random.Random) -> Evidence:
    """Two records of one conversation change places: also where others lie between them."""
    one = some(evidence, choose, *checker.IN_ORDER)
    others = [
        entry
        for entry in evidence.log
        if checker.stream_of(entry) == checker.stream_of(one) and entry.key == one.key and entry is not one
    ]
    if not others:
        return swap_two_records(evidence, choose)
    other = choose.choice(others)
    moved = {id(one): replace(one, offset=other.offset), id(other): replace(other, offset=one.offset)}
    return replace(evidence, log=tuple(moved.get(id(entry), entry) for entry in evidence.log))


def say_a_foreign_word(evidence: Evidence, choose: random.Random) -> Evidence:
    entry = choose.choice([e for e in evidence.log if e.tenant in evidence.canaries])
    word = next(word for tenant, word in evidence.canaries.items() if tenant != entry.tenant)
    leaked = replace(entry, value=entry.value[:-1] + f',"note":"{word}"}}'.encode())
    return replace(evidence, log=tuple(leaked if e is entry else e for e in evidence.log))


def quote_another_conversation(evidence: Evidence, choose: random.Random) -> Evidence:
    pack = some(evidence, choose, CONTEXT_PACKS.name)
    of_others = [m for m in evidence.sent if m.key != pack.key and m.conversation.tenant == pack.tenant]
    quoted = {"message_id": choose.choice(of_others).message_id, "content": "…"}
    event = {**pack.whole(), "working_set": {"recent_messages": [quoted]}}
    leaked = replace(pack, value=orjson.dumps(event))
    return replace(evidence, log=tuple(leaked if e is pack else e for e in evidence.log))


def file_under_another_key(evidence: Evidence, choose: random.Random) -> Evidence:
    entry = some(evidence, choose, *checker.IN_ORDER, checker.PARTS, CONTEXT_PACKS.name)
    key = choose.choice([e.key for e in evidence.log if e.topic == entry.topic and e.key != entry.key])
    leaked = replace(entry, key=key)
    return replace(evidence, log=tuple(leaked if e is entry else e for e in evidence.log))


def store_a_foreign_word(evidence: Evidence, choose: random.Random) -> Evidence:
    node = choose.choice([n for n in evidence.graph.nodes if n.props.get("tenant_id") in evidence.canaries])
    word = next(word for tenant, word in evidence.canaries.items() if tenant != node.props["tenant_id"])
    leaked = Node(node.label, node.id, {**node.props, "note": word})
    nodes = tuple(leaked if n is node else n for n in evidence.graph.nodes)
    return replace(evidence, graph=replace(evidence.graph, nodes=nodes))


def join_two_tenants(evidence: Evidence, choose: random.Random) -> Evidence:
    link = choose.choice(evidence.graph.links)
    tenant = link.start.partition("|")[0]
    foreign = choose.choice([n for n in evidence.graph.nodes if n.props.get("tenant_id") not in (tenant, "_public")])
    leaked = Link("RELATED_TO", link.start, foreign.id)
    return replace(evidence, graph=replace(evidence.graph, links=(*evidence.graph.links, leaked)))


def refuse_a_message(evidence: Evidence, choose: random.Random) -> Evidence:
    return added(evidence, behind(evidence, some(evidence, choose, "messages.in"), topic="dead-letters.depth"))


FAULTS: tuple[tuple[Fault, str], ...] = (
    (lose_a_record, LOST),
    (lose_a_node, LOST),
    (lose_what_a_node_says, LOST),
    (lose_a_link, LOST),
    (send_a_pack_again, DOUBLED),
    (make_a_second_event, DOUBLED),
    (double_a_node, DOUBLED),
    (double_a_link, DOUBLED),
    (answer_nobody, DOUBLED),
    (contradict_a_record, CONFLICT),
    (swap_two_records, REORDERED),
    (say_a_foreign_word, LEAKED),
    (quote_another_conversation, LEAKED),
    (file_under_another_key, LEAKED),
    (store_a_foreign_word, LEAKED),
    (join_two_tenants, LEAKED),
    (refuse_a_message, REFUSED),
)


@pytest.mark.covers("CF-67", "AC-29", "AC-35", "B30")
@pytest.mark.parametrize(("fault", "kind"), FAULTS, ids=lambda given: getattr(given, "__name__", None))
def test_every_seeded_fault_is_found(evidence: Evidence, fault: Fault, kind: str) -> None:
    missed = [seed for seed in range(TIMES) if not check(fault(evidence, random.Random(seed))).count(kind)]
    counters.record("B30", f"seeded: {fault.__name__}", {"seeded": TIMES}, {"missed": len(missed)})
    assert missed == []


@pytest.mark.parametrize("seed", range(few(3, 1)))
def test_a_clean_run_raises_no_alarm(seed: int) -> None:
    verdict = check(clean(50, among=6, seed=seed))
    assert verdict.findings == ()
    assert verdict.packs > 10


def test_the_repeats_of_a_kill_raise_no_alarm(evidence: Evidence) -> None:
    for seed in range(TIMES):
        choose = random.Random(seed)
        once = (*checker.FROM_OUTSIDE, CONTEXT_PACKS.name, COGNITION_STEPS.name)
        allowed = [entry for entry in evidence.log if checker.stream_of(entry) not in once]
        again = [behind(evidence, entry) for entry in choose.sample(allowed, 20)]
        other = some(evidence, choose, checker.PARTS)
        differs = behind(evidence, other, value=orjson.dumps({**other.whole(), "status": "timeout"}))
        verdict = check(added(evidence, *again, differs))
        assert verdict.findings == ()
        assert sum(verdict.repeats.values()) == 21
        assert verdict.differing_parts == 1
