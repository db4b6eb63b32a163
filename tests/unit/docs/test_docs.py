"""The generated documents: fresh, whole, and true of the topology."""

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deploy.docs import generate, pages, proofs
from deploy.docs.asyncapi import sent
from deploy.docs.types import model
from schemas import json_schema
from schemas.topics import AUDIT_HEADS, BY_NAME, PACKS_PARTIAL, TOPICS
from streams.edges.http.app import api
from streams.kafka.topics_plan import wanted
from streams.topology import NAMED, STAGES
from tests.builders.event_schemas import schema_of
from tests.builders.http_server import document

ROOT = generate.ROOT
# What follows from the code alone is the same for every checkout, and is made once.
ONCE = (
    (json_schema, "schema_of", schema_of),
    (api, "document", document),
    (model, "wire_types", cache(model.wire_types)),
)


def documents(root: Path) -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name, made in ONCE:
            patch.setattr(module, name, made)
        return generate.documents(root)


MADE = documents(ROOT)
API: dict[str, Any] = json.loads(MADE["schemas/asyncapi.json"])
CHANNELS, OPERATIONS, MESSAGES = API["channels"], API["operations"], API["components"]["messages"]
# The fields that AsyncAPI 3.0 and its Kafka bindings 0.5.0 know, of what we use.
KNOWN = {
    "document": {"asyncapi", "id", "info", "servers", "defaultContentType", "channels", "operations", "components"},
    "channel": {"address", "messages", "title", "summary", "description", "servers", "parameters", "tags", "bindings"},
    "operation": {"action", "channel", "title", "summary", "description", "security", "tags", "bindings", "messages"},
    "message": {
        *("headers", "payload", "correlationId", "contentType", "name", "title", "summary", "description"),
        *("tags", "bindings", "examples", "traits"),
    },
    "example": {"headers", "payload", "name", "summary"},
    "channel binding": {"topic", "partitions", "replicas", "topicConfiguration", "bindingVersion"},
    "operation binding": {"groupId", "clientId", "bindingVersion"},
    "message binding": {"key", "schemaIdLocation", "schemaIdPayloadEncoding", "schemaLookupStrategy", "bindingVersion"},
}


def pointed_at(reference: str) -> Any:
    """What a `$ref` of the document means: a part of it, or a file beside it."""
    path, _, pointer = reference.partition("#")
    if path:
        return json.loads(MADE[f"schemas/{path.removeprefix('./')}"])
    found: Any = API
    for step in pointer.removeprefix("/").split("/"):
        found = found[step]
    return found


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for name, part in node.items():
            if name != "examples":
                yield from references(part)
    elif isinstance(node, list):
        for part in node:
            yield from references(part)


# --- fresh --------------------------------------------------------------------------------------------------------


