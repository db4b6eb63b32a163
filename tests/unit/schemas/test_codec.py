"""Bytes in, events or one of seven reasons out; whatever outsiders send."""

import copy
import json
import random
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.docs.examples import load
from schemas import codec
from schemas.base import derive
from schemas.chat import AskPayload, ChatMessage, Role
from schemas.codec import CONTEXT_FIELDS, Undecodable
from schemas.envelope import Envelope, Outgoing, Received
from schemas.retrieval import JoinTicked
from schemas.topics import BY_NAME, DOCUMENTS_IN, MESSAGES_IN, PACKS_PARTIAL, TOPICS, Topic
from tests.builders.examples import examples

GOLDEN = load()
ASK = {"question": "Qual o prazo?", "conversation_id": "c1", "nickname": None, "client_id": "web"}
MESSAGE = {"role": "assistant", "content": "Dia 15.", "conversation_id": "c1", "client_id": "web"}
STRUCTURED = {"content-type": "application/cloudevents+json; charset=utf-8"}
CODES = {
    *("not_json", "schema_invalid", "context_field_not_allowed", "unknown_role"),
    *("too_large", "bad_envelope", "empty"),
}


def decoded(
    value: Any,
    headers: dict[str, str] | None = None,
    *,
    topic: Topic = MESSAGES_IN,
    key: bytes | None = b"web|web|c1",
    offset: int = 7,
    timestamp: int = 1_741_611_600_000,
) -> Received[Any]:
    raw = value if isinstance(value, bytes | None) else json.dumps(value, ensure_ascii=False).encode()
    pairs = [(name, text.encode()) for name, text in (headers or {}).items()]
    return codec.decode(topic, key, raw, pairs, partition=3, offset=offset, timestamp=timestamp)


def refusal(value: Any, headers: dict[str, str] | None = None, **place: Any) -> str:
    with pytest.raises(Undecodable) as refused:
        decoded(value, headers, **place)
    assert refused.value.code in CODES
    assert str(refused.value) == f"{refused.value.code}: {refused.value.detail}"
    return refused.value.code


# --- content in parts ---------------------------------------------------------------------------------------------

PARTS = [{"type": "text", "text": " Which dock? "}, {"type": "image_url", "image_url": {"url": "data:,"}}]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (PARTS, "Which dock?"),
        ([*PARTS, {"type": "input_text", "text": "The north one."}], "Which dock? \nThe north one."),
        ([{"type": "output_text", "text": "Dock 4.", "annotations": []}], "Dock 4."),
        ([{"type": "file", "file": {"file_id": "f"}}], ""),
        ([], ""),
    ],
)
def test_content_in_parts_is_the_text_of_its_parts(parts: list[Any], text: str) -> None:
    assert decoded({**MESSAGE, "content": parts}).event.content == text


def test_a_question_in_parts_is_the_text_of_its_parts() -> None:
    assert decoded({**ASK, "question": PARTS}).event == AskPayload(**{**ASK, "question": "Which dock?"})
    assert refusal({**ASK, "question": PARTS[1:]}) == "schema_invalid"


@pytest.mark.parametrize("parts", [["text"], [{"text": "x"}], [{"type": "text"}], [{"type": "text", "text": 1}], {}, 7])
def test_content_of_another_form_is_refused_with_what_it_may_be(parts: Any) -> None:
    with pytest.raises(Undecodable) as refused:
        decoded({**MESSAGE, "content": parts})
    assert refused.value.code == "schema_invalid"
    assert not isinstance(parts, list) or refused.value.detail == (
        'content: is a text, or a list of parts, of which those of text are {"type": "text", "text": "…"}'
    )


# --- three ways to say the same ----------------------------------------------------------------------------------

BINARY = {
    "ce_specversion": "1.0",
    "ce_id": "id-1",
    "ce_type": "chat.question-asked.v1",
    "ce_source": "urn:web",
    "ce_time": "2025-03-10T13:00:00Z",
    "content-type": "application/json",
}


def test_plain_json_binary_and_structured_cloudevents_give_the_same_event() -> None:
    structured = {name.removeprefix("ce_"): text for name, text in BINARY.items() if name.startswith("ce_")}
    events = [
        decoded(ASK).event,
        decoded(ASK, BINARY).event,
        decoded({**structured, "datacontenttype": "application/json", "data": ASK}, STRUCTURED).event,
    ]
    assert events == [AskPayload(**ASK)] * 3


