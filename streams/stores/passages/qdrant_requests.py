"""What a Qdrant server is asked: searches, filters and points as its REST API takes them; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents.ports.passages import Passage, PassageQuery
from schemas.items import ACCESS_ORDER
from streams.stores.passages.lexical import sparse, terms_of, weights_of
from streams.stores.passages.points import DENSE, TERMS, micros, payload_of
from streams.stores.tenant import point_id

Part = dict[str, Any]


def searches_of(
    vectors: Sequence[Sequence[float]], terms: Mapping[str, float], limit: int, tenants: Sequence[str],
    query: PassageQuery,
) -> list[Part]:  # fmt: skip
    """The searches of one question: near each vector, by tenant; then, if it has terms, named ones and each term's."""
    # In each list: a filter outside would let other tenants' passages use up the limit. Near ones are looked for
    # tenant by tenant, for each has a graph of its own, and no way leads from one to the other.
    searches = [_search(vector, DENSE, limit, visible([each], query)) for vector in vectors for each in tenants]
    if terms:
        corpus = corpus_of(tenants)
        searches += [_by_terms(terms, limit, visible(tenants, query), corpus)]
        searches += [_by_terms({term: 1.0}, 1, corpus, corpus, whole=True) for term in terms]
    return searches


def _search(query: Any, using: str, limit: int, visible: Part, *, whole: bool = False) -> Part:
    # The texts at once: what is read by id later could meanwhile have been raised above the asker's rights.
    read = {"with_payload": not whole, "with_vector": [TERMS] if whole else False}
    return {"query": query, "using": using, "limit": limit, "filter": visible, **read}


def _by_terms(terms: Mapping[str, float], limit: int, visible: Part, corpus: Part, *, whole: bool = False) -> Part:
    return {**_search(_words(terms), TERMS, limit, visible, whole=whole), "params": {"idf": {"corpus": corpus}}}


def point_of(tenant: str, key: str, passage: Passage, vector: Sequence[float], average: float) -> Part:
    """The point of a passage; `average` is the mean length of the collection's passages."""
    terms = terms_of(passage)
    return {
        "id": key,
        "vector": {DENSE: vector, TERMS: _words(weights_of(terms, average))},
        "payload": payload_of(tenant, passage, terms),
    }


def _words(weights: Mapping[str, float]) -> Part:
    places, values = sparse(weights)
    return {"indices": places, "values": values}


def equals(key: str, value: str) -> Part:
    """The condition that a field has this value."""
    return {"key": key, "match": {"value": value}}


def _any_of(key: str, values: Sequence[str]) -> Part:
    return {"key": key, "match": {"any": list(values)}}


def corpus_of(tenants: Sequence[str]) -> Part:
    """All passages of these tenants."""
    return {"must": [_any_of("tenant_id", tenants)]}


def visible(tenants: Sequence[str], query: PassageQuery) -> Part:
    """The passages of these tenants that the asker may see and asks for."""
    until = {"lte": micros(query.newest)}
    since = {} if query.since is None else {"gte": micros(query.since)}
    users = [""] if query.user_id is None else ["", query.user_id]
    must: list[Part] = [
        _any_of("tenant_id", tenants),
        {"key": "access", "range": {"lte": ACCESS_ORDER[query.access_level]}},
        {"key": "recorded_at", "range": {**until, **since}},
        _any_of("user_id", users),
    ]
    if query.kinds:
        must.append(_any_of("kind", query.kinds))
    must += [equals(key, value) for key, value in query.origin.items()]
    if query.among:
        must.append({"has_id": [str(point_id(of, each)) for of in tenants for each in query.among]})
    return {"must": must, "must_not": [{"key": "retired_at", "range": {"lte": micros(query.as_of)}}]}
