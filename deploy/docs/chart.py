"""What the Helm chart needs to know of the topology: groups with their rights, topics with their settings."""

from typing import Any

from streams.config import Settings
from streams.kafka.topics_plan import TopicSpec, wanted
from streams.runtime import access
from streams.runtime.access import Rights
from streams.topology import LAYOUTS, groups_of

PATH = "deploy/helm/fathom/files/plan.json"


def plan() -> dict[str, Any]:
    """The groups of each layout in their order, the rights beside them, and all topics, dead letters included."""
    return {
        "made": "by `make docs` from the topology: change that, not this file",
        "layouts": {layout: [_group(name, layout) for name in groups_of(LAYOUTS[layout])] for layout in LAYOUTS},
        "serve": _rights(access.of_serve()),
        "seal": _rights(access.of_seal()),
        # An operator's, for whom the chart makes no user.
        "layout": _rights(access.of_layout()),
        "topics": [_topic(topic) for topic in wanted(Settings.model_fields["partitions"].default)],
    }


def _group(name: str, layout: str) -> dict[str, Any]:
    stages = [stage for stage in LAYOUTS[layout] if stage.group_name == name]
    return {
        "name": name,
        "consumerGroup": stages[0].consumer_group,
        "stages": [stage.name for stage in stages],
        "reads": sorted({topic.name for stage in stages for topic in stage.consumes}),
        # A process of its own beside the worker holds the sentence encoder.
        "encoder": any(stage.passages for stage in stages),
        "acls": _rights(access.of_group(name, layout)),
    }


def _rights(given: Rights) -> list[dict[str, Any]]:
    """In the words of Strimzi's `KafkaUser`."""
    rules = [_rule("topic", name, operations) for name, operations in given.topics.items()]
    return [*rules, *(_rule("group", name, operations) for name, operations in given.groups.items())]


def _rule(kind: str, name: str, operations: tuple[str, ...]) -> dict[str, Any]:
    return {"resource": {"type": kind, "name": name, "patternType": "literal"}, "operations": list(operations)}


def _topic(topic: TopicSpec) -> dict[str, Any]:
    # How many replicas have to answer follows from how many there are: the chart says it.
    config = {name: value for name, value in topic.config.items() if name != "min.insync.replicas"}
    return {"name": topic.name, "config": config}
