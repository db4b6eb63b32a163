"""A conversation that is erased: from the working sets, the graph and the index, on twins, embedded stores, servers."""

import asyncio
import random
from datetime import timedelta
from typing import Any

import pytest

from agents.core.conversation.erasure import Erasure, person
from agents.core.conversation.memory import Session, begun_anew
from agents.core.conversation.session_state import MAX_FRAMES
from agents.errors import Rejected, ViewIncomplete
from agents.ports.passages import Passage
from schemas.base import Conversation
from schemas.envelope import Received
from schemas.memory import AuditDecision, ObjectiveEntry
from streams.stores.graph.erasing import ERASABLE
from tests.builders.examples import few
from tests.contract import test_stores_graph, test_stores_index
from tests.contract.test_stores_graph import (
    NOON,
    at,
    claim,
    consultation,
    correction,
    decision,
    knowledge,
    profile,
    received,
    summary,
    turn,
)
from tests.contract.test_stores_restoring import emptied, following, outcome
from tests.contract.working_sets import talk

graph, graph_of_nobody = test_stores_graph.kit, test_stores_graph.kit_of_nobody
index, shared = test_stores_index.kit, test_stores_index.shared
apart, served = test_stores_index.apart, test_stores_index.served

MINE = Conversation(tenant="acme", client_id="web", conversation_id="c1")
UP_TO_5 = Erasure(5, at(100))
# --- working sets


def forget(kit, conversation: Conversation, up_to_seq: int) -> None:
    kit.runner.run(kit.store.forget(conversation, up_to_seq))


def test_a_forgotten_conversation_opens_like_a_new_one_and_knows_up_to_where(kit):
    conversation, other = talk(), talk()
    for number in range(3):
        kit.append(conversation, number, outcome=b"x")
        kit.append(other, number, outcome=b"x")
    forget(kit, conversation, 7)
    opened = kit.open(conversation, "m1")
    assert (opened.session, opened.turns, opened.outcome) == (begun_anew(7), (), None)
    assert (kit.turns(conversation), kit.session_turns(conversation)) == ([], [])
    assert kit.frame_of(conversation, "m1") is None
    assert kit.turns(other) == [0, 1, 2]


def test_forgetting_again_keeps_what_was_said_since_and_a_later_one_does_not(kit):
    conversation = talk()
    kit.append(conversation, 0)
    forget(kit, conversation, 3)
    session = Session(frame_id="f2", frames=("f2",), last_seq=4, forgotten=3)
    kit.append(conversation, 4, frame="f2", session=session)
    forget(kit, conversation, 3)
    assert kit.session_turns(conversation) == [4]
    assert kit.open(conversation).session == session
    forget(kit, conversation, 9)
    assert kit.session_turns(conversation) == []


def test_frames_that_the_session_no_longer_names_are_erased_too(kit):
    conversation = talk()
    names = [f"f{number}" for number in range(MAX_FRAMES + 3)]
    for number, name in enumerate(names):
        session = Session(frame_id=name, frames=tuple(names[: number + 1][-MAX_FRAMES:]), last_seq=number)
        kit.append(conversation, number, frame=name, session=session)
    forget(kit, conversation, 99)
    assert [kit.turns(conversation, name) for name in names] == [[]] * len(names)


def test_a_partition_that_is_behind_forgets_nothing_and_is_restored_without_what_is_forgotten(kit):
    emptied(kit)
    following(kit)
    conversation = talk()
    with pytest.raises(ViewIncomplete):
        forget(kit, conversation, 2)
    for forgotten, left in ((-1, [0, 1, 2, 3]), (2, [3])):

        async def story(forgotten: int = forgotten) -> None:
            token = await kit.store.start_restore(0)
            log = [outcome(conversation, number) for number in range(4) if number > forgotten]
            await kit.store.restore(conversation, 0, token, log, 400, forgotten)
            await kit.store.complete_restore(0, token)

        kit.runner.run(story())
        assert kit.session_turns(conversation) == left
    assert kit.open(conversation, "m1").outcome is None
    assert kit.open(conversation).session.forgotten == 2


# --- the graph


def said(number: int, text: str, **fields: Any) -> Received[Any]:
    row = turn(number)
    return row._replace(event=row.event.model_copy(update={"content": text, **fields}))


def audited(number: int, **fields: Any) -> Received[AuditDecision]:
    event = AuditDecision(
        kind="tool", id=f"a{number}", actor="tool-gate", subject_id=f"call{number}", detail={"said": "x"},
        created_at=at(number), **fields,
    )  # fmt: skip
    return received(event)


