"""The AsyncAPI 3.0 document: every topic, message and stage, from the registry, the topology and the examples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import Protocol

from deploy.docs.examples import Example
from schemas.base import Event
from schemas.json_schema import file_name
from schemas.memory import AuditDecision
from schemas.retrieval import JoinOpened, JoinTicked, PackInputs, PartFound, PartsFound
from schemas.topics import MEMORY_DECISIONS, PACKS_PARTIAL, Topic

BINDING = "0.5.0"
DEAD_LETTER = "dead-letter"
KEYS = {
    "conversation": "`tenant|client|conversation`, each part percent-encoded: one conversation has one order",
    "entity": "`tenant|entity`, each part percent-encoded: what belongs to one thing of a tenant has one order",
}
HEADERS = {
    "ce_specversion": "CloudEvents version",
    "ce_id": "id of the event; derived from its cause, so that a repeat has the same one",
    "ce_type": "what happened: `<domain>.<what-happened>.v<major>`",
    "ce_source": "who made it",
    "ce_time": "when it occurred: event time, RFC 3339 with a time zone",
    "content-type": "`application/json`; `application/cloudevents+json` for a structured event",
    "tenant": "whose it is; the client id where a producer does not say",
    "ce_correlationid": "id of the message that began it all",
    "ce_causationid": "id of the event that caused this one",
    "ce_schemaversion": "version of the schemas",
    "ce_pipelineversion": "version of the rules that made the event",
    "user_id": "who asks; the client id where nobody says",
    "request_id": "the caller's id of its request",
    "locale": "language tag; `pt` and `en` are known",
    "tier": "`minimal`, `standard` or `deep`",
    "traceparent": "W3C trace context",
    "tracestate": "W3C trace context",
}
# Headers of every event that Fathom sends; other producers may omit all of them.
ALWAYS = (
    "ce_specversion",
    "ce_id",
    "ce_type",
    "ce_source",
    "ce_time",
    "content-type",
    "tenant",
    "ce_correlationid",
    "ce_schemaversion",
    "ce_pipelineversion",
)
DEAD_LETTER_HEADERS = {
    **{f"__streams.errors.{name}": f"{name} of the record that failed" for name in ("topic", "partition", "offset")},
    "__streams.errors.exception": "name of the error",
    "__streams.errors.message": "what was wrong",
    "__streams.errors.stacktrace": "a hash that is equal for like failures",
    "kafka_dlt-original-topic": "topic of the record that failed",
    "kafka_dlt-original-partition": "partition of the record that failed: 4 bytes, big-endian; before 0.2 text",
    "kafka_dlt-original-offset": "offset of the record that failed: 8 bytes, big-endian; before 0.2 text",
    "kafka_dlt-original-timestamp": "time of the record that failed: 8 bytes, big-endian, ms since the epoch",
    "kafka_dlt-original-timestamp-type": "CREATE_TIME",
    "fathom_stage": "the stage that could not process it",
    "fathom_reason": "reason code",
    "fathom_attempts": "how often it was tried",
    "fathom_redrives": "how often `fathom dlq redrive` sent it again; absent: never",
}
# Dead letters of earlier versions have no time, and most were never sent again.
NOT_ON_ALL = {"kafka_dlt-original-timestamp", "kafka_dlt-original-timestamp-type", "fathom_redrives"}


class StageRow(Protocol):
    """The fields of a topology row that the document uses."""

    @property
    def name(self) -> str: ...
    @property
    def reads(self) -> tuple[Topic, ...]: ...
    @property
    def writes(self) -> tuple[Topic, ...]: ...
    @property
    def consumer_group(self) -> str: ...
    @property
    def dead_letters(self) -> str: ...


class TopicPlan(Protocol):
    """The creation settings of a topic."""

    @property
    def name(self) -> str: ...
    @property
    def partitions(self) -> int: ...
    @property
    def config(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs of the document."""

    stages: Sequence[StageRow]
    topics: Sequence[Topic]
    plans: Sequence[TopicPlan]
    examples: Sequence[Example]
    version: str


def document(sources: Sources) -> dict[str, object]:
    """The whole document; payloads are references to the schema files beside it."""
    return {
        "asyncapi": "3.0.0",
        "info": _info(sources.version),
        "defaultContentType": "application/json",
        "channels": _channels(sources),
        "operations": _operations(sources.stages),
        "components": {"messages": _messages(sources), "schemas": _header_schemas()},
    }


def _info(version: str) -> dict[str, object]:
    return {
        "title": "Fathom",
        "version": version,
        "description": (
            "Decides how much context a chat assistant needs: messages go in on `messages.in`, "
            "one context pack per user message comes out on `context-packs.out`."
        ),
        "license": {"name": "Apache-2.0"},
    }


