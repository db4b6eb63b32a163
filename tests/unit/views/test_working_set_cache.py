"""Working sets held by the owner of their partition: the store is read once, and nothing that comes out changes."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from agents.core.caching.budget import ENTRY_BYTES, share_of
from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns
from agents.core.conversation.session_state import WorkingSetState
from agents.errors import Unavailable
from schemas.base import Conversation
from schemas.policy import ContextPolicy
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, DEPTH_CLASSIFIED, TOPICS
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.turn_codec import decode_session, encode_session
from streams.testing.pipeline import Pipeline
from streams.views.working_set_cache import HELD_S, TURN_OVERHEAD, HeldWorkingSets
from tests.builders.untimed import untimed

BRASILIA = timezone(timedelta(hours=-3))
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TALK = Conversation(tenant="acme", client_id="web", conversation_id="c1")
SAID = (
    ("user", "Qual é o prazo do projeto Jacarandá, e como está a PETR4?"),
    ("assistant", "O prazo do projeto Jacarandá é dia 15 de maio; PETR4 fechou a R$ 38,10."),
    ("user", "and who is responsible for it?"),
    ("assistant", "Marina is responsible for the Jacarandá project."),
    ("system", "horário de atendimento encerrado"),
    ("user", "Não, o prazo do projeto Jacarandá mudou para dia 20 de maio."),
    ("user", "Mudando de assunto: quantos dias de férias eu tenho este ano?"),
    ("assistant", "Você tem 12 dias de férias."),
    ("user", "E no ano passado?"),
    ("user", "Olá!"),
    ("user", "Voltando ao projeto Jacarandá e à PETR4: qual era o prazo?"),
)


class Counting(MemoryWorkingSets):
    """Working sets that count how often they are read and written, and may break after a write."""

    breaks = False

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.before_answer: Callable[[], Coroutine[Any, Any, object]] | None = None

    async def open(self, *asked: Any) -> Opened:
        self.calls["open"] += 1
        return await super().open(*asked)

    async def load(self, *asked: Any) -> tuple[WorkingSetState, bytes | None]:
        self.calls["load"] += 1
        found = await super().load(*asked)
        if self.before_answer is not None:
            meanwhile, self.before_answer = self.before_answer, None
            await meanwhile()
        return found

    async def frame_of(self, *asked: Any) -> str | None:
        self.calls["frame_of"] += 1
        return await super().frame_of(*asked)

    async def turns(self, *asked: Any, **limits: Any) -> Turns:
        self.calls["turns"] += 1
        return await super().turns(*asked, **limits)

    async def session_turns(self, *asked: Any, **limits: Any) -> Turns:
        self.calls["session_turns"] += 1
        return await super().session_turns(*asked, **limits)

    async def append(self, *written: Any) -> bytes | None:
        self.calls["append"] += 1
        known = await super().append(*written)
        if self.breaks:
            raise Unavailable("working_set", "no answer in 1 s")
        return known


def talked(policy: ContextPolicy | None = None) -> tuple[Pipeline, Counter[str]]:
    """The talk in two conversations, with late answers; and the calls of the store."""
    store = Counting()
    with Pipeline(working_sets=store, policy=policy) as fathom:
        first: dict[str, str] = {}
        for role, text in SAID:
            for conversation in ("c1", "c2"):
                at = fathom.clock.now().astimezone(BRASILIA if role == "user" else UTC)
                late = {"answers": first[conversation]} if text.startswith("Você") else {}
                message_id = fathom.say(text, role=role, conversation=conversation, created_at=at, **late)
                first.setdefault(conversation, message_id)
        fathom.wait(5)
    return fathom, store.calls


def written(fathom: Pipeline, *names: str) -> dict[str, list[tuple[bytes | None, bytes | None]]]:
    return {
        name: [(record.key, untimed(record.value)) for record in fathom.log.of(name)]
        for name in names or tuple(topic.name for topic in TOPICS)
    }


@pytest.mark.covers("CF-85", "S1-L2")
@pytest.mark.parametrize("policy", [None, ContextPolicy(max_turns=2, session_turns=3)])
def test_each_conversation_is_read_once_and_everything_written_is_the_same(monkeypatch, policy):
    fathom, calls = talked(policy)
    monkeypatch.setattr(HeldWorkingSets, "own", lambda *_: None)
    unheld, read_always = talked(policy)
    assert written(fathom) == written(unheld)
    assert len(fathom.log.of(CONTEXT_PACKS.name)) == 2 * sum(role == "user" for role, _ in SAID)
    assert calls["append"] == read_always["append"] == 2 * len(SAID)
    # The question of the late answer is no longer among the turns of a frame that keeps three.
    assert {name for name, count in calls.items() if count} - {"append"} == {"load", *(["frame_of"] if policy else [])}
    assert calls["load"] == 2
    assert read_always["turns"] + read_always["session_turns"] > 4 * len(SAID)


# --- owners


def filed(number: int, frame: str = "f1") -> ConversationTurn:
    return ConversationTurn(
        "user", f"pergunta {number}", NOON, message_id=f"m{number}", seq=number, frame_id=frame, lang="pt"
    )


async def file(sets: Any, number: int, frame: str = "f1", outcome: bytes = b"decided") -> bytes | None:
    session = Session(frame_id=frame, frames=(frame,), last_seq=number)
    known: bytes | None = await sets.append(TALK, frame, filed(number, frame), session, outcome, 400)
    return known


async def seen(sets: HeldWorkingSets, up_to: int) -> list[int]:
    return [turn.seq for turn in await sets.turns(TALK, "f1", up_to_seq=up_to, limit=50)]


def owner(store: MemoryWorkingSets, **how: Any) -> HeldWorkingSets:
    sets = HeldWorkingSets(store, **how)
    sets.own([0])
    return sets


def test_what_was_held_before_a_partition_was_lost_is_not_held_when_it_is_back():
    async def story() -> None:
        store = MemoryWorkingSets()
        first, second = owner(store), owner(store)
        await first.open(TALK, "m0", 20)
        await file(first, 0)
        first.own(())
        await second.open(TALK, "m1", 20)
        await file(second, 1)
        first.own([0])
        assert [turn.seq for turn in (await first.open(TALK, "m2", 20)).turns] == [0, 1]
        assert await seen(first, 1) == [0, 1]

    asyncio.run(story())


def test_whoever_does_not_know_yet_that_a_partition_is_lost_reads_and_decides_as_its_new_owner():
    """Its heartbeat fails seconds later; until then it handles what it has in hand, and plans of the new owner."""

    async def story() -> None:
        store = MemoryWorkingSets()
        former, latter = owner(store), owner(store)
        await former.open(TALK, "m0", 20)
        await file(former, 0)
        await latter.open(TALK, "m1", 20)
        await file(latter, 1, outcome=b"of its owner")
        await file(latter, 2)
        # The plan of message 2 says that turn 1 is there.
        assert await seen(former, 1) == [0, 1]
        assert [turn.seq for turn in await former.session_turns(TALK, up_to_seq=1, limit=50)] == [0, 1]
        assert await file(former, 1, outcome=b"of another one") == b"of its owner"
        assert [turn.seq for turn in (await former.open(TALK, "m2", 20)).turns] == [0, 1, 2]
        assert (await former.open(TALK, "m2", 20)).outcome == b"decided"

    asyncio.run(story())


@pytest.mark.covers("AC-29", "CF-67")
def test_a_message_that_the_next_owner_has_decided_on_gives_the_same_bytes_here():
    with Pipeline() as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        # As this process holds them while another one handles the next message.
        copies = fathom.view._held._copies.items()
        fathom.say("E quem é o responsável por ele?")
        before = written(fathom, CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name)
        [tp] = [tp for tp in fathom.log.records if tp.topic == "messages.in"]
        fathom._members["depth"].acked[tp] -= {1}
        fathom.clock.advance(3)
        fathom.crash("depth")
        for whose, copy in copies:
            fathom.view._held._copies.put(whose, copy)
        fathom.settle()
        after = written(fathom, CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name)
    for name, records in before.items():
        assert after[name] == [*records, records[-1]], name


# --- writes


@pytest.mark.covers("AC-44")
def test_after_a_write_that_was_not_answered_the_store_is_read_again():
    async def story() -> None:
        store = Counting()
        sets = owner(store)
        await sets.open(TALK, "m0", 20)
        store.breaks = True
        with pytest.raises(Unavailable):
            await file(sets, 0)
        store.breaks = False
        opened = await sets.open(TALK, "m0", 20)
        assert ([turn.seq for turn in opened.turns], opened.outcome) == ([0], b"decided")

    asyncio.run(story())


def test_what_was_read_before_a_write_is_not_held_after_it():
    async def story() -> None:
        store = Counting()
        sets = owner(store)
        store.before_answer = lambda: file(sets, 0)
        assert (await sets.open(TALK, "m1", 20)).turns == ()
        assert await seen(sets, 0) == [0]
        assert [turn.seq for turn in (await sets.open(TALK, "m1", 20)).turns] == [0]

    asyncio.run(story())


def test_what_is_forgotten_is_not_held():
    async def story() -> None:
        sets = owner(MemoryWorkingSets())
        await sets.open(TALK, "m0", 20)
        await file(sets, 0)
        await sets.forget(TALK, 1)
        opened = await sets.open(TALK, "m2", 20)
        assert (opened.turns, opened.session.forgotten) == ((), 1)
        assert await seen(sets, 1) == []
        assert await sets.frame_of(TALK, "m0") is None

    asyncio.run(story())


def test_a_frame_that_is_not_held_is_read_from_the_store():
    async def story() -> None:
        store = MemoryWorkingSets()
        before = owner(store)
        await before.open(TALK, "m0", 20)
        await file(before, 0)
        await before.append(TALK, "f2", filed(1, "f2"), Session("f2", ("f1", "f2"), last_seq=1), b"", 400)
        sets = owner(store)
        await sets.open(TALK, "m2", 20)
        # A late answer to the first frame.
        await sets.append(TALK, "f1", filed(2), Session("f2", ("f1", "f2"), last_seq=2), b"", 400)
        assert await seen(sets, 2) == [0, 2]
        assert [turn.seq for turn in (await sets.open(TALK, "m3", 20)).turns] == [1]
        assert await sets.frame_of(TALK, "m0") == "f1"

    asyncio.run(story())


def test_a_session_is_held_as_the_store_gives_it_back():
    fathom, _ = talked()
    sessions = [copy.state.session for _, copy in fathom.view._held._copies.items()]
    assert len(sessions) == 2
    assert any(session.references for session in sessions)
    for session in sessions:
        assert decode_session(encode_session(session)) == session
        assert encode_session(decode_session(encode_session(session))) == encode_session(session)


# --- bounds


def test_the_least_recently_used_conversations_make_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(share_of("working_sets"), "allowed", 3 * (TURN_OVERHEAD + ENTRY_BYTES))

    async def story() -> None:
        store, now = Counting(), [0.0]
        sets = owner(store, clock=lambda: now[0])
        others = [Conversation(tenant="acme", client_id="web", conversation_id=f"c{number}") for number in range(3)]
        for each in (*others[:2], others[0], others[2]):
            await sets.open(each, "m", 20)
        assert store.calls["load"] == 3
        await sets.open(others[0], "m", 20)
        assert store.calls["load"] == 3
        await sets.open(others[1], "m", 20)
        assert store.calls["load"] == 4
        now[0] += HELD_S + 1
        await sets.open(others[1], "m", 20)
        assert store.calls["load"] == 5
        assert len(sets._copies) == 1

    asyncio.run(story())