HERE = {"conversation_id": "c1", "client_id": "web"}


def corrected(target: str, number: int, kind: str, seq: int | None) -> Received[Any]:
    row = correction(target, number, kind)
    return row._replace(event=row.event.model_copy(update={**HERE, "seq": seq}))


OF_MINE = [
    *(turn(number) for number in range(4)),
    *(decision(number) for number in (0, 2)),
    claim(0),
    claim(2, contradicts=test_stores_graph.against("k0"), supersedes=("k0",)),
    corrected("k0", 1, "claim", 1),
    summary(3),
    consultation(1, **HERE),
    corrected("consulta-1", 2, "consulta", None),
    audited(1, **HERE),
]
OF_OTHERS = [
    *(turn(number, "other") for number in range(4)),
    said(10, "outro cliente", message_id="m10", client_id="phone"),
    said(11, "outra conversa", message_id="m11", conversation_id="c2"),
    said(20, "nova vida", message_id="m20", seq=20),
    claim(11, conversation_id="c2"),
    claim(12, client_id="phone"),
    claim(20),
    claim(2, "other"),
    summary(11, summary_id="s2", conversation_id="c2"),
    summary(20, summary_id="s3"),
    summary(3, "other"),
    consultation(2),
    audited(2),
    audited(3, conversation_id="c1", client_id="phone"),
    knowledge(profile()),
]


def erased(graph, conversation: Conversation = MINE, erasure: Erasure = UP_TO_5) -> dict[str, int] | None:
    async def story() -> dict[str, int] | None:
        found = await graph.store.note_erasure(conversation, erasure)
        if found is None:
            return None
        counts = await graph.store.note_counts(conversation, erasure, found.counts())
        await graph.store.erase(conversation.tenant, found)
        return dict(counts)

    return graph.run(story())


def owned(graph) -> list[Any]:
    """The nodes that stem from a conversation, without the notes of erasures."""
    return [row for row in graph.dump()[0] if row[0] in ERASABLE]


def test_all_that_stems_from_the_conversation_goes_and_nothing_else(graph):
    graph.write(*OF_OTHERS)
    before = owned(graph)
    graph.write(*OF_MINE)
    counts = erased(graph)
    assert counts == {
        **{"turns": 4, "claims": 2, "corrections": 2, "summaries": 1, "dates": 1, "decisions": 2},
        **{"consultations": 1, "audits": 1, "objectives": 0, "profiles": 0},
    }
    assert owned(graph) == before
    kinds = {"MADE_IN", "CORRECTS", "FOR_MESSAGE", "HAS_EVENT", "DECOMPOSTA_EM", "CORRIGIDA_POR", "SUPERSEDES"}
    ids = {row[1] for row in graph.dump()[0]}
    assert all({start, end} <= ids for kind in kinds for start, end, _ in graph.links(kind))


@pytest.mark.parametrize("seed", range(few(4, 2)))
def test_what_comes_before_or_after_the_erasure_in_any_order_ends_the_same(graph, seed: int):
    rows = [*OF_MINE, *OF_OTHERS]
    random.Random(seed).shuffle(rows)
    half = len(rows) // 2
    graph.write(*rows[:half])
    erased(graph)
    graph.write(*rows[half:], *rows)
    assert {row[1] for row in owned(graph)} == {row[1] for row in only_others()}


def only_others() -> list[Any]:
    """What the twin holds of the others alone."""
    with asyncio.Runner() as runner:
        kit = test_stores_graph.Kit(test_stores_graph.EmbeddedGraph(admin=True), runner)
        kit.write(*OF_OTHERS)
        return owned(kit)


def test_a_claim_that_another_conversation_supports_stays_with_its_own_evidence(graph):
    graph.write(claim(1), claim(7, conversation_id="c2", text="também em c2", value="dia 1"))
    erased(graph)
    found = graph.run(graph.store.claims_about("acme", reader="ana", subjects=["prazo"], as_of=at(10_000), limit=10))
    assert [each.claim_id for each in found.asserted] == ["k7"]


def test_an_erasure_counts_the_same_when_it_is_repeated_and_one_overtaken_does_nothing(graph):
    graph.write(*OF_MINE)
    first = erased(graph)
    assert erased(graph) == first
    graph.write(turn(8))
    later = erased(graph, erasure=Erasure(9, at(200)))
    assert later is not None
    assert later["turns"] == 1
    graph.write(turn(12))
    assert erased(graph) is None
    assert [row["content"] for row in graph.nodes("Message")] == ["mensagem 12"]
    assert graph.run(graph.store.erased("acme", [MINE])) == {MINE: Erasure(9, at(200))}


