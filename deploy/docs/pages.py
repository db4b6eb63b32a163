"""Generated pages for readers: the diagram of the flow, and the table of topics."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from deploy.docs.asyncapi import KEYS, StageRow
from schemas.json_schema import file_name
from schemas.topics import Topic

MADE = "<!-- Made by `make docs` from the topology and the schemas: change those, not this page. -->"


def flow_block(stages: Sequence[StageRow]) -> str:
    """The Mermaid diagram: topics are cylinders, stages are boxes, a frame is a group of several stages."""
    topics = dict.fromkeys(topic for stage in stages for topic in (*stage.reads, *stage.writes))
    lines = ["```mermaid", "flowchart LR"]
    lines += [f'  {_topic_id(topic)}[("{topic.name}")]' for topic in topics]
    arrows: list[str] = []
    for group in dict.fromkeys(stage.consumer_group for stage in stages):
        members = [stage for stage in stages if stage.consumer_group == group]
        lines += _boxes(group, members)
        arrows += _arrows(group, members)
    return "\n".join([*lines, *arrows, "```"])


def _boxes(group: str, members: Sequence[StageRow]) -> list[str]:
    boxes = [f'{_stage_id(stage)}["{stage.name}"]' for stage in members]
    if len(members) == 1:
        return [f"  {boxes[0]}"]
    return [f'  subgraph {_group_id(group)}["{group}"]', *(f"    {box}" for box in boxes), "  end"]


def _arrows(group: str, members: Sequence[StageRow]) -> list[str]:
    alike = len({(stage.reads, stage.writes) for stage in members}) == 1
    if alike and len(members) > 1:
        # One arrow to the frame stands for one to each box in it.
        ends = [(_group_id(group), members[0])]
    else:
        ends = [(_stage_id(stage), stage) for stage in members]
    read = [f"  {_topic_id(topic)} --> {end}" for end, stage in ends for topic in stage.reads]
    return read + [f"  {end} --> {_topic_id(topic)}" for end, stage in ends for topic in stage.writes]


def _group_id(group: str) -> str:
    return "g_" + group.replace(".", "_").replace("-", "_")


def _topic_id(topic: Topic) -> str:
    return "t_" + topic.name.replace(".", "_").replace("-", "_")


def _stage_id(stage: StageRow) -> str:
    return "s_" + stage.name.replace("-", "_")


def flow_page(stages: Sequence[StageRow]) -> str:
    """The page of stages, topics and consumer groups."""
    rows = [
        [f"`{stage.name}`", f"`{stage.consumer_group}`", _names(stage.reads), _names(stage.writes) or "stores"]
        for stage in stages
    ]
    return "\n".join(
        [
            "# The flow",
            "",
            MADE,
            "",
            "Cylinders are topics, boxes are stages; a frame is a consumer group that several stages share.",
            "What a stage cannot process goes to its dead-letter topic, `dead-letters.<stage>`.",
            "",
            flow_block(stages),
            "",
            *table(["Stage", "Consumer group", "Reads", "Writes"], rows),
            "",
        ]
    )


def topics_page(topics: Sequence[Topic], stages: Sequence[StageRow]) -> str:
    """The page of topics: content, retention, writers and readers."""
    rows = [
        [
            f"`{topic.name}`",
            topic.key,
            "<br>".join(f"[`{event.TYPE}`](../schemas/json/{file_name(event)})" for event in topic.events),
            _span(topic.retention),
            _parties(topic.outside, (stage.name for stage in stages if topic in stage.writes)),
            _parties(topic.name.endswith(".out"), (stage.name for stage in stages if topic in stage.reads)),
            topic.purpose,
        ]
        for topic in topics
    ]
    letters = [[f"`{stage.dead_letters}`", f"`{stage.name}`"] for stage in stages]
    return "\n".join(
        [
            "# Topics",
            "",
            MADE,
            "",
            "Names are dots and hyphens; `.in` is written and `.out` is read by outsiders. Keys:",
            "",
            *(f"- *{kind}*: {meaning}." for kind, meaning in KEYS.items()),
            "",
            "[`asyncapi.json`](../schemas/asyncapi.json) says the same to machines, with an example of every message.",
            "",
            *table(["Topic", "Key", "Events", "Kept", "Written by", "Read by", "What for"], rows),
            "",
            "## Dead letters",
            "",
            "One topic per stage: the record as it was, with headers that say what failed, where and why.",
            "",
            *table(["Topic", "Stage"], letters),
            "",
        ]
    )


def _names(topics: Iterable[Topic]) -> str:
    return "<br>".join(f"`{topic.name}`" for topic in topics)


def _parties(outsiders: bool, stages: Iterable[str]) -> str:
    return "<br>".join([*(["outsiders"] if outsiders else []), *(f"`{stage}`" for stage in stages)])


def _span(kept: timedelta) -> str:
    return f"{kept.days} days"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
