"""What is searched before the graph has said the user's access level is shown only if it was searched at that level."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.access_levels import AccessLevels
from agents.core.caching.budget import ENTRY_BYTES, bytes_of, share_of
from agents.errors import Unavailable
from agents.ports.graph import Persona
from agents.retrievers.persona import unknown_persona
from schemas.items import AccessLevel

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Users:
    """A graph that knows users' levels, and answers when it may."""

    def __init__(self, levels: Mapping[tuple[str, str], AccessLevel] = {}) -> None:
        self.levels = dict(levels)
        self.answers = asyncio.Event()
        self.answers.set()
        self.is_away = False

    async def persona(self, tenant: str, user_id: str, as_of: datetime) -> Persona | None:
        await self.answers.wait()
        if self.is_away:
            raise Unavailable("graph")
        level = self.levels.get((tenant, user_id))
        person = unknown_persona(user_id, as_of)
        return Persona(person.model_copy(update={"persona_access": level}), ()) if level else None


class Searched:
    """A search that notes its levels, and finds what they may see."""

    def __init__(self) -> None:
        self.at: list[str] = []

    async def __call__(self, level: AccessLevel) -> str:
        self.at.append(level)
        return f"seen by {level}"


def asked(levels: AccessLevels, user: str = "ana", tenant: str = "acme") -> Any:
    search = Searched()

    async def story() -> Any:
        return await levels.searched(tenant, user, NOON, search), search.at

    return story()


@pytest.mark.covers("CF-70", "AC-24")
def test_what_is_found_is_what_the_users_own_level_may_see_whatever_it_was_before() -> None:
    async def story() -> None:
        users = Users({("acme", "ana"): "restricted"})
        levels = AccessLevels(users)  # type: ignore[arg-type]
        assert await asked(levels) == (("seen by restricted", None), ["public", "restricted"])
        assert await asked(levels) == (("seen by restricted", None), ["restricted"])
        users.levels["acme", "ana"] = "internal"
        assert await asked(levels) == (("seen by internal", None), ["restricted", "internal"])
        del users.levels["acme", "ana"]
        assert await asked(levels) == (("seen by public", None), ["internal", "public"])
        assert await asked(levels) == (("seen by public", None), ["public"])

    asyncio.run(story())


@pytest.mark.covers("CF-70", "AC-36")
def test_a_level_is_that_of_one_user_of_one_tenant() -> None:
    async def story() -> None:
        levels = AccessLevels(Users({("acme", "ana"): "confidential"}))  # type: ignore[arg-type]
        await asked(levels)
        assert await asked(levels, "rui") == (("seen by public", None), ["public"])
        assert await asked(levels, "ana", "beta") == (("seen by public", None), ["public"])

    asyncio.run(story())


@pytest.mark.covers("CF-70")
def test_where_the_graph_does_not_answer_the_search_is_public_and_says_why() -> None:
    async def story() -> None:
        users = Users({("acme", "ana"): "restricted"})
        levels = AccessLevels(users)  # type: ignore[arg-type]
        await asked(levels)
        users.is_away = True
        assert await asked(levels) == (("seen by public", "graph is unavailable"), ["restricted", "public"])
        users.is_away = False
        assert await asked(levels) == (("seen by restricted", None), ["restricted"])

    asyncio.run(story())


def test_the_search_begins_before_the_graph_has_answered() -> None:
    async def story() -> None:
        users = Users({("acme", "ana"): "internal"})
        levels = AccessLevels(users)  # type: ignore[arg-type]
        await asked(levels)
        users.answers.clear()
        search = Searched()
        waiting = asyncio.create_task(levels.searched("acme", "ana", NOON, search))
        await asyncio.sleep(0.01)
        assert (search.at, waiting.done()) == (["internal"], False)
        users.answers.set()
        assert await waiting == ("seen by internal", None)

    asyncio.run(story())


def test_the_levels_of_the_users_seen_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        share_of("access_levels"), "allowed", 2 * (ENTRY_BYTES + bytes_of((("acme", "ana"), "internal")))
    )

    async def story() -> None:
        levels = AccessLevels(Users({("acme", user): "internal" for user in ("ana", "rui", "eva")}))  # type: ignore[arg-type]
        for user in ("ana", "rui", "ana", "eva"):
            await asked(levels, user)
        begun = [(await asked(levels, user))[1][0] for user in ("ana", "eva", "rui")]
        assert begun == ["internal", "internal", "public"]

    asyncio.run(story())
