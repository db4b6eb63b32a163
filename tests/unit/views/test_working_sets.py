"""The working set as a view of the log: emptied or away, what is decided and what the packs say stays the same."""

import asyncio
import json
import tracemalloc
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.core.caching.budget import SHARES, share_of
from agents.core.conversation.memory import ConversationTurn, Session
from agents.core.conversation.session_state import (
    RecordedOutcome,
    TurnOutcome,
    WorkingSetState,
    apply_log,
    by_conversation,
)
from agents.errors import Unavailable
from schemas.base import Conversation
from schemas.policy import ContextPolicy
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, DEPTH_CLASSIFIED, TOPICS
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.testing.pipeline import Pipeline
from streams.topology import stages_of
from streams.views import working_sets
from streams.views.restorable import ViewLog
from streams.views.working_sets import HandLog, RecoverableWorkingSets
from tests.builders.examples import few
from tests.builders.untimed import untimed

TALK = (
    ("user", "Qual é o prazo do projeto Jacarandá?"),
    ("assistant", "O prazo do projeto Jacarandá é dia 15 de maio."),
    ("user", "E quem é o responsável por ele?"),
    ("assistant", "A responsável pelo projeto Jacarandá é Marina."),
    ("system", "horário de atendimento encerrado"),
    ("user", "Não, o prazo do projeto Jacarandá mudou para dia 20 de maio."),
    ("user", "Por que o orçamento cresceu?"),
    ("user", "Mudando de assunto: quantos dias de férias eu tenho este ano?"),
    ("assistant", "Você tem 12 dias de férias."),
    ("user", "E no ano passado?"),
    ("user", "Voltando ao projeto Jacarandá: qual era o prazo?"),
)
# What stores memory waits for a store that is away, and would have this clock wait with it.
HOT = stages_of(("depth",))
WHERE = Conversation(tenant="acme", client_id="web", conversation_id="c1")
ANSWERED = (CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name, CONTEXT_PACKS.name)
KEPT = ("session", "frame_id", "turns", "frames", "seen")


class Breakable(MemoryWorkingSets):
    """Working sets that can be away."""

    away = False

    def _of(self, conversation: Conversation) -> Any:
        self._answers()
        return super()._of(conversation)

    async def incomplete_partitions(self, partitions: Collection[int]) -> frozenset[int]:
        self._answers()
        return await super().incomplete_partitions(partitions)

    async def start_restore(self, partition: int) -> str:
        self._answers()
        return await super().start_restore(partition)

    def _answers(self) -> None:
        if self.away:
            raise Unavailable("working_set", "Connection refused")


def talked(before: Callable[[Pipeline, int], None], **how: Any) -> Pipeline:
    """The talk in two conversations, with something done before each message."""
    with Pipeline(**how) as fathom:
        for number, (role, text) in enumerate(TALK):
            before(fathom, number)
            for conversation in ("c1", "c2"):
                fathom.say(text, role=role, conversation=conversation)
        fathom.wait(5)
    return fathom


@cache
def undisturbed_talk() -> Pipeline:
    """The talk with nothing done before its messages: only read, so that one serves all tests."""
    return talked(lambda _fathom, _number: None, stages=HOT)


def written(fathom: Pipeline, *names: str) -> dict[str, list[tuple[bytes | None, bytes | None]]]:
    """What lies on each topic, headers left out."""
    topics = names or tuple(topic.name for topic in TOPICS)
    return {name: [(record.key, untimed(record.value)) for record in fathom.log.of(name)] for name in topics}


def held(sets: MemoryWorkingSets) -> dict[str, dict[str, Any]]:
    """What a store holds, without the frames that were only looked for."""
    found = {key: {name: getattr(kept, name) for name in KEPT} for key, kept in sets._kept.items() if kept.session}
    for kept in found.values():
        kept["frames"] = {frame: turns for frame, turns in kept["frames"].items() if turns}
    return found


@pytest.mark.covers("AC-44", "B8", "S1-L2", "CF-85")
def test_emptied_before_every_message_everything_written_is_the_same():
    undisturbed = written(talked(lambda _fathom, _number: None))
    emptied = talked(lambda fathom, _number: fathom.working_sets.clear())
    assert len(undisturbed[CONTEXT_PACKS.name]) == 2 * sum(role == "user" for role, _ in TALK)
    assert written(emptied) == undisturbed


