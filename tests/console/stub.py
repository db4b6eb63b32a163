"""A server that speaks what the console reads, for its tests: the real page, and routes whose answers the test sets.

`POST /stub/break` ends the open event streams in the middle, `GET /stub/seen` is what was called, `POST /stub/lose`
makes the next stream leave one record out; after `POST /stub/hold` streams stop twice on their way, until they are
broken or `POST /stub/go` comes.
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import date, timedelta
from pathlib import Path
from socket import socket
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from streams.edges.console.pages import WithConsole
from tests.checkout import ROOT
from tests.console import jobs
from tests.console.jobs import Json
from tests.console.listings import Listings

TOKEN = "a-token-of-a-test-0123456789"
PAUSE_S = 0.02
FAST_S = 0.004
LONG_S = 30.0
MANY = 5_000
# Where a held stream stops.
STOPS = ("PACK_PLANNED", "COGRAG_RETRIEVAL_START")
PACKS = {"D1": "d1-trimmed-pt", "D2": "d2-degraded-en"}
EXAMPLES = ROOT / "schemas" / "examples"


def example(place: str) -> Json:
    """The value of a golden example."""
    found: Json = json.loads((EXAMPLES / place).read_text())["value"]
    return found


class Stub:
    """Messages and their records, and how their streams are to fail."""

    def __init__(self) -> None:
        self.records: dict[str, list[Json]] = {}
        self.asked: dict[str, Json] = {}
        self.seen: list[Json] = []
        self.sent: list[float] = []
        self.losing = self.holding = self.replayed = self.refusing = False
        self.wanted: Json | None = None
        self.short = False
        self.listings = Listings()
        self.looks = 0
        self.breaks, self.going = asyncio.Event(), asyncio.Event()
        self.going.set()
        self.ask("told", jobs.QUESTION, deep=True)

    def ask(self, message: str, question: str, *, deep: bool, level: str = "D3") -> None:
        """The records that the message will have."""
        self.records[message] = [*jobs.pack_records(message, question, level)]
        if deep:
            self.records[message] += jobs.cognition_records(message, question)

    async def message(self, request: Request) -> Response:
        if self.refusing:
            self.refusing = False
            return JSONResponse({"title": "Too Many Requests", "detail": "too many requests of this token"}, 429)
        said = await request.json()
        message = f"m{len(self.asked) + 1}"
        self.asked[message] = {**said, "user": request.headers.get("fathom-user")}
        deep, level = bool(said.get("deep")), said.get("max_depth", "D3")
        self.ask(message, said["content"], deep=deep, level=level)
        return JSONResponse({"message_id": message, "topic": "messages.in", "partition": 0, "offset": 1}, 202)

    async def events(self, request: Request) -> Response:
        message = request.query_params["message_id"]
        after = request.headers.get("last-event-id")
        replay = request.query_params.get("replay") == "true"
        self.seen.append({"message": message, "after": after, "replay": replay})
        if message.startswith("many"):
            return self._stream(self._many(message))
        if message == "late":
            return self._stream(self._late(replay=replay))
        if message == "unseen":
            await asyncio.sleep(LONG_S)  # as long as the server itself waits for the first event
        if message not in self.records:
            return JSONResponse({"title": "Not Found", "detail": f"no events of a message {message!r}"}, 404)
        return self._stream(self._told(message, after))

    def _stream(self, frames: AsyncIterator[str]) -> Response:
        return StreamingResponse(self._breakable(frames), media_type="text/event-stream")

    async def _breakable(self, frames: AsyncIterator[str]) -> AsyncIterator[str]:
        broken = self.breaks
        yield "retry: 50\n\n: heartbeat\n\n"
        async for frame in frames:
            if broken.is_set():
                return  # in the middle of what it says
            yield frame

    async def _told(self, message: str, after: str | None) -> AsyncIterator[str]:
        records = self.records[message]
        begin = 0 if after is None else int(after) + 1
        if after is None:
            yield frame("snapshot", {"message_id": message, "pack": None, "cognition": None}, "-1")
        for at, record in enumerate(records[begin:], begin):
            await asyncio.sleep(PAUSE_S)
            if self.losing and at == 3:
                self.losing = False
                continue
            yield frame(record["type"], record, f"{at}")
            if record["type"] in STOPS:
                await self.going.wait()
        yield frame("end", {}, None)

    async def _late(self, *, replay: bool) -> AsyncIterator[str]:
        """A message that is over: every record at once, or what they come to."""
        records = deepcopy(self.records["told"])
        by_stage = {
            stage: jobs.reduced([each for each in records if each["stage"] == stage]) for stage in ("pack", "cognition")
        }
        if not replay:
            yield frame("snapshot", {"message_id": "told", **by_stage}, "0")
        for at, record in enumerate(self.records["told"] if replay else ()):
            yield frame(record["type"], record, f"{at}")
        yield frame("end", {}, None)

    async def _many(self, message: str) -> AsyncIterator[str]:
        state = jobs.many_nodes(message, MANY)
        yield frame("snapshot", {"message_id": message, "pack": None, "cognition": state}, "0")
        last = 4000
        self.sent = [time.time() * 1000]
        for at, (name, node) in enumerate(list(state["nodes"].items())[: MANY // 2], 1):
            await asyncio.sleep(FAST_S)
            done = {**node, "state": "verified", "evidence": at % 7}
            record = {
                "job_id": state["job_id"], "message_id": message, "stage": "cognition", "seq": last + 1,
                "prev_seq": last, "type": "COGRAG_VERIFY_NODE", "node_id": name,
                "patch": [jobs.put(f"/nodes/{name}", done)],
            }  # fmt: skip
            last += 1
            self.sent.append(time.time() * 1000)
            yield frame(record["type"], record, f"{at}")
        yield frame("end", {}, None)

    async def pack(self, request: Request) -> Response:
        message = request.path_params["message"]
        asked = self.asked.get(message, {})
        if message not in self.records and message != "old":
            return JSONResponse({"title": "Not Found", "detail": f"no pack of a message {message!r}"}, 404)
        level = asked.get("max_depth", "D3")
        pack = example(f"context-packs.out/{PACKS.get(level, 'd3-claims-pt')}.json")
        told = {"message_id": message, "query": asked.get("content", pack["query"]), "depth_level": level}
        return JSONResponse({**pack, **told})

    async def explain(self, request: Request) -> Response:
        if request.query_params.get("format") != "html":
            dropped = example("context-packs.out/d1-trimmed-pt.json")["dropped"]
            return JSONResponse({"dropped": [{**each, "title": f"Trecho {at}"} for at, each in enumerate(dropped[:1])]})
        page = f"<!doctype html><title>Message {request.path_params['message']}</title>"
        return Response(page, media_type="text/html")

    async def conversation(self, request: Request) -> Response:
        turns = [example(f"conversation.turns/{path.name}") for path in (EXAMPLES / "conversation.turns").iterdir()]
        decisions = [example(f"memory.decisions/{path.name}") for path in (EXAMPLES / "memory.decisions").iterdir()]
        turns.sort(key=lambda turn: turn["seq"])
        packs = [each for each in decisions if each.get("kind", "pack") == "pack" and "depth_level" in each]
        for turn, decision in zip(turns, packs, strict=False):
            decision["message_id"] = turn["message_id"]
        named = {"client_id": "web", "conversation_id": request.path_params["conversation"], "complete": True}
        return JSONResponse({**named, "turns": turns, "decisions": packs})

    async def decisions(self, request: Request) -> Response:
        asked = request.query_params
        days = [_day(at) for at in range(1 if self.short else int(asked["days"]))]
        hours = [{**_day(at), "hour": f"2026-11-01T{7 + at:02}:00:00Z"} for at in range(9)]
        latest = {
            "message_id": "told", "conversation_id": "c1", "at": "2026-11-24T09:30:00Z", "level": "D3",
            "question": jobs.HOSTILE, "tokens": 378, "latency_ms": 84.2, "degraded": True, "client_id": "web",
        }  # fmt: skip
        levels = [asked["level"]] if "level" in asked else ["D3", "D0", "D1", "D4", "D2"]
        whole = [
            {**latest, "message_id": "told" if at == 0 else f"t{at}", "level": level, "degraded": at == 0}
            for at, level in enumerate(levels)
        ]
        return JSONResponse(
            {"days": days, "latest": whole, "complete": True, **({"hours": hours} if self.short else {})}
        )

    async def lag(self, _: Request) -> Response:
        """One group keeps up, one is read by nobody, until the third look."""
        self.looks += 1
        stopped = self.looks < 3
        status, why = ("STOP", "7 to read, and no member reads them") if stopped else ("OK", "read to its end")
        partition = {"partition": "depth.classified[1]", "status": status, "lag": 7 if stopped else 0, "why": why}
        planner = {
            "group": "planner", "status": "ERROR" if stopped else "OK", "lag": partition["lag"],
            "why": f"STOP: depth.classified[1] has {why}" if stopped else why, "members": int(not stopped),
            "partitions": [partition],
        }  # fmt: skip
        fine = {"group": "depth", "status": "OK", "lag": 0, "why": "read to its end", "members": 1, "partitions": []}
        return JSONResponse({"groups": [fine, planner]})

    async def replays(self, _: Request) -> Response:
        topics = {"context-packs.out.replay.one": 3, "depth.classified.replay.one": 3}
        changed = {"FATHOM_MAX_TOKENS_D2": "100"}
        made = [
            {"replay_id": each, "topics": topics, "settings": changed}
            for each in (("one", "two") if self.replayed else ())
        ]
        if self.wanted is not None:
            # It is under way when it is looked at first.
            self.wanted["looks"] += 1
            state = {"state": "running"} if self.wanted["looks"] == 1 else {"state": "failed", "why": "no such setting"}
            made.append({"replay_id": "three", "topics": {}, "settings": {}, **state})
        return JSONResponse({"replays": made})

    async def start_replay(self, request: Request) -> Response:
        self.wanted = {"asked": await request.json(), "looks": 0}
        if "FATHOM_BROKER" in self.wanted["asked"]["settings"]:
            self.wanted = None
            return JSONResponse({"detail": "settings: FATHOM_BROKER says where things are"}, 422)
        return JSONResponse({"replay_id": "three"}, 202)

    async def replay(self, request: Request) -> Response:
        against = request.query_params.get("against", "recorded")
        item = {"id": "i", "section": "semantic_items", "title": jobs.HOSTILE, "over_budget": False}
        no_room = {"id": "j", "section": "claims", "title": "The deadline is Friday.", "over_budget": True}
        change = {
            "message_id": "told", "conversation_id": "c1", "query": jobs.HOSTILE, "depth": ["D1", "D3"],
            "sources_gained": ["claims"], "sources_lost": [], "items_gained": [item], "items_lost": [no_room],
            "tokens": [120, 378], "evidence": [False, True],
        }  # fmt: skip
        return JSONResponse({
            "replay_id": request.path_params["replay"], "against": against, "compared": 3, "different": 1,
            "only_recorded": 0, "only_replayed": 0, "depths": [{"was": "D1", "now": "D3", "messages": 1}],
            "sources": {"claims": {"was": 1, "now": 2}},
            "items": {"semantic_items": {"kept": 4, "gained": 1, "lost": 0}},
            "tokens": {"was": 900, "now": 1158}, "evidence": {"gained": 1, "lost": 0}, "degraded": {"was": 1, "now": 0},
            "over_budget": {"was": 0, "now": 1},
            "latency_ms": {"was": {"p50": 40.0, "p95": 91.5}, "now": {"p50": 44.0, "p95": None}},
            "changes": [change], "changes_left_out": 0 if against == "recorded" else 5,
        })  # fmt: skip

    async def do(self, request: Request) -> Response:
        """What a test wants of the stub."""
        what = request.path_params["what"]
        if what == "break":
            self.breaks.set()
            self.going.set()
            self.breaks = asyncio.Event()
        if what == "lose":
            self.losing = True
        if what in ("short", "replayed", "refusing"):
            setattr(self, what, True)
        if what == "stale":
            self.listings.stale = "f1"
        if what in ("hold", "go"):
            self.holding = what == "hold"
            self.going.set()
        if self.holding:
            self.going = asyncio.Event()
        return JSONResponse({"seen": self.seen, "asked": self.asked, "sent": self.sent})

    def application(self) -> WithConsole:
        """The page, and the routes behind the token."""
        routes = [
            Route("/messages", self.message, methods=["POST"]),
            Route("/events", self.events),
            Route("/packs/{message}", self.pack),
            Route("/explain/{message}", self.explain),
            Route("/conversations/{conversation}", self.conversation),
            Route("/decisions", self.decisions),
            Route("/operations/lag", self.lag),
            Route("/operations/replays", self.replays),
            Route("/operations/replays", self.start_replay, methods=["POST"]),
            Route("/operations/replays/{replay}", self.replay),
            *self.listings.routes(),
            Route("/openapi.json", lambda _: JSONResponse({})),
            Route("/stub/{what}", self.do, methods=["GET", "POST"]),
        ]
        return WithConsole(_guarded(Starlette(routes=routes)), lambda: "")


def frame(event: str, data: Json, at: str | None) -> str:
    """A frame of an event stream."""
    named = "" if at is None else f"id: {at}\n"
    return f"{named}event: {event}\ndata: {json.dumps(data)}\n\n"


def _guarded(app: Any) -> Any:
    async def checked(scope: Any, receive: Any, send: Any) -> None:
        stated = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        if scope["type"] == "http" and stated != f"Bearer {TOKEN}":
            await JSONResponse({"title": "Unauthorized", "detail": "a known token is needed"}, 401)(
                scope, receive, send
            )
            return
        await app(scope, receive, send)

    return checked


def _day(at: int) -> Json:
    level = {f"D{depth}": (at * (depth + 2) * 7) % 23 + (3 - depth if depth < 3 else 0) for depth in range(5)}
    messages = sum(level.values())
    return {
        "day": f"{date(2026, 11, 1) + timedelta(at)}", "depths": level, "messages": messages,
        "tokens": {"p50": 400 + at * 37 % 300, "mean": 480 + at * 53 % 350},
        "latency_ms": {"p50": 40 + at * 11 % 30, "p95": 95 + at * 17 % 90},
        "degraded": at % 5, "corrections": at % 3,
    }  # fmt: skip


@contextmanager
def serving() -> Iterator[str]:
    """The stub's address, while it runs in a thread of its own."""
    with socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(Stub().application(), log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = server.force_exit = True
        thread.join(10)


def main() -> None:
    """Serve until the standard input ends; for looking at the page by hand."""
    with serving() as url:
        print(f"{url}/console#token={TOKEN}", flush=True)
        Path("/dev/stdin").read_text()


if __name__ == "__main__":
    main()
