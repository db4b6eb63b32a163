"""`GET /events`: a snapshot for who comes late, exactly what follows for who comes back, nothing of others."""

import asyncio
import json
import tracemalloc
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.core.caching.budget import CacheShare
from streams.edges.http.events import routes
from streams.edges.http.events.frames import Pace, frames
from streams.edges.http.events.message_progress import LoggedProgress, MessageProgress, ProgressStore
from tests.builders import progress_job
from tests.builders.http_server import CONFINED, Echo, HeldTail, app_of, served, settings_of, until
from tests.unit.edges.http.test_ask import answers

JOB = json.loads(progress_job.EVENTS.read_text())
RECORDS = [{name: said for name, said in event.items() if name != "ts"} for event in JOB]
AT_MS = int(datetime.fromisoformat(JOB[0]["ts"]).timestamp() * 1000)
WHOLE = json.loads(progress_job.REDUCED.read_text())
MESSAGE = WHOLE["message_id"]
PACE = Pace(heartbeat_s=0.01, silent_s=0.05)
Frame = dict[str, Any]
Story = Callable[[httpx.AsyncClient, HeldTail], Awaitable[Any]]


def logged(partition: int = 1, begin: int = 100, **fields: Any) -> list[LoggedProgress]:
    """The recorded job in the log, of a user of these."""
    values = [json.dumps({**event, "user_id": "ana", **fields}).encode() for event in RECORDS]
    return [LoggedProgress.of(partition, begin + number, AT_MS, value) for number, value in enumerate(values)]


def store_with(events: list[LoggedProgress], tenant: str = "acme") -> ProgressStore:
    store = ProgressStore(CacheShare(10_000_000))
    for event in events:
        store.came(tenant, event)
    return store


def anybody(_: LoggedProgress) -> bool:
    return True


def held(store: ProgressStore, message: str = MESSAGE) -> MessageProgress:
    found = store.newest("acme", message, anybody)
    assert found is not None
    return found


def parsed(text: bytes | str) -> list[Frame]:
    """The frames of a stream, without comments."""
    whole = text.decode() if isinstance(text, bytes) else text
    found = []
    for block in whole.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "event" in lines:
            found.append({**lines, "data": json.loads(lines["data"])})
    return found


def read(
    store: ProgressStore, last_id: str | None = None, message: str = MESSAGE, pace: Pace = PACE, *, replay: bool = False
) -> list[Frame]:
    async def whole() -> bytes:
        progress = held(store, message)
        return b"".join([part async for part in frames(message, progress, store, last_id, pace, replay=replay)])

    return parsed(asyncio.run(whole()))


def test_a_late_reader_gets_everything_reduced_and_the_end() -> None:
    snapshot, end = read(store_with(logged()))
    assert snapshot["event"] == "snapshot"
    assert snapshot["data"] == WHOLE
    assert snapshot["id"] == f"1-{100 + len(JOB) - 1}"
    assert (end["event"], end["data"]) == ("end", {})


@pytest.mark.covers("S2-07")
@pytest.mark.parametrize("cut", [0, 1, 7, len(JOB) - 2])
def test_a_reader_that_comes_back_gets_exactly_what_follows(cut: int) -> None:
    shown = read(store_with(logged()), f"1-{100 + cut}")
    assert [each["data"]["seq"] for each in shown[:-1]] == [event["seq"] for event in JOB[cut + 1 :]]
    assert [each["event"] for each in shown[:-1]] == [event["type"] for event in JOB[cut + 1 :]]
    assert shown[0]["data"] == {**JOB[cut + 1], "user_id": "ana"}
    assert shown[-1]["event"] == "end"


@pytest.mark.parametrize("last", ["", "nonsense", "2-101", "1-99999", "1-x", "-1", "1-101\n"])
def test_a_position_that_is_not_held_gives_a_snapshot(last: str) -> None:
    assert [each["event"] for each in read(store_with(logged()), last)] == ["snapshot", "end"]


def test_a_late_reader_may_have_every_event_with_its_time_instead() -> None:
    shown = read(store_with(logged()), replay=True)
    assert [each["data"] for each in shown[:-1]] == [{**event, "user_id": "ana"} for event in JOB]
    assert shown[-1]["event"] == "end"
    assert [each["data"]["seq"] for each in read(store_with(logged()), "1-103", replay=True)[:-1]] == [
        event["seq"] for event in JOB[4:]
    ]


def test_where_not_all_is_held_or_it_is_too_much_there_is_only_the_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(store_with(logged()[3:]), replay=True)[0]["event"] == "snapshot"
    monkeypatch.setattr("streams.edges.http.events.frames.MOST_REPLAYED", 1_000)
    assert [each["event"] for each in read(store_with(logged()), replay=True)] == ["snapshot", "end"]