def test_binary_and_structured_cloudevents_give_the_same_envelope() -> None:
    said = {**BINARY, "ce_correlationid": "cor", "ce_causationid": "cause", "traceparent": "00-1-2-01", "tenant": "t"}
    structured = {name.removeprefix("ce_"): text for name, text in said.items() if name.startswith("ce_")}
    beside = {name: said[name] for name in ("traceparent", "tenant")}
    whole = decoded({**structured, "data": ASK}, {**STRUCTURED, **beside}).envelope
    assert whole == decoded(ASK, said).envelope
    assert whole == Envelope(
        id="id-1",
        type="chat.question-asked.v1",
        source="urn:web",
        time=datetime(2025, 3, 10, 13, tzinfo=UTC),
        tenant="t",
        correlation_id="cor",
        causation_id="cause",
        traceparent="00-1-2-01",
    )


def test_who_asks_may_be_said_in_extension_attributes() -> None:
    extensions = {"tenant": "t", "userid": "u", "requestid": "r", "locale": "pt-BR", "tier": "deep"}
    envelope = decoded({"id": "1", **extensions, "data": ASK}, STRUCTURED).envelope
    said = (envelope.tenant, envelope.user_id, envelope.request_id, envelope.locale, envelope.tier)
    assert said == ("t", "u", "r", "pt-BR", "deep")


def test_an_event_and_its_envelope_survive_encoding_and_decoding() -> None:
    cause = decoded(ASK, {**BINARY, "user_id": "u", "request_id": "r", "tier": "deep", "tracestate": "a=1"}).envelope
    event = ChatMessage(**MESSAGE)
    key, value, headers = codec.encode(Outgoing(MESSAGES_IN, "k|ç", event, cause, "x"), "depth")
    back = codec.decode(MESSAGES_IN, key, value, headers, partition=0, offset=0, timestamp=0)
    assert (back.key, back.event) == ("k|ç", event)
    assert back.envelope == Outgoing(MESSAGES_IN, "k|ç", event, cause, "x").envelope("depth")
    assert back.envelope.id == derive("id-1", "depth", "messages.in", "x")
    assert back.envelope.causation_id == "id-1"
    assert back.envelope.correlation_id == cause.correlation_id


def test_equal_events_are_equal_bytes() -> None:
    assert codec.dump(ChatMessage(**MESSAGE)) == codec.dump(decoded(dict(reversed(MESSAGE.items()))).event)


# --- the two shapes of messages.in -------------------------------------------------------------------------------


@pytest.mark.covers("CF-57", "S1-30", "CD-04")
def test_messages_in_takes_the_ask_payload_and_the_chat_message() -> None:
    assert isinstance(decoded(ASK).event, AskPayload)
    assert decoded(MESSAGE).event == ChatMessage(
        role=Role.ASSISTANT, content="Dia 15.", conversation_id="c1", client_id="web"
    )


@pytest.mark.covers("CF-57")
def test_a_nickname_may_be_left_out() -> None:
    assert decoded({name: text for name, text in ASK.items() if name != "nickname"}).event == AskPayload(**ASK)


@pytest.mark.covers("S1-30")
@pytest.mark.parametrize("name", ["role", "message_id", "user_id", "tenant", "Question", "question "])
def test_an_ask_payload_with_a_fifth_field_is_refused(name: str) -> None:
    assert refusal({**ASK, name: "user"}) == "schema_invalid"


@pytest.mark.covers("S1-31", "AC-31", "CF-57")
@pytest.mark.parametrize("shape", [ASK, MESSAGE], ids=["ask", "message"])
@pytest.mark.parametrize("name", sorted(CONTEXT_FIELDS))
def test_a_field_with_context_is_refused_by_its_own_code(shape: dict[str, Any], name: str) -> None:
    assert refusal({**shape, name: [{"role": "user", "content": "oi"}]}) == "context_field_not_allowed"


@pytest.mark.covers("S1-31", "AC-31")
def test_history_from_a_client_is_refused_whatever_else_is_wrong() -> None:
    value = {"question": "oi", "conversation_id": "c", "nickname": "n", "client_id": "web", "history": ["…"]}
    assert refusal(value) == "context_field_not_allowed"
    assert refusal({**value, "question": 5, "zzz": 1}) == "context_field_not_allowed"
    assert refusal({"data": value}, STRUCTURED) == "context_field_not_allowed"


