"""What `fathom quarantine` says, as text and as JSON."""

from collections.abc import Iterator
from datetime import datetime
from typing import NotRequired

from typing_extensions import TypedDict

from agents.core.quarantine.sources import Quarantine, SourceName
from streams.usage.report import UsageReport, Use

NAMES = {
    "pack": ("pack", "packs"),
    "decision": ("decision", "decisions"),
    "deep answer": ("deep answer", "deep answers"),
    "kept answer": ("kept answer", "kept answers"),
    "answer": ("answer given on one", "answers given on one"),
}


class QuarantineShown(TypedDict):
    """A source, since when it is in no pack, by whom and why, and the messages that are hidden with it."""

    source: SourceName
    since: datetime
    by: str
    reason: str
    messages: list[str]


class QuarantinesShown(TypedDict):
    """What is quarantined."""

    quarantines: list[QuarantineShown]


class QuarantineLifted(QuarantineShown):
    """A quarantine that was lifted, or would be."""

    lifted: bool


class SourceUsage(TypedDict):
    """What used a source; `quarantined` says whether it is now, where that was asked."""

    source: SourceName
    quarantined: NotRequired[bool]
    stored: int
    counts: dict[str, int]
    uses: list[Use]
    seconds: float


def since(known: Quarantine) -> str:
    """Since when, by whom, why."""
    why = f": {known.reason}" if known.reason else ""
    return f"since {known.since:%Y-%m-%d %H:%M:%S} UTC by {known.asked_by}{why}"


def listed(known: Quarantine) -> str:
    """One line of the list."""
    of = f" of {known.source.client_id}" if known.source.client_id else ""
    more = f" ({len(known.messages)} messages with it)" if known.messages else ""
    return f"{known.source}{of}, {since(known)}{more}"


def as_fields(known: Quarantine) -> QuarantineShown:
    """A quarantine as JSON fields."""
    return QuarantineShown(
        source=known.source,
        since=known.since,
        by=known.asked_by,
        reason=known.reason,
        messages=[each.message_id for each in known.messages],
    )


def planned(found: "UsageReport") -> str:
    """What a quarantine would hide."""
    return f"would quarantine {found.members.source}: {_stored(found)}\nused by {_counts(found)}\nnothing was changed"


def done(found: "UsageReport") -> str:
    """What a quarantine has hidden, and all that used it."""
    hidden = f"quarantined {found.members.source}: {_stored(found)}, in no pack from now on"
    return f"{hidden}\n{as_text(found)}\n`fathom quarantine --source {found.members.source} --lift` ends it"


def as_text(found: "UsageReport") -> str:
    """All uses, a line each, under their counts."""
    return "\n".join((f"used by {_counts(found)}", *map(_line, found.uses)))


def usage(found: "UsageReport", quarantined: bool | None) -> SourceUsage:
    """The same as JSON; `quarantined` says whether it is now, None where that was not asked."""
    made = SourceUsage(
        source=found.members.source,
        stored=len(found.members),
        counts={name: found.count(name) for name in NAMES},  # type: ignore[arg-type]  # its keys are the kinds
        uses=found.uses,
        seconds=round(found.seconds, 3),
    )
    return made if quarantined is None else {**made, "quarantined": quarantined}


def _stored(found: "UsageReport") -> str:
    documents = len(found.members.documents)
    of = f" of {documents} documents" if documents > 1 else ""
    return f"{len(found.members)} records{of}"


def _counts(found: "UsageReport") -> str:
    said = [(found.count(kind), names) for kind, names in NAMES.items()]  # type: ignore[arg-type]  # as above
    counted: Iterator[str] = (f"{count} {one if count == 1 else many}" for count, (one, many) in said if count)
    return ", ".join(counted) or "no pack and no answer that the log still has"


def _line(use: "Use") -> str:
    about = f" on message {use.message_id}" if use.message_id else ""
    where = f" in {use.conversation_id}" if use.conversation_id else ""
    return f"  {use.at:%Y-%m-%d %H:%M:%S} {use.kind}{about}{where}, {use.topic}[{use.partition}]@{use.offset}"