def test_emptied_once_it_is_read_back_once():
    def at_the_sixth(fathom: Pipeline, number: int) -> None:
        if number == 6:
            fathom.working_sets.clear()
            reads.append(fathom.turn_log.reads)

    reads: list[int] = []
    fathom = talked(at_the_sixth)
    assert fathom.turn_log.reads == reads[0] + 1


@pytest.mark.covers("AC-44", "S1-L2")
def test_away_for_some_messages_decisions_are_made_with_their_history_and_restored_afterwards():
    def away(fathom: Pipeline, number: int) -> None:
        fathom.working_sets.away = 4 <= number < 9

    names = (CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name)
    undisturbed = undisturbed_talk()
    disturbed = talked(away, stages=HOT, working_sets=Breakable())
    assert written(disturbed, *names) == written(undisturbed, *names)
    assert held(disturbed.working_sets) == held(undisturbed.working_sets)
    degraded = [pack.message_id for pack in disturbed.packs() if pack.degraded]
    assert degraded
    # Long-term memory and claims look at the conversation too.
    assert {"working_set"} <= set(chain(*(pack.missing_sections for pack in disturbed.packs())))
    assert not {"persona", "semantic"} & set(chain(*(pack.missing_sections for pack in disturbed.packs())))


@pytest.mark.covers("AC-44", "S1-L2")
def test_what_a_store_missed_that_was_away_for_a_moment_is_brought_to_it_without_the_log():
    """A busy store that lets a second pass unanswered cost the whole log, which made everything busier still."""
    store, undisturbed = Breakable(), undisturbed_talk()
    reads: list[int] = []

    def away(fathom: Pipeline, number: int) -> None:
        store.away = 4 <= number < 6
        if number >= 6:
            reads.append(fathom.turn_log.reads)

    talked(away, stages=HOT, working_sets=store)
    assert reads == [reads[0]] * (len(TALK) - 6)
    assert held(store) == held(undisturbed.working_sets)


class Interrupted(Breakable):
    """Working sets during whose next catch-up something happens, after so many turns."""

    def __init__(self) -> None:
        super().__init__()
        self.turns_until: int | None = None
        self.happens: Callable[[], None] = lambda: None

    async def append(self, conversation: Conversation, *rest: Any) -> None:
        self._answers()
        if self.turns_until == 0:
            self.turns_until = None
            self.happens()
            self._answers()
        await super().append(conversation, *rest)
        if self.turns_until is not None:
            self.turns_until -= 1


def test_a_store_that_goes_again_while_it_is_caught_up_costs_no_reading_of_the_log():
    store, undisturbed = Interrupted(), undisturbed_talk()
    store.happens = lambda: setattr(store, "away", True)
    reads: list[int] = []

    def away(fathom: Pipeline, number: int) -> None:
        store.away = 4 <= number < 6
        if number == 6:
            store.turns_until = 2
        if number >= 6:
            reads.append(fathom.turn_log.reads)

    talked(away, stages=HOT, working_sets=store)
    assert store.turns_until is None, "it never went again"
    # Once more for the fallback of the new outage, and never for what was missed.
    assert reads[1:] == [reads[0] + 1] * (len(reads) - 1)
    assert held(store) == held(undisturbed.working_sets)


def test_whoever_gave_a_partition_up_files_nothing_more_of_what_was_missed():
    store = Interrupted()
    with Pipeline(stages=HOT, working_sets=store) as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        store.away = True
        for text in ("O prazo é dia 15 de maio.", "Confirmado.", "Até logo."):
            fathom.say(text, role="assistant")
        store.away = False
        store.turns_until, store.happens = 1, fathom.view.on_revoked
        partition = fathom.view._place(
            Conversation(tenant=fathom.tenant, client_id=fathom.client, conversation_id="c1")
        )
        fathom._run(fathom.view._restored({partition}))
        kept = [json.loads(turn)["content"] for found in held(store).values() for turn in found["turns"]]
    # What was under way is filed; its next owner finds the rest in the log.
    assert kept == ["Qual é o prazo do projeto Jacarandá?", "O prazo é dia 15 de maio.", "Confirmado."]


