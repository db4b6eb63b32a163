"""Values as they go to a Neo4j server and as they come back.

The driver turns each time into its own type and through a calendar before it sends it, sixty times the work of the
subtraction here; what goes over the wire is the same. `Structure` is no public name of the driver, which is pinned.
"""

from datetime import UTC, datetime, timedelta

from neo4j._codec.packstream import Structure
from neo4j.time import DateTime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_S = 86_400
MICROSECOND_NS = 1_000
# A time with its offset from UTC, as seconds since the epoch in UTC.
TIME = b"I"


def sent(value: object) -> object:
    """A parameter with its times in UTC, at any depth of maps and lists, as the driver would send them."""
    kind = type(value)
    if kind is dict:
        assert isinstance(value, dict)
        return {name: sent(each) for name, each in value.items()}
    if kind is list:
        assert isinstance(value, list)
        return [sent(each) for each in value]
    if isinstance(value, datetime) and value.tzinfo is UTC:
        return _time(value - EPOCH)
    return value


def _time(since: timedelta) -> Structure:
    return Structure(TIME, since.days * DAY_S + since.seconds, since.microseconds * MICROSECOND_NS, 0)


def native(value: object) -> object:
    """A value of the driver as a Python type, times in UTC."""
    match value:
        case DateTime():
            return value.to_native().astimezone(UTC)
        case list():
            return [native(each) for each in value]
        case dict():
            return {name: native(each) for name, each in value.items()}
        case _:
            return value
