"""Errors of the agents.

FathomError
├── Rejected      the event is readable but wrong: dead letter, no retry
└── Unavailable   a store or service does not answer: wait and retry the same record, never skip
    └── ViewIncomplete    it answers, but lacks records of the log until it is restored
"""


class FathomError(Exception):
    """Base of the errors that the runner handles."""


class Rejected(FathomError):
    """A readable event that cannot be accepted; `code` names the reason, in snake_case."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class Unavailable(FathomError):
    """A store or service that does not answer; `what` names it, as in a pack's degradation report."""

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(f"{what} is unavailable{': ' + detail if detail else ''}")
        self.what = what
        self.detail = detail


class ViewIncomplete(Unavailable):
    """A view that lacks records of a partition; it answers again once it is restored."""

    def __init__(self, what: str, partition: int) -> None:
        super().__init__(what, f"partition {partition} is behind the log")
        self.partition = partition
