"""The checker of requests is itself checked: every seeded fault is found, the repeats of kills raise no alarm."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson
import pytest

from schemas.tool_session import ToolSession
from schemas.topics import (
    ASSESSMENTS_OUT,
    MEMORY_CLAIMS,
    MEMORY_CORRECTIONS,
    MEMORY_VOTES,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
)
from tests import counters
from tests.builders.examples import few
from tests.chaos import checker, requests_checker
from tests.chaos.checker import check
from tests.chaos.entries import Entry, Evidence, Given
from tests.chaos.findings import CONFLICT, DOUBLED, LOST, REFUSED, REORDERED
from tests.chaos.making import added, behind, clean
from tests.chaos.requests import AUDITED, JUDGED

TIMES = few(20, 1)
Fault = Callable[[Evidence, random.Random], Evidence]
LETTERS = "dead-letters.tool-gate"


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return clean(few(150, 60), among=4, seed=11, often=3)


def made(evidence: Evidence, *streams: str) -> list[Entry]:
    """What was made of requests."""
    wanted = {(given.tenant, given.id) for given in evidence.given}
    return [e for e in evidence.log if checker.stream_of(e) in streams and e.cause in wanted]


def without(evidence: Evidence, gone: Entry) -> Evidence:
    return replace(evidence, log=tuple(entry for entry in evidence.log if entry is not gone))


def instead(evidence: Evidence, entry: Entry, event: Mapping[str, Any], **fields: Any) -> Evidence:
    changed = replace(entry, value=orjson.dumps(event), **fields)
    return replace(evidence, log=tuple(changed if e is entry else e for e in evidence.log))


def given(evidence: Evidence, topic: str, *, refused: bool = False) -> list[Given]:
    return [one for one in evidence.given if one.topic == topic and one.refused == refused]


def verdict_of(evidence: Evidence, one: Given) -> Entry:
    [entry] = [e for e in made(evidence, TOOLS_CALLS_OUT.name) if e.cause == (one.tenant, one.id)]
    return entry


def lose_an_effect(evidence: Evidence, choose: random.Random) -> Evidence:
    stream = choose.choice(requests_checker.MADE)
    return without(evidence, choose.choice(made(evidence, stream)))


def lose_a_dead_letter(evidence: Evidence, choose: random.Random) -> Evidence:
    return without(evidence, choose.choice([entry for entry in evidence.log if entry.topic == LETTERS]))


def lose_a_request(evidence: Evidence, choose: random.Random) -> Evidence:
    outside = requests_checker.FROM_OUTSIDE
    return without(evidence, choose.choice([entry for entry in evidence.log if entry.topic in outside]))


def lose_a_vote(evidence: Evidence, choose: random.Random) -> Evidence:
    votes = evidence.kept.votes
    tenant = choose.choice([name for name in votes if votes[name]])
    gone = choose.choice(votes[tenant])
    rest = {**votes, tenant: tuple(vote for vote in votes[tenant] if vote is not gone)}
    return replace(evidence, kept=replace(evidence.kept, votes=rest))


def count_a_vote_twice(evidence: Evidence, choose: random.Random) -> Evidence:
    votes = evidence.kept.votes
    tenant = choose.choice([name for name in votes if votes[name]])
    more = {**votes, tenant: (*votes[tenant], choose.choice(votes[tenant]))}
    return replace(evidence, kept=replace(evidence.kept, votes=more))


def cast_a_vote_of_nobody(evidence: Evidence, choose: random.Random) -> Evidence:
    votes = evidence.kept.votes
    tenant = choose.choice([name for name in votes if votes[name]])
    other = choose.choice(votes[tenant]).model_copy(update={"user_id": "nobody"})
    return replace(evidence, kept=replace(evidence.kept, votes={**votes, tenant: (*votes[tenant], other)}))


def _forgetting(evidence: Evidence, key: str, session: ToolSession) -> Evidence:
    return replace(evidence, kept=replace(evidence.kept, sessions={**evidence.kept.sessions, key: session}))


def forget_a_result(evidence: Evidence, choose: random.Random) -> Evidence:
    key = choose.choice(given(evidence, TOOLS_RESULTS_IN.name)).key
    session = evidence.kept.sessions[key]
    name = choose.choice(sorted(session.values))
    left = {place: value for place, value in session.values.items() if place != name}
    return _forgetting(evidence, key, session.model_copy(update={"values": left}))


def forget_a_verdict(evidence: Evidence, choose: random.Random) -> Evidence:
    call = choose.choice(given(evidence, TOOLS_CALLS_IN.name))
    session = evidence.kept.sessions[call.key]
    left = {name: verdict for name, verdict in session.verdicts.items() if name != call.subject}
    return _forgetting(evidence, call.key, session.model_copy(update={"verdicts": left}))


def forget_an_answer(evidence: Evidence, choose: random.Random) -> Evidence:
    answer = choose.choice(given(evidence, TOOLS_CONFIRMATIONS_IN.name))
    session = evidence.kept.sessions[answer.key]
    untaken = session.waiting[answer.subject].model_copy(update={"taken": None})
    waiting = {**session.waiting, answer.subject: untaken}
    return _forgetting(evidence, answer.key, session.model_copy(update={"waiting": waiting}))


def make_a_second_effect(evidence: Evidence, choose: random.Random) -> Evidence:
    twin = choose.choice(made(evidence, choose.choice(requests_checker.MADE)))
    return added(evidence, behind(evidence, twin, headers={**twin.headers, "ce_id": "another"}))


def answer_nobody(evidence: Evidence, choose: random.Random) -> Evidence:
    twin = choose.choice(made(evidence, choose.choice(requests_checker.MADE)))
    headers = {**twin.headers, "ce_id": "another", "ce_causationid": "nobody"}
    return added(evidence, behind(evidence, twin, headers=headers))


def answer_what_was_refused(evidence: Evidence, choose: random.Random) -> Evidence:
    refused = choose.choice(given(evidence, TOOLS_CONFIRMATIONS_IN.name, refused=True))
    twin = choose.choice(made(evidence, TOOLS_CALLS_OUT.name))
    headers = {**twin.headers, "tenant": refused.tenant, "ce_id": "another", "ce_causationid": refused.id}
    return added(evidence, behind(evidence, twin, headers=headers))


def take_two_answers(evidence: Evidence, choose: random.Random) -> Evidence:
    """The second one of two is taken as well."""
    refused = choose.choice(given(evidence, TOOLS_CONFIRMATIONS_IN.name, refused=True))
    of_call = [one for one in given(evidence, TOOLS_CONFIRMATIONS_IN.name) if one.subject == refused.subject]
    twin = verdict_of(evidence, of_call[0])
    headers = {**twin.headers, "ce_id": "another", "ce_causationid": refused.id}
    wanting = tuple(
        replace(one, refused=False, wants=(TOOLS_CALLS_OUT.name,)) if one is refused else one for one in evidence.given
    )
    return added(replace(evidence, given=wanting), behind(evidence, twin, headers=headers))


def change_a_verdict(evidence: Evidence, choose: random.Random) -> Evidence:
    """The same call, asked for again, gets another one."""
    calls = given(evidence, TOOLS_CALLS_IN.name)
    again = [one for one in calls if sum(other.subject == one.subject for other in calls) > 1]
    entry = verdict_of(evidence, choose.choice(again))
    event = entry.whole()
    return instead(evidence, entry, {**event, "args_resolvidos": {**event["args_resolvidos"], "secao": "outra"}})


def execute_other_than_was_shown(evidence: Evidence, choose: random.Random) -> Evidence:
    said_yes = [one for one in given(evidence, TOOLS_CONFIRMATIONS_IN.name) if one.status == "resolved"]
    entry = verdict_of(evidence, choose.choice(said_yes))
    event = entry.whole()
    return instead(evidence, entry, {**event, "args_resolvidos": {**event["args_resolvidos"], "report_id": "rel_x"}})


def redeliver_with_another_verdict(evidence: Evidence, choose: random.Random) -> Evidence:
    entry = choose.choice(made(evidence, TOOLS_CALLS_OUT.name))
    return added(evidence, behind(evidence, entry, value=orjson.dumps({**entry.whole(), "nome_tool": "outra"})))


def redeliver_with_other_grounds(evidence: Evidence, choose: random.Random) -> Evidence:
    entry = choose.choice(made(evidence, JUDGED))
    detail = {**entry.whole()["detail"], "repeated": True, "now": "then"}
    return added(evidence, behind(evidence, entry, value=orjson.dumps({**entry.whole(), "detail": detail})))


def contradict_an_assessment(evidence: Evidence, choose: random.Random) -> Evidence:
    entry = choose.choice(made(evidence, ASSESSMENTS_OUT.name))
    name = choose.choice([name for name in entry.whole() if name != "latency_ms"])
    return added(evidence, behind(evidence, entry, value=orjson.dumps({**entry.whole(), name: "another"})))


def refuse_what_can_be_resolved(evidence: Evidence, choose: random.Random) -> Evidence:
    calls = [one for one in given(evidence, TOOLS_CALLS_IN.name) if one.status != "error"]
    entry = verdict_of(evidence, choose.choice(calls))
    event = {**entry.whole(), "status": "error", "erro_codigo": "contexto_ausente", "injections": []}
    return instead(evidence, entry, event)


def miss_the_last_result(evidence: Evidence, choose: random.Random) -> Evidence:
    """Resolved from a result that an earlier one than the last before the call left."""
    calls = [
        one
        for one in given(evidence, TOOLS_CALLS_IN.name)
        if any(each["source"] == "session" for each in verdict_of(evidence, one).whole().get("injections", ()))
    ]
    entry = verdict_of(evidence, choose.choice(calls))
    event = entry.whole()
    stale = [{**each, "value": "rel_before"} if each["source"] == "session" else each for each in event["injections"]]
    return instead(evidence, entry, {**event, "injections": stale})


def swap_two_effects(evidence: Evidence, choose: random.Random) -> Evidence:
    """The effects of two requests of one topic change places."""
    topics = {(one.tenant, one.id): (one.topic, one.partition) for one in evidence.given}
    entries = made(evidence, TOOLS_CALLS_OUT.name)
    first = choose.choice(entries)
    others = [e for e in entries if e.key == first.key and topics[e.cause] == topics[first.cause] and e is not first]
    if not others:
        return swap_two_effects(evidence, choose)
    second = choose.choice(others)
    moved = {id(first): replace(first, offset=second.offset), id(second): replace(second, offset=first.offset)}
    return replace(evidence, log=tuple(moved.get(id(entry), entry) for entry in evidence.log))


def refuse_a_request(evidence: Evidence, choose: random.Random) -> Evidence:
    inputs = {one.id for one in evidence.given if not one.refused}
    entry = choose.choice([e for e in evidence.log if e.topic in requests_checker.FROM_OUTSIDE and e.ce_id in inputs])
    return added(evidence, behind(evidence, entry, topic=f"dead-letters.{entry.topic.partition('.')[0]}"))


def _lose_nodes(label: str) -> Fault:
    def lose(evidence: Evidence, choose: random.Random) -> Evidence:
        gone = choose.choice([node for node in evidence.graph.nodes if node.label == label])
        nodes = tuple(node for node in evidence.graph.nodes if node is not gone)
        return replace(evidence, graph=replace(evidence.graph, nodes=nodes))

    lose.__name__ = f"lose_a_node_of_{label}"
    return lose


def _lose_links(type_: str) -> Fault:
    def lose(evidence: Evidence, choose: random.Random) -> Evidence:
        gone = choose.choice([link for link in evidence.graph.links if link.type == type_])
        links = tuple(link for link in evidence.graph.links if link is not gone)
        return replace(evidence, graph=replace(evidence.graph, links=links))

    lose.__name__ = f"lose_a_link_of_{type_}"
    return lose


def write_a_second_audit(evidence: Evidence, choose: random.Random) -> Evidence:
    twin = choose.choice([node for node in evidence.graph.nodes if node.label == "AuditEvent"])
    nodes = (*evidence.graph.nodes, replace(twin, id=f"{twin.id}-again"))
    return replace(evidence, graph=replace(evidence.graph, nodes=nodes))


FAULTS: tuple[tuple[Fault, str], ...] = (
    (lose_an_effect, LOST),
    (lose_a_dead_letter, LOST),
    (lose_a_request, LOST),
    (lose_a_vote, LOST),
    (forget_a_result, LOST),
    (forget_a_verdict, LOST),
    (forget_an_answer, LOST),
    (refuse_what_can_be_resolved, LOST),
    (miss_the_last_result, LOST),
    (_lose_nodes("Consulta"), LOST),
    (_lose_nodes("AuditEvent"), LOST),
    (_lose_links("CORRECTS"), LOST),
    (_lose_links("CORRIGIDA_POR"), LOST),
    (count_a_vote_twice, DOUBLED),
    (cast_a_vote_of_nobody, DOUBLED),
    (make_a_second_effect, DOUBLED),
    (answer_nobody, DOUBLED),
    (answer_what_was_refused, DOUBLED),
    (take_two_answers, DOUBLED),
    (write_a_second_audit, DOUBLED),
    (change_a_verdict, CONFLICT),
    (execute_other_than_was_shown, CONFLICT),
    (redeliver_with_another_verdict, CONFLICT),
    (redeliver_with_other_grounds, CONFLICT),
    (contradict_an_assessment, CONFLICT),
    (swap_two_effects, REORDERED),
    (refuse_a_request, REFUSED),
)


@pytest.mark.covers("CF-67", "AC-29", "AC-35", "B30")
@pytest.mark.parametrize(("fault", "kind"), FAULTS, ids=lambda given: getattr(given, "__name__", None))
def test_every_seeded_fault_is_found(evidence: Evidence, fault: Fault, kind: str) -> None:
    missed = [seed for seed in range(TIMES) if not check(fault(evidence, random.Random(seed))).count(kind)]
    counters.record("B30", f"seeded: {fault.__name__}", {"seeded": TIMES}, {"missed": len(missed)})
    assert missed == []


def test_a_clean_run_of_every_request_raises_no_alarm(evidence: Evidence) -> None:
    verdict = check(evidence)
    assert verdict.findings == ()
    assert verdict.repeats.keys() <= checker.by_stream(evidence.log).keys()
    assert {one.topic for one in evidence.given} == set(requests_checker.FROM_OUTSIDE)
    assert all(made(evidence, stream) for stream in requests_checker.MADE)
    assert given(evidence, TOOLS_CONFIRMATIONS_IN.name, refused=True)


def test_the_repeats_of_a_kill_raise_no_alarm(evidence: Evidence) -> None:
    streams = (*requests_checker.MADE, LETTERS)
    again = [behind(evidence, e) for e in evidence.log if checker.stream_of(e) in streams]
    slower = next(e for e in again if e.topic == ASSESSMENTS_OUT.name)
    measured = replace(slower, offset=slower.offset + 1, value=orjson.dumps({**slower.whole(), "latency_ms": 7.5}))
    verdict = check(added(evidence, *again, measured))
    assert verdict.findings == ()
    assert sum(verdict.repeats.values()) == len(again) + 1


def test_a_call_whose_session_did_not_answer_is_no_alarm_and_may_get_its_verdict_later_as_another_event(
    evidence: Evidence,
) -> None:
    call = next(one for one in given(evidence, TOOLS_CALLS_IN.name) if one.status == "confirmation_required")
    entry = verdict_of(evidence, call)
    refusal = {**entry.whole(), "status": "error", "erro_codigo": "indisponivel", "injections": []}
    [answer] = [one for one in given(evidence, TOOLS_CONFIRMATIONS_IN.name) if one.subject == call.subject]
    [asked] = [e for e in evidence.log if e.topic == TOOLS_CONFIRMATIONS_IN.name and e.ce_id == answer.id]
    away = instead(evidence, entry, refusal)
    away = added(away, behind(evidence, asked, topic=LETTERS))
    assert check(away).findings == ()
    assert check(added(away, behind(evidence, entry))).count(CONFLICT)
    own_event = instead(evidence, entry, refusal, headers={**entry.headers, "ce_id": "not-now"})
    assert check(added(own_event, behind(evidence, entry))).findings == ()


def test_claims_and_corrections_of_what_was_said_are_no_requests(evidence: Evidence) -> None:
    own = {e.ce_id for e in made(evidence, MEMORY_CLAIMS.name, MEMORY_CORRECTIONS.name)}
    every = {e.ce_id for e in evidence.log if e.topic in (MEMORY_CLAIMS.name, MEMORY_CORRECTIONS.name)}
    assert own < every
    assert all(requests_checker.is_from_outside(e) == (e.ce_id in own) for e in evidence.log if e.ce_id in every)
    assert made(evidence, AUDITED)
    assert made(evidence, MEMORY_VOTES.name)
