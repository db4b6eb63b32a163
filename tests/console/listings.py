"""What the stub lists: conversations, memories that can be edited, results of a search, documents, users."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.console.jobs import HOSTILE, Json

TALKS, DOCUMENTS, USERS = 10_000, 120, 3
ASKED = (
    "Qual o prazo de entrega do projeto Farol?", "How long is the warranty of the Barista 300?",
    "Who approves refunds above 500 euros, and within how many days are they paid?", HOSTILE,
    "Explica o intervalo de almoço", "What did we agree with Atlas about the contract in March?",
)  # fmt: skip


def ago(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat()


class Listings:
    """Lists of the stub, and its memories, which are edited in place."""

    def __init__(self) -> None:
        self.facts = [
            _fact("f1", "My locker code is 7781.", "user's locker code", "valor", "7781"),
            _fact(
                "f2", "The Farol project is due on 20 April.", "Farol project", "data", "20 April", status="contested"
            ),
            _fact("f3", "I work in the Leeds office.", "user", "emprego", "Leeds", author="assistant"),
            _fact("f4", HOSTILE, "user", "nota", "a text of a stranger", status="confirmed"),
            _fact("f0", "My locker code is 1200.", "user's locker code", "valor", "1200", status="replaced", by=["f1"]),
        ]
        self.edits: dict[str, list[Json]] = {}
        # A fact that somebody else corrects before the page does.
        self.stale: str | None = None

    def routes(self) -> list[Route]:
        return [
            Route("/conversations", self.conversations),
            Route("/search", self.search, methods=["POST"]),
            Route("/memories", self.memories),
            Route("/memories", self.remember, methods=["POST"]),
            Route("/memories/{memory}", self.memory),
            Route("/memories/{memory}", self.change, methods=["PATCH", "DELETE"]),
            Route("/documents", self.documents),
            Route("/documents/{document}/uses", self.uses),
            Route("/users", self.users),
        ]

    async def conversations(self, request: Request) -> Response:
        words = request.query_params.get("q", "").lower().split()
        wanted = [at for at in range(TALKS) if all(word in f"{_title(at)} c{at}".lower() for word in words)]
        page = _page(request, wanted)
        shown = [
            {
                "conversation_id": f"c{at}", "client_id": "web", "title": _title(at), "questions": 1 + at * 7 % 19,
                "first_at": ago(minutes=at * 11 + 40), "last_at": ago(minutes=at * 11),
                **({} if at == 3 else {"last_level": f"D{at * 3 % 5}"}),
                "tokens": [200 + (at * 131 + turn * 977) % 3100 for turn in range(1 + at * 7 % 19)],
                "degraded": int(at % 9 == 4) * (1 + at % 3),
            }
            for at in page
        ]  # fmt: skip
        return JSONResponse({"conversations": shown, "total": len(wanted), "complete": not words})

    async def search(self, request: Request) -> Response:
        asked = await request.json()
        kinds = (("document", "semantic"), ("turn", "episodic"), ("claim", "claims"), ("process", "procedural"))
        found = [
            {
                "id": f"r{at}", "kind": kind, "memory_class": memory, "title": f"Handbook › {asked['query']} {at}",
                "text": f"The team lead approves refunds. {HOSTILE}", "score": 0.81 / (at + 1), "tokens": 42 + at,
                "reason": "passage found by dense and lexical", "recorded_at": ago(days=at), "document_id": "handbook",
                "conversation_id": "c1", "client_id": "web", "message_id": "told",
            }
            for at, (kind, memory) in enumerate(kinds)
            if asked.get("kind", kind) == kind and asked["query"] != "nothing"
        ]  # fmt: skip
        return JSONResponse({
            "request_id": "r", "user_id": request.headers.get("fathom-user", "web"), "query": asked["query"],
            "lang": "en", "results": found, "evidence": "found" if found else "none", "degraded": False, "missing": [],
            "text": "", "total_tokens": 120, "tokenizer": "o200k_base", "latency_ms": 12.5,
        })  # fmt: skip

    async def memories(self, request: Request) -> Response:
        asked = request.query_params
        if asked.get("user", "") == "" and "fathom-user" not in request.headers:
            return _refused(422, "say whose memories: send the header Fathom-User, the parameter user, or use a token")
        words = asked.get("q", "").lower().split()
        over = () if asked.get("status") == "all" else ("replaced", "taken_back")
        found = [
            each
            for each in self.facts
            if each["status"] not in over and all(word in each["text"].lower() for word in words)
        ]
        return JSONResponse({"memories": found})

    async def remember(self, request: Request) -> Response:
        text = (await request.json())["text"]
        self.facts.insert(0, _fact(f"f{len(self.facts) + 10}", text, "user", "nota", text))
        return JSONResponse({"message_id": "m", "conversation_id": "notes"}, 202)

    async def memory(self, request: Request) -> Response:
        fact = self._fact(request.path_params["memory"])
        history = [each for each in self.facts if each["subject"] == fact["subject"] and each is not fact]
        return JSONResponse({**fact, "history": history, "edits": self.edits.get(fact["memory_id"], [])})

    async def change(self, request: Request) -> Response:
        fact = self._fact(request.path_params["memory"])
        if fact["memory_id"] == self.stale:
            self.stale = None
            self._replace(fact, "9999")
            return _refused(409, "this memory was replaced by f9999 meanwhile; edit the one that is current")
        said = {"user_id": "ana", "at": ago(), "text": "It is so."}
        edits = self.edits.setdefault(fact["memory_id"], [])
        if request.method == "DELETE":
            fact["status"] = "taken_back"
            edits.append({**said, "kind": "taken back"})
        elif (value := (await request.json()).get("value")) is not None:
            edits.append({**said, "kind": "corrected", "new_value": value})
            self._replace(fact, value)
        else:
            fact["status"] = "confirmed"
            edits.append({**said, "kind": "confirmed"})
        return JSONResponse({"memory_ids": [fact["memory_id"]]}, 202)

    async def documents(self, request: Request) -> Response:
        words = request.query_params.get("q", "").lower().split()
        titles = [f"Handbook, chapter {at}" if at else HOSTILE for at in range(DOCUMENTS)]
        wanted = [at for at, title in enumerate(titles) if all(word in title.lower() for word in words)]
        shown = [
            {
                "document_id": f"d{at}", "title": titles[at], "passages": 3 + at % 40, "recorded_at": ago(days=at % 20),
                **({"uri": f"https://example.org/{at}"} if at % 3 else {}),
                **({"quarantined": True} if at == 2 else {}),
            }
            for at in _page(request, wanted)
        ]  # fmt: skip
        return JSONResponse({"documents": shown, "total": len(wanted), "complete": True})

    async def uses(self, _: Request) -> Response:
        use = {"message_id": "told", "conversation_id": "c1", "at": ago(hours=3), "passages": 2, "tokens": 84}
        return JSONResponse({"uses": [{**use, "client_id": "web", "level": "D1"}], "complete": True})

    async def users(self, request: Request) -> Response:
        names = ("ana", "bia", HOSTILE)[:USERS]
        shown = [
            {"user_id": names[at], "conversations": 4 + at, "questions": 31 - at, "last_at": ago(hours=at * 30)}
            for at in _page(request, range(USERS))
        ]
        return JSONResponse({"users": shown, "total": USERS, "complete": True})

    def _fact(self, name: str) -> Json:
        return next(each for each in self.facts if each["memory_id"] == name)

    def _replace(self, fact: Json, value: str) -> None:
        newer = f"{fact['memory_id']}{value}"
        fact.update(status="replaced", by=[newer])
        self.facts.insert(0, {**fact, "memory_id": newer, "value": value, "text": f"It is {value}.", "status": "holds"})


def _page(request: Request, of: Sequence[int]) -> Sequence[int]:
    offset, limit = (int(request.query_params.get(name, default)) for name, default in (("offset", 0), ("limit", 50)))
    return of[offset : offset + limit]


def _title(at: int) -> str:
    return ASKED[at % len(ASKED)] if at < 30 else f"{ASKED[at % len(ASKED)]} ({at})"


def _fact(name: str, text: str, subject: str, attribute: str, value: str, **known: Any) -> Json:
    return {
        "memory_id": name, "text": text, "subject": subject, "attribute": attribute, "value": value, "author": "user",
        "status": "holds", "said_at": ago(days=2), "user_id": "ana", "client_id": "web", "conversation_id": "c1",
        "message_id": "told", **known,
    }  # fmt: skip


def _refused(status: int, detail: str) -> Response:
    return JSONResponse({"title": "Refused", "detail": detail}, status)
