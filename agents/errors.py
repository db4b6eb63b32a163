"""What can go wrong, in the agents' words.

FathomError
├── Rejected      the event is readable but wrong: dead letter, no retry
└── Unavailable   something we need does not answer: wait and retry the same record, never skip
    └── ViewIncomplete    it answers, but lacks what the log holds, until that is restored
"""


class FathomError(Exception):
    """Base of the errors the runner knows how to settle."""


class Rejected(FathomError):
    """The event can be read but not accepted; `code` names why, in snake_case."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class Unavailable(FathomError):
    """A store or service does not answer; `what` names it, as in a pack's degradation report."""

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(f"{what} is unavailable{': ' + detail if detail else ''}")
        self.what = what
        self.detail = detail


class ViewIncomplete(Unavailable):
    """A view lacks what the log holds of a partition: it answers again once that is restored."""

    def __init__(self, what: str, partition: int) -> None:
        super().__init__(what, f"partition {partition} is behind the log")
        self.partition = partition