def test_a_position_before_what_is_held_gives_a_snapshot_unless_it_is_whole() -> None:
    assert read(store_with(logged()), "1-3")[0]["event"] == "PACK_PLANNED"
    assert read(store_with(logged()[3:]), "1-3")[0]["event"] == "snapshot"


def test_events_come_as_they_happen_between_heartbeats() -> None:
    events = logged()

    async def story() -> list[bytes]:
        store = store_with(events[:5])
        progress = held(store)
        parts: list[bytes] = []

        async def reader() -> None:
            async for part in frames(MESSAGE, progress, store, None, Pace(0.01, 60.0)):
                parts.append(part)  # noqa: PERF401 - each as it comes

        reading = asyncio.create_task(reader())
        await until(lambda: b":\n\n" in parts)
        for event in events[5:]:
            store.came("acme", event)
            await asyncio.sleep(0)
        await reading
        return parts

    parts = asyncio.run(story())
    assert parts[0] == b"retry: 1000\n\n"
    shown = parsed(b"".join(parts))
    assert [each["data"]["seq"] for each in shown[1:-1]] == [event["seq"] for event in JOB[5:]]


def test_an_event_that_is_in_the_log_twice_is_shown_once() -> None:
    events = logged()
    again = [LoggedProgress.of(1, each.offset + 1000, AT_MS, each.value) for each in events]
    shown = read(store_with([*events, *again]), "1-100")
    assert [each["data"]["seq"] for each in shown[:-1]] == [event["seq"] for event in JOB[1:]]


def test_the_stream_ends_with_the_pack_where_no_run_is_opened() -> None:
    packs = [json.loads(each.value) for each in logged() if each.stage == "pack"]
    packs[0]["data"]["cognition"] = False
    events = [LoggedProgress.of(0, number, AT_MS, json.dumps(each).encode()) for number, each in enumerate(packs)]
    assert held(store_with(events)).is_ended
    assert not held(store_with([each for each in logged() if each.stage == "pack"])).is_ended
    assert not held(store_with([each for each in logged() if each.stage == "cognition"])).is_ended


def test_a_run_that_says_nothing_any_more_ends_its_stream() -> None:
    shown = read(store_with(logged()[:8]))
    assert [each["event"] for each in shown] == ["snapshot", "end"]


def test_a_stream_ends_without_a_word_when_the_server_does() -> None:
    async def story() -> list[bytes]:
        store = store_with(logged()[:5])
        progress = held(store)
        stream = frames(MESSAGE, progress, store, None, Pace(60.0, 600.0))
        reading = asyncio.create_task(_all(stream))
        await until(lambda: progress._waiting)
        store.stop()
        return await reading

    assert [each["event"] for each in parsed(b"".join(asyncio.run(story())))] == ["snapshot"]


async def _all(stream: Any) -> list[bytes]:
    return [part async for part in stream]


def test_what_was_read_from_the_log_afterwards_comes_first() -> None:
    events = logged()
    store = store_with(events[10:])
    assert not held(store).is_whole
    store.joined("acme", events[:20])
    assert held(store).is_whole
    assert read(store)[0]["data"] == WHOLE
    store.came("acme", events[15])
    assert len(held(store).events) == len(events)


def test_memory_is_bounded_and_what_is_watched_stays() -> None:
    events = logged()
    size = sum(len(event.value) for event in events)
    store = ProgressStore(CacheShare(2 * size))
    for number in range(5):
        for event in logged(message_id=f"m{number}"):
            store.came("acme", event)
        if number == 1:
            held(store, "m1").watchers = 1
    assert [name for *_, name in store._found] == ["m1", "m4"]
    assert store.size_bytes == sum(found.size for found in store._found.values()) <= 2 * size + 100


def test_what_is_kept_takes_no_more_memory_than_it_may() -> None:
    store = ProgressStore(CacheShare(500_000))
    tracemalloc.start()
    for number in range(60):
        for event in logged(message_id=f"a message, {number}", conversation_id="a conversation", data={}, patch=[]):
            store.came("acme", event)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 250_000 < taken < 600_000


def test_what_is_erased_is_shown_no_more() -> None:
    store = store_with(logged())
    progress = held(store)
    for where in (
        ("beta", "web", "c1", 9),
        ("acme", "other", "c1", 9),
        ("acme", "web", "c2", 9),
        ("acme", "web", "c1", -1),
    ):
        store.erased(*where)
    assert progress.events
    store.erased("acme", "web", "c1", 0)
    assert progress.ending
    assert not progress.events
    for event in logged():
        store.came("acme", event)
    assert store.newest("acme", MESSAGE, anybody) is None


