"""The explanation of a message: what its page says, from the records and nodes that a pipeline makes."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest

from agents.errors import Unavailable
from agents.ports.graph import Asker
from schemas.topics import (
    CONTEXT_PACKS,
    CORRECTIONS_IN,
    DEPTH_CLASSIFIED,
    MEMORY_DECISIONS,
    MESSAGES_IN,
    PACKS_PARTIAL,
    TOOLS_CALLS_IN,
)
from streams.explanations.build import explained, newest_pack
from streams.explanations.explanation import Explanation
from streams.explanations.gather import gather
from streams.explanations.items import items_of
from streams.explanations.locating import ExplanationQuery
from streams.explanations.pages import FORMATS
from streams.testing.pipeline import Pipeline
from tests.builders.log_excerpts import MemoryExcerpts

HANDBOOK = """The refund of a trip is paid within ten days after the approval of the finance board.
The refund form is in the portal. Invoices of a refund are kept for five years."""
LATE = datetime(2030, 1, 1, tzinfo=UTC)


def look(
    fathom: Pipeline, message: str, *, expired: tuple[str, ...] = (), graph: bool = True, **asked: Any
) -> Explanation | None:
    """What is explained, with the graph of the pipeline or without any."""
    query = ExplanationQuery(asked.pop("tenant", "acme"), message, **asked)
    log = MemoryExcerpts(fathom.log, expired)
    found = asyncio.run(gather(query, log, fathom.graph if graph else None, LATE))
    if found is None:
        return None
    pack = newest_pack(found)
    return explained(found, items_of(pack) if pack else (), query.as_of)


def seen(fathom: Pipeline, message: str, **how: Any) -> Explanation:
    found = look(fathom, message, **how)
    assert found is not None
    return found


def asked(fathom: Pipeline, text: str = "How does the refund of a trip work? Explain it.", **fields: Any) -> str:
    message = fathom.say(text, **fields)
    fathom.wait(3)
    return message


@pytest.fixture
def fathom():
    with Pipeline() as pipeline:
        pipeline.document("handbook", "Refunds", HANDBOOK)
        pipeline.wait(1)
        yield pipeline


@pytest.mark.covers("REQ-CDC-019", "S0-79")
@pytest.mark.parametrize("graph", [True, False])
def test_a_page_has_message_depth_plan_items_and_decision_with_their_records(fathom: Pipeline, graph: bool) -> None:
    message = asked(fathom, max_tokens=900)
    found, pack = seen(fathom, message, graph=graph), fathom.pack_of(message)
    assert found.message.text == "How does the refund of a trip work? Explain it."
    assert (found.depth.level, found.depth.signals) == (pack.depth_level, pack.signals)
    for signal in pack.signals:
        assert f"{signal.name} (“{signal.evidence}”) speaks for {signal.level.value}" in found.depth.why
    assert [part.memory_class for part in found.parts] == [part.memory_class for part in pack.parts]
    assert [part.latency_ms for part in found.parts] == [part.latency_ms for part in pack.parts]
    assert "Refunds" in " ".join(item.text for item in found.kept if item.section == "semantic")
    assert all(item.source and item.reason for item in found.kept)
    [decision] = found.decisions
    assert decision.tokens_used == pack.total_tokens_estimated
    assert decision.found_in == (("log", "graph") if graph else ("log",))
    places = [found.message.place, found.depth.place, found.plan.place, decision.place, found.packs[0].place]
    assert [each.topic for each in places if each] == [
        "messages.in", "depth.classified", "retrieval.plans", "memory.decisions", "context-packs.out"
    ]  # fmt: skip
    for each in (*places, *(part.place for part in found.parts)):
        [there] = [r for r in fathom.log.of(each.topic) if (r.partition, r.offset) == (each.partition, each.offset)]
        assert message.encode() in there.value
    assert found.gaps == (() if graph else ("no graph was read: decisions and corrections are those of the log",))


def test_the_budget_adds_up_and_names_what_the_caller_asked_for(fathom: Pipeline) -> None:
    fathom.say("We spoke of trips and of invoices.", role="assistant")
    for options, wanted in (({"max_tokens": 700}, 700), ({}, None)):
        budget = seen(fathom, asked(fathom, **options)).budget
        assert budget.asked == wanted
        assert budget.granted == budget.used + budget.unused
        assert budget.used == sum(each.tokens for each in budget.sections) + budget.frame
        assert budget.unused >= 0
        assert {each.name for each in budget.sections} >= {"working_set", "persona", "semantic"}


def test_what_was_left_out_is_there_with_its_reason_and_its_source(fathom: Pipeline) -> None:
    for number in range(12):
        fathom.document(f"d{number}", f"Trip {number}", f"The refund of trip {number} is {number} euros. {HANDBOOK}")
    fathom.say("We spoke of trips.", role="assistant")
    message = asked(fathom, max_tokens=300)
    found, pack = seen(fathom, message), fathom.pack_of(message)
    assert {(each.id, each.reason) for each in found.dropped} == {(each.id, each.reason) for each in pack.dropped}
    assert found.dropped
    assert all(each.source for each in found.dropped)
    assert all(each.title for each in found.dropped if each.tokens)
    held = asked(fathom, have=[pack.pack_id])
    kept = {each.id: each.pack_id for each in seen(fathom, held).dropped if each.pack_id}
    assert kept
    assert set(kept.values()) == {pack.pack_id}


@pytest.mark.parametrize("graph", [True, False])
def test_later_corrections_are_shown_and_as_of_hides_them(fathom: Pipeline, graph: bool) -> None:
    fathom.say("The deadline of the Aurora project is 15 May.", role="assistant")
    message = asked(fathom, "No, the deadline of the Aurora project moved to 20 May.")
    before = fathom.clock.now()
    fathom.wait(60)
    [claim] = fathom.pack_of(message).claims.system_claims
    value = {"claim_id": claim.claim_id, "texto": "It is 30 May.", "usuario_id": "bia", "tipo": "factual"}
    fathom.publish(CORRECTIONS_IN, {**value, "new_value": "30 May"}, {"tenant": "acme"})
    fathom.wait(1)
    found = seen(fathom, message, graph=graph)
    assert ("bia", "It is 30 May.", "30 May") in {(each.by, each.text, each.new_value) for each in found.corrections}
    then = seen(fathom, message, graph=graph, as_of=before)
    assert "bia" not in {each.by for each in then.corrections}
    assert then.message.text == found.message.text
    assert look(fathom, message, graph=graph, as_of=before - timedelta(minutes=5)) is None


def test_an_expired_record_says_so_and_the_graph_still_has_the_decision(fathom: Pipeline) -> None:
    message = asked(fathom)
    gone = (CONTEXT_PACKS.name, DEPTH_CLASSIFIED.name, PACKS_PARTIAL.name, MEMORY_DECISIONS.name)
    found = seen(fathom, message, expired=gone)
    assert (
        "context-packs.out: no longer in the log: retention of context-packs.out is 30 days; the graph still has the "
        "decision" in found.gaps
    )
    assert [gap.split(":")[0] for gap in found.gaps] == ["depth.classified", "packs.partial", "context-packs.out"]
    [decision] = found.decisions
    assert (decision.found_in, decision.tokens_used) == (("graph",), fathom.pack_of(message).total_tokens_estimated)
    assert found.depth.level == fathom.pack_of(message).depth_level
    assert (found.budget, found.kept) == (None, ())
    assert "What could not be read" in FORMATS["md"](found)
    assert look(fathom, message, expired=gone, graph=False) is None


def test_what_was_not_there_by_then_is_not_said_to_have_expired(fathom: Pipeline) -> None:
    asked(fathom)
    message = fathom.say("Explain how the invoices of a refund are kept.", conversation="c1")
    log = fathom.log.records
    for where, records in list(log.items()):
        if where.topic == CONTEXT_PACKS.name:
            log[where] = [each for each in records if message.encode() not in (each.value or b"")]
    found = seen(fathom, message)
    nothing = "nothing of the message was found, although the log reaches further back than it"
    assert found.gaps == (f"context-packs.out: {nothing}",)
    then = seen(fathom, message, as_of=fathom.clock.now())
    assert then.gaps == ("context-packs.out: nothing of the message was there by then",)


class AwayGraph:
    """A graph that does not answer, from its first or from its second read on."""

    def __init__(self, fathom: Pipeline, *, located: bool) -> None:
        self._graph = fathom.graph if located else None

    async def decisions_on(self, tenant: str, message_id: str, as_of: datetime) -> Any:
        if self._graph is None:
            raise Unavailable("neo4j", "no answer")
        return await self._graph.decisions_on(tenant, message_id, as_of)

    async def contested(self, *_: Any) -> Any:
        raise Unavailable("neo4j", "no answer")


@pytest.mark.parametrize("located", [True, False])
def test_a_graph_that_does_not_answer_is_said_and_the_log_is_read(fathom: Pipeline, located: bool) -> None:
    message = asked(fathom)
    away: Any = AwayGraph(fathom, located=located)
    found = asyncio.run(gather(ExplanationQuery("acme", message), MemoryExcerpts(fathom.log), away, LATE))
    assert found is not None
    told = explained(found, ())
    assert told.packs
    assert [gap for gap in told.gaps if "no answer" in gap and "those of the log" in gap]


@pytest.mark.covers("AC-36")
@pytest.mark.parametrize("graph", [True, False])
def test_nobody_else_gets_a_page(fathom: Pipeline, graph: bool) -> None:
    message = asked(fathom, headers={"user_id": "ana"})
    other = asked(fathom, tenant="beta", message_id="same", conversation="c2")
    assert look(fathom, message, graph=graph, tenant="beta") is None
    assert look(fathom, other, graph=graph) is None
    assert look(fathom, "unknown", graph=graph) is None
    assert look(fathom, message, graph=graph, whose=Asker("app")) is None
    assert look(fathom, message, graph=graph, whose=Asker("web", "bia")) is None
    assert look(fathom, message, graph=graph, where=fathom.conversation("c9")) is None
    assert look(fathom, message, graph=graph, whose=Asker("web", "ana"), where=fathom.conversation("c1")) is not None


def test_a_forgotten_message_has_no_page(fathom: Pipeline) -> None:
    message = asked(fathom, "How does the refund of a trip work?")
    assert look(fathom, message, graph=False) is not None
    forgotten = {"forgotten": True, "conversation_id": "c1", "client_id": "web"}
    key = fathom.conversation("c1").key().encode()
    fathom.publish(MESSAGES_IN, forgotten, {"tenant": "acme"}, key)
    fathom.wait(1)
    assert look(fathom, message, graph=False) is None
    assert look(fathom, message) is None


def test_verdicts_and_answers_that_came_of_the_pack_are_named(fathom: Pipeline) -> None:
    message = asked(fathom)
    fathom.say("Within ten days.", role="assistant", answers=fathom.pack_of(message).pack_id)
    call = {"call_id": "call-1", "client_id": "web", "session_id": "c1", "nome_tool": "pay", "message_id": message}
    key = fathom.conversation("c1").key().encode()
    fathom.publish(TOOLS_CALLS_IN, {**call, "args": {}}, {"tenant": "acme"}, key)
    fathom.publish(TOOLS_CALLS_IN, {**call, "call_id": "x", "message_id": "m", "args": {}}, {"tenant": "acme"}, key)
    fathom.wait(5)
    found = seen(fathom, message)
    assert [each.text for each in found.answers] == ["Within ten days."]
    assert [(each.call_id, each.tool_name) for each in found.verdicts] == [("call-1", "pay")]


def test_with_a_graph_little_is_read_beside_many_messages(fathom: Pipeline) -> None:
    message = asked(fathom)
    for number in range(40):
        asked(fathom, "Thanks!", conversation=f"c{number}")
        fathom.wait(60)
    log = MemoryExcerpts(fathom.log)
    assert asyncio.run(gather(ExplanationQuery("acme", message), log, fathom.graph, LATE)) is not None
    assert log.reads[CONTEXT_PACKS.name] <= 3
    assert log.reads[DEPTH_CLASSIFIED.name] <= 3


HOSTILE = "<script>alert(1)</script> | **bold** ![x](http://evil/x.png) \x1b[31m & </p> explain"


class Tags(HTMLParser):
    """The elements of a page, and the addresses in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]


