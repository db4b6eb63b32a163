"""`GET /events`: a snapshot for who comes late, exactly what follows for who comes back, nothing of others."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.core.progress.message_events import TimedEvent
from schemas.progress import ProgressMade
from streams.edges.http.events.frames import Pace, frames
from streams.edges.http.events.message_progress import MessageProgress
from tests.builders import progress_job
from tests.builders.http_server import CONFINED, TOKEN, Echo, HeldTail, app_of, served, settings_of, until
from tests.builders.http_server import WHOLE as TENANTS
from tests.unit.edges.http.test_ask import answers

JOB = json.loads(progress_job.EVENTS.read_text())
AT_MS = int(datetime.fromisoformat(JOB[0]["ts"]).timestamp() * 1000)
EVENTS = [
    TimedEvent(AT_MS, ProgressMade.model_validate({name: said for name, said in event.items() if name != "ts"}))
    for event in JOB
]
WHOLE = json.loads(progress_job.REDUCED.read_text())
MESSAGE = WHOLE["message_id"]
PACE = Pace(heartbeat_s=0.01, silent_s=0.05)
Frame = dict[str, Any]


def progress_of(events: list[TimedEvent] = EVENTS, *, has_run: bool = True) -> MessageProgress:
    progress = MessageProgress(has_run)
    progress.add(events)
    return progress


IDS = [each.id for each in progress_of().events]


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
    progress: MessageProgress, last_id: str | None = None, pace: Pace = PACE, *, replay: bool = False
) -> list[Frame]:
    async def whole() -> bytes:
        return b"".join([part async for part in frames(MESSAGE, progress, last_id, PACE, replay=replay)])

    return parsed(asyncio.run(whole()))


def test_a_late_reader_gets_everything_reduced_and_the_end() -> None:
    snapshot, end = read(progress_of())
    assert snapshot["event"] == "snapshot"
    assert snapshot["data"] == WHOLE
    assert snapshot["id"] == IDS[-1]
    assert (end["event"], end["data"]) == ("end", {})


@pytest.mark.covers("S2-07")
@pytest.mark.parametrize("cut", [0, 1, 7, len(JOB) - 2, len(JOB) - 1])
def test_a_reader_that_comes_back_gets_exactly_what_follows(cut: int) -> None:
    shown = read(progress_of(), IDS[cut])
    assert [each["id"] for each in shown[:-1]] == IDS[cut + 1 :]
    assert [each["data"] for each in shown[:-1]] == JOB[cut + 1 :]
    assert [each["event"] for each in shown[:-1]] == [event["type"] for event in JOB[cut + 1 :]]
    assert shown[-1]["event"] == "end"


def test_another_process_may_have_the_two_stages_in_another_order() -> None:
    seen = EVENTS[:12]
    at = progress_of(seen).events[-1].id
    elsewhere = sorted(EVENTS, key=lambda each: each.event.stage)
    shown = read(progress_of(elsewhere), at)
    named = {(each["data"]["stage"], each["data"]["seq"]) for each in shown[:-1]}
    assert named == {(each.event.stage, each.event.seq) for each in EVENTS if each not in seen}


@pytest.mark.parametrize("last", ["", "nonsense", "3-42", "1.99999999", "99.0", "0.0", "1.x", "-1.0", "1.0\n"])
def test_the_id_of_no_event_gives_a_snapshot(last: str) -> None:
    assert [each["event"] for each in read(progress_of(), last)] == ["snapshot", "end"]


def test_a_late_reader_may_have_every_event_with_its_time_instead() -> None:
    shown = read(progress_of(), replay=True)
    assert [each["data"] for each in shown[:-1]] == JOB
    assert shown[-1]["event"] == "end"
    assert [each["data"] for each in read(progress_of(), IDS[3], replay=True)[:-1]] == JOB[4:]


def test_where_it_is_too_much_there_is_only_the_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.edges.http.events.frames.MOST_REPLAYED", 1_000)
    assert [each["event"] for each in read(progress_of(), replay=True)] == ["snapshot", "end"]


def test_events_come_as_they_happen_between_heartbeats() -> None:
    async def story() -> list[bytes]:
        progress = progress_of(EVENTS[:5])
        parts: list[bytes] = []

        async def reader() -> None:
            async for part in frames(MESSAGE, progress, None, Pace(0.01, 60.0)):
                parts.append(part)  # noqa: PERF401 - each as it comes

        reading = asyncio.create_task(reader())
        await until(lambda: b":\n\n" in parts)
        for event in EVENTS[5:]:
            progress.add([event])
            await asyncio.sleep(0)
        await reading
        return parts

    parts = asyncio.run(story())
    assert parts[0] == b"retry: 1000\n\n"
    shown = parsed(b"".join(parts))
    assert [each["data"] for each in shown[1:-1]] == JOB[5:]


def test_the_stream_ends_with_the_pack_where_no_run_is_opened() -> None:
    packs = [each for each in EVENTS if each.event.stage == "pack"]
    assert progress_of(packs, has_run=False).is_ended
    assert not progress_of(packs).is_ended
    assert not progress_of([each for each in EVENTS if each.event.stage == "cognition"]).is_ended


def test_a_run_that_says_nothing_any_more_ends_its_stream() -> None:
    assert [each["event"] for each in read(progress_of(EVENTS[:8]))] == ["snapshot", "end"]


def test_a_stream_ends_without_a_word_when_the_server_does_or_it_is_erased() -> None:
    async def story() -> list[bytes]:
        progress = progress_of(EVENTS[:5])
        reading = asyncio.create_task(_all(frames(MESSAGE, progress, None, Pace(60.0, 600.0))))
        await until(lambda: progress._waiting)
        progress.end()
        return await reading

    assert [each["event"] for each in parsed(b"".join(asyncio.run(story())))] == ["snapshot"]


async def _all(stream: Any) -> list[bytes]:
    return [part async for part in stream]


# --- over HTTP ------------------------------------------------------------------------------------------------------


def told(
    tmp_path: Path, story: Callable[[httpx.AsyncClient, HeldTail], Awaitable[Any]], tail: HeldTail | None, **more: Any
) -> Any:
    echo = Echo(answers)
    echo.tail = tail or HeldTail()

    async def whole(client: httpx.AsyncClient) -> Any:
        return await story(client, echo.tail)

    return served(tmp_path, echo, whole, **more)


def holding(*messages: MessageProgress, tenant: str = "acme", **whose: str) -> HeldTail:
    tail = HeldTail()
    for number, progress in enumerate(messages, 1):
        tail.put(tenant, MESSAGE, progress, **{"conversation_id": f"c{number}", **whose})
    return tail


def asked(tmp_path: Path, path: str, tail: HeldTail | None = None, token: str = "", **headers: str) -> httpx.Response:
    async def story(client: httpx.AsyncClient, _: HeldTail) -> httpx.Response:
        more = {"authorization": f"Bearer {token}"} if token else {}
        return await client.get(path, headers={**headers, **more})

    found: httpx.Response = told(tmp_path, story, tail)
    return found


def test_the_stream_says_what_a_proxy_must_not_do(tmp_path: Path) -> None:
    answer = asked(tmp_path, f"/events?message_id={MESSAGE}", holding(progress_of()))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    assert "content-length" not in answer.headers
    assert answer.text.startswith("retry: 1000\n\nid: ")
    assert parsed(answer.text)[0]["data"] == WHOLE


@pytest.mark.parametrize("how", ["header", "query"])
def test_the_last_id_is_a_header_or_a_parameter(tmp_path: Path, how: str) -> None:
    last = IDS[-2]
    path = f"/events?message_id={MESSAGE}" + (f"&last_event_id={last}" if how == "query" else "")
    headers = {"last-event-id": last} if how == "header" else {}
    answer = asked(tmp_path, path, holding(progress_of()), **headers)
    assert [each["event"] for each in parsed(answer.text)] == ["COGRAG_COMPLETE", "end"]


@pytest.mark.covers("B19")
@pytest.mark.parametrize("whose", ["tenant", "user", "nobody"])
def test_what_is_anothers_does_not_exist(tmp_path: Path, whose: str) -> None:
    tail = holding(progress_of(), user_id="bia" if whose == "user" else "ana")
    message = "nosuch" if whose == "nobody" else MESSAGE
    token = CONFINED if whose == "tenant" else ""
    answer = asked(tmp_path, f"/events?message_id={message}&timeout=0.01", tail, token)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert f"no event of a message '{message}'" in answer.json()["detail"]


def test_a_token_of_a_client_sees_its_messages_only(tmp_path: Path) -> None:
    for client, status in (("app", 200), ("web", 404)):
        tail = holding(progress_of(), tenant="beta", client_id=client)
        assert asked(tmp_path, f"/events?message_id={MESSAGE}&timeout=0.01", tail, CONFINED).status_code == status


def test_the_newest_message_of_an_id_is_shown_or_that_of_the_stated_conversation(tmp_path: Path) -> None:
    older, newer = progress_of(EVENTS[:3]), progress_of()
    for query, first in (("", newer), ("&conversation_id=c1&client_id=web", older)):
        older.end()
        answer = asked(tmp_path, f"/events?message_id={MESSAGE}{query}", holding(older, newer))
        assert parsed(answer.text)[0]["id"] == first.events[-1].id


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
    answer = asked(tmp_path, path)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_a_message_is_waited_for(tmp_path: Path) -> None:
    async def story(client: httpx.AsyncClient, tail: HeldTail) -> httpx.Response:
        calling = asyncio.create_task(client.get(f"/events?message_id={MESSAGE}"))
        await until(lambda: tail.watching)
        tail.put("acme", MESSAGE, progress_of())
        return await calling

    assert parsed(told(tmp_path, story, None).text)[-1]["event"] == "end"


@pytest.mark.parametrize(("token", "most", "of"), [(TENANTS, "2", "tenant"), (TOKEN, "20", "user")])
def test_a_tenant_and_a_user_have_a_bounded_number_of_streams_and_get_them_back(
    tmp_path: Path, token: str, most: str, of: str
) -> None:
    async def story(client: httpx.AsyncClient, tail: HeldTail) -> list[int]:
        path, own = f"/events?message_id={MESSAGE}", {"authorization": f"Bearer {token}"}
        waiting = [asyncio.create_task(client.get(path, headers=own)) for _ in range(2)]
        await until(lambda: tail.watching == 2)
        refused = await client.get(path, headers=own)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "5"
        assert f"2 streams of this {of} are open" in refused.json()["detail"]
        other = TENANTS if of == "user" else CONFINED
        others = await client.get(path + "&timeout=0", headers={"authorization": f"Bearer {other}"})
        tail.put("acme", MESSAGE, progress_of())
        ended = [each.status_code for each in await asyncio.gather(*waiting)]
        return [others.status_code, *ended, (await client.get(path, headers=own)).status_code]

    assert told(tmp_path, story, None, FATHOM_EVENTS_MOST_STREAMS=most) == [404, 200, 200, 200]


def test_a_reader_that_goes_away_gives_its_stream_back(tmp_path: Path) -> None:
    async def story(client: httpx.AsyncClient, tail: HeldTail) -> int:
        path = f"/events?message_id={MESSAGE}"
        for _ in range(3):
            async with client.stream("GET", path) as stream:
                await anext(stream.aiter_bytes())
            await until(lambda: not tail.watching)
        with pytest.raises(httpx.ReadTimeout):
            await client.get("/events?message_id=nosuch", timeout=0.05)
        await until(lambda: not tail.watching)
        return tail.watching

    tail = holding(progress_of(EVENTS[:5]))
    assert told(tmp_path, story, tail, FATHOM_EVENTS_MOST_STREAMS="1", socket=True) == 0


def test_a_slow_reader_makes_the_server_hold_nothing_more(tmp_path: Path) -> None:
    """It holds a place in what is held anyway; sending waits until it reads."""
    settings = settings_of(tmp_path / "tokens.json")
    echo, progress = Echo(answers), progress_of(EVENTS[:5])
    echo.tail = holding(progress)
    sent: list[bytes] = []
    read, reading = asyncio.Event(), asyncio.Event()

    async def story() -> int:
        async def receive() -> dict[str, Any]:
            if not read.is_set():
                read.set()
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
        progress.add(EVENTS[5:])
        held = len(sent)
        reading.set()
        await calling
        return held

    assert asyncio.run(story()) == 3
    assert [each["event"] for each in parsed(b"".join(sent[1:]))][1:-1] == [event["type"] for event in JOB[5:]]