@pytest.mark.covers("AC-44", "S1-L2")
def test_a_store_that_comes_back_emptied_is_not_only_brought_what_it_missed():
    store, undisturbed = Breakable(), undisturbed_talk()

    def away(_fathom: Pipeline, number: int) -> None:
        store.away = 4 <= number < 6
        if number == 6:
            store.clear()

    talked(away, stages=HOT, working_sets=store)
    assert held(store) == held(undisturbed.working_sets)


def test_of_more_than_is_remembered_the_log_is_read(monkeypatch):
    monkeypatch.setattr(working_sets, "MAX_BUFFERED", 2)
    store, undisturbed = Breakable(), undisturbed_talk()

    def away(fathom: Pipeline, number: int) -> None:
        store.away = 2 <= number < 9
        if number == 9:
            read.append(fathom.turn_log.reads)

    read: list[int] = []
    disturbed = talked(away, stages=HOT, working_sets=store)
    assert disturbed.turn_log.reads > read[0]
    assert held(store) == held(undisturbed.working_sets)


def test_what_is_too_large_to_be_remembered_is_read_from_the_log(monkeypatch):
    monkeypatch.setattr(share_of("decided_turns"), "allowed", 1)
    test_of_more_than_is_remembered_the_log_is_read(monkeypatch)


def test_without_room_for_any_cache_everything_written_is_the_same(monkeypatch):
    undisturbed = written(undisturbed_talk(), *ANSWERED)
    for name in SHARES:
        monkeypatch.setattr(share_of(name), "allowed", 0)
    assert written(talked(lambda _fathom, _number: None, stages=HOT), *ANSWERED) == undisturbed


def test_messages_of_a_quarter_of_a_megabyte_take_no_more_than_their_share():
    class Discarding(MemoryWorkingSets):
        async def append(self, *_: Any) -> None:
            return None

    async def story() -> None:
        view = RecoverableWorkingSets(Discarding(), HandLog(), ContextPolicy(), partitions=1)
        await view.on_assigned([0])
        turn = ConversationTurn("user", "", datetime(2026, 3, 2, tzinfo=UTC))
        for _ in range(2_048):
            await view.append(WHERE, "f", turn, Session(), bytes(250_000), 10)
        kept = [number for number, _ in view._recent.items()]
        assert kept == [*range(2_048 - len(kept), 2_048)]
        assert len(kept) > 50
        assert view._has_all(kept[0])
        assert not view._has_all(kept[0] - 1)

    tracemalloc.start()
    try:
        asyncio.run(story())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < share_of("decided_turns").allowed + 2_000_000


@pytest.mark.covers("AC-29", "CF-67")
def test_redelivered_while_the_store_is_away_a_message_gives_the_same_bytes():
    store = Breakable()
    with Pipeline(stages=HOT, working_sets=store) as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        fathom.say("O prazo é dia 15 de maio.", role="assistant")
        store.away = True
        fathom.say("E quem é o responsável por ele?")
        before = written(fathom, CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name)
        [tp] = [tp for tp in fathom.log.records if tp.topic == "messages.in"]
        fathom._members["depth"].acked[tp].clear()
        fathom.clock.advance(3)
        fathom.crash("depth")
        fathom.settle()
        after = written(fathom, CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name)
    for name, records in before.items():
        assert after[name] == records * 2, name


def test_a_worker_that_takes_over_finds_turns_that_were_decided_while_the_store_was_away():
    store = Breakable()
    with Pipeline(stages=HOT, working_sets=store) as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        store.away = True
        fathom.say("O prazo é dia 15 de maio.", role="assistant")
        # Whoever knew of it is gone before the store is back, and the store believes itself whole.
        store.away = False
        fathom.view._behind.clear()
        fathom.view._recent.clear()
        fathom.crash("depth")
        pack = fathom.ask("E quem é o responsável por ele?")
    assert [message.content for message in pack.working_set.recent_messages][-1:] == ["O prazo é dia 15 de maio."]