def test_the_documents_of_this_checkout_are_fresh() -> None:
    assert generate.stale(ROOT, MADE) == [], "make docs"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the documents are made from, and the documents."""
    for module, name, made in ONCE:
        monkeypatch.setattr(module, name, made)
    shutil.copytree(ROOT / "schemas" / "examples", tmp_path / "schemas" / "examples")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests/proofs").mkdir(parents=True)
    for source in (proofs.ROWS, proofs.RESULTS):
        shutil.copy(ROOT / source, tmp_path / source)
    generate.write(tmp_path, MADE)
    return tmp_path


def test_a_check_of_fresh_documents_says_nothing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"], root=checkout) == 0
    assert capsys.readouterr() == ("", "")


def test_a_check_names_what_is_stale_missing_or_left_over_and_changes_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "docs" / "topics.md").write_text("old")
    (checkout / "docs" / "flow.md").unlink()
    (checkout / "schemas" / "json" / "chat.gone.v1.schema.json").write_text("{}")
    stale = ["docs/flow.md", "docs/topics.md", "schemas/json/chat.gone.v1.schema.json"]
    assert generate.main(["--check"], root=checkout) == 1
    assert capsys.readouterr() == ("", "".join(f"stale: {path}\n" for path in stale))
    assert (checkout / "docs" / "topics.md").read_text() == "old"


def test_making_the_documents_mends_what_a_check_found(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "docs" / "topics.md").write_text("old")
    (checkout / "schemas" / "json" / "chat.gone.v1.schema.json").write_text("{}")
    assert generate.main([], root=checkout) == 0
    assert "made: docs/topics.md\n" in capsys.readouterr().out
    assert generate.stale(checkout, MADE) == []
    assert not (checkout / "schemas" / "json" / "chat.gone.v1.schema.json").exists()


def test_a_changed_example_makes_the_document_stale(checkout: Path) -> None:
    [path] = (checkout / "schemas" / "examples" / "memory.summaries").glob("*.json")
    path.write_text(path.read_text().replace("Ana corrigiu", "Ana mudou"))
    assert generate.stale(checkout, generate.documents(checkout)) == ["schemas/asyncapi.json"]


# --- AsyncAPI: whole ------------------------------------------------------------------------------------------------


def test_every_reference_of_the_document_leads_somewhere() -> None:
    found = set(references(API))
    assert len(found) > 50
    for reference in found:
        assert pointed_at(reference), reference


def test_every_object_has_its_required_fields_and_none_that_asyncapi_does_not_know() -> None:
    assert API["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= set(API["info"])
    assert set(API) <= KNOWN["document"]
    for channel in CHANNELS.values():
        assert set(channel) <= KNOWN["channel"]
    for operation in OPERATIONS.values():
        assert {"action", "channel"} <= set(operation) <= KNOWN["operation"]
        assert operation["action"] in ("send", "receive")
    for message in MESSAGES.values():
        assert set(message) <= KNOWN["message"]
        assert message.get("correlationId", {"location": "$message.header#/x"})["location"].startswith("$message.")
        assert all({"payload"} <= set(example) <= KNOWN["example"] for example in message.get("examples", []))


@pytest.mark.parametrize(
    ("kind", "objects"),
    [("channel", CHANNELS), ("operation", OPERATIONS), ("message", MESSAGES)],
    ids=["channels", "operations", "messages"],
)
def test_every_binding_is_kafkas_of_version_0_5_0(kind: str, objects: dict[str, Any]) -> None:
    for name, one in objects.items():
        if kind == "operation" and one["action"] == "send":
            continue
        assert set(one["bindings"]) == {"kafka"}, name
        assert set(one["bindings"]["kafka"]) <= KNOWN[f"{kind} binding"], name
        assert one["bindings"]["kafka"]["bindingVersion"] == "0.5.0", name


def test_every_topic_and_dead_letter_topic_is_a_channel_as_it_is_created() -> None:
    assert {channel["address"] for channel in CHANNELS.values()} == {topic.name for topic in wanted(12)}
    for topic in wanted(12):
        kafka = CHANNELS[topic.name]["bindings"]["kafka"]
        assert kafka["partitions"] == 12
        assert kafka["topicConfiguration"] == {
            "cleanup.policy": ["delete"],
            "retention.ms": topic.retention_ms,
            "max.message.bytes": int(topic.config["max.message.bytes"]),
        }


def test_an_operation_names_only_messages_of_its_channel() -> None:
    for name, operation in OPERATIONS.items():
        channel = operation["channel"]["$ref"]
        assert operation["messages"], name
        assert all(message["$ref"].startswith(f"{channel}/messages/") for message in operation["messages"]), name


def test_every_event_has_a_message_with_its_schema_its_key_and_an_example_that_is_valid() -> None:
    for topic in TOPICS:
        for event in topic.events:
            message = MESSAGES[event.TYPE]
            assert message["payload"] == {"$ref": f"./json/{event.TYPE}.schema.json"}
            assert message["bindings"]["kafka"]["key"]["type"] == "string"
            payload = Draft202012Validator(pointed_at(message["payload"]["$ref"]))
            headers = Draft202012Validator(pointed_at(message["headers"]["$ref"]))
            assert message["examples"]
            for example in message["examples"]:
                payload.validate(example["payload"])
                headers.validate(example["headers"])


def test_what_fathom_sends_always_has_the_headers_of_a_cloudevent_and_what_it_takes_may_have_none() -> None:
    schemas = API["components"]["schemas"]
    assert {"ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time"} <= set(schemas["sent-headers"]["required"])
    assert "required" not in schemas["accepted-headers"]
    accepted = {name for name, one in MESSAGES.items() if one["headers"]["$ref"].endswith("/accepted-headers")}
    assert accepted == {event.TYPE for topic in TOPICS if topic.outside for event in topic.events}


# --- true of the topology -------------------------------------------------------------------------------------------


def test_every_stage_receives_what_it_reads_in_its_group_and_sends_what_it_writes() -> None:
    expected = {}
    for stage in NAMED.values():
        expected |= {f"{stage.name}.receive.{topic.name}": stage.consumer_group for topic in stage.reads}
        expected |= dict.fromkeys((f"{stage.name}.send.{topic.name}" for topic in stage.writes), None)
        expected[f"{stage.name}.send.{stage.dead_letters}"] = None
    found = {
        name: operation["bindings"]["kafka"]["groupId"]["enum"][0] if operation["action"] == "receive" else None
        for name, operation in OPERATIONS.items()
    }
    assert found == expected
    for name, operation in OPERATIONS.items():
        stage, action, topic = name.split(".", 2)
        assert (operation["action"], operation["channel"]["$ref"]) == (action, f"#/channels/{topic}"), stage


def test_every_event_of_an_inside_topic_is_sent_by_somebody() -> None:
    sending = {event for stage in NAMED.values() for topic in stage.writes for event in sent(stage, topic)}
    inside = {event for topic in TOPICS if not topic.outside for event in topic.events}
    # `fathom audit seal` writes them, beside the stages.
    assert inside - sending == {*AUDIT_HEADS.events}
    assert sending <= inside


def test_three_parties_write_one_kind_of_partial_each() -> None:
    kinds = {stage.name: [event.TYPE for event in sent(stage, PACKS_PARTIAL)] for stage in NAMED.values()}
    assert kinds["planner"] == ["retrieval.join-opened.v1"]
    assert kinds["assembler"] == ["retrieval.join-ticked.v1"]
    assert kinds["retrieval-claims"] == ["retrieval.part-found.v1", "retrieval.parts-found.v1"]


def readers(topic: str) -> set[str]:
    return {stage.name for stage in NAMED.values() if BY_NAME[topic] in stage.reads}


def writers(topic: str) -> set[str]:
    return {stage.name for stage in NAMED.values() if BY_NAME[topic] in stage.writes}


@pytest.mark.covers("CD-04", "CD-05")
def test_the_depth_stage_reads_messages_and_sends_classifications() -> None:
    assert readers("messages.in") == writers("depth.classified") == {"depth"}
    assert writers("messages.in") == set()
    assert BY_NAME["messages.in"].outside


@pytest.mark.covers("CD-06")
def test_one_retrieval_stage_per_class_of_memory_reads_plans_and_sends_parts() -> None:
    classes = ("working-set", "persona", "episodic", "semantic", "procedural", "claims")
    retrievers = {f"retrieval-{name}" for name in classes}
    assert readers("retrieval.plans") == {*retrievers, "cognition"}
    assert writers("packs.partial") == {*retrievers, "retrieval", "planner", "assembler"}


@pytest.mark.covers("CD-07")
def test_the_assembler_joins_parts_into_packs() -> None:
    assert readers("packs.partial") == writers("context-packs.out") == {"assembler"}


@pytest.mark.covers("CD-08")
def test_decisions_claims_and_corrections_are_read_by_their_writers() -> None:
    for topic in ("memory.decisions", "memory.claims", "memory.corrections"):
        assert writers(topic), topic
        kind = topic.removeprefix("memory.").removesuffix("s")
        assert readers(topic) - {"weight-writer"} == {f"{kind}-writer"}


# --- pages ----------------------------------------------------------------------------------------------------------


def test_the_picture_shows_every_stage_once_and_every_topic_once() -> None:
    picture = pages.flow_block(STAGES)
    for stage in STAGES:
        assert picture.count(f'["{stage.name}"]') == 1
    for topic in TOPICS:
        assert picture.count(f'[("{topic.name}")]') == (topic != AUDIT_HEADS)


def test_the_arrows_of_the_picture_lead_from_and_to_what_is_in_it() -> None:
    lines = pages.flow_block(STAGES).splitlines()
    shown = {line.removeprefix("  subgraph ").strip().partition("[")[0] for line in lines if "[" in line}
    ends = {end.strip() for line in lines if "-->" in line for end in line.split("-->")}
    assert ends <= shown
    assert {name for name in shown if not name.startswith("g_")} - ends <= {
        name for name in shown if name.startswith("s_retrieval_")
    }


def test_the_table_of_topics_names_every_topic_with_its_events_and_its_time() -> None:
    page = MADE["docs/topics.md"]
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in page.splitlines() if line.startswith("| `")}
    for topic in TOPICS:
        row = rows[f"`{topic.name}`"]
        assert f"{topic.retention.days} days" in row
        assert all(event.TYPE in row for event in topic.events)
        assert topic.purpose in row
    assert all(f"`{stage.dead_letters}`" in rows for stage in NAMED.values())


@pytest.mark.parametrize("path", ["docs/topics.md", "docs/flow.md"])
def test_the_links_of_a_page_lead_to_files(path: str) -> None:
    links = [part.partition(")")[0] for part in MADE[path].split("](")[1:]]
    for link in links:
        assert (ROOT / path).parent.joinpath(link).resolve().is_file(), link
