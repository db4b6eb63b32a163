"""Where stages tell what they have handled, while traces are wanted; nothing of OpenTelemetry is imported before."""

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from schemas.envelope import Received, Step
from schemas.topics import Topic

LOGGER = logging.getLogger("fathom.stage")


class TracedStage(Protocol):
    """What a span says of a stage."""

    @property
    def name(self) -> str: ...
    @property
    def consumer_group(self) -> str: ...
    @property
    def reads(self) -> tuple[Topic, ...]: ...


class Handled(NamedTuple):
    """A record that a stage has just handled in so many seconds, what it sent, and the code of why it failed."""

    stage: TracedStage
    received: Received[Any]
    steps: Sequence[Step]
    failed: str | None
    seconds: float


class Traced(Protocol):
    """A recipient of what stages have handled."""

    def handled(self, what: Handled) -> None:
        """Make the spans of this."""


active: Traced | None = None


def trace_with(tracer: Traced | None) -> None:
    """Tell this recipient from now on; None: nobody."""
    global active
    active = tracer


def tell(what: Handled) -> None:
    """Tell of a record; it is done, so a failure in that is only logged."""
    if active is None:
        return
    try:
        active.handled(what)
    except Exception as error:
        LOGGER.error("stage.untraced", exc_info=error)
