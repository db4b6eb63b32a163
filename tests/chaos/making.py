"""A clean set of evidence, made by the whole pipeline in memory: what a faultless run leaves behind."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from itertools import chain, islice

from schemas.topics import DOCUMENTS_IN, MESSAGES_IN
from streams.stores import graph_queries
from streams.testing import Pipeline
from tests.chaos.entries import Entry, Evidence, Graph, Sent
from tests.chaos.messages import CANARIES, Message, document, messages


def clean(total: int, *, among: int, seed: int, documents: int = 2) -> Evidence:
    """The evidence of so many messages; answers of the memory classes included."""
    with Pipeline() as pipeline:
        learnt = []
        for number in range(documents):
            document_id, value, headers = document(number)
            learnt.append(document_id)
            pipeline.publish(DOCUMENTS_IN, value, _texts(headers), document_id.encode())
        sent = [_send(pipeline, message) for message in islice(messages(among=among, seed=seed), total)]
        pipeline.wait(5)
        engine = pipeline.graph.engine
        nodes = asyncio.run(engine.read(graph_queries.ALL_NODES, {}))
        links = asyncio.run(engine.read(graph_queries.ALL_LINKS, {}))
        log = tuple(Entry.of(record) for record in chain(*pipeline.log.records.values()))
    return Evidence(marked_again(sent), log, Graph.of(nodes, links), tuple(learnt), CANARIES)


def _send(pipeline: Pipeline, message: Message) -> Sent:
    pipeline.clock.at += timedelta(milliseconds=7)
    key, value, headers = message.record(pipeline.clock.now())
    record = pipeline.publish(MESSAGES_IN, value, _texts(headers), key)
    return Sent(
        message.message_id, message.conversation, message.role, message.content, record.partition, record.offset
    )


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
