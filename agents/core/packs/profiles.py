"""Query profiles: amount, kinds and maximum age of what a level retrieves from each source.

The shipped profiles follow the tables in `sources`; an operator's policy overrides single values.
"""

import difflib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from agents.core.packs.sources import QUERY_PROFILE, SOURCES, STATE, SourceSpec, kinds_of
from schemas.items import Item
from schemas.policy import ProfilePolicy, ProfileTerms, SourceTerms
from schemas.retrieval import MemoryClass, PassageKind, ProfileSource, QueryProfile, SourceRequest

KIND_OF: dict[str, PassageKind] = {
    "chunk": "chunk",
    "knowledge": "definition",
    "concept": "concept",
    "conversation_summary": "summary",
}


class Misfit(ValueError):
    """A policy value that does not fit its profile, at the path `where`."""

    def __init__(self, where: tuple[str, ...], why: str) -> None:
        super().__init__(f"{'.'.join(where)}: {why}")
        self.where = where


def _wanted(name: str) -> Iterator[SourceSpec]:
    """The memory sources of a profile's levels; without session and persona, which hold no passages."""
    levels = (level for level, used in QUERY_PROFILE.items() if used == name)
    return (want for level in levels for want in SOURCES[level] if want.memory_class not in STATE)


def _source(want: SourceSpec) -> ProfileSource:
    return ProfileSource(memory_class=want.memory_class, selector=want.selector, limit=want.limit, share=want.share)


SHIPPED: Mapping[str, QueryProfile] = {
    name: QueryProfile(name=name, version=1, sources=tuple(map(_source, _wanted(name))))
    for name in QUERY_PROFILE.values()
    if name is not None
}


def of_policy(policy: ProfilePolicy) -> Mapping[str, QueryProfile]:
    """The shipped profiles with the overrides of a policy; raises `Misfit`."""
    return {name: _changed(profile, getattr(policy, name)) for name, profile in SHIPPED.items()}


def _changed(profile: QueryProfile, terms: ProfileTerms) -> QueryProfile:
    sources = {(source.memory_class, source.selector): source for source in profile.sources}
    wanted = {(want.memory_class, want.selector): want for want in _wanted(profile.name)}
    for memory, by_selector in terms.sources():
        for selector, changes in by_selector.items():
            where = (profile.name, memory.value, selector)
            if (memory, selector) not in wanted:
                known = [each for of, each in wanted if of is memory]
                raise Misfit(where, f"this profile has no such source{_nearest(selector, known)}")
            _check(wanted[memory, selector], changes, where)
            sources[memory, selector] = sources[memory, selector].model_copy(update=changes.stated())
    return profile.model_copy(update={"version": terms.version, "sources": tuple(sources.values())})


def _check(want: SourceSpec, changes: SourceTerms, where: tuple[str, ...]) -> None:
    brings = kinds_of(want)
    for kind in changes.kinds or ():
        if kind not in brings:
            what = f"only {', '.join(brings)}" if brings else "no passages of a kind to choose"
            raise Misfit((*where, "kinds"), f"this source brings {what}")
    if changes.max_age_days is not None and want.memory_class is MemoryClass.CLAIMS:
        raise Misfit((*where, "max_age_days"), "a claim stands until another one replaces it; leave this out")


def _nearest(selector: str, known: list[str]) -> str:
    near = difflib.get_close_matches(selector, known, n=1)
    return f", did you mean {near[0]!r}?" if near else f"; it has {', '.join(known) or 'none of this memory'}"


def applied(request: SourceRequest, profile: QueryProfile | None, budget: int, as_of: datetime) -> SourceRequest:
    """A source request with the values of a profile written into it."""
    for each in profile.sources if profile else ():
        if (each.memory_class, each.selector) == (request.memory_class, request.selector):
            age = each.max_age_days
            return request.model_copy(
                update={
                    "limit": each.limit,
                    "max_tokens": int(budget * each.share),
                    "kinds": each.kinds,
                    "since": None if age is None else as_of - timedelta(days=age),
                }
            )
    return request


def is_asked_for(item: Item, source: SourceRequest) -> bool:
    """Whether an item matches the kinds and the maximum age of a source request."""
    kind = _kind(item)
    if source.since is not None and item.recorded_at < source.since:
        return False
    return source.kinds is None or kind is None or kind in source.kinds


def _kind(item: Item) -> PassageKind | None:
    if item.type == "time_point":
        return "message" if item.kind == "message" else "event"
    return KIND_OF.get(item.type)
