"""A question asked with `deep`: its pack and its answer, and what is said where there is none."""

import asyncio
import json
from typing import Any

import pytest
from stub import Stub, answering

from fathom_client import AsyncFathom, Fathom, Refused

PACK = {
    "pack_id": "p1", "message_id": "m1", "conversation_id": "c1", "client_id": "default", "user_id": "ana",
    "query": "Qual o prazo e quem decide?", "lang": "pt", "depth_level": "D2", "text": "## Knowledge",
    "max_tokens": 3000, "total_tokens_estimated": 12,
}  # fmt: skip
ANSWER = {
    "job_id": "j1", "message_id": "m1", "status": "partial", "lang": "pt",
    "text": "## Conclusão\nDez dias. [lei:X-art1]",
    "sections": [{"title": "Conclusão", "text": "Dez dias. [lei:X-art1]"}], "citations": ["[lei:X-art1]"],
    "missing": ["quem decide"], "confidence": 0.8, "sources": [{"cite": "lei:X-art1"}],
}  # fmt: skip
BOTH = (200, {"content-type": "application/json"}, json.dumps({"pack": PACK, "answer": ANSWER}).encode())
OFF = {"title": "Conflict", "status": 409, "detail": "cognition is off; ask without `deep`"}


def checked(pack: Any, server: Stub) -> None:
    assert (pack.pack_id, pack.text) == ("p1", "## Knowledge")
    answer = pack.answer
    assert (answer.status, answer.citations, answer.missing) == ("partial", ("[lei:X-art1]",), ("quem decide",))
    assert [section.title for section in answer.sections] == ["Conclusão"]
    assert str(answer).startswith("## Conclusão")
    assert answer.sources == [{"cite": "lei:X-art1"}]
    assert server.paths == ["/messages?deep=true"]
    assert server.headers[0]["prefer"] == "wait=30"


def test_the_answer_is_beside_the_pack() -> None:
    with answering(BOTH) as server, Fathom(server.url, "t" * 16, user="ana") as fathom:
        checked(fathom.ask("Qual o prazo e quem decide?", deep=True), server)


def test_the_async_client_gives_it_too() -> None:
    async def story(url: str) -> Any:
        async with AsyncFathom(url, "t" * 16, user="ana") as fathom:
            return await fathom.ask("Qual o prazo e quem decide?", deep=True)

    with answering(BOTH) as server:
        checked(asyncio.run(story(server.url)), server)


def test_without_deep_a_pack_has_no_answer() -> None:
    with answering((200, {}, json.dumps(PACK).encode())) as server, Fathom(server.url, "t" * 16) as fathom:
        assert fathom.ask("Oi").answer is None
        assert server.paths == ["/messages?wait=pack"]


def test_where_cognition_is_off_it_is_refused() -> None:
    problem = (409, {"content-type": "application/problem+json"}, json.dumps(OFF).encode())
    with answering(problem) as server, Fathom(server.url, "t" * 16) as fathom:
        with pytest.raises(Refused, match="cognition is off") as refused:
            fathom.ask("Oi", deep=True)
        assert refused.value.status == 409
        assert len(server.paths) == 1
