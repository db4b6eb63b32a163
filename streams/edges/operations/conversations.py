"""The conversations and the users of a tenant that were decided on lately: counts, last use, tokens of each pack."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import AwareDatetime

from agents.core.language.text import fold
from agents.ports.graph import Asker, DecisionMade, DecisionReader
from schemas.base import Absent, Id, Value
from schemas.depth import DepthLevel

# Of all days together; `complete` is false where there are more.
MAX_DECISIONS = 10_000
MAX_TITLE_CHARS, MAX_TOKENS = 200, 50


class TalkShown(Value):
    """A conversation: its title is the oldest question that is read, `tokens` those of its newest packs, in order."""

    conversation_id: Id
    client_id: Absent[Id] = None
    title: Absent[str] = None
    questions: int
    first_at: AwareDatetime
    last_at: AwareDatetime
    last_level: DepthLevel
    tokens: tuple[int, ...]
    degraded: int


class ConversationsShown(Value):
    """Conversations, that of the last use first; `complete` is false where more was decided than is read."""

    conversations: tuple[TalkShown, ...]
    total: int
    complete: bool


class UserShown(Value):
    """A user with what was decided on their messages."""

    user_id: Id
    conversations: int
    questions: int
    first_at: AwareDatetime
    last_at: AwareDatetime


class UsersShown(Value):
    """Users, that of the last use first; `complete` is false where more was decided than is read."""

    users: tuple[UserShown, ...]
    total: int
    complete: bool


async def conversations(
    reader: DecisionReader, tenant: str, whose: Asker, *, days: int, words: str, offset: int, limit: int, now: datetime
) -> ConversationsShown:
    """A page of the conversations of the last days whose titles or ids have all the words; raises `Unavailable`."""
    made, complete = await _decided(reader, tenant, whose, days, now)
    found: dict[tuple[str, str | None], list[DecisionMade]] = {}
    for each in made:  # newest first
        found.setdefault((each.conversation_id, each.client_id), []).append(each)
    talks = [*found.values()]
    if words.strip():
        titles = await _titles(reader, tenant, talks, now)
        wanted = fold(words).split()
        talks = [talk for talk in talks if _has(wanted, talk[-1], titles)]
        page = talks[offset : offset + limit]
    else:
        page = talks[offset : offset + limit]
        titles = await _titles(reader, tenant, page, now)
    shown = tuple(_shown(talk, titles.get(talk[-1].decision_id)) for talk in page)
    return ConversationsShown(conversations=shown, total=len(talks), complete=complete)


async def users(
    reader: DecisionReader, tenant: str, whose: Asker, *, days: int, words: str, offset: int, limit: int, now: datetime
) -> UsersShown:
    """A page of the users of the last days whose ids have all the words; raises `Unavailable`."""
    made, complete = await _decided(reader, tenant, whose, days, now)
    wanted = fold(words).split()
    found: dict[str, list[DecisionMade]] = {}
    for each in made:  # newest first
        if each.user_id is not None and all(word in fold(each.user_id) for word in wanted):
            found.setdefault(each.user_id, []).append(each)
    page = [*found.items()][offset : offset + limit]
    shown = tuple(
        UserShown(
            user_id=user,
            conversations=len({(each.conversation_id, each.client_id) for each in of_user}),
            questions=len(of_user),
            first_at=of_user[-1].at,
            last_at=of_user[0].at,
        )
        for user, of_user in page
    )
    return UsersShown(users=shown, total=len(found), complete=complete)


async def _decided(
    reader: DecisionReader, tenant: str, whose: Asker, days: int, now: datetime
) -> tuple[Sequence[DecisionMade], bool]:
    """What was decided in the last days, newest first, and whether that is all."""
    since = now - timedelta(days=days)
    made = await reader.decisions(tenant, whose=whose, since=since, as_of=now, limit=MAX_DECISIONS + 1)
    return made[:MAX_DECISIONS], len(made) <= MAX_DECISIONS


async def _titles(
    reader: DecisionReader, tenant: str, talks: Sequence[Sequence[DecisionMade]], now: datetime
) -> dict[str, str]:
    ids = [talk[-1].decision_id for talk in talks]
    return dict(await reader.questions(tenant, ids, now)) if ids else {}


def _has(words: Sequence[str], first: DecisionMade, titles: dict[str, str]) -> bool:
    text = fold(f"{titles.get(first.decision_id, '')} {first.conversation_id}")
    return all(word in text for word in words)


def _shown(talk: Sequence[DecisionMade], title: str | None) -> TalkShown:
    newest, oldest = talk[0], talk[-1]
    return TalkShown(
        conversation_id=newest.conversation_id,
        client_id=newest.client_id,
        title=None if title is None else title[:MAX_TITLE_CHARS],
        questions=len(talk),
        first_at=oldest.at,
        last_at=newest.at,
        last_level=newest.level,
        tokens=tuple(each.tokens for each in reversed(talk[:MAX_TOKENS])),
        degraded=sum(each.degraded for each in talk),
    )
