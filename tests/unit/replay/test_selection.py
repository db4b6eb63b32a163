"""What a replay is asked for: since when, whose, under which id; and how it says how far it is."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from streams.edges.cli import replay
from streams.edges.client.errors import CommandFailed
from streams.kafka.topics_admin import wanted as wanted_topics
from streams.replay.progress import Progress
from streams.replay.selection import ID, Selection, duration, moment, new_id, topic_of

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("P7D", timedelta(days=7)),
        ("PT36H", timedelta(hours=36)),
        ("P1DT2H3M4.5S", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("90m", timedelta(minutes=90)),
    ],
)
def test_a_duration_is_written_as_kafkas_own_tool_takes_it(text: str, found: timedelta):
    assert duration(text) == found


@pytest.mark.parametrize("text", ["", "P", "PT", "7", "-P1D", "P1Y", "1h30", "P1D extra"])
def test_what_is_no_duration_is_refused(text: str):
    with pytest.raises(ValueError, match="duration"):
        duration(text)


def test_a_time_without_a_zone_is_utc():
    assert moment("2026-03-02T12:00:00") == moment("2026-03-02T09:00:00-03:00") == round(NOON.timestamp() * 1000)


def test_an_id_makes_topic_names_and_is_no_other_replays():
    first, second = new_id(NOON), new_id(NOON)
    assert first != second
    assert ID.fullmatch(first)
    assert topic_of("context-packs.out", first) == f"context-packs.out.replay.{first}"
    assert topic_of("context-packs.out", first) not in {topic.name for topic in wanted_topics(1)}


def record(tenant: str, **fields: str) -> Any:
    return cast("Any", SimpleNamespace(envelope=SimpleNamespace(tenant=tenant), event=SimpleNamespace(**fields)))


def test_a_selection_takes_its_tenants_and_its_conversations_only():
    own = Selection(tenant="acme", conversation="c1")
    assert own.has(record("acme", conversation_id="c1"))
    assert not own.has(record("acme", conversation_id="c2"))
    assert not own.has(record("other", conversation_id="c1"))
    assert not own.has(record("acme"))
    assert Selection(tenant="acme").has(record("acme"))
    assert Selection().whole
    assert not own.whole


def asked(**options: Any) -> replay.ReplayOptions:
    given = {
        "mode": "exact",
        "since": (False, None, None),
        "whose": (None, None),
        "stores": "redis,graph,index",
        "execute": (False, False),
        "replay_id": None,
        "as_json": False,
    }
    mode = str({**given, **options}.pop("mode"))
    return replay.wanted(mode, **{name: value for name, value in {**given, **options}.items() if name != "mode"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "again"}, "--mode"),
        ({"since": (True, "2026-03-02", None)}, "one of --to-earliest"),
        ({"since": (False, "yesterday", None)}, "--to-datetime"),
        ({"since": (False, None, "soon")}, "--by-duration"),
        ({"execute": (True, True)}, "--dry-run"),
        ({"stores": "graph,disk"}, "'disk'"),
        ({"replay_id": "Not_a_topic"}, "--id"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(options: dict[str, Any], said: str):
    with pytest.raises(CommandFailed, match=said) as failed:
        asked(**options)
    assert failed.value.code == 2


def test_nothing_is_done_unless_it_is_said():
    assert not asked().execute
    assert asked(execute=(False, True)).execute


def test_progress_is_said_every_two_seconds_and_at_the_end():
    said: list[str] = []
    at = [0.0]
    progress = Progress(300, say=said.append, now=lambda: at[0])
    for seconds in (1.0, 2.0):
        at[0] = seconds
        progress.advance(100, "memory.claims")
    progress.end()
    assert said == ["200 of 300 records, 100/s  memory.claims\n", "200 of 300 records, 100/s\n"]
