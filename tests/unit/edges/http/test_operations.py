"""`GET /operations/…`: denied to all but operators, whichever route; what they answer of a broker."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiokafka.errors import GroupAuthorizationFailedError

from agents.errors import Unavailable
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.http import tokens
from streams.edges.http.app import api as app
from streams.edges.http.endpoints import operations
from streams.edges.operations.lag import GroupLag
from streams.kafka.lag_status import LagJudged, LagStatus
from streams.replay.differences import Answer, Differences
from tests.builders.http_server import GRANTS, HEADERS, Echo, app_of, settings_of
from tests.unit.edges.http.test_ask import answers, detail

OPERATOR = "operator-0123456789"
AS_OPERATOR = {"authorization": f"Bearer {OPERATOR}"}
ROUTES = [path.replace("{replay_id}", "one") for path in app.document()["paths"] if path.startswith("/operations")]


def asked(folder: Path, path: str, headers: dict[str, str]) -> httpx.Response:
    settings = settings_of(folder / "tokens.json")
    (folder / "tokens.json").write_text(json.dumps(GRANTS | {OPERATOR: {"tenant": "acme", "operator": True}}))

    async def story() -> httpx.Response:
        transport = httpx.ASGITransport(app_of(settings, Echo(answers)))
        async with httpx.AsyncClient(base_url="http://127.0.0.1", headers=headers, transport=transport) as client:
            return await client.get(path)

    return asyncio.run(story())


@pytest.mark.parametrize("path", ROUTES)
def test_a_token_that_is_no_operators_is_denied_and_so_is_none(tmp_path: Path, path: str) -> None:
    assert len(ROUTES) == 3
    assert "an operator's token" in detail(asked(tmp_path, path, HEADERS), 403)
    assert asked(tmp_path, path, {}).status_code == 401


def test_the_token_of_a_data_directory_is_its_operators_and_those_of_a_file_are_not(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps(GRANTS))
    file.chmod(0o600)
    known = tokens.of_home(tmp_path, file)
    own = known.grant((tmp_path / tokens.TOKEN_FILE).read_text().strip())
    assert own is not None
    assert own.operator
    assert not any(grant.operator for each in GRANTS if (grant := known.grant(each)) is not None)


def test_lag_is_told_by_group_and_partition_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lags(*_: Any) -> list[operations.GroupLagShown]:
        judged = LagJudged(LagStatus.STOP, 7, "7 to read, and no member reads them")
        group = GroupLag("planner", 0, {"depth.classified[1]": judged})
        return [operations.shown(group)]

    monkeypatch.setattr(operations, "_lags", lags)
    monkeypatch.setattr(Echo, "bootstrap", lambda _: "127.0.0.1:1", raising=False)
    [group] = asked(tmp_path, "/operations/lag", AS_OPERATOR).json()["groups"]
    assert (group["group"], group["status"], group["lag"], group["members"]) == ("planner", "ERROR", 7, 0)
    assert group["why"] == "STOP: depth.classified[1] has 7 to read, and no member reads them"
    assert [each["status"] for each in group["partitions"]] == ["STOP"]


def test_replays_are_listed_and_compared_and_an_unknown_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"replay_id": "one", "topics": {"context-packs.out.replay.one": 3}, "settings": {"FATHOM_LOOK_UP": "never"}}

    async def listed(*_: Any) -> list[dict[str, Any]]:
        return [known]

    async def difference(_: str, __: Any, replay_id: str, against: str | None) -> Differences:
        if replay_id != "one":
            raise CommandFailed(f"there is no replay {replay_id}", USAGE)
        found = Differences()
        for number in range(3):
            found.add(f"m{number}", Answer("why?", "c1", "D1", tokens=10), Answer("why?", "c1", "D2", tokens=20))
        return found

    monkeypatch.setattr(operations, "replays_there", listed)
    monkeypatch.setattr(operations, "difference", difference)
    monkeypatch.setattr(Echo, "bootstrap", lambda _: "127.0.0.1:1", raising=False)
    shown = asked(tmp_path, "/operations/replays", AS_OPERATOR).json()
    assert shown == {"replays": [known]}
    said = asked(tmp_path, "/operations/replays/one?limit=2", AS_OPERATOR).json()
    assert (said["against"], said["compared"], said["different"], said["changes_left_out"]) == ("recorded", 3, 3, 1)
    assert said["depths"] == [{"was": "D1", "now": "D2", "messages": 3}]
    assert [each["message_id"] for each in said["changes"]] == ["m0", "m1"]
    assert "no replay two" in detail(asked(tmp_path, "/operations/replays/two", AS_OPERATOR), 404)
    assert asked(tmp_path, "/operations/replays/NOT..ID", AS_OPERATOR).status_code == 422


def test_a_broker_that_is_away_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: Echo) -> str:
        raise Unavailable("broker", "it rests")

    monkeypatch.setattr(Echo, "bootstrap", away, raising=False)
    for path in ROUTES:
        assert "it rests" in detail(asked(tmp_path, path, AS_OPERATOR), 503)


def test_a_server_whose_user_may_not_look_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Echo) -> str:
        raise GroupAuthorizationFailedError

    monkeypatch.setattr(Echo, "bootstrap", refused, raising=False)
    for path in ROUTES:
        assert "the rights to describe consumer groups" in detail(asked(tmp_path, path, AS_OPERATOR), 501)
