"""Tool calls that were refused because their session could not be read, by partition. Pure: no clock or I/O."""

from collections.abc import Callable

from agents.core.caching.lru import ByteCache
from schemas.base import Event
from schemas.envelope import Received
from schemas.tools import ErrorCode, ToolCallRequested, ToolCallResolved

UNREADABLE: ErrorCode = "indisponivel"
# Tenant, id of the call's record, call.
Asked = tuple[str, str, str]


class RefusedCalls:
    """The refusals that a user was told: the same record gets no other verdict when it is delivered again."""

    def __init__(self) -> None:
        # A record is delivered again within seconds or not at all.
        self._partitions: dict[int, ByteCache[Asked, ToolCallResolved]] = {}

    def assigned(self, partition: int) -> Callable[[Received[ToolCallResolved]], None]:
        """Start a partition; returns what takes each verdict in its output, oldest first."""
        self._partitions[partition] = ByteCache("refused_calls")

        def take(emitted: Received[ToolCallResolved]) -> None:
            if (cause := emitted.envelope.causation_id) is not None:
                self._put(partition, (emitted.envelope.tenant, cause, emitted.event.call_id), emitted.event)

        return take

    def revoked(self, partition: int) -> None:
        """Forget a partition."""
        self._partitions.pop(partition, None)

    def of(self, record: Received[Event], call: ToolCallRequested) -> ToolCallResolved | None:
        """The refusal that a record got when it was delivered before."""
        refused = self._partitions.get(record.partition)
        asked = record.envelope.tenant, record.envelope.id, call.call_id
        return None if refused is None else refused.get(asked)

    def add(self, record: Received[Event], verdict: ToolCallResolved) -> None:
        """Remember the verdict on a record if it is such a refusal."""
        self._put(record.partition, (record.envelope.tenant, record.envelope.id, verdict.call_id), verdict)

    def _put(self, partition: int, asked: Asked, verdict: ToolCallResolved) -> None:
        if verdict.error_code == UNREADABLE and (refused := self._partitions.get(partition)) is not None:
            refused.put(asked, verdict)
