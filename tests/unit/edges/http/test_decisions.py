"""`GET /decisions`: days and latest decisions of the token's tenant, client and user."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.errors import Unavailable
from schemas.depth import DepthLevel
from streams.edges.http.endpoints import decisions
from streams.stores.graph.embedded.engine import EmbeddedGraph
from tests.builders.http_server import HEADERS, WHOLE, Echo, app_of, settings_of
from tests.contract.test_stores_graph import claim, correction, decision, turn
from tests.unit.edges.http.test_ask import answers, detail

BETA = {"authorization": "Bearer beta-app-0123456789"}
NOW = datetime.now(UTC)


def graph(*rows: Any) -> EmbeddedGraph:
    made = EmbeddedGraph()
    writers = {
        "PackDecision": made.write_decisions, "Turn": made.write_turns, "ClaimAsserted": made.write_claims,
        "CorrectionIssued": made.write_corrections,
    }  # fmt: skip
    for row in rows:
        asyncio.run(writers[type(row.event).__name__]([row]))
    return made


def decided(number: int, ago: timedelta, tenant: str = "acme", **fields: Any) -> tuple[Any, Any]:
    """A decision and its message."""
    made, said = decision(number, tenant=tenant), turn(number, tenant=tenant)
    made = made._replace(event=made.event.model_copy(update={"created_at": NOW - ago, **fields}))
    return made, said


def shown(tmp_path: Path, store: Any, query: str = "", headers: dict[str, str] = HEADERS) -> httpx.Response:
    settings = settings_of(tmp_path / "tokens.json")

    async def story() -> httpx.Response:
        transport = httpx.ASGITransport(app_of(settings, Echo(answers), store))
        async with httpx.AsyncClient(base_url="http://127.0.0.1", headers=headers, transport=transport) as client:
            return await client.get(f"/decisions{query}")

    return asyncio.run(story())


def test_days_and_latest_decisions_are_those_of_the_tenant(tmp_path: Path):
    costs = [(10, 5), (20, 7), (60, 900)]
    rows = [
        row
        for number, (tokens, latency) in enumerate(costs)
        for row in decided(2 * number, timedelta(days=1, seconds=number), tokens_used=tokens, latency_ms=latency)
    ]
    rows += decided(8, timedelta(0), depth_level=DepthLevel.D3, degraded=True)
    rows += decided(12, timedelta(days=40))
    rows += decided(14, timedelta(0), "beta")
    contested = correction("k1")
    rows += [claim(1), contested._replace(event=contested.event.model_copy(update={"issued_at": NOW}))]
    said = shown(tmp_path, graph(*rows)).json()
    assert said["complete"] is True
    [yesterday, today] = said["days"]
    assert yesterday == {
        "day": f"{NOW - timedelta(days=1):%Y-%m-%d}", "depths": {"D0": 0, "D1": 3, "D2": 0, "D3": 0, "D4": 0},
        "messages": 3, "tokens": {"p50": 20, "mean": 30.0}, "latency_ms": {"p50": 7, "p95": 900}, "degraded": 0,
        "corrections": 0,
    }  # fmt: skip
    assert (today["messages"], today["depths"]["D3"], today["degraded"], today["corrections"]) == (1, 1, 1, 1)
    assert [each["message_id"] for each in said["latest"]] == ["m8", "m0", "m2", "m4"]
    assert said["latest"][0] | {"at": ""} == {
        "message_id": "m8", "conversation_id": "c1", "client_id": "web", "at": "", "level": "D3",
        "question": "mensagem 8", "tokens": 812, "latency_ms": 37, "degraded": True,
    }  # fmt: skip
    assert [each["message_id"] for each in shown(tmp_path, graph(*rows), "?days=90&limit=1").json()["latest"]] == ["m8"]
    assert len(shown(tmp_path, graph(*rows), "?days=90").json()["days"]) == 3


def test_what_is_of_less_than_two_days_is_shown_by_the_hour_too(tmp_path: Path):
    rows = [*decided(2, timedelta(hours=30)), *decided(4, timedelta(0)), *decided(6, timedelta(0))]
    hours = shown(tmp_path, graph(*rows)).json()["hours"]
    assert [each["messages"] for each in hours] == [1, 2]
    assert hours[1]["hour"] == f"{NOW:%Y-%m-%dT%H}:00:00Z"
    assert "hours" not in shown(tmp_path, graph(*rows, *decided(8, timedelta(hours=48, seconds=1)))).json()


def test_decisions_are_narrowed_by_depth_by_user_and_by_what_their_packs_lack(tmp_path: Path):
    deep, other = decided(4, timedelta(0), depth_level=DepthLevel.D3), decided(6, timedelta(0))
    said = other[1]._replace(event=other[1].event.model_copy(update={"user_id": "bia"}))
    lacking = decided(8, timedelta(0), degraded=True)
    asked = [*decided(10, timedelta(0), evidence="found"), *decided(12, timedelta(0), evidence="none")]
    store, whole = (
        graph(*decided(2, timedelta(0)), *deep, other[0], said, *lacking, *asked),
        {"authorization": f"Bearer {WHOLE}"},
    )

    def ids(query: str) -> list[str]:
        return sorted(each["message_id"] for each in shown(tmp_path, store, query, whole).json()["latest"])

    assert ids("?level=D3") == ["m4"]
    assert ids("?user=bia") == ["m6"]
    assert ids("?user=bia&level=D3") == []
    assert ids("?degraded=true") == ["m8"]
    assert (ids("?evidence=found"), ids("?evidence=none")) == (["m10"], ["m12"])
    assert [day["messages"] for day in shown(tmp_path, store, "?level=D3", whole).json()["days"]] == [1]
    assert detail(shown(tmp_path, store, "?user=bia"), 403)


def test_a_token_of_one_client_or_user_sees_its_own_decisions_only(tmp_path: Path):
    rows = decided(2, timedelta(0), "beta")
    assert shown(tmp_path, graph(*rows), headers=BETA).json() == {"days": [], "latest": [], "complete": True}
    by_bia = decided(4, timedelta(0))
    said = by_bia[1]._replace(event=by_bia[1].event.model_copy(update={"user_id": "bia"}))
    assert shown(tmp_path, graph(by_bia[0], said)).json()["latest"] == []


def test_more_than_are_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(decisions, "MAX_READ", 1)
    said = shown(tmp_path, graph(*decided(2, timedelta(0)), *decided(4, timedelta(0)))).json()
    assert said["complete"] is False
    assert [day["messages"] for day in said["days"]] == [1]


@pytest.mark.parametrize("query", ["?days=0", "?days=91", "?days=x", "?limit=201", "?since=1", "?level=D9"])
def test_a_parameter_that_is_none_is_refused(tmp_path: Path, query: str):
    assert detail(shown(tmp_path, graph(), query), 422)


def test_without_a_graph_it_is_said_where_to_ask(tmp_path: Path):
    assert "FATHOM_NEO4J_URL" in detail(shown(tmp_path, None), 501)

    class Away:
        async def decisions(self, *_: Any, **__: Any) -> Any:
            raise Unavailable("graph", "it is away")

    assert "it is away" in detail(shown(tmp_path, Away()), 503)
