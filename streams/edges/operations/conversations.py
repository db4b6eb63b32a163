"""The conversations and the users of a tenant lately: counts, last use, tokens of each pack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter

from pydantic import AwareDatetime

from agents.core.language.text import fold
from agents.ports.graph import Asker, DecisionMade
from agents.ports.memories import TalkReader
from schemas.base import Absent, Id, Value
from schemas.chat import notes_of
from schemas.depth import DepthLevel

# Of all days together; `complete` is false where there are more.
MAX_DECISIONS = 10_000
MAX_TITLE_CHARS, MAX_TOKENS = 200, 50


class TalkShown(Value):
    """A conversation: its title is the oldest question that is read, `tokens` those of its newest packs, in order.

    `questions` are the messages of its users. One that was imported has no pack, and so no `last_level`.
    """

    conversation_id: Id
    client_id: Absent[Id] = None
    title: Absent[str] = None
    questions: int
    first_at: AwareDatetime
    last_at: AwareDatetime
    last_level: Absent[DepthLevel] = None
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


@dataclass(frozen=True, slots=True)
class _Question:
    """A message of a user, with what was decided on it; `text` is that of one without a decision."""

    conversation_id: str
    client_id: str | None
    user_id: str | None
    at: datetime
    decided: DecisionMade | None = None
    text: str | None = None


async def conversations(
    reader: TalkReader, tenant: str, whose: Asker, *, days: int, words: str, offset: int, limit: int, now: datetime
) -> ConversationsShown:
    """A page of the conversations of the last days whose titles or ids have all the words; raises `Unavailable`."""
    made, complete = await _asked(reader, tenant, whose, days, now)
    found: dict[tuple[str, str | None], list[_Question]] = {}
    for each in made:  # newest first
        found.setdefault((each.conversation_id, each.client_id), []).append(each)
    talks = [*found.values()]
    if words.strip():
        titles = await _titles(reader, tenant, talks, now)
        wanted = fold(words).split()
        talks = [talk for talk in talks if _has(wanted, talk, titles)]
        page = talks[offset : offset + limit]
    else:
        page = talks[offset : offset + limit]
        titles = await _titles(reader, tenant, page, now)
    shown = tuple(_shown(talk, _title(talk, titles)) for talk in page)
    return ConversationsShown(conversations=shown, total=len(talks), complete=complete)


async def users(
    reader: TalkReader, tenant: str, whose: Asker, *, days: int, words: str, offset: int, limit: int, now: datetime
) -> UsersShown:
    """A page of the users of the last days whose ids have all the words; raises `Unavailable`."""
    made, complete = await _asked(reader, tenant, whose, days, now)
    wanted = fold(words).split()
    found: dict[str, list[_Question]] = {}
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


async def _asked(
    reader: TalkReader, tenant: str, whose: Asker, days: int, now: datetime
) -> tuple[Sequence[_Question], bool]:
    """What users said in the last days, newest first, and whether that is all."""
    stretch = {"since": now - timedelta(days=days), "as_of": now}
    decided = await reader.decisions(tenant, whose=whose, **stretch, limit=MAX_DECISIONS + 1)
    imported = await reader.unanswered(tenant, whose=whose, **stretch, limit=MAX_DECISIONS + 1)
    asked = [
        *(_Question(each.conversation_id, each.client_id, each.user_id, each.at, each) for each in decided),
        *(
            _Question(each.conversation_id, each.client_id, each.user_id, each.at, text=each.text)
            for each in imported
            # Single facts of a user, which are no talk.
            if each.conversation_id != notes_of(each.user_id)
        ),
    ]
    asked.sort(key=attrgetter("at"), reverse=True)
    return asked[:MAX_DECISIONS], max(len(decided), len(imported), len(asked)) <= MAX_DECISIONS


async def _titles(
    reader: TalkReader, tenant: str, talks: Sequence[Sequence[_Question]], now: datetime
) -> dict[str, str]:
    """The texts of the oldest questions that were decided on, by the decisions' ids."""
    ids = [talk[-1].decided.decision_id for talk in talks if talk[-1].decided is not None]
    return dict(await reader.questions(tenant, ids, now)) if ids else {}


def _title(talk: Sequence[_Question], titles: Mapping[str, str]) -> str | None:
    oldest = talk[-1]
    return oldest.text if oldest.decided is None else titles.get(oldest.decided.decision_id)


def _has(words: Sequence[str], talk: Sequence[_Question], titles: Mapping[str, str]) -> bool:
    text = fold(f"{_title(talk, titles) or ''} {talk[-1].conversation_id}")
    return all(word in text for word in words)


def _shown(talk: Sequence[_Question], title: str | None) -> TalkShown:
    newest, oldest = talk[0], talk[-1]
    decided = [each.decided for each in talk if each.decided is not None]
    return TalkShown(
        conversation_id=newest.conversation_id,
        client_id=newest.client_id,
        title=None if title is None else title[:MAX_TITLE_CHARS],
        questions=len(talk),
        first_at=oldest.at,
        last_at=newest.at,
        last_level=decided[0].level if decided else None,
        tokens=tuple(each.tokens for each in reversed(decided[:MAX_TOKENS])),
        degraded=sum(each.degraded for each in decided),
    )