def test_the_names_of_context_are_those_of_memory() -> None:
    of_clients = ["context", "context_pack", "history", "messages", "pack", "session", "turns"]
    assert sorted(CONTEXT_FIELDS) == sorted([*of_clients, "memories", "memory", "working_set"])


# --- ids, time, tenant --------------------------------------------------------------------------------------------


@pytest.mark.covers("CF-57")
def test_the_id_is_the_producers_or_else_follows_from_the_place_in_the_log() -> None:
    assert decoded(ASK, {"ce_id": "m-1"}).envelope.id == "m-1"
    assert decoded(ASK).envelope.id == derive("messages.in:3:7")
    assert decoded(ASK, {"ce_id": ""}).envelope.id == derive("messages.in:3:7")
    assert decoded(ASK, offset=8).envelope.id != decoded(ASK, offset=7).envelope.id


def test_a_correlation_begins_with_the_message_itself() -> None:
    assert decoded(ASK).envelope.correlation_id == derive("messages.in:3:7")
    assert decoded(ASK, {"ce_id": "m-1"}).envelope.correlation_id == "m-1"


@pytest.mark.covers("CF-60")
def test_the_tenant_is_the_headers_or_else_the_client() -> None:
    assert decoded(ASK, {"tenant": "aurora"}).envelope.tenant == "aurora"
    assert decoded(ASK).envelope.tenant == "web"
    document = {"document_id": "d", "title": "t", "text": "x"}
    assert decoded(document, topic=DOCUMENTS_IN).envelope.tenant == "default"


@pytest.mark.covers("CF-60")
def test_the_shared_tenant_cannot_be_written_to() -> None:
    assert refusal(ASK, {"tenant": "_public"}) == "bad_envelope"
    assert refusal({"tenant": "_public", "data": ASK}, STRUCTURED) == "bad_envelope"
    assert refusal({**ASK, "client_id": "_public"}) == "bad_envelope"
    assert decoded({**ASK, "client_id": "_public"}, {"tenant": "t"}).envelope.tenant == "t"


def test_the_time_is_the_headers_the_messages_or_the_records() -> None:
    message = {**MESSAGE, "created_at": "2025-03-10T10:00:00-03:00"}
    assert decoded(message, {"ce_time": "2025-03-10T14:00:00+01:00"}).envelope.time == at(13)
    assert decoded(message).envelope.time == at(13)
    assert decoded(MESSAGE, timestamp=1_741_608_000_000).envelope.time == at(12)


def at(hour: int) -> datetime:
    return datetime(2025, 3, 10, hour, tzinfo=UTC)


def test_a_record_without_a_key_has_an_empty_one_and_a_key_may_be_any_bytes() -> None:
    assert decoded(ASK, key=None).key == ""
    assert decoded(ASK, key=b"\xff|c").key == "\ufffd|c"


# --- reasons ------------------------------------------------------------------------------------------------------


def test_a_tombstone_is_empty() -> None:
    assert refusal(None) == "empty"


@pytest.mark.parametrize(
    "raw",
    [b"", b"oi", b"\xff\xfe", b"{", b'{"question":"a",}', b"\xef\xbb\xbf{}", b"\x00", json.dumps(ASK).encode("utf-16")],
)
def test_what_is_no_json_says_so(raw: bytes) -> None:
    assert refusal(raw) == "not_json"
    assert refusal(raw, STRUCTURED) == "not_json"


@pytest.mark.parametrize("value", [None, 5, "x", [], [ASK], {}, {"question": ""}, {**ASK, "question": 5}])
def test_json_that_is_no_event_is_schema_invalid(value: Any) -> None:
    assert refusal(json.dumps(value).encode()) == "schema_invalid"
    assert refusal({"data": value}, STRUCTURED) == "schema_invalid"


@pytest.mark.parametrize("name", ["conversation_id", "client_id"])
@pytest.mark.parametrize("text", ["", " c", "c\n", "\u200b", "x" * 257, None, 7])
def test_an_id_that_nobody_could_read_is_schema_invalid(name: str, text: Any) -> None:
    assert refusal({**ASK, name: text}) == "schema_invalid"


