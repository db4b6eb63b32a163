"""What each verb prints with `--json`, and the JSON Schema of it.

Fields may be added in a later version: schemas are open.
"""

from collections.abc import Mapping
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Any, NotRequired

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from schemas.json_schema import DIALECT, Untitled, plain
from streams.edges.cli.evaluation import command as evaluation

SchemaDocument = TypedDict("SchemaDocument", {"$schema": str, "$id": str, "$defs": NotRequired[dict[str, object]]})
# It has whatever JSON Schema has.
SchemaDocument.__pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[attr-defined]
VerbNames = list[str]
OURS, ELSEWHERE = "streams.edges.cli.", ("schemas.", "streams.")
# By the words of the verb the types of what it prints, of which each line is one: modules are of the command, or named
# in full, and imported when a schema is asked for.
OUTPUTS: Mapping[str, str] = {
    "ask": "schemas.packs:ContextPack streams.edges.client.deep_answers:DeepReply",
    "assess": "schemas.assessment:Assessment",
    "audit export": "audit.show:EntriesExported",
    "audit head": "audit.chain:HeadShown",
    "audit seal": "audit.chain:LogSealed",
    "audit show": "streams.audit.entries:AuditEntry",
    "audit verify": "audit.chain:LogVerified",
    "bench": "doctor.bench:PackTimes",
    "config check": "config:SettingsChecked",
    "config show": "config:SettingsShown",
    "correct": "streams.edges.client.send:SentRecord",
    "demo": "demo.shapes:DemoLine",
    "dlq discard": "dlq.tables:LettersDone",
    "dlq list": "dlq.tables:LettersListed",
    "dlq redrive": "dlq.tables:LettersDone",
    "dlq show": "dlq.tables:LettersFound",
    "docs": "pages.command:PageText pages.command:PageTitles",
    "doctor": "doctor.command:DoctorReport",
    "erase": "erase:PersonErased",
    "eval answers": "evaluation.shapes:AnswerEvaluation",
    "eval packs": "evaluation.shapes:PackEvaluation",
    "eval predict": "evaluation.shapes:TaskPrediction",
    "eval report": "evaluation.shapes:ScoreReport",
    "explain": "streams.explanations.explanation:Explanation",
    "feedback": "streams.edges.client.send:SentRecord",
    "forget": "streams.edges.client.send:SentRecord forget:DocumentMeant forget:ConversationsErased",
    "import": "ingest.past:ExportSkipped ingest.past:ImportTotals",
    "ingest": "ingest.run:DocumentSent ingest.run:FileSkipped ingest.run:IngestTotals",
    "lag": "streams.edges.operations.lag:GroupLagShown",
    "layout": "cluster.layout:LayoutFound",
    "list conversations": "streams.edges.operations.conversations:ConversationsShown",
    "list documents": "streams.edges.operations.documents:DocumentsShown",
    "list users": "streams.edges.operations.conversations:UsersShown",
    "list uses": "streams.edges.operations.documents:UsesShown",
    "mcp": "serve:ServerReady",
    "memory add": "streams.edges.http.endpoints.memories:MemoryTaken",
    "memory confirm": "streams.edges.http.endpoints.memories:MemoryEdited",
    "memory correct": "streams.edges.http.endpoints.memories:MemoryEdited",
    "memory delete": "streams.edges.http.endpoints.memories:MemoryEdited",
    "memory list": "streams.edges.operations.memories:MemoriesShown",
    "memory search": "streams.edges.operations.memories:MemoriesShown",
    "memory show": "streams.edges.operations.memories:MemoryShown",
    "profile set": "streams.edges.client.send:SentRecord",
    "profile show": "schemas.memory:Profile",
    "quarantine": "quarantine.lines:SourceUsage quarantine.lines:QuarantineLifted",
    "quarantine list": "quarantine.lines:QuarantinesShown",
    "quarantine report": "quarantine.lines:SourceUsage",
    "replay": "replay.rebuild:ReplayPlanned replay.remake:PacksRemade replay.rebuild:StoresRebuilt "
    "replay.runs:ReplayEnded",
    "replay clean": "replay.runs:ReplayCleaned",
    "replay diff": "streams.edges.operations.replays:ReplayCompared",
    "replay list": "streams.edges.operations.replays:ReplayListed",
    "schema check": "schema:ValueRefused",
    "schema diff": "schema:EventChange",
    "schema gen": "schema:SchemasWritten",
    "schema list": "schema:EventListed",
    "schema output": "outputs:SchemaDocument outputs:VerbNames",
    "schema publish": "schema:SubjectPublished",
    "schema show": "outputs:SchemaDocument",
    "search": "schemas.retrieval:SearchMade",
    "send": "streams.edges.client.send:SentRecord",
    "serve": "serve:ServerReady",
    "tail": "tail:RecordShown",
    "tool call": "streams.edges.client.in_english:CallVerdict",
    "tool confirm": "streams.edges.client.in_english:CallVerdict",
    "tool list": "tool:ToolListed",
    "tool result": "streams.edges.client.send:SentRecord",
    "topics apply": "cluster.topics:TopicStep",
    "topics plan": "cluster.topics:TopicStep",
    "up": "up:ProcessReady",
    "worker": "up:ProcessReady",
}


def file_name(verb: str) -> str:
    """`<words of the verb>.schema.json`"""
    return f"{verb.replace(' ', '-')}.schema.json"


def schema_of(verb: str) -> dict[str, object]:
    """The schema of a line that a verb prints with --json."""
    types = reduce(or_, map(_type, OUTPUTS[verb].split()))
    made = TypeAdapter(types).json_schema(mode="serialization", schema_generator=Untitled)
    own = {"$schema": DIALECT, "$id": file_name(verb), "description": f"a line of `fathom {verb} --json`"}
    return {**own, **plain(made, closed=False)}


def _type(place: str) -> Any:
    module, _, name = place.partition(":")
    if module == "evaluation.shapes":
        return getattr(evaluation.shapes, name)
    return getattr(import_module(module if module.startswith(ELSEWHERE) else OURS + module), name)
