"""The verdicts of the tool gate on the calls for a message, as events of its progress."""

from collections.abc import Iterator
from math import inf

from agents.core.progress.reduction import set_to
from schemas.base import derive
from schemas.envelope import Received
from schemas.progress import ProgressMade
from schemas.retrieval import RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved


class ToolEvents:
    """The events of the calls for one message, each numbered by the place of its verdict.

    A call is for the message that it names, else for the last one before it. More may come for as long as somebody
    answers the message: nothing says that there will be no more.
    """

    def __init__(self, plan: Received[RetrievalPlan]) -> None:
        self._plan = plan.event
        self._from, self._until = plan.timestamp, inf
        self._calls: set[str] = set()
        # Topics are read in no order between them.
        self._early: dict[str, list[Received[ToolCallResolved]]] = {}
        self._last = 0

    def next_message(self, timestamp: float) -> None:
        """Count a later call that names no message for that later message of the conversation."""
        if timestamp > self._from:
            self._until = min(self._until, timestamp)

    def asked(self, record: Received[ToolCallRequested]) -> Iterator[tuple[int, ProgressMade]]:
        """The events of the verdicts on a call that came before it, with their times."""
        call = record.event
        is_last = call.message_id is None and self._from <= record.timestamp < self._until
        if is_last or call.message_id == self._plan.message_id:
            self._calls.add(call.call_id)
        for verdict in self._early.pop(call.call_id, ()):
            yield from self.verdict(verdict)

    def verdict(self, record: Received[ToolCallResolved]) -> Iterator[tuple[int, ProgressMade]]:
        """The event of a verdict, with its time; none for one of another message, or that was told before."""
        made, plan, seq = record.event, self._plan, record.offset + 1
        if made.call_id not in self._calls:
            self._early.setdefault(made.call_id, []).append(record)
            return
        if seq <= self._last:
            return
        call = {
            "call_id": made.call_id,
            "tool_name": made.tool_name,
            "status": made.status,
            "arguments": made.resolved_args or (made.preview.args if made.preview else None),
            "error": made.error,
            "preview": made.preview.text if made.preview else None,
            "taken": [one.model_dump(mode="json") for one in made.injections],
        }
        job_id = derive("calls", plan.pack_id)
        event = ProgressMade(
            job_id=job_id,
            message_id=plan.message_id,
            client_id=plan.client_id,
            conversation_id=plan.conversation_id,
            user_id=plan.user_id,
            stage="tools",
            seq=seq,
            prev_seq=self._last,
            type="TOOL_VERDICT",
            node_id=made.call_id,
            cograg_status="idle",
            data={"tool_name": made.tool_name, "status": made.status},
            patch=(set_to(job_id, "job_id"), set_to(call, "calls", made.call_id)),
        )
        self._last = seq
        yield record.timestamp, event