@pytest.mark.parametrize("reader", ["ana", "bia"])
def test_two_conversations_may_use_one_message_id(tmp_path: Path, reader: str) -> None:
    """Each reader gets the events of their own message, though both are in the log of the tenant."""
    events = [
        event
        for begin, user in ((100, "ana"), (900, "bia"))
        for event in logged(begin=begin, user_id=user, conversation_id=f"c-{user}")
    ]
    echo = Echo(answers)
    for event in events:
        echo.tail.store.came("acme", event)
    mine = echo.tail.store.newest("acme", MESSAGE, lambda event: event.user_id == reader)
    assert mine is not None
    assert {event.conversation_id for event in mine.events} == {f"c-{reader}"}
    assert len(mine.events) == len(JOB)
    echo.tail.store.erased("acme", "web", "c-bia" if reader == "ana" else "c-ana", 9)
    assert len(mine.events) == len(JOB)


def test_of_one_users_messages_with_one_id_the_newest_is_shown_or_the_stated(tmp_path: Path) -> None:
    older, newer = logged(conversation_id="c-1"), logged(begin=900, conversation_id="c-2")
    newer = [replace(event, timestamp=AT_MS + 1_000) for event in newer]
    for query, own in (("", "c-2"), ("&conversation_id=c-1&client_id=web", "c-1")):
        answer = asked(tmp_path, f"/events?message_id={MESSAGE}&replay=true{query}", [*older, *newer])
        shown = [each["data"] for each in parsed(answer.text)[:-1]]
        assert {each["conversation_id"] for each in shown} == {own}
        assert len(shown) == len(JOB)


# --- over HTTP ------------------------------------------------------------------------------------------------------


def told(
    tmp_path: Path,
    story: Callable[[httpx.AsyncClient, HeldTail], Awaitable[Any]],
    events: list[LoggedProgress],
    **more: Any,
) -> Any:
    echo = Echo(answers)
    for event in events:
        echo.tail.store.came("acme", event)

    async def whole(client: httpx.AsyncClient) -> Any:
        return await story(client, echo.tail)

    return served(tmp_path, echo, whole, **more)


def asked(tmp_path: Path, path: str, events: list[LoggedProgress], token: str = "", **headers: str) -> httpx.Response:
    async def story(client: httpx.AsyncClient, _: HeldTail) -> httpx.Response:
        more = {"authorization": f"Bearer {token}"} if token else {}
        return await client.get(path, headers={**headers, **more})

    found: httpx.Response = told(tmp_path, story, events)
    return found


def test_the_stream_says_what_a_proxy_must_not_do(tmp_path: Path) -> None:
    answer = asked(tmp_path, f"/events?message_id={MESSAGE}", logged())
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    assert "content-length" not in answer.headers
    assert answer.text.startswith("retry: 1000\n\nid: ")
    assert parsed(answer.text)[0]["data"] == WHOLE


@pytest.mark.parametrize("how", ["header", "query"])
def test_the_last_id_is_a_header_or_a_parameter(tmp_path: Path, how: str) -> None:
    last = f"1-{100 + len(JOB) - 2}"
    path = f"/events?message_id={MESSAGE}" + (f"&last_event_id={last}" if how == "query" else "")
    answer = asked(tmp_path, path, logged(), **({"last-event-id": last} if how == "header" else {}))
    assert [each["event"] for each in parsed(answer.text)] == ["COGRAG_COMPLETE", "end"]


@pytest.mark.covers("B19")
@pytest.mark.parametrize("whose", ["tenant", "user", "nobody"])
def test_what_is_anothers_does_not_exist(tmp_path: Path, whose: str) -> None:
    events = logged(user_id="bia" if whose == "user" else "ana")
    message = "nosuch" if whose == "nobody" else MESSAGE
    token = CONFINED if whose == "tenant" else ""
    answer = asked(tmp_path, f"/events?message_id={message}&timeout=0.01", events, token)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert f"no event of a message '{message}'" in answer.json()["detail"]


def test_a_token_of_a_client_sees_its_messages_only(tmp_path: Path) -> None:
    for client, status in (("app", 200), ("web", 404)):
        echo = Echo(answers)
        for event in logged(client_id=client):
            echo.tail.store.came("beta", event)

        async def story(calls: httpx.AsyncClient) -> httpx.Response:
            headers = {"authorization": f"Bearer {CONFINED}"}
            return await calls.get(f"/events?message_id={MESSAGE}&timeout=0.01", headers=headers)

        assert served(tmp_path, echo, story).status_code == status


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/events", "message_id: name the message"),
        ("/events?message_id=m&timeout=301", "timeout: is 0 to 300 seconds"),
        ("/events?message_id=m&since=1", "are `message_id`, `conversation_id`, `client_id`, `timeout`"),
        ("/events?message_id=m&replay=all", "replay: is `true` or `false`"),
    ],
)
def test_a_wrong_call_is_told_what_to_write(tmp_path: Path, path: str, said: str) -> None:
    answer = asked(tmp_path, path, [])
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_a_message_is_waited_for(tmp_path: Path) -> None:
    async def story(client: httpx.AsyncClient, tail: HeldTail) -> httpx.Response:
        calling = asyncio.create_task(client.get(f"/events?message_id={MESSAGE}"))
        await until(lambda: tail.store._awaited)
        for event in logged():
            tail.store.came("acme", event)
        return await calling

    answer = told(tmp_path, story, [])
    assert parsed(answer.text)[-1]["event"] == "end"


