"""A clean set of evidence, made by the whole pipeline in memory: what a faultless run leaves behind."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain, islice
from typing import Any

from schemas.topics import DOCUMENTS_IN, MESSAGES_IN
from streams.stage import Stage
from streams.stores.graph import queries
from streams.testing.pipeline import Pipeline
from streams.topology import CHAINED
from tests.builders.customs import CUSTOMS
from tests.chaos import checker
from tests.chaos.entries import Entry, Evidence, Given, Graph, Sent
from tests.chaos.messages import CANARIES, Message, document, messages
from tests.chaos.reading import Seen, kept
from tests.chaos.requests import Place, Request, Requests
from tests.chaos.servers import COGNITION


def clean(
    total: int, *, among: int, seed: int, documents: int = 2, often: int = 1, stages: Sequence[Stage] = CHAINED
) -> Evidence:
    """The evidence of so many messages; answers of the memory classes included. `often` is for requests beside them."""
    with Pipeline(stages=stages, tools=CUSTOMS, **COGNITION) as pipeline:
        learnt = []
        for number in range(documents):
            document_id, value, headers = document(number)
            learnt.append(document_id)
            pipeline.publish(DOCUMENTS_IN, value, _texts(headers), document_id.encode())
        sent, given, requests = [], [], Requests(seed, often=often)
        for message in islice(messages(among=among, seed=seed), total):
            sent.append(_send(pipeline, message))
            given += [_ask(pipeline, request) for request in requests.after(message)]
        pipeline.wait(5)
        engine = pipeline.graph.engine
        nodes = asyncio.run(engine.read(queries.ALL_NODES, {}))
        links = asyncio.run(engine.read(queries.ALL_LINKS, {}))
        log = _log(pipeline)
        left = asyncio.run(kept(pipeline.weights, pipeline.tool_sessions, given))
    return Evidence(marked_again(sent), log, Graph.of(nodes, links), tuple(given), left, tuple(learnt), CANARIES)


def _log(pipeline: Pipeline) -> tuple[Entry, ...]:
    return tuple(Entry.of(record) for record in chain(*pipeline.log.records.values()))


def _send(pipeline: Pipeline, message: Message) -> Sent:
    pipeline.clock.at += timedelta(milliseconds=7)
    key, value, headers = message.record(pipeline.clock.now())
    record = pipeline.publish(MESSAGES_IN, value, _texts(headers), key)
    return Sent(
        message.message_id, message.conversation, message.role, message.content, record.partition, record.offset
    )


def _ask(pipeline: Pipeline, request: Request) -> Given:
    pipeline.clock.at += timedelta(milliseconds=7)
    found = "" if request.after is None else _found(pipeline, request.after)
    key, value, headers = request.record(pipeline.clock.now(), found)
    record = pipeline.publish(request.topic, value, _texts(headers), key)
    return request.given(found, record.partition, record.offset)


def _found(pipeline: Pipeline, place: Place) -> str:
    seen = Seen()
    for entry in _log(pipeline):
        seen.add(entry)
    return seen.ids[place]


def marked_again(sent: Iterable[Sent]) -> tuple[Sent, ...]:
    """The same messages, in log order, those that repeat an earlier one marked as such."""
    seen: dict[str, set[str]] = defaultdict(set)
    found = []
    for message in sorted(sent, key=lambda message: (message.partition, message.offset)):
        known = seen[message.key]
        found.append(replace(message, again=message.message_id in known))
        known.add(message.message_id)
    return tuple(found)


def _texts(headers: list[tuple[str, bytes]]) -> dict[str, str]:
    return {name: text.decode() for name, text in headers}


def some(evidence: Evidence, choose: random.Random, *streams: str) -> Entry:
    """A record of some streams."""
    return choose.choice([entry for entry in evidence.log if checker.stream_of(entry) in streams])


def added(evidence: Evidence, *more: Entry) -> Evidence:
    """The evidence with further records."""
    return replace(evidence, log=(*evidence.log, *more))


def behind(evidence: Evidence, entry: Entry, **changed: Any) -> Entry:
    """A record at the end of the entry's partition, like it but for what is changed."""
    return replace(entry, offset=len(evidence.log) + entry.offset, **changed)
