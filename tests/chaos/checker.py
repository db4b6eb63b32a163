"""Judge a run by its evidence: nothing lost, nothing doubled, nothing contradicted, nothing out of order, no leak.

Pure functions from lists of records to findings. A repeated record is no finding while its bytes are the same, except
on `context-packs.out`, whose ledger keeps repeats out. Parts are excepted from sameness: their first answer wins. Of
an assessment what it took is: it is measured again.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from schemas.base import message_key
from schemas.topics import (
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    DOCUMENTS_IN,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    MEMORY_KNOWLEDGE,
    MEMORY_SUMMARIES,
    MESSAGES_IN,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
)
from streams.stores.tenant import node_id
from tests.chaos import cognition_checker, requests_checker
from tests.chaos.entries import Entry, Evidence, Graph, Sent
from tests.chaos.findings import CONFLICT, DOUBLED, LEAKED, LOST, REFUSED, REORDERED, Finding
from tests.rooms import COGNITION, is_left_out

OPENS = f"{PACKS_PARTIAL.name} (open)"
PARTS = f"{PACKS_PARTIAL.name} (part)"
DECISIONS = f"{MEMORY_DECISIONS.name} (pack)"
AUDITS = tuple(f"{MEMORY_DECISIONS.name} ({kind})" for kind in ("late-part", "tool", "weights", "penalty"))
# What every user message leaves behind exactly once, by the stream it lies in.
OF_USER_MESSAGE = (DEPTH_CLASSIFIED.name, RETRIEVAL_PLANS.name, OPENS, CONTEXT_PACKS.name, DECISIONS)
IN_ORDER = (CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name, OPENS, RETRIEVAL_PLANS.name)
# Node label: the streams its nodes come from, and the field that names them.
STORED = {
    "Message": ((CONVERSATION_TURNS.name,), "message_id"),
    "CDCDecision": ((DECISIONS,), "id"),
    "AuditEvent": (AUDITS, "id"),
    "Claim": ((MEMORY_CLAIMS.name,), "claim_id"),
    "Correcao": ((MEMORY_CORRECTIONS.name,), "correction_id"),
    "ConversationSummary": ((MEMORY_SUMMARIES.name,), "summary_id"),
    "Consulta": ((MEMORY_CONSULTATIONS.name,), "consulta_id"),
}
MESSAGE = ("client_id", "conversation_id", "message_id")
# Relationships that are compared one by one; of the others only repeats are looked for.
LINKS = ("IN_CONVERSATION", "FOR_MESSAGE", "MADE_IN", "CORRECTS", "CORRIGIDA_POR")
# Properties of a node that must be those of its first event.
COPIED = {
    "Message": ("content", "role", "seq"),
    "CDCDecision": ("message_id", "depth_level", "tokens_used"),
    "Claim": ("text", "value"),
    "Correcao": ("texto", "target_id"),
    "Consulta": ("pergunta_usuario", "resposta_final"),
    "AuditEvent": ("actor", "subject_id"),
}
FROM_OUTSIDE = (MESSAGES_IN.name, DOCUMENTS_IN.name, *requests_checker.FROM_OUTSIDE)
Streams = Mapping[str, list[Entry]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings, and what is published without being wrong: repeats by stream, parts whose repeat differs."""

    findings: tuple[Finding, ...]
    repeats: Mapping[str, int]
    differing_parts: int
    packs: int
    degraded: int

    def count(self, kind: str) -> int:
        return sum(finding.kind == kind for finding in self.findings)