def test_a_worker_that_takes_over_while_the_store_is_away_finds_what_its_last_owner_decided():
    store = Breakable()
    with Pipeline(stages=HOT, working_sets=store) as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        store.away = True
        fathom.say("O prazo é dia 15 de maio.", role="assistant")
        fathom.view.on_revoked()
        fathom.view._recent.clear()
        fathom.crash("depth")
        fathom.say("Quem aprova férias?", conversation="c1")
        store.away = False
        pack = fathom.ask("E quem é o responsável por ele?")
    recent = [message.content for message in pack.working_set.recent_messages]
    assert recent[-2:] == ["O prazo é dia 15 de maio.", "Quem aprova férias?"]


def test_also_a_turn_that_was_missed_while_another_one_was_filed_is_found_by_the_next_owner():
    class Losing(MemoryWorkingSets):
        lost = ""

        async def append(self, conversation: Conversation, *rest: Any) -> None:
            if conversation.conversation_id == self.lost:
                raise Unavailable("working_set", "no answer in 1 s")
            await super().append(conversation, *rest)

    store = Losing()
    with Pipeline(stages=HOT, working_sets=store, partitions=1) as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        store.lost = "c1"
        fathom.say("O prazo é dia 15 de maio.", role="assistant")
        # What was under way beside it is filed, and is the last turn in the log; then the worker dies.
        fathom.view._behind.clear()
        fathom.view._recent.clear()
        fathom.say("Quem aprova férias?", conversation="c2")
        store.lost = ""
        fathom.view._recent.clear()
        fathom.crash("depth")
        pack = fathom.ask("E quem é o responsável por ele?")
    assert [message.content for message in pack.working_set.recent_messages][-1:] == ["O prazo é dia 15 de maio."]


def test_what_is_decided_and_not_in_the_log_yet_is_restored_too():
    with Pipeline(stages=HOT) as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        fathom.say("O prazo é dia 15 de maio.", role="assistant")
        lived, whole = held(fathom.working_sets), fathom.turn_log._of
        fathom.turn_log._of = lambda topic: whole(topic)[: -1 if topic == CONVERSATION_TURNS.name else None]
        fathom.working_sets.clear()
        fathom._run(fathom.view.on_assigned(range(3)))
        assert held(fathom.working_sets) == lived


class Slow:
    """A log that is read when it is let."""

    def __init__(self) -> None:
        self.reads = 0
        self.begun = asyncio.Event()
        self.let = asyncio.Event()

    async def read(
        self, partitions: Collection[int], _span: timedelta | None
    ) -> AsyncGenerator[dict[int, Sequence[RecordedOutcome]], None]:
        self.reads += 1
        self.begun.set()
        await self.let.wait()
        yield dict.fromkeys(partitions, ())


@pytest.mark.covers("S1-L2")
def test_whoever_gave_a_partition_up_does_not_take_its_restoration_from_the_next_owner():
    """Both began again whenever the other had: neither came to an end before the next rebalance."""

    async def taken_over() -> None:
        store, logs = MemoryWorkingSets(), (Slow(), Slow())
        first, second = (
            RecoverableWorkingSets(store, log, ContextPolicy(), partitions=1, place=lambda _: 0) for log in logs
        )
        taking = asyncio.create_task(first.on_assigned([0]))
        await logs[0].begun.wait()
        first.on_revoked()
        taking_over = asyncio.create_task(second.on_assigned([0]))
        await logs[1].begun.wait()
        logs[0].let.set()  # its restoration has come to nothing now
        await taking
        logs[1].let.set()
        await taking_over
        assert [log.reads for log in logs] == [1, 1]
        assert await store.incomplete_partitions([0]) == frozenset()

    asyncio.run(taken_over())


def test_a_policy_that_remembers_nothing_reads_nothing_back():
    with Pipeline(policy=ContextPolicy(enabled=False)) as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        fathom.working_sets.clear()
        pack = fathom.ask("E quem é o responsável?")
        assert fathom.turn_log.reads == 0
        assert pack.working_set.recent_messages == ()
        assert fathom.committed("index-writers", CONVERSATION_TURNS) != {}


