"""Feedback on depth: votes raise messages of the same pattern, within bounds, as of their time, and only their own."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from agents.core.depth import votes as depth_weights
from agents.core.depth.levels import classify
from agents.errors import Unavailable
from schemas import codec
from schemas.base import Conversation, entity_key
from schemas.learning import DepthVote
from schemas.packs import ContextPack
from schemas.topics import DEPTH_CLASSIFIED, FEEDBACK_IN, MEMORY_DECISIONS, MEMORY_VOTES, Topic
from streams.testing.pipeline import EPOCH, Pipeline

FOLLOW_UPS = ("e o orçamento?", "e a equipe?", "e o cronograma?")
LIKE = "e o contrato?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(reference_wait_ms=0) as pipeline:
        yield pipeline


def on_a_thread(fathom: Pipeline, **fields: Any) -> None:
    asked = fathom.say("Fala do projeto X", **fields)
    fathom.say("O projeto X está em execução com 3 fases.", role="assistant", answers=asked, **fields)


def rate(fathom: Pipeline, pack: ContextPack, expected: str | None = "D2", **fields: Any) -> None:
    tenant = fields.pop("tenant", fathom.tenant)
    user = fields.pop("user", "ana")
    value = {
        "message_id": pack.message_id,
        "pack_id": pack.pack_id,
        "conversation_id": pack.conversation_id,
        "client_id": pack.client_id,
        "rating": 2,
        "created_at": fathom.clock.now(),
        **fields,
    }
    if expected is not None:
        value["expected_depth"] = expected
    key = Conversation(tenant=tenant, client_id=pack.client_id, conversation_id=pack.conversation_id).key()
    fathom.clock.advance(1)
    fathom.publish(FEEDBACK_IN, value, {"tenant": tenant, "user_id": user}, key.encode())


def refusals(fathom: Pipeline, stage: str = "feedback") -> list[str]:
    return [dict(record.headers)["fathom_reason"].decode() for record in fathom.log.of(f"dead-letters.{stage}")]


def votes(fathom: Pipeline) -> list[Any]:
    return [r.event for r in fathom.events(MEMORY_DECISIONS) if r.event.kind == "weights"]


@pytest.mark.covers("AC-26", "S0-88", "S0-77")
def test_three_who_expected_more_make_a_like_message_deeper(fathom: Pipeline):
    on_a_thread(fathom)
    packs = [fathom.ask(text) for text in FOLLOW_UPS]
    assert [pack.depth_level for pack in packs] == ["D1"] * 3
    for pack in packs[:2]:
        rate(fathom, pack)
    assert fathom.ask("e o contrato?").depth_level == "D1"
    rate(fathom, packs[2])
    deeper = fathom.ask(LIKE)
    assert deeper.depth_level == "D2"
    assert deeper.semantic is not None
    classified = fathom.one(DEPTH_CLASSIFIED, message_id=deeper.message_id)
    assert (classified.raised_from, classified.candidates[0]) == ("D1", "D2")
    [sign] = [sign for sign in classified.signals if sign.name == "feedback"]
    assert (sign.level, sign.evidence) == ("D2", "3 of 3 votes on messages like this")
    assert "feedback" in fathom.one(MEMORY_DECISIONS, kind="pack", message_id=deeper.message_id).detected_signals


@pytest.mark.covers("AC-26", "S0-88")
def test_without_votes_on_its_like_everything_is_as_before():
    def played(expected: str | None) -> list[bytes]:
        with Pipeline(reference_wait_ms=0) as fathom:
            on_a_thread(fathom)
            fathom.clock.at = EPOCH + timedelta(minutes=1)
            packs = [fathom.ask(text, message_id=f"m{n}") for n, text in enumerate(FOLLOW_UPS)]
            if expected is not None:
                for pack in packs[:2]:
                    rate(fathom, pack, expected)
            fathom.clock.at = EPOCH + timedelta(minutes=2)
            pack = fathom.ask(LIKE, message_id="last")
            return [codec.dump(fathom.one(DEPTH_CLASSIFIED, message_id="last")), codec.dump(pack)]

    assert played(None) == played("D2")


@pytest.mark.covers("S0-88")
def test_another_tenant_or_pattern_is_not_raised(fathom: Pipeline):
    on_a_thread(fathom)
    for text in FOLLOW_UPS:
        rate(fathom, fathom.ask(text))
    on_a_thread(fathom, tenant="beta")
    assert fathom.ask(LIKE, tenant="beta").depth_level == "D1"
    assert fathom.ask("e isso?").depth_level == "D1"
    assert fathom.ask("Qual o email do João Silva?").depth_level == "D0"
    assert fathom.ask("ok").depth_level == "D0"


@pytest.mark.covers("S0-88", "CD-11")
def test_a_message_of_before_the_votes_is_weighed_as_of_its_own_time(fathom: Pipeline):
    on_a_thread(fathom)
    before = fathom.clock.now()
    for text in FOLLOW_UPS:
        rate(fathom, fathom.ask(text))
    assert fathom.ask(LIKE, created_at=before).depth_level == "D1"
    assert fathom.ask(LIKE).depth_level == "D2"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"tenant": "beta"}, "pack_unknown"),
        ({"pack_id": "another"}, "pack_unknown"),
        ({"message_id": "another"}, "pack_unknown"),
        ({"expected": "D7"}, "schema_invalid"),
        ({"rating": 6}, "schema_invalid"),
    ],
)
@pytest.mark.covers("S0-88")
def test_feedback_on_what_was_not_delivered_changes_nothing(fathom: Pipeline, fields: dict[str, Any], reason: str):
    on_a_thread(fathom)
    pack = fathom.ask(FOLLOW_UPS[0])
    rate(fathom, pack, **fields)
    assert refusals(fathom) == [reason]
    assert votes(fathom) == []


def test_one_user_has_one_vote_on_a_pack(fathom: Pipeline):
    on_a_thread(fathom)
    pack = fathom.ask(FOLLOW_UPS[0])
    for _ in range(4):
        rate(fathom, pack)
    assert len(votes(fathom)) == 4
    assert fathom.ask(LIKE).depth_level == "D1"
    rate(fathom, pack, user="bia")
    rate(fathom, pack, user="caio")
    assert fathom.ask(LIKE).depth_level == "D2"
    rate(fathom, pack, "D1", user="caio")
    assert fathom.ask(LIKE).depth_level == "D1"


@pytest.mark.covers("S0-88")
def test_the_weights_come_again_from_the_log(fathom: Pipeline):
    on_a_thread(fathom)
    for text in FOLLOW_UPS:
        rate(fathom, fathom.ask(text))
    fathom.weights._votes.clear()
    assert fathom.ask(LIKE).depth_level == "D1"
    fathom._members["graph-writers"].acked.clear()
    fathom.crash("graph-writers")
    fathom.settle()
    assert fathom.ask(LIKE).depth_level == "D2"


@pytest.mark.covers("AC-26", "S0-88")
def test_a_vote_is_an_event_of_its_own_beside_its_audit(fathom: Pipeline):
    on_a_thread(fathom)
    pack = fathom.ask(FOLLOW_UPS[0])
    rate(fathom, pack)
    [cast] = fathom.events(MEMORY_VOTES)
    [audit] = votes(fathom)
    assert (cast.envelope.type, cast.envelope.tenant) == ("memory.depth-voted.v1", "acme")
    assert cast.key == entity_key("acme", pack.pack_id)
    assert (cast.event.pack_id, cast.event.user_id, cast.event.expected) == (pack.pack_id, "ana", "D2")
    assert (audit.actor, audit.subject_id) == ("feedback", pack.pack_id)
    assert audit.detail == cast.event.model_dump(mode="json")
    [node] = [node for node in fathom.nodes("AuditEvent") if node["kind"] == "weights"]
    assert node["subject_id"] == pack.pack_id


@pytest.mark.parametrize("topic", [MEMORY_VOTES, MEMORY_DECISIONS], ids=lambda topic: topic.name)
@pytest.mark.covers("AC-26", "S0-88")
def test_votes_of_the_topic_and_unread_ones_of_an_older_log_have_their_effect_alone(fathom: Pipeline, topic: Topic):
    on_a_thread(fathom)
    for text in FOLLOW_UPS:
        rate(fathom, fathom.ask(text))
    cast = [record for record in fathom.log.of(topic.name) if b'"expected":"D2"' in record.value]
    assert len(cast) == len(FOLLOW_UPS)
    with Pipeline() as other:
        other.clock.at = fathom.clock.now()
        on_a_thread(other)
        assert other.ask(FOLLOW_UPS[0]).depth_level == "D1"
        for record in cast:
            other.log.append(topic.name, record.key, record.value, record.headers)
        other.settle()
        assert sum(map(len, other._run(other.weights.votes("acme")).values())) == len(FOLLOW_UPS)
        assert other.ask(LIKE).depth_level == "D2"


def test_depth_decides_without_weights_that_cannot_be_read():
    class Gone:
        async def votes(self, _tenant: str) -> Any:
            raise Unavailable("working_set", "gone")

    with Pipeline(replace={"weights": Gone()}) as fathom:
        on_a_thread(fathom)
        assert fathom.ask(LIKE).depth_level == "D1"


# --- the rule


def vote(number: int, expected: str | None = "D2", minutes: float = 0, pattern: str = "follow_up") -> DepthVote:
    at = EPOCH + timedelta(minutes=minutes)
    return DepthVote(
        id=f"v{number}",
        pattern=pattern,
        decided="D1",
        expected=expected,
        rating=2,
        at=at,
        message_id=f"m{number}",
        pack_id=f"p{number}",
        user_id="ana",
    )


def level(cast: list[DepthVote], text: str = "e o orçamento?", history: bool = True) -> str:
    with Pipeline() as made:
        asked = made.say("Fala do projeto X") if history else None
        if asked:
            made.say("O projeto X tem 3 fases.", role="assistant", answers=asked)
        made.say(text)
        turns = made._run(made.working_sets.session_turns(_talk(made), up_to_seq=10**6, limit=9))[:-1]
    decision = classify(text, turns, lang="pt")
    pattern = depth_weights.pattern_of(sign.name for sign in decision.signals)
    named = [one.model_copy(update={"pattern": pattern}) for one in cast]
    return depth_weights.raised(decision, {pattern: named}, EPOCH + timedelta(days=1)).level


def _talk(made: Pipeline) -> Conversation:
    return Conversation(tenant=made.tenant, client_id=made.client, conversation_id="c1")


@pytest.mark.covers("S0-88", "S0-89")
@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("e o orçamento?", "D3", "D2"),  # contestation comes from words alone: no more than D2
        ("e o orçamento?", "D4", "D1"),  # off the ladder: says nothing of more or less
        ("e o orçamento?", "D0", "D1"),  # never down
        ("ok", "D3", "D0"),
        ("Qual o email do João Silva?", "D3", "D0"),
        ("Não, o prazo mudou para dia 20", "D0", "D3"),
        ("Por que o prazo mudou?", "D0", "D2"),
    ],
)
def test_votes_have_bounds(text: str, expected: str, found: str):
    assert level([vote(n, expected) for n in range(9)], text) == found


@pytest.mark.covers("S0-88")
def test_who_votes_again_counts_once_and_as_of_the_last_time():
    assert level([vote(1, "D2", minutes=n) for n in range(3)]) == "D1"
    assert level([vote(n, "D2") for n in range(3)]) == "D2"
    assert level([*(vote(n, "D2") for n in range(3)), vote(0, "D1", minutes=1)]) == "D1"


def test_votes_against_count_and_only_the_newest_twenty():
    assert level([*(vote(n) for n in range(5)), *(vote(n, "D1") for n in range(5, 8))]) == "D1"
    old = [vote(n, "D1", minutes=n) for n in range(40)]
    assert level([*old, *(vote(n, "D2", minutes=n) for n in range(40, 60))]) == "D2"
    assert level([vote(n, None) for n in range(9)]) == "D1"
