"""The memory of a session for tool calls: values set by results, pending previews, verdicts. Pure.

Results may arrive twice, late and in any order: the newest by its own time is kept.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from schemas.envelope import Received
from schemas.memory import ErasureIssued
from schemas.tool_policy import Contract, ToolPolicy
from schemas.tool_session import Done, Judged, Kept, ToolSession, Waiting
from schemas.tools import ErrorCode, ToolCallResolved, ToolConfirmation, ToolResult

MAX_CALLS = 64
# The inputs of a verdict take some kilobytes, with recalled turns some dozens.
MAX_EVIDENCE = 8
# The calls whose values may be recalled: their maximum number, and their maximum size in bytes together.
MAX_DONE, DONE_BYTES = 16, 16_000
# Verdicts independent of the call itself: they are not kept, so that it may be judged again.
OF_THE_MOMENT: frozenset[ErrorCode] = frozenset({"indisponivel", "confirmacao_negada", "confirmacao_expirada"})


def after_result(session: ToolSession, result: ToolResult, policy: ToolPolicy, at: datetime) -> ToolSession:
    """The session after a tool's result; a failed call sets nothing."""
    values = dict(session.values)
    for name, value in _said(result, policy):
        known = values.get(name)
        if known is None or (known.at, known.call_id) <= (at, result.call_id):
            values[name] = Kept(value=value, at=at, call_id=result.call_id)
    if result.report_valid is False:
        for name in _fields(policy, "report_id"):
            known = values.get(name)
            if known is not None and known.at <= at and result.report_id in (None, known.value):
                values[name] = known.model_copy(update={"valid": False, "at": at})
    calls = _with_done(session.calls, result, at) if policy.recalls else session.calls
    return session.model_copy(update={"values": values, "calls": calls})


def _with_done(calls: tuple[Done, ...], result: ToolResult, at: datetime) -> tuple[Done, ...]:
    """The last calls in order of time; of a repeated one the newest."""
    done = Done(
        call_id=result.call_id, tool_name=result.tool_name, args=result.args, succeeded=result.succeeded,
        rows=(result.rows or ()) if result.succeeded else (), at=at,
    )  # fmt: skip
    newest: dict[str, Done] = {}
    for each in sorted((*calls, done), key=lambda one: one.at):
        newest.pop(each.call_id, None)
        newest[each.call_id] = each
    kept: list[Done] = []
    left = DONE_BYTES
    for each in reversed(list(newest.values())[-MAX_DONE:]):
        left -= len(each.model_dump_json())
        if left < 0:
            # Without its rows and without earlier calls, so that none of those is mistaken for the last.
            bare = each.model_copy(update={"rows": ()})
            kept += [bare] * (left + len(each.model_dump_json()) >= len(bare.model_dump_json()))
            break
        kept.append(each)
    return tuple(reversed(kept))


def _said(result: ToolResult, policy: ToolPolicy) -> Iterator[tuple[str, str]]:
    """The session values that a result sets: first those used in the call, then those it produced."""
    if not result.succeeded or result.report_valid is False:
        return
    contract = policy.tools.get(result.tool_name, Contract())
    for argument, rule in contract.arguments.items():
        value = result.args.get(argument)
        if rule.session is not None and isinstance(value, str) and value.strip():
            yield rule.session, value
    # A table column with the name of one of these fields is not an output of the tool.
    made = {**result.values, "report_id": result.report_id, "processo_referencia": result.case_reference}
    for name, wanted in policy.session.items():
        if wanted.result is not None and (found := made.get(wanted.result)):
            yield name, found


def _fields(policy: ToolPolicy, result: str) -> Iterator[str]:
    yield from (name for name, rule in policy.session.items() if rule.result == result)


def with_verdict(
    session: ToolSession, verdict: ToolCallResolved, waiting: Waiting | None = None, judged: Judged | None = None
) -> ToolSession:
    """The session with a verdict, which a repeated call gets again, and with the preview that waits for confirmation.

    The verdict of a preview is kept as long as the preview: its id never denotes another call. The inputs of the
    verdict are `judged`, kept as long as the call may be delivered again.
    """
    kept = session.waiting if waiting is None else _last({**session.waiting, verdict.call_id: waiting})
    verdicts = {**session.verdicts, verdict.call_id: verdict}
    last = _last({call_id: each for call_id, each in verdicts.items() if call_id not in kept})
    verdicts = {call_id: each for call_id, each in verdicts.items() if call_id in kept or call_id in last}
    grounds = session.judged if judged is None else _last({**session.judged, verdict.call_id: judged}, MAX_EVIDENCE)
    return session.model_copy(update={"verdicts": verdicts, "waiting": kept, "judged": grounds})


def full(session: ToolSession, now: datetime, policy: ToolPolicy) -> bool:
    """Whether one more preview would displace one that can still be answered."""
    oldest = next(iter(session.waiting.values()), None)
    within = timedelta(seconds=policy.confirmation_seconds)
    return len(session.waiting) >= MAX_CALLS and oldest is not None and now <= oldest.asked_at + within


