"""What a replay is asked for: since when, whose, under which id."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from streams.config import Settings
from streams.edges.cli.main import app
from streams.edges.cli.replay import remake as made_again
from streams.edges.cli.replay.orders import ReplayOrder
from streams.edges.client.errors import CommandFailed
from streams.kafka.topics_plan import wanted as wanted_topics
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


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ReplayOrder]:
    """What a command line asks for; raises what refuses it."""
    found: list[ReplayOrder] = []

    async def remake(order: ReplayOrder, _: Settings) -> int:
        found.append(order)
        return 0

    monkeypatch.setattr(made_again, "remake", remake)

    def run(*words: str, mode: str = "exact") -> ReplayOrder:
        ended = CliRunner().invoke(app, ["replay", "--mode", mode, *words])
        if ended.exception is not None:
            raise ended.exception
        return found[-1]

    return run


@pytest.mark.parametrize(
    ("mode", "words", "said"),
    [
        ("again", (), "--mode"),
        ("exact", ("--to-earliest", "--to-datetime", "2026-03-02"), "one of --to-earliest"),
        ("exact", ("--to-datetime", "yesterday"), "--to-datetime"),
        ("exact", ("--by-duration", "soon"), "--by-duration"),
        ("exact", ("--dry-run", "--execute"), "--dry-run"),
        ("rebuild", ("--stores", "graph,disk"), "'disk'"),
        ("exact", ("--id", "Not_a_topic"), "--id"),
        ("exact", ("--resume", "some-id"), "--resume is for"),
        ("exact", ("--with", "other.env"), "--with is for"),
        ("exact", ("--to-offset", "5"), "--to-offset is for"),
        ("reprocess", ("--to-offset", "5", "--shift-by", "-5"), "--to-offset and --shift-by"),
        ("reprocess", ("--id", "a", "--resume", "b"), "one of --id and --resume"),
        ("reprocess", ("--resume", "Not_an_id"), "--resume"),
        ("reprocess", ("--with", "no-such-file.env"), "no such file"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(asked, mode: str, words: tuple[str, ...], said: str):
    with pytest.raises(CommandFailed, match=said) as failed:
        asked(*words, mode=mode)
    assert failed.value.code == 2


def test_nothing_is_done_unless_it_is_said(asked):
    assert not asked().execute
    assert asked("--execute").execute


def test_a_replay_begins_where_it_is_told_and_selects_whose(asked):
    order = asked("--to-datetime", "2026-03-02T12:00:00", "--tenant", "acme", "--conversation", "c1")
    assert order.selection == Selection(round(NOON.timestamp() * 1000), "acme", "c1")
    assert asked("--stores", "graph, index,graph").stores == ("graph", "index")


def test_a_time_that_is_none_is_answered_with_how_to_write_one():
    with pytest.raises(ValueError, match="'yesterday' is no time: write 2026-01-31T14:00"):
        moment("yesterday")