def test_every_format_holds_the_same_and_no_words_of_a_message_become_markup(fathom: Pipeline) -> None:
    found = seen(fathom, asked(fathom, HOSTILE))
    page = Tags()
    page.feed(FORMATS["html"](found))
    assert page.tags <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td"
    }  # fmt: skip
    assert page.addresses == []
    assert "url(" not in FORMATS["html"](found)
    markdown = FORMATS["md"](found)
    assert "<script>" not in markdown
    assert re.search(r"(?<!\\)!\[", markdown) is None
    for line in markdown.splitlines():
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) >= 3
    for form in ("text", "md", "html"):
        assert "\x1b" not in FORMATS[form](found)
        assert "CDCDecision/" in FORMATS[form](found)
    assert json.loads(FORMATS["json"](found))["message"]["text"] == found.message.text


def test_a_quarantine_in_force_and_one_that_was_set_since_are_told(fathom: Pipeline) -> None:
    first = asked(fathom)
    assert [item for item in seen(fathom, first).kept if item.section == "semantic"]
    fathom.quarantine("document", "handbook", tenant="acme", reason="forged")
    fathom.quarantine("document", "another", tenant="acme")
    fathom.quarantine("document", "handbook", tenant="beta")
    fathom.wait(1)
    second = asked(fathom, "And how long are invoices of a refund kept? Explain it.")
    [since] = seen(fathom, first).quarantines
    chunks = {item.id for item in fathom.pack_of(first).semantic.knowledge_chunks}
    assert (since.source, since.state, since.reason) == ("document:handbook", "set since", "forged")
    assert {*since.items} >= chunks != set()
    told = {each.source: each.state for each in seen(fathom, second).quarantines}
    assert told == {"document:handbook": "in force", "document:another": "in force"}
    fathom.quarantine("document", "handbook", tenant="acme", state="lifted")
    fathom.wait(1)
    assert seen(fathom, first).quarantines == ()
    told = {each.source: each.state for each in seen(fathom, second).quarantines}
    assert told["document:handbook"] == "in force then, lifted since"
    for write in FORMATS.values():
        assert "document:handbook" in write(seen(fathom, second)).replace("\\", "")


@pytest.mark.parametrize("graph", [True, False])
def test_of_messages_with_one_id_each_asker_gets_their_own(fathom: Pipeline, graph: bool) -> None:
    texts = {"ana": "How is the refund of a trip paid?", "bia": "How are invoices of a refund kept?"}
    for user, text in texts.items():
        asked(fathom, text, message_id="m-1", conversation=f"c-{user}", headers={"user_id": user})
        fathom.wait(60)
    for user, text in texts.items():
        found = seen(fathom, "m-1", graph=graph, whose=Asker(None, user))
        assert (found.message.text, found.message.conversation_id) == (text, f"c-{user}")
        assert not [gap for gap in found.gaps if "other conversations" in gap]
    newest = seen(fathom, "m-1", graph=graph)
    assert newest.message.conversation_id == "c-bia"
    if graph:  # without one the search ends at the newest
        assert "a message of this id is in other conversations, too: 'c-ana' of client 'web'" in newest.gaps[-1]
    named = seen(fathom, "m-1", graph=graph, where=fathom.conversation("c-ana"))
    assert named.message.text == texts["ana"]
