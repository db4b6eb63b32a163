"""Dead letters as text and as JSON."""

import base64
from collections.abc import Mapping, Sequence

from aiokafka import ConsumerRecord
from typing_extensions import TypedDict

from streams.redrive.choice import (
    MAX_REDRIVES,
    Action,
    LetterCounts,
    LetterStatus,
    RefusedLetter,
    moment_of,
)
from streams.redrive.letters import State
from streams.redrive.log import RedrivenLetter
from streams.runtime.dead_letters import header_text

MOST_COUNTS, MAX_DETAIL = 12, 100


class LetterShown(TypedDict):
    """A dead letter: where it is, what failed and why, whose it is, and what became of it; times in ms."""

    position: str
    time: int
    stage: str
    reason: str
    detail: str
    exception: str
    attempts: int
    original: str | None
    original_time: int
    tenant: str | None
    message_id: str | None
    ids: tuple[str, ...]
    redrives: int
    state: State
    marked_at: int | None
    redriven_to: str | None


class Base64(TypedDict):
    """Bytes that are no text."""

    base64: str


class LetterWhole(LetterShown):
    """A dead letter with its record."""

    key: str | Base64 | None
    headers: list[tuple[str, str]]
    value: str | Base64 | None


class LettersFound(TypedDict):
    """Letters with their records."""

    letters: list[LetterWhole]


class LettersListed(TypedDict):
    """How many letters there are, by their properties, and the newest of them."""

    total: int
    counts: dict[str, dict[str, int]]
    letters: list[LetterShown]


class LetterRefused(TypedDict):
    """A letter that stays as it is, and why."""

    position: str
    why: str


class LettersDone(TypedDict):
    """What was done to which letters, or would be; and which stay as they are."""

    action: Action
    execute: bool
    letters: list[LetterShown]
    refused: list[LetterRefused]


def shown(status: LetterStatus) -> LetterShown:
    """A letter as one object."""
    letter, state, mark, redrives = status
    return {
        "position": str(letter.at),
        "time": letter.time,
        "stage": letter.stage,
        "reason": letter.reason,
        "detail": letter.detail,
        "exception": letter.exception,
        "attempts": letter.attempts,
        "original": None if letter.original is None else str(letter.original),
        "original_time": letter.original_time,
        "tenant": letter.tenant or None,
        "message_id": letter.message_id or None,
        "ids": letter.ids,
        "redrives": redrives,
        "state": state,
        "marked_at": None if mark is None else mark.time,
        "redriven_to": (mark.to or None) if mark is not None else None,
    }


def print_counts(found: LetterCounts, total: int) -> None:
    """Print the numbers by reason, tenant, stage, state and day."""
    print(f"dead letters: {total:,}")
    for name, numbers in found._asdict().items():
        listed = list(numbers.items())
        # Of days the newest are of interest, of all others the largest.
        listed = listed[-MOST_COUNTS:] if name == "day" else listed[:MOST_COUNTS]
        rest = f"  and {len(numbers) - len(listed)} more" if len(numbers) > len(listed) else ""
        print(f"  by {name:<7} " + "  ".join(f"{key} {number:,}" for key, number in listed) + rest)


def print_table(found: Sequence[LetterStatus]) -> None:
    """Print one line for each letter."""
    rows = [("POSITION", "TIME", "TENANT", "REASON", "STATE", "REDRIVES", "ORIGINAL", "WHAT")]
    rows += [
        (
            str(letter.at),
            moment_of(letter.time),
            letter.tenant or "-",
            letter.reason,
            state,
            str(redrives),
            "-" if letter.original is None else str(letter.original),
            _clipped(letter.detail),
        )
        for letter, state, _, redrives in found
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def print_letter(status: LetterStatus, record: ConsumerRecord) -> None:
    """Print everything of one letter, and what can be done with it."""
    letter, state, mark, redrives = status
    since = "" if mark is None else f" since {moment_of(mark.time)}" + (f", to {mark.to}" if mark.to else "")
    told: Mapping[str, object] = {
        "what": f"{letter.reason}: {letter.detail}",
        "where": f"stage {letter.stage}, {letter.original or 'its origin is not told'}",
        "why": f"{letter.exception or 'no exception'}, {letter.attempts} attempts",
        "when": moment_of(letter.time),
        "whose": f"tenant {letter.tenant or 'not told'}, message {letter.message_id or 'not told'}",
        "state": f"{state}{since}; redriven {redrives} of {MAX_REDRIVES} times",
        "next": _next(status),
    }
    print(letter.at)
    for name, text in told.items():
        print(f"  {name:<6} {text}")
    key = "none" if record.key is None else record.key.decode(errors="replace")
    print(f"  key    {key}\n  headers")
    for name, value in record.headers:
        print(f"    {name}: {header_text(name, value)}")
    print("  value" if record.value is not None else "  value  none")
    if record.value is not None:
        print(f"    {record.value.decode(errors='replace')}")


def shown_whole(status: LetterStatus, record: ConsumerRecord) -> LetterWhole:
    """A letter with the key, headers and value of its record; bytes that are no text are base64, and said to be."""
    headers = [(name, header_text(name, value)) for name, value in record.headers]
    return LetterWhole(**shown(status), key=_text(record.key), headers=headers, value=_text(record.value))


def print_done(action: str, done: Sequence[RedrivenLetter | LetterStatus], refused: Sequence[RefusedLetter]) -> None:
    """Print what was done, and what was not and why."""
    for each in done:
        if isinstance(each, RedrivenLetter):
            print(f"{each.status.letter.at} redriven to {each.to}")
    print(f"{len(done):,} {action}, {len(refused):,} refused")
    print_refused(refused)


def print_refused(refused: Sequence[RefusedLetter]) -> None:
    """Print the letters that stay as they are, and why."""
    for status, why in refused:
        print(f"refused: {status.letter.at}: {why}")


def _next(status: LetterStatus) -> str:
    at = status.letter.at
    if status.state == "discarded":
        return f"`fathom dlq discard {at} --undo --execute` takes the discarding back"
    if status.redrives >= MAX_REDRIVES:
        return f"send it corrected as a new record (--raw gives its bytes), or `fathom dlq discard {at} --execute`"
    again = " --again" if status.state == "redriven" else ""
    return f"mend the cause, then `fathom dlq redrive {at}{again} --execute`; or `fathom dlq discard {at} --execute`"


def _clipped(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_DETAIL else f"{flat[: MAX_DETAIL - 1]}…"


def _text(raw: bytes | None) -> str | Base64 | None:
    if raw is None:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}