@pytest.mark.parametrize("role", ["tool", "USER", "", 5, None])
def test_a_role_that_is_not_known_says_so(role: Any) -> None:
    assert refusal({**MESSAGE, "role": role}) == "unknown_role"


def test_a_role_that_is_missing_is_schema_invalid() -> None:
    assert refusal({name: text for name, text in MESSAGE.items() if name != "role"}) == "schema_invalid"


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_value_over_the_limit_of_its_topic_is_too_large(topic: Topic) -> None:
    assert refusal(b" " * (topic.max_bytes + 1), topic=topic) == "too_large"
    assert refusal(b" " * topic.max_bytes, topic=topic) == "not_json"


@pytest.mark.parametrize("envelope", [5, [], {}, {"id": "1"}, {"data_base64": "e30="}])
def test_a_structured_event_without_data_is_a_bad_envelope(envelope: Any) -> None:
    assert refusal(json.dumps(envelope).encode(), STRUCTURED) == "bad_envelope"


HOSTILE = ["a\nb", "\x00", " a", "x" * 257, "\u202e", "\u200b"]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize(
    "name", ["ce_id", "tenant", "ce_correlationid", "ce_causationid", "user_id", "request_id", "locale", "tier"]
)
def test_a_hostile_id_in_a_header_is_a_bad_envelope(name: str, text: str) -> None:
    assert refusal(ASK, {name: text}) == "bad_envelope"


@pytest.mark.parametrize("text", ["yesterday", "2025-03-10", "2025-03-10T13:00:00", "2025-13-10T13:00:00Z", "nan"])
def test_a_time_that_is_none_or_has_no_zone_is_a_bad_envelope(text: str) -> None:
    assert refusal(ASK, {"ce_time": text}) == "bad_envelope"


def test_a_header_that_is_no_text_counts_as_absent_and_of_two_the_last_one_counts() -> None:
    raw = json.dumps(ASK).encode()
    headers = [("ce_id", b"one"), ("ce_id", b"two"), ("locale", b"\xff\xfe"), ("user_id", b"\xc3\xa7")]
    envelope = codec.decode(MESSAGES_IN, None, raw, headers, partition=0, offset=0, timestamp=0).envelope
    assert (envelope.id, envelope.locale, envelope.user_id) == ("two", None, "ç")


@pytest.mark.covers("AC-36", "CF-60")
@pytest.mark.parametrize("name", ["tenant", "ce_tenant"])
@pytest.mark.parametrize("value", [b"", b"\xff\xfe", None, b" acme", b"a\ncme", "acme\u200b".encode(), b"a" * 257])
def test_a_tenant_that_is_stated_and_is_none_is_never_taken_for_the_client(name: str, value: bytes | None) -> None:
    raw = json.dumps(ASK).encode()
    with pytest.raises(Undecodable) as refused:
        codec.decode(MESSAGES_IN, None, raw, [(name, value)], partition=0, offset=0, timestamp=0)  # type: ignore[list-item]
    assert refused.value.code == "bad_envelope"
    assert name in refused.value.detail


def test_headers_that_nobody_knows_do_no_harm() -> None:
    strange = {f"x-{number}": "y" * 1_000 for number in range(100)}
    assert decoded(ASK, strange) == decoded(ASK)


def test_inside_a_newer_producers_field_is_left_out() -> None:
    tick = {"kind": "tick", "at": "2025-03-10T13:00:00Z"}
    assert decoded({**tick, "newer": 1}, topic=PACKS_PARTIAL).event == JoinTicked(at=at(13))
    assert refusal({"kind": "newer"}, topic=PACKS_PARTIAL) == "schema_invalid"


# --- bombs: bounded in time -----------------------------------------------------------------------------------------