def test_erasures_are_of_one_tenant_and_nobody_erases_what_everybody_reads(graph_of_nobody):
    theirs = MINE.model_copy(update={"tenant": "other"})
    erased(graph_of_nobody, theirs)
    assert graph_of_nobody.run(graph_of_nobody.store.erased("acme", [MINE, theirs])) == {}
    assert graph_of_nobody.run(graph_of_nobody.store.erased("other", [MINE, theirs])) == {theirs: UP_TO_5}
    with pytest.raises(Rejected, match="public_tenant_read_only"):
        erased(graph_of_nobody, MINE.model_copy(update={"tenant": "_public"}))


# --- the index


def passage(number: int, conversation: str | None = "c1", client: str = "web") -> Passage:
    fields = {"seq": number, "client_id": client}
    return Passage(
        f"m{number}", "message", f"o prazo da proposta {number}", "pt", NOON + timedelta(minutes=number),
        user_id="ana", conversation_id=conversation, fields=fields,
    )  # fmt: skip


# --- who a user is

ROLE = [ObjectiveEntry(id="o1", title="vender"), ObjectiveEntry(id="o2", title="crescer")]


def person_erased(graph, minutes: int) -> dict[str, int]:
    async def story() -> dict[str, int]:
        await graph.store.note_erasure(person("acme", "ana"), Erasure(9, at(minutes)))
        found = await graph.store.profile_nodes("acme", "ana")
        await graph.store.erase("acme", found)
        return {name: count for name, count in found.counts().items() if count}

    return graph.run(story())


def who_is(graph, tenant: str = "acme") -> str | None:
    found = graph.run(graph.store.persona(tenant, "ana", at(1_000)))
    return found and found.person.user_role


def told(role: str, minutes: int, tenant: str = "acme") -> Received[Any]:
    row = knowledge(profile(role, ROLE), tenant=tenant)
    return row._replace(event=row.event.model_copy(update={"recorded_at": at(minutes)}))


@pytest.mark.covers("B24")
def test_who_a_user_is_and_was_is_erased_and_an_older_profile_that_comes_later_is_not_stored(graph):
    graph.write(told("analyst", 1), told("manager", 2), told("analyst", 1, "other"))
    assert (who_is(graph), who_is(graph, "other")) == ("manager", "analyst")
    assert person_erased(graph, 50) == {"profiles": 1, "objectives": 2, "audits": 2}
    assert (who_is(graph), who_is(graph, "other")) == (None, "analyst")
    graph.write(told("manager", 2))
    assert (who_is(graph), person_erased(graph, 50)) == (None, {})
    graph.write(told("director", 60))
    graph.write(told("manager", 2))
    assert who_is(graph) == "director"


def of_conversation(index, tenant: str = "acme", collection: str = "episodic", conversation: str = "c1") -> list[str]:
    found = index.runner.run(index.store.of_conversation(index.own(tenant), collection, conversation))
    return sorted(each.id for each in found)


def test_the_passages_of_a_conversation_are_listed_whole_and_no_others(index):
    index.put(*(passage(number) for number in range(3)), collection="episodic")
    index.put(passage(3, client="phone"), passage(4, "c2"), passage(5, None), collection="episodic")
    index.put(passage(6), tenant="other", collection="episodic")
    index.put(passage(7))
    index.put(passage(1), collection="episodic")
    assert of_conversation(index) == ["m0", "m1", "m2", "m3"]
    assert of_conversation(index, "other") == ["m6"]
    assert of_conversation(index, collection="semantic") == ["m7"]
    assert of_conversation(index, conversation="c") == []
    [found] = [
        each
        for each in index.runner.run(index.store.of_conversation(index.own("acme"), "episodic", "c1"))
        if each.id == "m2"
    ]
    assert (found.fields["seq"], found.fields["client_id"], found.recorded_at) == (
        2,
        "web",
        NOON + timedelta(minutes=2),
    )


def test_a_long_conversation_is_listed_to_its_end(index):
    index.put(*(passage(number) for number in range(1_100)), collection="episodic")
    assert len(of_conversation(index)) == 1_100


@pytest.mark.parametrize("tenant", ["", " acme", "a\nb"])
def test_nobodys_conversation_is_not_listed(index, tenant: str):
    with pytest.raises(Rejected):
        index.runner.run(index.store.of_conversation(tenant, "episodic", "c1"))