def test_what_is_older_than_the_policy_keeps_is_not_read_back():
    with Pipeline(policy=ContextPolicy(ttl_seconds=60)) as fathom:
        fathom.say("Qual é o prazo do projeto Jacarandá?")
        fathom.clock.advance(90)
        fathom.say("O prazo é dia 15 de maio.", role="assistant")
        fathom.working_sets.clear()
        fathom.view._recent.clear()
        fathom.say("E quem é o responsável por ele?")
        [kept] = held(fathom.working_sets).values()
    assert len(kept["turns"]) == 2


# --- the fold

SAID = st.lists(
    st.tuples(st.sampled_from(TALK), st.sampled_from(("c1", "c2")), st.booleans(), st.booleans()),
    min_size=1,
    max_size=14,
)


@settings(max_examples=few(25, 8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(said=SAID)
def test_folding_the_turns_gives_the_working_set_of_having_lived_through_them(said):
    with Pipeline(stages=stages_of(["depth"])) as fathom:
        asked: dict[str, str] = {}
        for (role, text), conversation, late, again in said:
            fields = {"answers": asked[conversation]} if role == "assistant" and late and conversation in asked else {}
            message_id = fathom.say(text, role=role, conversation=conversation, **fields)
            if role == "user":
                asked.setdefault(conversation, message_id)
            if again:
                fathom.say(text, role=role, conversation=conversation, message_id=message_id, **fields)
        lived = held(fathom.working_sets)
        fathom.working_sets.clear()
        fathom.view._recent.clear()
        fathom._run(fathom.view.on_assigned(range(3)))
        assert held(fathom.working_sets) == lived


def recorded() -> list[RecordedOutcome]:
    """The outcomes of the talk in one conversation."""
    with Pipeline(stages=stages_of(["depth"]), partitions=1) as fathom:
        for role, text in TALK:
            fathom.say(text, role=role)
        return fathom._run(read_whole(fathom.turn_log, 0))


async def read_whole(log: ViewLog[RecordedOutcome], partition: int) -> list[RecordedOutcome]:
    return [one async for portion in log.read({partition}, None) for one in portion[partition]]


def test_a_message_whose_depth_is_not_in_the_log_was_not_finished():
    said = recorded()
    unfinished = RecordedOutcome(said[-1].conversation, TurnOutcome(turn=said[-1].outcome.turn))
    [outcomes] = by_conversation([*said[:-1], unfinished]).values()
    assert [each.turn.seq for each in outcomes.outcomes] == list(range(len(TALK) - 1))
    [outcomes] = by_conversation([*said[:-1], unfinished, said[-1]]).values()
    assert outcomes.outcomes[-1] == said[-1].outcome


def test_a_message_whose_depth_is_no_longer_kept_is_whole():
    said = recorded()
    old = RecordedOutcome(said[0].conversation, TurnOutcome(turn=said[0].outcome.turn))
    other = Conversation(tenant="acme", client_id="web", conversation_id="c9")
    found = by_conversation([old, *(RecordedOutcome(other, each.outcome) for each in said[1:])])
    assert [each.turn.seq for each in found[old.conversation].outcomes] == [0]


@pytest.mark.covers("S1-L2")
def test_what_is_there_already_is_not_added_again_and_older_turns_do_not_move_the_session():
    said = [each.outcome for each in recorded()]
    whole = apply_log(WorkingSetState(), said, keep=400, keep_all=400)
    assert whole is not None
    assert apply_log(whole, said, keep=400, keep_all=400) is None
    late = apply_log(WorkingSetState(), said[6:], keep=400, keep_all=400)
    assert late is not None
    joined = apply_log(late, said, keep=400, keep_all=400)
    assert joined is not None
    assert joined.turns == whole.turns
    assert joined.session.frame_id == whole.session.frame_id


@pytest.mark.covers("AC-44", "S1-L2")
def test_only_the_newest_turns_are_kept():
    whole = apply_log(WorkingSetState(), [each.outcome for each in recorded()], keep=2, keep_all=5)
    assert whole is not None
    assert [turn.seq for turn in whole.turns] == list(range(len(TALK) - 5, len(TALK)))
    assert all(len(turns) <= 2 for turns in whole.frames.values())