DEEP = b"[" * 100_000
WIDE = json.dumps({f"k{number}": number for number in range(12_000)}).encode()
RESULTS = b'{"role":"assistant","content":"x","conversation_id":"c","client_id":"w","results":%s}'
BOMBS = {
    "deep": DEEP,
    "deep and closed": DEEP + b"]" * 100_000,
    "deep objects": b'{"a":' * 40_000,
    "deep in a field": RESULTS % (b"[" * 50_000 + b"]" * 50_000),
    "huge integer": RESULTS % (b"9" * 200_000),
    "huge exponent": b'{"kind":"tick","at":1e%s}' % (b"9" * 1_000),
    "many fields": WIDE,
    "long name": b'{"%s":1}' % (b"n" * 200_000),
    "lone surrogate": b'{"question":"\\ud800","conversation_id":"c","client_id":"w"}',
    "lone low surrogate": b'{"question":"a","conversation_id":"\\udc00","client_id":"w"}',
    "control character": b'{"question":"a\x01","conversation_id":"c","client_id":"w"}',
}


@pytest.mark.parametrize("structured", [False, True], ids=["plain", "structured"])
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_within_a_second_of_work(bomb: str, structured: bool) -> None:
    raw = b'{"id":"1","data":%s}' % BOMBS[bomb] if structured else BOMBS[bomb]
    # Of this thread's own work: what else the machine does is no fault of the codec.
    began = time.thread_time()
    refusal(raw, STRUCTURED if structured else None)
    assert time.thread_time() - began < 1


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"[-Infinity]", b"1e999"])
def test_a_number_that_json_does_not_have_is_not_json(number: bytes) -> None:
    assert refusal(RESULTS % number) == "not_json"


def test_a_structured_event_nested_deeper_than_can_be_written_is_refused() -> None:
    assert refusal(b'{"data":%s}' % (RESULTS % (b"[" * 500 + b"]" * 500)), STRUCTURED) == "not_json"


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_beyond_the_calendar_is_a_bad_envelope(text: str) -> None:
    assert refusal(ASK, {"ce_time": text}) == "bad_envelope"
    assert refusal({**MESSAGE, "created_at": text}) == "bad_envelope"


@pytest.mark.parametrize("timestamp", [2**62, -(2**62)])
def test_a_record_whose_timestamp_is_no_time_is_a_bad_envelope(timestamp: int) -> None:
    assert refusal(ASK, timestamp=timestamp) == "bad_envelope"


@pytest.mark.parametrize("text", ["123", "1741611600"])
def test_a_time_in_seconds_is_a_bad_envelope(text: str) -> None:
    assert refusal(ASK, {"ce_time": text}) == "bad_envelope"


def test_a_media_type_may_be_written_in_capitals() -> None:
    assert decoded({"data": ASK}, {"content-type": "Application/CloudEvents+JSON"}).event == AskPayload(**ASK)


def test_what_a_refusal_says_is_short_however_long_the_fields_name() -> None:
    with pytest.raises(Undecodable) as refused:
        decoded({**ASK, "n" * 200_000: 1})
    assert len(refused.value.detail) <= 1_000


# --- whatever bytes come, an event or a reason ----------------------------------------------------------------------

BATCH = 15  # cases drawn from each seed: drawing costs more than decoding
SEEDS = settings(max_examples=examples(75), deadline=None, derandomize=True, database=None)


def event_or_reason(topic: Topic, raw: bytes, headers: list[tuple[str, bytes]]) -> bool:
    """Whether the bytes are an event, which can then be written and read again; anything but `Undecodable` escapes."""
    try:
        received = codec.decode(topic, b"k", raw, headers, partition=0, offset=0, timestamp=0)
    except Undecodable as refused:
        code = refused.code
    else:
        again = codec.dump(received.event)
        assert codec.decode(topic, b"k", again, [], partition=0, offset=0, timestamp=0).event == received.event
        return True
    assert code in CODES
    return False


HEADER_NAMES = ("ce_id", "ce_time", "ce_type", "tenant", "content-type", "user_id", "x")
HEADER_VALUES = (b"application/cloudevents+json", b"2025-03-10", b"\xff", b"", b"\x00", b"0")


@settings(max_examples=examples(200), deadline=None, derandomize=True, database=None)
@given(raw=st.binary(max_size=60), seed=st.integers(0, 2**32))
def test_random_bytes_raise_nothing_but_undecodable(raw: bytes, seed: int) -> None:
    rng = random.Random(seed)
    for topic in rng.sample(TOPICS, 4):
        headers = [(rng.choice(HEADER_NAMES), rng.choice(HEADER_VALUES)) for _ in range(rng.randrange(3))]
        assert not event_or_reason(topic, raw, headers)


