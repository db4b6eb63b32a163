"""What the embedded index asks its engine: filters, requests, and the nearest passages that an asker may see.

The engine's answers are expensive to take apart: the id of a point takes longer than to find it. So no more points are
asked for than are needed, and each id is read once, as a number.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

import qdrant_edge as edge

from agents.ports.passages import PassageQuery
from schemas.items import ACCESS_ORDER
from streams.stores.passages.lexical import Holder, sparse
from streams.stores.passages.points import DENSE, TERMS, micros
from streams.stores.tenant import point_id

# By codes alone 90 % of the nearest fifty are found; among four times as many are all of them.
BY_CODES = edge.SearchParams(quantization=edge.QuantizationSearchParams(rescore=False))
BY_VECTORS = edge.SearchParams(exact=True, quantization=edge.QuantizationSearchParams(ignore=True))
REACH = 4
# So few visible passages are compared by their vectors at once, which is then cheaper than by codes first.
FEW = 2_000


def nearest(
    shard: edge.EdgeShard,
    vector: list[float],
    limit: int,
    tenants: tuple[str, ...],
    query: PassageQuery,
    visible: edge.Filter,
) -> dict[int, float]:
    """The nearest passages that the asker may see, best first: ids with their cosines."""
    near = edge.Query.Nearest(vector, using=DENSE)
    if not (query.among or query.origin) and size_of(shard, visible) > FEW:
        found = _by_codes(shard, near, limit, tenants, query)
        if found is not None:
            return found
    return ranked(shard.query(_search(near, limit, visible, BY_VECTORS)))


def named_by(
    terms: Mapping[str, float], limit: int, visible: edge.Filter, corpus: edge.Filter, *, whole: bool = False
) -> edge.QueryRequest:
    """The request for the passages with the most of these terms; `whole` with the terms of each."""
    near = edge.Query.Nearest(edge.SparseVector(*sparse(terms)), using=TERMS)
    # How rare a word is, is counted in what this tenant may read: others' texts must not show in scores.
    return _search(near, limit, visible, edge.SearchParams(idf=edge.IdfParams(corpus=corpus)), whole=whole)


def rarest(term: str, corpus: edge.Filter) -> edge.QueryRequest:
    """The request for the passage that tells how rare a term is in the corpus."""
    return named_by({term: 1.0}, 1, corpus, corpus, whole=True)


def rarity_in(points: Sequence[edge.ScoredPoint], term: str) -> float | None:
    """The rarity of a term by what `rarest` found; None where nothing has it."""
    if not points:
        return None
    vector = cast(edge.SparseVector, vector_of(points[0], TERMS))
    return Holder(points[0].score, vector.indices, vector.values).rarity(term)


def visible_to(tenants: tuple[str, ...], query: PassageQuery) -> edge.Filter:
    """What the asker may see of these tenants' passages, and asks for."""
    # In each list: a filter outside would let other tenants' passages use up the limit.
    return _visible([_of(tenants), *_among(tenants, query)], query)


def corpus_of(tenants: tuple[str, ...]) -> edge.Filter:
    """All that these tenants have."""
    return edge.Filter(must=[_of(tenants)])


def size_of(shard: edge.EdgeShard, corpus: edge.Filter) -> int:
    """How many passages there are, by the engine's estimate."""
    return shard.count(edge.CountRequest(exact=False, filter=corpus))


def ranked(points: Iterable[Any]) -> dict[int, float]:
    """Points' ids with their scores, best first."""
    # Points of one score come in any order: by id, a search gives the same list every time.
    return {key: -score for score, key in sorted([(-point.score, point.id.int) for point in points])}


def key_of(record: edge.Record) -> int:
    """The id of a point as a number, which is hashed and compared faster."""
    return cast(Any, record.id).int  # type: ignore[no-any-return]  # every id of ours is a UUID


def vector_of(point: edge.Record | edge.ScoredPoint, name: str) -> object:
    """A vector that was asked for."""
    assert isinstance(point.vector, dict)
    return point.vector[name]


def owned_by(tenant: str) -> edge.FieldCondition:
    """The condition that a point is of this tenant."""
    return edge.FieldCondition("tenant_id", match=edge.MatchValue(tenant))


def _by_codes(
    shard: edge.EdgeShard, near: edge.Query, limit: int, tenants: Sequence[str], query: PassageQuery
) -> dict[int, float] | None:
    """The nearest passages; None when the nearest of the tenants do not include all that are asked for.

    To check the rights to a passage takes three times as long as to compare it: only the nearest are checked.
    """
    reach = REACH * limit
    lists = [shard.query(_search(near, reach, edge.Filter(must=[owned_by(tenant)]), BY_CODES)) for tenant in tenants]
    ids = {point.id for found in lists for point in found}
    found = shard.query(_search(near, limit, _visible([edge.HasIdCondition(ids)], query), BY_VECTORS))
    complete = len(found) >= limit or all(len(each) < reach for each in lists)
    return ranked(found) if complete else None


def _search(
    query: edge.Query, limit: int, visible: edge.Filter, params: edge.SearchParams, *, whole: bool = False
) -> edge.QueryRequest:
    return edge.QueryRequest(
        query=query,
        limit=limit,
        filter=visible,
        params=params,
        with_payload=False,
        with_vector=[TERMS] if whole else False,
    )


def _of(tenants: Sequence[str]) -> edge.FieldCondition:
    return edge.FieldCondition("tenant_id", match=edge.MatchAny(list(tenants)))


def _among(tenants: Sequence[str], query: PassageQuery) -> list[edge.HasIdCondition]:
    """The condition on the ids that alone are asked for, where some are."""
    ids: set[int | UUID | str] = {point_id(tenant, each) for tenant in tenants for each in query.among}
    return [edge.HasIdCondition(ids)] if ids else []


def _for_user(query: PassageQuery) -> edge.FieldCondition:
    users = [""] if query.user_id is None else ["", query.user_id]
    return edge.FieldCondition("user_id", match=edge.MatchAny(users))


def _visible(among: Sequence[edge.FieldCondition | edge.HasIdCondition], query: PassageQuery) -> edge.Filter:
    """Those of `among` that the asker may see and asks for."""
    since = None if query.since is None else micros(query.since)
    as_of = micros(query.as_of)
    must: list[edge.ConditionType] = [
        *among,
        edge.FieldCondition("access", range=edge.RangeFloat(lte=ACCESS_ORDER[query.access_level])),
        edge.FieldCondition("recorded_at", range=edge.RangeFloat(lte=micros(query.newest), gte=since)),
        _for_user(query),
        *(edge.FieldCondition(key, match=edge.MatchValue(value)) for key, value in query.origin.items()),
    ]
    if query.kinds:
        must.append(edge.FieldCondition("kind", match=edge.MatchAny(list(query.kinds))))
    retired = edge.FieldCondition("retired_at", range=edge.RangeFloat(lte=as_of))
    return edge.Filter(must=must, must_not=[retired])