def test_what_only_the_log_has_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "SOON_S", 0.01)

    async def story(client: httpx.AsyncClient, tail: HeldTail) -> httpx.Response:
        tail.log["acme", MESSAGE] = logged()
        return await client.get(f"/events?message_id={MESSAGE}")

    assert parsed(told(tmp_path, story, []).text)[0]["data"] == WHOLE


def test_a_tenant_has_a_bounded_number_of_streams_and_gets_them_back(tmp_path: Path) -> None:
    async def story(client: httpx.AsyncClient, tail: HeldTail) -> list[int]:
        path = f"/events?message_id={MESSAGE}"
        waiting = [asyncio.create_task(client.get(path)) for _ in range(2)]
        await until(lambda: len(tail.store._awaited.get(("acme", MESSAGE), ())) == 2)
        refused = await client.get(path)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "5"
        assert "2 streams of this tenant are open" in refused.json()["detail"]
        other = await client.get(path + "&timeout=0", headers={"authorization": f"Bearer {CONFINED}"})
        for event in logged():
            tail.store.came("acme", event)
        ended = [each.status_code for each in await asyncio.gather(*waiting)]
        return [other.status_code, *ended, (await client.get(path)).status_code]

    assert told(tmp_path, story, [], FATHOM_EVENTS_MOST_STREAMS="2") == [404, 200, 200, 200]


def test_a_reader_that_goes_away_gives_its_stream_back(tmp_path: Path) -> None:
    async def story(client: httpx.AsyncClient, tail: HeldTail) -> int:
        path = f"/events?message_id={MESSAGE}"
        for _ in range(3):
            async with client.stream("GET", path) as stream:
                await anext(stream.aiter_bytes())
            await until(lambda: not held(tail.store).watchers)
        with pytest.raises(httpx.ReadTimeout):
            await client.get("/events?message_id=nosuch", timeout=0.05)
        await until(lambda: ("acme", "nosuch") not in tail.store._awaited)
        return len(tail.store._found)

    assert told(tmp_path, story, logged()[:5], FATHOM_EVENTS_MOST_STREAMS="1", socket=True) == 1


def test_a_slow_reader_makes_the_server_hold_nothing_more(tmp_path: Path) -> None:
    """It holds a place in what is held anyway; sending waits until it reads."""
    settings = settings_of(tmp_path / "tokens.json")
    echo = Echo(answers)
    events = logged()
    for event in events[:5]:
        echo.tail.store.came("acme", event)
    sent: list[bytes] = []
    reading = asyncio.Event()

    async def story() -> int:
        async def receive() -> dict[str, Any]:
            if not sent:
                return {"type": "http.request", "body": b"", "more_body": False}
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Any) -> None:
            sent.append(message.get("body", b"start"))
            if len(sent) == 3:
                await reading.wait()

        headers = [(b"authorization", b"Bearer acme-ana-0123456789"), (b"host", b"127.0.0.1")]
        query = f"message_id={MESSAGE}".encode()
        scope = {
            "type": "http", "method": "GET", "path": "/events", "raw_path": b"/events", "query_string": query,
            "headers": headers, "http_version": "1.1", "scheme": "http", "root_path": "", "server": ("127.0.0.1", 80),
        }  # fmt: skip
        calling = asyncio.ensure_future(app_of(settings, echo)(scope, receive, send))  # type: ignore[arg-type]
        await until(lambda: len(sent) == 3)
        for event in events[5:]:
            echo.tail.store.came("acme", event)
        held = len(sent)
        reading.set()
        await calling
        return held

    assert asyncio.run(story()) == 3
    assert [each["event"] for each in parsed(b"".join(sent[1:]))][1:-1] == [event["type"] for event in JOB[5:]]


def test_a_record_of_another_writer_is_no_event() -> None:
    for value in (b"nonsense", b"{}", b"[]"):
        with pytest.raises((ValueError, KeyError, TypeError)):
            LoggedProgress.of(0, 0, AT_MS, value)


def test_an_older_event_than_the_newest_is_none_to_add() -> None:
    first, second, *_ = logged()
    progress = MessageProgress()
    assert progress.add(second)
    assert not progress.add(first)
