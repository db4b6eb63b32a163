"""A message of a tenant of its own through the whole pipeline to its pack, and erased again."""

from streams.edges.canary.flights import fly
from streams.edges.cli.doctor.findings import DOWN, OK, SKIPPED, WARN, Finding, found

SLOW_S = 5.0


async def canary(bootstrap: str) -> Finding:
    """Send a message, await its pack, erase its conversation from every store; what that took."""
    flight = await fly(bootstrap)
    return judged(flight.trouble, flight.seconds or 0.0)


def judged(trouble: str, seconds: float) -> Finding:
    """The finding by what went wrong, if anything, and the time from the question to its pack."""
    if trouble:
        return found("canary", DOWN, trouble)
    seen = f"its pack came after {seconds:.2f} s, and its conversation is erased"
    return found("canary", WARN if seconds > SLOW_S else OK, seen)


def unsent() -> Finding:
    """The finding without a canary."""
    return found("canary", SKIPPED, "--canary sends one; it writes a conversation to the log and erases it again")
