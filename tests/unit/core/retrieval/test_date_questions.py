"""Points in time of past talks: brought where a message asks about their time or when something is, and only then.

The encoder of tests finds a message by its words: where it is shown itself, its point in time is not shown again.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.core.retrieval.date_questions import asked_time
from agents.errors import Unavailable
from schemas.items import TimePoint
from schemas.packs import ContextPack
from streams.stores.graph import queries
from streams.stores.graph.embedded.engine import EmbeddedEngine
from streams.testing.pipeline import EPOCH, Pipeline
from tests.builders.pack_items import exchange, messages

ANA = {"headers": {"user_id": "ana"}}
RUI = {"headers": {"user_id": "rui"}}
ENGLISH = {"headers": {"user_id": "ana", "locale": "en"}}
# A Monday.
assert f"{EPOCH:%Y-%m-%d}" == "2026-03-02"

LAUNCH = "O lançamento do Boreal ficou para 12 de maio."
AUDIT = "A auditoria de Recife começa em 20 de março."
VISIT = "A visita do Delta é na próxima terça."
REVIEW = "The Atlas review is on March 12."
SIGNING = "Signing with Delta is next Tuesday."


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def told(fathom: Pipeline, *said: str, conversation: str = "before", **who: Any) -> None:
    """What a user said, each answered so that it is summarised."""
    for text in said:
        asked = fathom.say(text, conversation=conversation, **who)
        fathom.say("Ok.", role="assistant", conversation=conversation, answers=asked, **who)
    fathom.clock.advance(60)


def dated(pack: ContextPack) -> list[TimePoint]:
    """The points in time that are no messages."""
    found = pack.episodic.relevant_events if pack.episodic else ()
    return [event for event in found if event.kind != "message"]


def shown(pack: ContextPack) -> list[tuple[str, str]]:
    return [(event.label, f"{event.at:%Y-%m-%d}") for event in dated(pack)]


def said(pack: ContextPack) -> list[str]:
    """The past messages that the pack shows."""
    found = pack.episodic.relevant_events if pack.episodic else ()
    return [event.label.partition(": ")[2] for event in found if event.kind == "message"]


@pytest.mark.covers("S0-53")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("o que ficou marcado para março?", [(VISIT, "2026-03-03"), (AUDIT, "2026-03-20")]),
        ("O que aconteceu em 12 de maio?", [(LAUNCH, "2026-05-12")]),
        ("Quais compromissos tenho esta semana?", [(VISIT, "2026-03-03")]),
        ("O que temos amanhã às 10h?", [(VISIT, "2026-03-03")]),
        ("O que temos entre 1 de maio e 30 de maio?", [(LAUNCH, "2026-05-12")]),
        ("O que ficou marcado para abril?", []),
    ],
)
def test_what_happens_at_a_time_is_what_was_said_of_it(
    fathom: Pipeline, question: str, expected: list[tuple[str, str]]
):
    told(fathom, LAUNCH, AUDIT, VISIT, **ANA)
    pack = fathom.ask(question, **ANA)
    # What the search has found and shows already is the same thing said.
    assert sorted([*shown(pack), *((each, at) for each, at in expected if each in said(pack))]) == sorted(expected)
    assert all(label not in said(pack) for label, _ in shown(pack))


@pytest.mark.covers("S0-53")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what happens next week?", [(SIGNING, "2026-03-10"), (REVIEW, "2026-03-12")]),
        ("what happens on March 10?", [(SIGNING, "2026-03-10")]),
        ("What is on my calendar for this month?", [(SIGNING, "2026-03-10"), (REVIEW, "2026-03-12")]),
        ("What happened last week?", []),
    ],
)
def test_what_happens_at_a_time_in_english(fathom: Pipeline, question: str, expected: list[tuple[str, str]]):
    told(fathom, REVIEW, **ENGLISH)
    fathom.clock.advance(86400 * 2)  # Wednesday: next Tuesday is in the next week
    told(fathom, SIGNING, conversation="later", **ENGLISH)
    pack = fathom.ask(question, **ENGLISH)
    assert sorted([*shown(pack), *((each, at) for each, at in expected if each in said(pack))]) == sorted(expected)


class NothingFound:
    """An index that keeps nothing and finds nothing: what comes, comes from the graph."""

    async def upsert(self, *args: Any, **fields: Any) -> None:
        """Keep nothing."""

    async def search(self, *args: Any, **fields: Any) -> tuple[()]:
        return ()


@pytest.fixture
def unsearched() -> Iterator[Pipeline]:
    with Pipeline(replace={"index": NothingFound()}) as pipeline:
        yield pipeline


@pytest.mark.covers("S0-53")
@pytest.mark.parametrize(
    ("question", "who", "expected"),
    [
        ("when is the Atlas review?", ENGLISH, [(REVIEW, "2026-03-12")]),
        ("Do you know when the Atlas review is?", ENGLISH, [(REVIEW, "2026-03-12")]),
        ("When is the Boreal review?", ENGLISH, []),
        ("When is the Atlas launch party?", ENGLISH, []),
        ("Quando é o lançamento do Boreal?", ANA, [(LAUNCH, "2026-05-12")]),
        ("quando é a auditoria de Recife", ANA, [(AUDIT, "2026-03-20")]),
        ("Que dia é a visita do Delta?", ANA, [(VISIT, "2026-03-03")]),
        ("Quando é a visita do Atlas?", ANA, []),
        ("Quando começa a auditoria do Atlas?", ANA, []),
    ],
)
def test_when_something_named_is(
    unsearched: Pipeline, question: str, who: dict[str, Any], expected: list[tuple[str, str]]
):
    told(unsearched, LAUNCH, AUDIT, VISIT, **ANA)
    told(unsearched, REVIEW, conversation="english", **ENGLISH)
    assert shown(unsearched.ask(question, **who)) == expected


@pytest.mark.covers("S0-53", "S0-74")
def test_a_point_in_time_says_why_it_is_there_how_likely_it_helps_and_where_it_comes_from(unsearched: Pipeline):
    told(unsearched, LAUNCH, AUDIT, **ANA)
    [named] = dated(unsearched.ask("Quando é o lançamento do Boreal?", **ANA))
    assert (named.reason, named.score) == ("event on 2026-05-12, named in the question", 0.8)
    assert (named.provenance.store, named.kind) == ("graph", "day")
    [timed] = dated(unsearched.ask("O que ficou marcado para março?", conversation="c2", **ANA))
    assert (timed.reason, timed.score) == ("event on 2026-03-20, at the time asked about", 0.6)
    assert timed.recorded_at < unsearched.clock.now()


@pytest.mark.covers("S0-53")
def test_what_another_user_or_another_tenant_said_is_not_told(unsearched: Pipeline):
    told(unsearched, AUDIT, **ANA)
    for who in (RUI, {"tenant": "beta", "headers": {"user_id": "ana"}}):
        for question in ("O que ficou marcado para março?", "Quando é a auditoria de Recife?"):
            assert dated(unsearched.ask(question, **who)) == []
    assert shown(unsearched.ask("O que ficou marcado para março?", conversation="own", **ANA)) == [
        (AUDIT, "2026-03-20")
    ]


def test_a_question_of_before_it_was_said_does_not_know_it(unsearched: Pipeline):
    before = unsearched.clock.now()
    told(unsearched, AUDIT, **ANA)
    question = "O que ficou marcado para março?"
    assert dated(unsearched.ask(question, created_at=before, conversation="then", **ANA)) == []
    assert shown(unsearched.ask(question, conversation="now", **ANA)) == [(AUDIT, "2026-03-20")]


@pytest.mark.covers("S0-53")
def test_a_message_that_is_known_to_hold_or_not_is_shown_itself_and_not_its_point_in_time(fathom: Pipeline):
    dates = ("A prova de física é dia 10 de março.", "A prova de física mudou para dia 17 de março.")
    for place, text in enumerate(dates):
        told(fathom, text, conversation=f"p{place}", **ANA)
    pack = fathom.ask("Quando é a prova de física?", **ANA)
    assert pack.episodic is not None
    assert [(each.label, each.holds) for each in pack.episodic.relevant_events] == [
        (f"user: {dates[0]}", False),
        (f"user: {dates[1]}", True),
    ]


@pytest.mark.covers("S0-53")
def test_what_the_conversation_itself_shows_is_not_told_again(unsearched: Pipeline):
    exchange(unsearched, AUDIT, "Ok.")
    pack = unsearched.ask("O que ficou marcado para março?")
    assert AUDIT in messages(pack)
    assert dated(pack) == []
    assert [each.reason for each in pack.dropped if each.memory_class == "episodic"] == ["in_working_set"]


def test_a_question_about_a_time_is_nothing_that_happens_then(unsearched: Pipeline):
    told(unsearched, AUDIT, "O que ficou marcado para março?", "O que aconteceu em 20 de março", **ANA)
    assert shown(unsearched.ask("O que ficou marcado para março?", **ANA)) == [(AUDIT, "2026-03-20")]


def test_what_is_known_less_precisely_than_it_is_asked_is_not_told(unsearched: Pipeline):
    told(unsearched, "A reforma acaba em março de 2026.", **ANA)
    assert shown(unsearched.ask("O que temos em 1 de março de 2026?", **ANA)) == []
    [event] = dated(unsearched.ask("O que ficou marcado para março?", conversation="c2", **ANA))
    assert event.reason == "event on 2026-03, at the time asked about"


def test_at_most_five_are_told_those_said_last(unsearched: Pipeline):
    days = [f"A etapa número {day} da obra acaba em {day} de março." for day in range(10, 17)]
    for place, each in enumerate(days):
        told(unsearched, each, conversation=f"p{place}", **ANA)
    assert [label for label, _ in shown(unsearched.ask("O que ficou marcado para março?", **ANA))] == days[-5:]


class CountedEngine(EmbeddedEngine):
    """Notes every query."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def read(self, query: str, parameters: Any) -> Any:
        self.asked.append(query)
        return await super().read(query, parameters)


