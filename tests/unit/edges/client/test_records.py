"""What a client writes: key, headers and value of turns and documents, or the reason why they cannot be sent."""

from pathlib import Path

import orjson
import pytest

from schemas import codec
from schemas.topics import DOCUMENTS_IN, MESSAGES_IN, Topic
from streams.edges.cli.demo.script import load
from streams.edges.client import records
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.records import BadInput, Identity, OutgoingRecord


def as_read(topic: Topic, prepared: OutgoingRecord):
    return codec.decode(
        topic, prepared.key, prepared.value, prepared.headers, partition=0, offset=7, timestamp=1_700_000_000_000
    )


@pytest.mark.covers("CF-61")
def test_the_key_keeps_ids_apart_that_hold_the_separator():
    first = records.turn("oi", Identity("t"), client="a|b", conversation="c")
    second = records.turn("oi", Identity("t"), client="a", conversation="b|c")
    assert (first.key, second.key) == (b"t|a%7Cb|c", b"t|a|b%7Cc")


def test_a_turn_is_read_by_the_first_stage_as_it_was_meant():
    where = {"client": "web", "conversation": "c1"}
    prepared = records.turn("Pode, sim.", Identity("acme", "ana"), **where, role="assistant", answers="m1")
    read = as_read(MESSAGES_IN, prepared)
    assert (read.event.role, read.event.content, read.event.answers) == ("assistant", "Pode, sim.", "m1")
    assert (read.envelope.tenant, read.envelope.user_id) == ("acme", "ana")
    assert read.event.message_id == prepared.name
    assert read.envelope.traceparent.startswith("00-")


def test_two_turns_never_share_an_id():
    ids = {dict(records.turn("oi").headers)["ce_id"] for _ in range(50)}
    assert len(ids) == 50


def test_a_role_that_does_not_exist_is_a_usage_error_that_names_the_roles():
    with pytest.raises(CommandFailed, match=r"cannot be sent: role: .*'user', 'assistant' or 'system'") as failed:
        records.turn("oi", role="bot")
    assert failed.value.code == USAGE


@pytest.mark.covers("S1-30", "CF-57")
def test_a_line_may_be_the_four_field_question():
    line = orjson.dumps({"question": "e aí?", "conversation_id": "c", "nickname": None, "client_id": "web"})
    prepared = records.record_of(MESSAGES_IN, line, Identity())
    assert prepared.value == line
    assert prepared.key == b"web|web|c"
    assert prepared.name == as_read(MESSAGES_IN, prepared).envelope.id


def test_a_line_may_be_a_structured_cloud_event_with_its_own_tenant_and_user():
    data = {"question": "oi", "conversation_id": "c", "client_id": "web"}
    event = {"specversion": "1.0", "id": "e1", "type": "x.v1", "tenant": "acme", "userid": "ana", "data": data}
    prepared = records.record_of(MESSAGES_IN, orjson.dumps(event), Identity())
    read = as_read(MESSAGES_IN, prepared)
    assert prepared.key == b"acme|web|c"
    assert (read.envelope.id, read.envelope.tenant, read.envelope.user_id) == ("e1", "acme", "ana")
    assert prepared.name == "e1"


@pytest.mark.covers("S1-31")
def test_a_line_that_brings_its_own_history_is_refused_before_it_is_sent():
    line = orjson.dumps({"question": "oi", "conversation_id": "c", "client_id": "w", "history": []})
    with pytest.raises(BadInput, match=r"^the field 'history' is not accepted"):
        records.record_of(MESSAGES_IN, line, Identity())


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b"null", b'{"question": ""}', b'"\xff"', b'{"specversion":"1.0","data":{}}']
)
def test_what_is_no_message_is_refused_with_a_reason(line: bytes):
    with pytest.raises(BadInput, match=r"\w{4,}"):
        records.record_of(MESSAGES_IN, line, Identity())


def test_a_document_is_named_by_its_file_and_titled_by_its_first_heading():
    raw = records.document_of(Path("dir/minha nota.md"), "# Política de férias\n\nTexto.", access_level="internal")
    prepared = records.record_of(DOCUMENTS_IN, raw, Identity(tenant="acme"))
    event = as_read(DOCUMENTS_IN, prepared).event
    assert (event.document_id, event.title, event.kind) == ("minha-nota.md", "Política de férias", "markdown")
    assert event.access_level == "internal"
    assert prepared.key == b"acme|minha-nota.md"


def test_an_access_level_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(BadInput, match=r"access_level.*'public', 'internal'"):
        records.document_of(Path("a.md"), "texto", access_level="secret")


def test_every_shipped_turn_document_and_profile_can_be_sent_as_it_is():
    script = load(fresh=False)
    assert len(script.turns) >= 30
    assert len({said.user for said in script.turns}) >= 3
    assert {said.tenant for said in script.turns} == set(script.texts) == {"aurora", "despachos", "meridian"}
    for said in script.turns:
        assert as_read(MESSAGES_IN, said.record).event.content == said.event.content
    for prepared in script.knowledge:
        assert as_read(DOCUMENTS_IN, prepared).event.document_id == prepared.name


def test_assistant_turns_of_the_script_answer_the_user_turn_before_them():
    answered: dict[bytes, str] = {}
    for said in load(fresh=True).turns:
        event = as_read(MESSAGES_IN, said.record).event
        if said.event.role == "user":
            answered[said.record.key] = event.message_id
        else:
            assert event.answers == answered[said.record.key]


def test_a_second_play_of_the_script_uses_other_ids():
    first, second = load(fresh=True), load(fresh=True)
    assert not {step.record.name for step in first.steps} & {step.record.name for step in second.steps}
    acts = [[step for step in script.steps if not step.is_turn] for script in (first, second)]
    sessions = [{act.conversation for act in found} - {""} for found in acts]
    assert sessions[0]
    assert not sessions[0] & sessions[1]
