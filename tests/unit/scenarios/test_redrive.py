"""What was redriven has one effect, however often it is sent: through all stages in memory."""

from collections import Counter
from collections.abc import Iterator

import pytest

from schemas.topics import CONTEXT_PACKS, MESSAGES_IN, TOPICS
from streams.kafka.records import Record
from streams.redrive import letters
from streams.runtime.dead_letters import Failure, headers_of
from streams.testing.pipeline import Pipeline

QUESTION = {"question": "Qual o email do João Silva?", "conversation_id": "c", "client_id": "web", "nickname": "n"}


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def redrive(fathom: Pipeline, dead: Record, times: int = 1) -> None:
    """Send the original of a dead letter again, later."""
    for number in range(times):
        letter = letters.letter_of(dead)
        assert letter is not None
        out = letters.original_of(dead, letter, number + 1)
        fathom.clock.advance(3600)
        fathom.log.append(out.to.topic, out.key, out.value, out.headers, out.to.partition)
        fathom.settle()


def made(fathom: Pipeline) -> dict[str, dict[str, bytes]]:
    """The events of all topics but the one that was written to, by their ids; the same id has the same bytes."""
    found: dict[str, dict[str, bytes]] = {}
    for topic in TOPICS:
        for record in fathom.log.of(topic.name) if topic is not MESSAGES_IN else ():
            identity, value = dict(record.headers)["ce_id"].decode(), record.value or b""
            assert found.setdefault(topic.name, {}).setdefault(identity, value) == value, topic.name
    return found


@pytest.mark.covers("CF-67")
def test_a_record_that_had_passed_has_no_second_effect_when_it_is_redriven(fathom: Pipeline):
    record = fathom.publish(MESSAGES_IN, QUESTION)
    fathom.wait(60)
    before, nodes = made(fathom), Counter(len(fathom.nodes(label)) for label in ("Message", "CDCDecision"))
    assert len(before[CONTEXT_PACKS.name]) == 1
    failure = Failure("bug", "KeyError: 'x'", "KeyError")
    dead = Record("dead-letters.depth", 0, 0, record.timestamp, record.key, record.value,
                  tuple(headers_of(record, "depth", failure)))  # fmt: skip
    redrive(fathom, dead, times=2)
    fathom.wait(60)
    after = made(fathom)
    assert {topic: events.keys() for topic, events in after.items()} == {
        topic: events.keys() for topic, events in before.items()
    }
    assert Counter(len(fathom.nodes(label)) for label in ("Message", "CDCDecision")) == nodes


@pytest.mark.covers("CF-67")
def test_a_record_that_fails_again_keeps_its_bytes_and_counts(fathom: Pipeline):
    value = b'{"question":'
    fathom.publish(MESSAGES_IN, value, {"x-trace": "7"}, b"some-key")
    for number in range(3):
        dead = fathom.log.of("dead-letters.depth")[-1]
        letter = letters.letter_of(dead)
        assert letter is not None
        assert letter.redrives == number
        out = letters.original_of(dead, letter, number + 1)
        fathom.log.append(out.to.topic, out.key, out.value, out.headers, out.to.partition)
        fathom.settle()
    found = fathom.log.of("dead-letters.depth")
    assert len(found) == 4
    assert {(each.key, each.value, dict(each.headers)["x-trace"]) for each in found} == {(b"some-key", value, b"7")}
    known = [letters.letter_of(each) for each in found]
    assert len({letter.message_id for letter in known if letter is not None}) == 1
    assert Counter(name for name, _ in found[-1].headers).most_common(1)[0][1] == 1
    assert fathom.ask("Qual o email do João Silva?").message_id