OF_EVENTS = {queries.EVENTS_OF_USER, queries.EVENTS_BETWEEN}


@pytest.mark.covers("S0-53", "S0-59")
@pytest.mark.parametrize(
    "text",
    [
        "Qual o email do João Silva?",
        "Por que o projeto Atlas atrasou?",
        "A auditoria de Recife mudou para 25 de março",
        "Preciso do relatório até 20 de março",
        "Quando o servidor cai, o que fazer?",
        "Que horas são?",
        "What day is it today?",
        "When the build fails I restart it",
        "Explain how the second phase works",
        "Mudando de assunto, quem aprova férias?",
        "Não, o prazo do projeto Atlas mudou para dia 20 de março",
    ],
)
def test_who_does_not_ask_about_time_is_told_none_and_nothing_is_read_for_it(unsearched: Pipeline, text: str):
    engine = unsearched.graph._engine = unsearched.graph.engine = CountedEngine()
    told(unsearched, AUDIT, LAUNCH, **ANA)
    told(unsearched, REVIEW, conversation="english", **ENGLISH)
    assert dated(unsearched.ask(text, **ANA)) == []
    assert OF_EVENTS.isdisjoint(engine.asked)
    unsearched.ask("O que ficou marcado para março?", conversation="c2", **ANA)
    assert len([query for query in engine.asked if query in OF_EVENTS]) == 1