@SEEDS
@given(seed=st.integers(0, 2**32))
def test_real_messages_with_bytes_changed_raise_nothing_but_undecodable(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(BATCH):
        example = rng.choice(GOLDEN)
        event_or_reason(example.topic, damaged(example.raw, rng), example.raw_headers)


def damaged(value: bytes, rng: random.Random) -> bytes:
    """Other bytes at one to four places."""
    raw = bytearray(value)
    for _ in range(rng.randint(1, 4)):
        place, length = rng.randrange(len(raw) or 1), rng.randint(0, 8)
        junk = (b"", rng.randbytes(length), bytes(raw[:length]), b'"', b"{", b"]", b"-1")
        raw[place : place + length] = rng.choice(junk)
    return bytes(raw)


STRUCTURED_HEADERS = [(name, text.encode()) for name, text in STRUCTURED.items()]
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**30, 1.5, "", "\x00", "x" * 300, "2025-03-10T13:00:00Z", "tick", "D9"),
    *([], {}, [[]], {"kind": "tick"}, [None], {"": {}}),
)


@SEEDS
@given(seed=st.integers(0, 2**32))
def test_real_messages_with_fields_changed_raise_nothing_but_undecodable(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(BATCH):
        example = rng.choice(GOLDEN)
        raw = changed(example.raw, rng)
        event_or_reason(example.topic, raw, example.raw_headers)
        event_or_reason(example.topic, b'{"id":"1","data":%s}' % raw, STRUCTURED_HEADERS)


def changed(value: bytes, rng: random.Random) -> bytes:
    """One to three parts taken out, exchanged or added."""
    event = json.loads(value)
    for _ in range(rng.randint(1, 3)):
        change(event, rng)
    return json.dumps(event).encode()


def odd_value(rng: random.Random) -> Any:
    # A copy: a list that is put in twice, and then into itself, has no end.
    return copy.deepcopy(rng.choice(ODD_VALUES))


def change(node: Any, rng: random.Random) -> None:
    """Take out, exchange or add one part, somewhere."""
    inner = [
        part for part in (node.values() if isinstance(node, dict) else node) if isinstance(part, dict | list) and part
    ]
    if inner and rng.random() < 0.6:
        change(rng.choice(inner), rng)
        return
    places = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not places:
        return
    place = rng.choice(places)
    match rng.randrange(3):
        case 0:
            del node[place]
        case 1:
            node[place] = odd_value(rng)
        case _ if isinstance(node, dict):
            node[rng.choice(["history", "kind", "newer", place.upper()])] = odd_value(rng)
        case _:
            node.append(odd_value(rng))


def test_the_same_bytes_give_the_same_event_and_envelope() -> None:
    for one in GOLDEN:
        assert one.received(offset=3) == one.received(offset=3)
    assert BY_NAME.keys() == {one.topic.name for one in GOLDEN}


@pytest.mark.parametrize(
    "value",
    [
        b'{"question": "a", "question": "b", "conversation_id": "c", "client_id": "w"}',
        b'{"specversion": "1.0", "id": "1", "type": "t", "source": "s", "data": {"question": "a", "question": "b"}}',
        b'{"question": "a", "conversation_id": "c", "client_id": "w", "x": [{"y": 1, "y": 1}]}',
    ],
)
def test_a_name_that_is_given_twice_is_refused_on_topics_that_outsiders_write(value: bytes):
    with pytest.raises(Undecodable, match="is given twice; leave one out") as refused:
        codec.decode(MESSAGES_IN, None, value, [], partition=0, offset=0, timestamp=0)
    assert refused.value.code == "schema_invalid"


def test_finding_a_repeated_name_takes_no_longer_than_the_record_deserves():
    names = b",".join(b'"n%d":1' % number for number in range(20_000))
    began = time.thread_time()
    assert refusal(b"{%s,%s}" % (names, b'"n19999":2')) == "schema_invalid"
    assert time.thread_time() - began < 1


def test_an_inner_topic_is_not_looked_through_for_repeated_names():
    example = load(topics=[PACKS_PARTIAL])[0]
    twice = example.raw.replace(b"{", b'{"kind":"tick",', 1)
    found = codec.decode(PACKS_PARTIAL, b"k", twice, example.raw_headers, partition=0, offset=0, timestamp=0)
    assert found.event == example.received().event