def taken(session: ToolSession, answer: ToolConfirmation, own: str, at: datetime, policy: ToolPolicy) -> ToolSession:
    """The session after a preview was answered by the confirmation `own`; other answers do not count."""
    asked = session.waiting[answer.call_id]
    approved = answer.approved and not too_late(asked, at, policy)
    waiting = asked.model_copy(update={"taken": own, "approved": approved})
    return session.model_copy(update={"waiting": {**session.waiting, answer.call_id: waiting}})


def too_late(waiting: Waiting, at: datetime, policy: ToolPolicy) -> bool:
    """Whether an answer at this time is after the preview's deadline."""
    return at > waiting.asked_at + timedelta(seconds=policy.confirmation_seconds)


def needs_yes(contract: Contract, args: Mapping[str, object]) -> bool:
    """Whether a call needs the user's confirmation."""
    return contract.sensitive or any(args.get(name) in values for name, values in contract.confirm_values.items())


def unacceptable(
    waiting: Waiting | None, answer: ToolConfirmation, user_id: str | None, own: str
) -> tuple[str, str] | None:
    """The reason to reject a confirmation (id `own`, sender `user_id`): a code and a sentence; None if acceptable."""
    if waiting is None:
        return "confirmation_unknown", f"no call {answer.call_id!r} of this session waits for a yes"
    if ({waiting.user_id, user_id} - {None}) - {answer.user_id}:
        return "confirmation_foreign", f"the call {answer.call_id!r} is another user's to confirm"
    if waiting.taken not in (None, own):
        return "confirmation_replayed", f"the call {answer.call_id!r} was answered already"
    return None


def span(policy: ToolPolicy) -> timedelta:
    """The time span of the log that a session depends on."""
    kept = (value.ttl_seconds for value in policy.session.values())
    recalled = policy.recall_seconds if policy.recalls else 0
    return timedelta(seconds=max((policy.confirmation_seconds, recalled, *kept)))


def forgotten(session: ToolSession, issued: ErasureIssued) -> ToolSession:
    """The session without anything of before an erasure; one that is forgotten up to there keeps what came since."""
    known = session.forgotten_at
    return session if known is not None and known >= issued.issued_at else ToolSession(forgotten_at=issued.issued_at)


def is_erased(session: ToolSession, logged_at: datetime) -> bool:
    """Whether a record was logged before the session was forgotten."""
    return session.forgotten_at is not None and logged_at <= session.forgotten_at


def folded(session: ToolSession, log: Iterable[Received[Any]], policy: ToolPolicy) -> ToolSession:
    """The session with the records of its conversation from the log added; existing state is kept.

    A verdict shows the question asked, a confirmation the user's answer: a confirmation that was taken before counts as
    taken even if its verdict was never sent. Records are in the order of their topic.
    """
    records = list(log)
    for each in records:
        if isinstance(each.event, ErasureIssued):
            session = forgotten(session, each.event)
    records = [each for each in records if not is_erased(session, each.logged_at)]
    answers = [each for each in records if isinstance(each.event, ToolConfirmation)]
    ids = {each.envelope.id for each in answers}
    for each in records:
        if isinstance(each.event, ToolCallResolved) and each.envelope.causation_id not in ids:
            session = _with_logged(session, each, policy)
    for each in answers:
        waiting, own = session.waiting.get(each.event.call_id), each.envelope.id
        if unacceptable(waiting, each.event, each.envelope.user_id, own) is None:
            session = taken(session, each.event, own, each.envelope.time, policy)
    for each in records:
        if isinstance(each.event, ToolResult):
            session = after_result(session, each.event, policy, each.envelope.time)
    return session


def _with_logged(session: ToolSession, record: Received[ToolCallResolved], policy: ToolPolicy) -> ToolSession:
    verdict, envelope = record.event, record.envelope
    if verdict.call_id in session.verdicts or verdict.error_code in OF_THE_MOMENT:
        return session
    if verdict.preview is not None:
        shown = verdict.preview.args
        waiting = Waiting(
            tool_name=verdict.tool_name, args=shown, injections=verdict.injections,
            user_id=verdict.preview.user_id or envelope.user_id or verdict.client_id, lang=verdict.preview.lang,
            asked_at=envelope.time,
        )  # fmt: skip
        return with_verdict(session, verdict, waiting)
    contract = policy.tools.get(verdict.tool_name, Contract())
    # The confirmation that allowed the call is no longer in the log: a repeated call has to be confirmed again.
    if verdict.resolved_args is not None and needs_yes(contract, verdict.resolved_args):
        return session
    return with_verdict(session, verdict)


def _last(calls: dict[str, object], most: int = MAX_CALLS) -> dict[str, object]:
    return dict(list(calls.items())[-most:])