class WithoutEvents(EmbeddedEngine):
    """A graph that cannot tell events."""

    async def read(self, query: str, parameters: Any) -> Any:
        if query in OF_EVENTS:
            raise Unavailable("graph")
        return await super().read(query, parameters)


def test_a_graph_that_does_not_answer_leaves_the_messages(fathom: Pipeline):
    fathom.graph._engine = fathom.graph.engine = WithoutEvents()
    told(fathom, AUDIT, **ANA)
    pack = fathom.ask("Quando é a auditoria de Recife?", **ANA)
    assert (said(pack)[0], dated(pack)) == (AUDIT, [])
    [part] = [each for each in fathom.parts() if (each.pack_id, each.memory_class) == (pack.pack_id, "episodic")]
    assert (part.status, part.error) == ("error", "graph is unavailable")


def test_a_profile_without_events_brings_and_reads_none(tmp_path):
    file = tmp_path / "profiles.yaml"
    terms = "{recent_summaries: {kinds: [message, summary]}, relevant_past_discussions: {kinds: [message]}}"
    file.write_text(f"profiles:\n  document_evidence:\n    version: 2\n    episodic: {terms}\n")
    question = "Explique o que ficou marcado para março?"
    for policy, expected in ((None, [(AUDIT, "2026-03-20")]), (file, [])):
        with Pipeline(replace={"index": NothingFound()}, profile_policy=policy) as fathom:
            engine = fathom.graph._engine = fathom.graph.engine = CountedEngine()
            told(fathom, AUDIT, **ANA)
            pack = fathom.ask(question, **ANA)
            assert pack.query_profile_used == "document_evidence"
            assert shown(pack) == expected
            assert OF_EVENTS.isdisjoint(engine.asked) == (policy is not None)


WEDNESDAY = datetime(2026, 3, 11, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "lang", "first", "days"),
    [
        ("What happened on Friday?", "en", "2026-03-06", 1),
        ("What happens on Friday?", "en", "2026-03-13", 1),
        ("O que aconteceu na quarta?", "pt", "2026-03-04", 1),
        ("Anything planned for tomorrow?", "en", "2026-03-12", 1),
        ("O que temos amanhã às 10h30?", "pt", "2026-03-12", 1),
        ("What happened two hours ago?", "en", "2026-03-11", 1),
        ("Me lembra o que combinamos ontem", "pt", "2026-03-10", 1),
        ("Tem reunião no mês que vem?", "pt", "2026-04-01", 30),
        ("What was planned for 2025? Anything in 2025?", "en", "2025-01-01", 365),
    ],
)
def test_the_time_asked_about(text: str, lang: str, first: str, days: int):
    asked = asked_time(text, lang, WEDNESDAY)
    assert asked is not None
    [span] = asked.spans
    assert (f"{span.start:%Y-%m-%d}", span.end - span.start) == (first, timedelta(days=days))
    assert (span.start.hour, span.start.minute, span.start.second) == (0, 0, 0)