def _channels(sources: Sources) -> dict[str, object]:
    plans = {plan.name: plan for plan in sources.plans}
    found: dict[str, object] = {
        topic.name: {
            "address": topic.name,
            "description": topic.purpose,
            "messages": {event.TYPE: _ref("components", "messages", event.TYPE) for event in topic.events},
            "bindings": _channel_binding(plans[topic.name]),
        }
        for topic in sources.topics
    }
    for stage in sources.stages:
        found[stage.dead_letters] = {
            "address": stage.dead_letters,
            "description": f"records that the stage {stage.name} could not process, as they were",
            "messages": {DEAD_LETTER: _ref("components", "messages", DEAD_LETTER)},
            "bindings": _channel_binding(plans[stage.dead_letters]),
        }
    return found


def _channel_binding(plan: TopicPlan) -> dict[str, object]:
    config = plan.config
    configuration = {
        "cleanup.policy": config["cleanup.policy"].split(","),
        "retention.ms": int(config["retention.ms"]),
        "max.message.bytes": int(config["max.message.bytes"]),
    }
    return _kafka(partitions=plan.partitions, topicConfiguration=configuration)


def _operations(stages: Iterable[StageRow]) -> dict[str, object]:
    found: dict[str, object] = {}
    for stage in stages:
        group = {"type": "string", "enum": [stage.consumer_group]}
        for topic in stage.reads:
            found[f"{stage.name}.receive.{topic.name}"] = {
                "action": "receive",
                "summary": f"{stage.name} reads {topic.name}",
                **_of(topic.name, [event.TYPE for event in topic.events]),
                "bindings": _kafka(groupId=group),
            }
        for topic in stage.writes:
            found[f"{stage.name}.send.{topic.name}"] = {
                "action": "send",
                "summary": f"{stage.name} writes {topic.name}",
                **_of(topic.name, [event.TYPE for event in sent(stage, topic)]),
            }
        found[f"{stage.name}.send.{stage.dead_letters}"] = {
            "action": "send",
            "summary": f"{stage.name} sets aside what it cannot process",
            **_of(stage.dead_letters, [DEAD_LETTER]),
        }
    return found


def sent(stage: StageRow, topic: Topic) -> tuple[type[Event], ...]:
    """The events of a topic that a stage writes; on `packs.partial` three kinds of stages write theirs."""
    if topic == MEMORY_DECISIONS and stage.name == "feedback":
        return (AuditDecision,)
    if topic != PACKS_PARTIAL:
        return topic.events
    only: dict[str, tuple[type[Event], ...]] = {
        "planner": (JoinOpened,),
        "assembler": (JoinTicked,),
        "retrieval": (PackInputs,),
    }
    return only.get(stage.name, (PartFound, PartsFound))


def _of(channel: str, messages: Sequence[str]) -> dict[str, object]:
    return {
        "channel": _ref("channels", channel),
        "messages": [_ref("channels", channel, "messages", message) for message in messages],
    }


def _messages(sources: Sources) -> dict[str, object]:
    examples = [(example, type(example.received().event)) for example in sources.examples]
    found: dict[str, object] = {}
    for topic in sources.topics:
        for event in topic.events:
            shown = [example for example, kind in examples if example.topic == topic and kind is event]
            found[event.TYPE] = _message(topic, event, shown)
    found[DEAD_LETTER] = {
        "name": DEAD_LETTER,
        "summary": "A record that could not be processed: its bytes, key and headers, and why.",
        "headers": _ref("components", "schemas", "dead-letter-headers"),
        "payload": {"description": "the value of the record, whatever it was"},
        "bindings": _kafka(),
    }
    return found


def _message(topic: Topic, event: type[Event], examples: Sequence[Example]) -> dict[str, object]:
    return {
        "name": event.TYPE,
        "title": event.__name__,
        # Since Python 3.13 the compiler takes the indentation away.
        "summary": cleandoc(event.__doc__ or ""),
        "contentType": "application/json",
        "headers": _ref("components", "schemas", "accepted-headers" if topic.outside else "sent-headers"),
        "correlationId": {"location": "$message.header#/ce_correlationid"},
        "payload": {"$ref": f"./json/{file_name(event)}"},
        "bindings": _kafka(key={"type": "string", "description": KEYS[topic.key]}),
        "examples": [
            {"name": one.name, "summary": one.description, "headers": one.headers, "payload": one.value}
            for one in examples
        ],
    }


def _header_schemas() -> dict[str, object]:
    texts = _texts(HEADERS)
    letters = _texts(DEAD_LETTER_HEADERS)
    return {
        "sent-headers": {"type": "object", "properties": texts, "required": list(ALWAYS)},
        "accepted-headers": {"type": "object", "properties": texts},
        "dead-letter-headers": {
            "type": "object",
            "description": "the original headers, and these",
            "properties": letters,
            "required": [name for name in letters if name not in NOT_ON_ALL],
        },
    }


def _texts(meanings: Mapping[str, str]) -> dict[str, object]:
    return {name: {"type": "string", "description": meaning} for name, meaning in meanings.items()}


def _kafka(**fields: object) -> dict[str, object]:
    return {"kafka": {**fields, "bindingVersion": BINDING}}


def _ref(*path: str) -> dict[str, str]:
    return {"$ref": "#/" + "/".join(path)}