def check(evidence: Evidence, *, with_graph: bool = True, with_cognition: bool = not is_left_out(COGNITION)) -> Verdict:
    """Everything there is to find; without what the stages left out would have made."""
    streams = by_stream(evidence.log)
    findings = [
        *missing(evidence.sent, streams),
        *unknown(evidence, streams),
        *doubled(streams),
        *conflicts(streams),
        *reordered(evidence.sent, streams),
        *leaks(evidence),
        *refused(evidence, streams),
        *requests_checker.findings(evidence.given, streams),
    ]
    if with_cognition:
        findings += cognition_checker.findings(evidence.sent, streams)
    if with_graph:
        findings += graph_findings(evidence, streams)
        findings += requests_checker.kept_findings(evidence, streams)
    packs = {entry.ce_id: entry for entry in streams[CONTEXT_PACKS.name]}
    return Verdict(
        tuple(findings),
        repeats(streams),
        differing_parts(streams),
        len(packs),
        sum(bool(entry.event.get("degraded")) for entry in packs.values()),
    )


def by_stream(log: Iterable[Entry]) -> Streams:
    """Records by topic, the topics of several kinds of event apart, each in log order."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(log, key=lambda entry: (entry.topic, entry.partition, entry.offset)):
        found[stream_of(entry)].append(entry)
    return found


def stream_of(entry: Entry) -> str:
    """The topic of a record, with its kind where the topic has several."""
    if entry.topic in (PACKS_PARTIAL.name, MEMORY_DECISIONS.name):
        kind = entry.event.get("kind")
        # One record may have all that a pack is made of: it opens its join, and closes it.
        return f"{entry.topic} ({ {'parts': 'part', 'inputs': 'open'}.get(str(kind), kind) })"
    return entry.topic


def missing(sent: Iterable[Sent], streams: Streams) -> Iterator[Finding]:
    """Accepted messages without their turn; user messages without classification, plan, join, pack or decision."""
    there = {name: {_subject(entry) for entry in streams[name]} for name in (CONVERSATION_TURNS.name, *OF_USER_MESSAGE)}
    for message in sent:
        if message.again:
            continue
        wanted = (CONVERSATION_TURNS.name, *(OF_USER_MESSAGE if message.role == "user" else ()))
        for name in wanted:
            if (message.conversation.tenant, message.message_id) not in there[name]:
                yield Finding(LOST, f"{name}: {message.message_id}")


def unknown(evidence: Evidence, streams: Streams) -> Iterator[Finding]:
    """Effects nobody caused, and documents without knowledge."""
    accepted = {(message.conversation.tenant, message.message_id) for message in evidence.sent}
    for name in (CONVERSATION_TURNS.name, *OF_USER_MESSAGE):
        for subject in {_subject(entry) for entry in streams[name]} - accepted:
            yield Finding(DOUBLED, f"{name}: {subject} was never sent")
    learnt = {entry.event.get("document_id") for entry in streams[MEMORY_KNOWLEDGE.name]}
    for document in set(evidence.documents) - learnt:
        yield Finding(LOST, f"{MEMORY_KNOWLEDGE.name}: {document}")


def doubled(streams: Streams) -> Iterator[Finding]:
    """Two different events for one thing; a pack that is out twice, be it the same."""
    for name in (CONVERSATION_TURNS.name, *OF_USER_MESSAGE):
        ids: dict[Any, set[str]] = defaultdict(set)
        for entry in streams[name]:
            ids[(*_subject(entry), entry.event.get("revision"))].add(entry.ce_id)
        for subject, events in ids.items():
            if len(events) > 1:
                yield Finding(DOUBLED, f"{name}: {len(events)} events for {subject}")
    out = Counter((e.event.get("pack_id"), e.event.get("revision")) for e in streams[CONTEXT_PACKS.name])
    for pack, times in out.items():
        if times > 1:
            yield Finding(DOUBLED, f"{CONTEXT_PACKS.name}: {pack} is out {times} times")


def conflicts(streams: Streams) -> Iterator[Finding]:
    """One event id with two values on a topic; parts are excepted where all of them are parts."""
    topics: dict[str, list[Entry]] = defaultdict(list)
    for entries in streams.values():
        for entry in entries:
            topics[entry.topic].append(entry)
    parts = {entry.ce_id for entry in streams[PARTS]} - {
        entry.ce_id for entry in topics[PACKS_PARTIAL.name] if stream_of(entry) != PARTS
    }
    for name in topics.keys() - set(FROM_OUTSIDE):
        for ce_id, values in _values(topics[name]).items():
            if len(values) > 1 and not (name == PACKS_PARTIAL.name and ce_id in parts):
                yield Finding(CONFLICT, f"{name}: {ce_id} has {len(values)} values")


def differing_parts(streams: Streams) -> int:
    """Parts whose repeat does not say the same."""
    return sum(len(values) > 1 for values in _values(streams[PARTS]).values())


def repeats(streams: Streams) -> Mapping[str, int]:
    """Records beyond the first of their event id, by stream."""
    made = {name: entries for name, entries in streams.items() if entries and name not in FROM_OUTSIDE}
    return {name: len(entries) - len({entry.ce_id for entry in entries}) for name, entries in sorted(made.items())}


def reordered(sent: Iterable[Sent], streams: Streams) -> Iterator[Finding]:
    """Conversations whose events first came in another order than their messages."""
    place: dict[tuple[str, str], tuple[int, int]] = {}
    for message in sorted(sent, key=lambda message: (message.partition, message.offset)):
        place.setdefault((message.conversation.tenant, message.message_id), (message.partition, message.offset))
    # The next message of a conversation waits for no memory: plan and answers are recorded when those have answered.
    answered = {_subject(entry) for entry in streams[OPENS] if entry.event.get("kind") == "inputs"}
    for name in IN_ORDER:
        order: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
        for entry in streams[name]:
            if name not in (OPENS, RETRIEVAL_PLANS.name) or _subject(entry) not in answered:
                order[entry.key].setdefault(_subject(entry))
        for key, subjects in order.items():
            places = [place[subject] for subject in subjects if subject in place]
            if any(later < earlier for earlier, later in pairwise(places)):
                yield Finding(REORDERED, f"{name}: {key}")


def leaks(evidence: Evidence) -> Iterator[Finding]:
    """A tenant's words in another tenant's record, or a conversation's message in another's pack or under its key."""
    foreign = {
        tenant: [word.encode() for other, word in evidence.canaries.items() if other != tenant]
        for tenant in evidence.canaries
    }
    owner = {(m.conversation.tenant, m.message_id): m.key for m in evidence.sent}
    for entry in evidence.log:
        place = f"{stream_of(entry)} {entry.partition}:{entry.offset}"
        if any(word in entry.value for word in foreign.get(entry.tenant, [])):
            yield Finding(LEAKED, f"{place}: a word of another tenant than {entry.tenant}")
        for message_id in _named(entry):
            key = owner.get((entry.tenant, message_id))
            if key is not None and key != entry.key:
                yield Finding(LEAKED, f"{place}: {message_id} is another conversation's")


def refused(evidence: Evidence, streams: Streams) -> Iterator[Finding]:
    """Dead letters: every message of a run can be processed, and every request that is not there to be refused."""
    expected = requests_checker.may_be_refused(evidence.given, streams)
    for entry in evidence.log:
        if entry.topic.startswith("dead-letters.") and (entry.tenant, entry.ce_id) not in expected:
            yield Finding(REFUSED, f"{entry.topic} {entry.partition}:{entry.offset}")


def graph_findings(evidence: Evidence, streams: Streams) -> Iterator[Finding]:
    """The graph against the log: each node and link once, none missing, none that no event asked for."""
    graph = evidence.graph
    for label, (names, field) in STORED.items():
        first = {_node(e, field): e for name in names for e in reversed(streams[name])}
        yield from _compare(label, first.keys(), [node.id for node in graph.nodes if node.label == label])
        for node in graph.nodes:
            entry = first.get(node.id) if node.label == label else None
            for copied in COPIED.get(label, ()):
                if entry is not None and node.props.get(copied) != entry.event.get(copied):
                    yield Finding(LOST, f":{label} {node.id}: {copied} is not the event's")
    yield from _links(graph, streams)
    yield from _graph_leaks(evidence)


def _links(graph: Graph, streams: Streams) -> Iterator[Finding]:
    within = {(_node(e, "message_id"), e.key) for e in streams[CONVERSATION_TURNS.name]}
    about = {(_node(e, "id"), _node(e, "message_id")) for e in streams[DECISIONS]}
    # What was corrected from outside was said in no message.
    said = (e for e in streams[MEMORY_CLAIMS.name] if not requests_checker.is_from_outside(e))
    made = {(_node(e, "claim_id"), _node(e, "message_id")) for e in said}
    corrections = streams[MEMORY_CORRECTIONS.name]
    every = {(e.event.get("kind"), _node(e, "correction_id"), _node(e, "target_id")) for e in corrections}
    contests = {(own, target) for kind, own, target in every if kind == "claim"}
    contested = {(target, own) for kind, own, target in every if kind == "consulta"}
    for type_, wanted in zip(LINKS, (within, about, made, contests, contested), strict=True):
        yield from _compare(type_, wanted, [(link.start, link.finish) for link in graph.links if link.type == type_])
    others = Counter((link.type, link.start, link.finish) for link in graph.links)
    for link, times in others.items():
        if times > 1 and link[0] not in LINKS:
            yield Finding(DOUBLED, f"graph: {link} is there {times} times")


def _graph_leaks(evidence: Evidence) -> Iterator[Finding]:
    for node in evidence.graph.nodes:
        tenant, text = node.props.get("tenant_id"), str(node.props)
        if any(word in text for other, word in evidence.canaries.items() if other != tenant):
            yield Finding(LEAKED, f":{node.label} {node.id}: a word of another tenant")
    for link in evidence.graph.links:
        ends = {link.start.partition("|")[0], link.finish.partition("|")[0]} - {"_public"}
        if len(ends) > 1:
            yield Finding(LEAKED, f"graph: {link.type} joins {sorted(ends)}")


def _compare(what: str, wanted: Iterable[Any], found: Iterable[Any]) -> Iterator[Finding]:
    counted, expected = Counter(found), set(wanted)
    for one in expected - counted.keys():
        yield Finding(LOST, f"graph: no {what} {one}")
    for one, times in counted.items():
        if times > 1:
            yield Finding(DOUBLED, f"graph: {what} {one} is there {times} times")
        elif one not in expected:
            yield Finding(DOUBLED, f"graph: {what} {one} has no event")


def _node(entry: Entry, field: str) -> str:
    if field == "message_id":
        return node_id(entry.tenant, message_key(*(str(entry.event[name]) for name in MESSAGE)))
    return node_id(entry.tenant, str(entry.event.get(field)))


def _subject(entry: Entry) -> tuple[str, str]:
    return entry.tenant, str(entry.event.get("message_id"))


def _values(entries: Iterable[Entry]) -> Mapping[str, set[bytes]]:
    found: dict[str, set[bytes]] = defaultdict(set)
    for entry in entries:
        found[entry.ce_id].add(requests_checker.without_times(entry))
    return found


# A claim may rightly name a message of another conversation: what the tenant said elsewhere on the subject.
_QUOTES: Mapping[str, Callable[[dict[str, Any]], Iterable[Any]]] = {
    CONTEXT_PACKS.name: lambda event: event.get("working_set", {}).get("recent_messages", ()),
    PARTS: lambda event: [item for item in event.get("items", ()) if item.get("type") == "message"],
}


def _named(entry: Entry) -> Iterator[str]:
    """The messages that a record of a conversation is about, or quotes."""
    name = stream_of(entry)
    if name in (CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name, RETRIEVAL_PLANS.name, OPENS, PARTS, CONTEXT_PACKS.name):
        yield str(entry.event.get("message_id"))
    for item in _QUOTES[name](entry.whole()) if name in _QUOTES else ():
        yield str(item.get("message_id"))
