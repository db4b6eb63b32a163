"""The graph as the routes read it: refused where this server has none (501) or where it does not answer (503)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from agents.errors import Unavailable
from streams.edges.http.problems import Problem

Reader = TypeVar("Reader")

GRAPH_PROBLEMS = {501: "this server has no graph to read", 503: "the graph or the broker does not answer"}
NO_GRAPH = (
    "this server has no graph to read from: ask at the http address of `fathom up`, or set FATHOM_NEO4J_URL to the "
    "graph server of the workers"
)


def graph_of(reader: Callable[[], Reader | None]) -> Reader:
    """What reads the graph; raises `Problem` (501) where there is nothing."""
    if (found := reader()) is None:
        raise Problem(501, NO_GRAPH)
    return found


@contextmanager
def reading_graph() -> Iterator[None]:
    """The context of reads: a graph that does not answer is a `Problem` (503)."""
    try:
        yield
    except Unavailable as error:
        raise Problem(503, f"{error}; try again", retry_after="1") from None
