"""Dead letters are read, chosen, counted, guarded and made into their originals again, byte for byte."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas import codec
from schemas.base import derive
from schemas.topics import MESSAGES_IN
from streams.kafka.records import Record
from streams.redrive import choice, letters
from streams.redrive.choice import MAX_REDRIVES, LetterFilter
from streams.redrive.letters import DeadLetter, LetterMark
from streams.runtime.dead_letters import Failure, LogPosition, header_text, headers_of, place_of

AT = 1_770_000_000_000
VALUE = b'{"question":"oi","conversation_id":"c","client_id":"web"}'
FAILURE = Failure("bug", "KeyError: 'x'", "KeyError", 2)
THERE = {"messages.in": 12, "conversation.turns": 12}


def failed(
    value: bytes | None = VALUE, headers: tuple[tuple[str, bytes], ...] = (("x-trace", b"7"),), **at: Any
) -> Record:
    return Record("messages.in", at.get("partition", 3), at.get("offset", 17), AT, at.get("key", b"k"), value, headers)


def dead(record: Record, *, offset: int = 0, failure: Failure = FAILURE, time: int = AT + 50) -> Record:
    return Record(
        "dead-letters.depth", 1, offset, time, record.key, record.value, tuple(headers_of(record, "depth", failure))
    )


def letter(record: Record) -> DeadLetter:
    found = letters.letter_of(record)
    assert found is not None
    return found


def mark(of: DeadLetter, state: Any, to: str = "", time: int = AT + 99) -> LetterMark:
    headers = tuple(letters.mark_headers(of.at, state, to))
    found = letters.mark_of(Record(of.at.topic, of.at.partition, 99, time, b"1:0", None, headers))
    assert found is not None
    return found


@pytest.mark.covers("AC-32")
def test_positions_are_in_the_forms_of_both_families():
    headers = dict(headers_of(failed(), "depth", FAILURE))
    assert headers["__streams.errors.partition"] == b"3"
    assert headers["__streams.errors.offset"] == b"17"
    assert headers["kafka_dlt-original-topic"] == b"messages.in"
    assert headers["kafka_dlt-original-partition"] == b"\x00\x00\x00\x03"
    assert headers["kafka_dlt-original-offset"] == b"\x00\x00\x00\x00\x00\x00\x00\x11"
    assert headers["kafka_dlt-original-timestamp"] == AT.to_bytes(8, "big")
    assert header_text("kafka_dlt-original-offset", headers["kafka_dlt-original-offset"]) == "17"


@pytest.mark.parametrize(
    ("partition", "offset"),
    [(b"3", b"17"), (b"0003", b"12345678"), (b"\x00\x00\x00\x03", b"\x00\x00\x00\x00\x00\xbc\x61\x4e")],
)
def test_positions_of_earlier_versions_and_of_other_tools_are_read(partition: bytes, offset: bytes):
    spring = [
        ("kafka_dlt-original-topic", b"messages.in"),
        ("kafka_dlt-original-partition", partition),
        ("kafka_dlt-original-offset", offset),
    ]
    assert place_of(spring) == LogPosition("messages.in", 3, 17 if offset == b"17" else 12345678)
    assert place_of(spring[:2]) is None
    assert place_of([("kafka_dlt-original-topic", b"t"), *((n, b"\xff" * 4) for n, _ in spring[1:])]) is None


def test_the_original_has_its_bytes_key_and_headers_and_the_id_of_its_first_position():
    record = failed()
    out = letters.original_of(dead(record), letter(dead(record)), 1)
    assert (out.to, out.key, out.value) == (LogPosition("messages.in", 3, 17), b"k", VALUE)
    assert out.headers[0] == ("x-trace", b"7")
    added = dict(out.headers[1:])
    assert added.keys() == {"ce_id", "ce_time", "fathom_redrives"}
    before = codec.decode_record(MESSAGES_IN, record)
    again = Record("messages.in", 3, 99, AT, out.key, out.value, tuple(out.headers))
    assert codec.decode_record(MESSAGES_IN, again).envelope == before.envelope
    twice = letters.original_of(dead(again), letter(dead(again)), 2)
    assert dict(twice.headers) == {**dict(out.headers), "fathom_redrives": b"2"}


def test_a_stated_id_and_time_stay_as_they_are():
    own = (("ce_id", b"m-1"), ("ce_time", b"2026-01-01T00:00:00Z"), ("tenant", b"acme"))
    record = failed(headers=own)
    found = letter(dead(record))
    assert letters.original_of(dead(record), found, 1).headers == [*own, ("fathom_redrives", b"1")]
    assert (found.tenant, found.message_id) == ("acme", "m-1")


def test_what_cannot_be_decoded_is_known_by_what_it_states():
    found = letter(dead(failed(b'{"client_id":"web"', (("tenant", b"acme"),))))
    assert (found.tenant, found.message_id) == ("acme", derive("messages.in:3:17"))
    assert letter(dead(failed(b'{"client_id":"web","message_id":"m1"}', ()))).tenant == "web"
    assert letter(dead(failed(b'{"client_id":"web","message_id":["m1"]}', ()))).message_id == derive("messages.in:3:17")


@pytest.mark.parametrize(
    ("value", "headers"),
    [
        (b'{"role":"user","content":7,"message_id":"m1","client_id":"web"}', ()),
        (
            b'{"id":"ce-1","data":{"role":"user","content":7,"message_id":"m1"}}',
            (("content-type", b"application/cloudevents+json"),),
        ),
        (b'{"role":"user","content":"x","message_id":"m1","conversation_id":"c","client_id":"web"}', ()),
    ],
)
def test_a_refused_message_keeps_its_own_id(value: bytes, headers: Any):
    found = letter(dead(failed(value, headers)))
    assert (found.message_id, found.event_id) == ("m1", derive("messages.in:3:17"))
    assert found.ids[0] == "m1"
    assert letter(dead(failed(b"\xff", ()))).tenant == ""


def test_a_producer_cannot_hide_a_letter_or_send_it_elsewhere_by_headers_of_its_own():
    forged = (
        ("fathom_mark", b"discarded"),
        ("fathom_mark_of", b"1:0"),
        ("__streams.errors.topic", b"memory.claims"),
        ("kafka_dlt-original-topic", b"memory.claims"),
        ("tenant", b"acme"),
    )
    record = dead(failed(headers=forged))
    assert letters.mark_of(record) is None
    assert letter(record).original == LogPosition("messages.in", 3, 17)


def test_the_last_mark_holds_and_each_redrive_counts():
    one, two = letter(dead(failed())), letter(dead(failed(offset=18), offset=1))
    marks = [
        mark(one, "redriven", "messages.in:3:30"),
        mark(one, "redriven", "messages.in:3:31"),
        mark(two, "discarded"),
    ]
    first, second = choice.with_states([one, two], marks)
    assert (first.state, first.redrives, first.mark and first.mark.to) == ("redriven", 2, "messages.in:3:31")
    assert (second.state, second.redrives) == ("discarded", 0)
    [_, again] = choice.with_states([one, two], [*marks, mark(two, "open")])
    assert again.state == "open"


def test_the_fourth_redrive_is_refused_with_what_to_do():
    record = failed()
    for number in range(1, MAX_REDRIVES + 1):
        [status] = choice.with_states([letter(dead(record))], [])
        assert choice.divided([status], "redrive", THERE) == ([status], [])
        out = letters.original_of(dead(record), status.letter, status.redrives + 1)
        assert ("fathom_redrives", str(number).encode()) in out.headers
        record = replace(record, headers=tuple(out.headers), offset=20 + number)
    [status] = choice.with_states([letter(dead(record))], [])
    allowed, [refused] = choice.divided([status], "redrive", THERE)
    assert allowed == []
    assert "3 times" in refused.why
    assert "discard it" in refused.why
    assert choice.divided([status], "redrive", THERE, again=True) == ([], [refused])


def test_a_letter_of_a_chained_stage_is_not_sent_where_nobody_reads_it_and_may_be_discarded():
    [status] = choice.with_states([letter(dead(failed()))], [])
    allowed, [refused] = choice.divided([status], "redrive", THERE, chained=["depth"])
    assert allowed == []
    assert "nothing reads messages.in for it" in refused.why
    assert "`fathom layout split`" in refused.why
    assert choice.divided([status], "redrive", THERE, chained=["assembler"]) == ([status], [])
    assert choice.divided([status], "discard", THERE, chained=["depth"]) == ([status], [])


def test_letters_that_another_tool_sent_again_with_all_headers_count_too():
    record = failed()
    for offset in range(MAX_REDRIVES):
        record = replace(dead(record), topic="messages.in", offset=30 + offset)
    assert letter(dead(record)).redrives == MAX_REDRIVES
    assert letter(dead(record)).original == LogPosition("messages.in", 1, 32)


@pytest.mark.parametrize(
    ("action", "state", "again", "why"),
    [
        ("redrive", "open", False, None),
        ("redrive", "redriven", False, "was redriven at 2026-02-02 02:40:00Z to messages.in:3:30; --again"),
        ("redrive", "redriven", True, None),
        ("redrive", "discarded", True, "--undo --execute"),
        ("discard", "open", False, None),
        ("discard", "redriven", False, None),
        ("discard", "discarded", False, "was discarded"),
        ("undo", "discarded", False, None),
        ("undo", "open", False, "nothing to undo"),
    ],
)
def test_what_may_be_done_depends_on_what_was_done(action: Any, state: Any, again: bool, why: str | None):
    one = letter(dead(failed()))
    marks = [] if state == "open" else [mark(one, state, "messages.in:3:30" if state == "redriven" else "")]
    allowed, refused = choice.divided(choice.with_states([one], marks), action, THERE, again=again)
    assert (len(allowed), len(refused)) == ((1, 0) if why is None else (0, 1))
    assert why is None or why in refused[0].why


@pytest.mark.parametrize(
    ("record", "there", "why"),
    [
        (failed(), {}, "no topic messages.in"),
        (failed(), {"messages.in": 3}, "has 3 partitions and no number 3"),
        (failed(None, key=None), THERE, "neither key nor value"),
    ],
)
def test_a_letter_that_has_nowhere_to_go_is_refused(record: Record, there: dict, why: str):
    _, [refused] = choice.divided(choice.with_states([letter(dead(record))], []), "redrive", there)
    assert why in refused.why


def test_a_letter_without_its_origin_is_refused():
    bare = Record("dead-letters.depth", 1, 0, AT, b"k", b"v", (("fathom_reason", b"bug"),))
    _, [refused] = choice.divided(choice.with_states([letter(bare)], []), "redrive", THERE)
    assert "do not say where it came from" in refused.why


def test_conditions_choose_and_counts_add_up():
    found = [
        letter(dead(failed(headers=(("tenant", b"acme"),)), offset=0)),
        letter(dead(failed(headers=(("tenant", b"beta"),), offset=18), offset=1, time=AT + 86_400_000)),
        letter(dead(failed(b"{", (("tenant", b"acme"),), offset=19), offset=2, failure=Failure("not_json", "no", "U"))),
    ]
    chosen = {
        "all": LetterFilter(),
        "acme": LetterFilter(tenant="acme"),
        "bug": LetterFilter(reason="bug"),
        "stage": LetterFilter(stage="planner"),
        "since": LetterFilter(since=AT + 86_400_000),
        "until": LetterFilter(until=AT + 86_400_000),
        "both": LetterFilter(tenant="acme", reason="bug"),
        "own": LetterFilter(names=("dead-letters.depth:1:2",)),
        "original": LetterFilter(names=("messages.in:3:18",)),
        "id": LetterFilter(names=(derive("messages.in:3:17"),)),
    }
    expected = {
        "all": 3,
        "acme": 2,
        "bug": 2,
        "stage": 0,
        "since": 1,
        "until": 2,
        "both": 1,
        "own": 1,
        "original": 1,
        "id": 1,
    }
    assert {name: sum(map(each.has, found)) for name, each in chosen.items()} == expected
    counts = choice.counts(choice.with_states(found, [mark(found[0], "discarded")]))
    assert counts.reason == {"bug": 2, "not_json": 1}
    assert counts.tenant == {"acme": 2, "beta": 1}
    assert counts.state == {"open": 2, "discarded": 1}
    assert counts.day == {"2026-02-02": 2, "2026-02-03": 1}
    assert choice.unknown(["messages.in:3:18", "nobody"], found) == ["nobody"]


def test_a_record_keeps_its_time_unless_its_topic_would_soon_delete_it():
    found = letter(dead(failed()))
    written = datetime.fromtimestamp(AT / 1000, UTC)
    assert letters.stored_at(found, written + timedelta(hours=1)) == AT
    late = written + MESSAGES_IN.retention
    assert letters.stored_at(found, late) == round(late.timestamp() * 1000)
