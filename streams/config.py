"""One frozen tree of settings, read once from the environment and flags, passed down.

An unknown `FATHOM_…` or `RAG_…` name or a bad value is an error that names the nearest known one: a misspelled
setting that is silently ignored is the worst kind.
"""

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from agents.core.packs.planning import Limits
from agents.core.packs.tiers import with_latencies
from agents.ports.cognition import CognitionOptions
from schemas.assessment import ModelTier
from schemas.base import DEFAULT_TENANT, sentence_of
from schemas.cognition import CognitionFlags, CognitionLimits
from schemas.depth import DepthLevel

PREFIX = "FATHOM_"
# Read elsewhere: by tests, by the command, by the client libraries.
OTHERS_BEGIN = ("FATHOM_TEST_",)
OTHERS = {"FATHOM_KAFKA_LIBS", "FATHOM_SETTINGS", "FATHOM_URL", "FATHOM_TOKEN", "FATHOM_TOKEN_FILE"}
# Cognition's settings keep the names of its specification: the field in capitals, without the prefix.
COGNITION = "RAG_"
UNPREFIXED = frozenset({"max_llm_calls_per_request"})
REMOVED = {
    "RAG_COGRAG_SIMILARITY_THRESHOLD": "is no setting: evidence is kept by its probability to answer; take it out",
    "FATHOM_SKIP_REPEATED_ITEMS": "is gone: a caller names the packs it still holds in `have`; take the setting out",
}
# Opened with a worker where set (`streams.models.open`).
LLM = ("llm_url", "llm_api_key_file", "llm_model_fast", "llm_model_standard", "llm_model_advanced", "llm_uses")
MODELS = (*LLM, "expansion_engine", "narrator")


class ConfigError(Exception):
    """An unknown or invalid setting; the text says which, why, and what to write instead."""


class Settings(BaseSettings):
    """Every setting with its default; the environment name is `FATHOM_` and the field in capitals."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    broker: str = Field("embedded://.fathom/broker", description="embedded://DIR or host:port[,host:port…]")
    redis_url: str = Field("embedded://.fathom/valkey", description="embedded://DIR, memory:// or redis://…")
    qdrant_url: str = Field("embedded://.fathom/index", description="embedded://DIR, memory:// or http://…")
    qdrant_api_key_file: Path | None = Field(None, description="a file that holds the Qdrant server's API key")
    neo4j_url: str = Field("embedded://.fathom/graph", description="embedded://DIR, memory:// or bolt://…")
    neo4j_user: str = "neo4j"
    neo4j_password_file: Path | None = Field(None, description="a file that holds the password of neo4j_user")
    embedder: Literal["use", "hashing"] = Field("use", description="sentence vectors; hashing is for tests")
    public_writer: bool = Field(False, description="this worker stores documents of _public, which all tenants read")
    partitions: int = Field(12, ge=1, le=1000)
    replication: int = Field(1, ge=1, le=9)
    create_topics: bool = Field(True, description="workers create missing topics; off: they say what is missing")
    instance_id: str | None = Field(None, description="static group membership, one value per replica")
    kafka_security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="of every connection to FATHOM_BROKER"
    )
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    kafka_user: str | None = Field(None, description="who we are to SASL_…")
    kafka_password_file: Path | None = Field(None, description="a file that holds the password of kafka_user")
    kafka_ca_file: Path | None = Field(None, description="PEM certificates to trust; else the system's")
    kafka_cert_file: Path | None = Field(None, description="PEM certificate of ours, for mTLS")
    kafka_key_file: Path | None = Field(None, description="PEM key of kafka_cert_file, without a password")
    subject_keys: str | None = Field(
        None, description="keys of persons, embedded://DIR or redis://…: what is written of each is encrypted, erasable"
    )
    master_key_file: Path | None = Field(None, description="a file of 32 bytes in base64 that wraps the keys")
    plain_topics: str = Field("", description="topics, with commas, that stay plain though subject_keys is set")
    otlp_url: str | None = Field(None, description="collector of traces, http://HOST:4318/v1/traces; without it none")

    history_window: int = Field(10, ge=0, le=200)
    classify_timeout_ms: int = Field(100, ge=1, description="a message's depth, what a language model says included")
    llm_min_confidence: float = Field(0.6, ge=0, le=1, description="a depth less sure than this is asked of the model")
    llm_url: str | None = Field(None, description="OpenAI-compatible endpoint, https://HOST/v1; without it no model")
    llm_api_key_file: Path | None = Field(None, description="a file that holds the endpoint's API key")
    llm_model_fast: str | None = Field(None, description="the endpoint's name of its fast model; needed with llm_url")
    llm_model_standard: str | None = Field(None, description="else the fast one")
    llm_model_advanced: str | None = Field(None, description="else the standard one")
    llm_uses: str | None = Field(None, description="what else it does, with commas: rewrite, rerank, extract")
    llm_wait_ms: int = Field(300, ge=1, description="rewrite and rerank go on without the model after so long")
    expansion_engine: str | None = Field(None, description="package.module:factory of an engine for assessments")
    narrator: str | None = Field(None, description="package.module:factory of a narrator that words answers")
    max_tokens_d0: int = Field(500, ge=100)
    max_tokens_d1: int = Field(700, ge=100)
    max_tokens_d2: int = Field(2000, ge=100)
    max_tokens_d3: int = Field(2000, ge=100)
    max_tokens_d4: int = Field(1000, ge=100)
    pack_deadline_ms_d0: int = Field(1000, ge=50, description="a caller's wait_ms goes before these")
    pack_deadline_ms_d1: int = Field(1000, ge=50)
    pack_deadline_ms_d2: int = Field(2000, ge=50)
    pack_deadline_ms_d3: int = Field(2000, ge=50)
    pack_deadline_ms_d4: int = Field(2000, ge=50)
    retrieval_share: float = Field(0.8, gt=0, le=1, description="of the time to a deadline, what one memory may take")
    tier_minimal_max_latency_ms: int = Field(200, ge=50, description="deadline of messages with tier=minimal")
    tier_standard_max_latency_ms: int = Field(2000, ge=50)
    tier_deep_max_latency_ms: int = Field(10000, ge=50)
    pack_revisions: bool = Field(False, description="a late part gives its pack again, as its next revision")
    look_up: Literal["auto", "never"] = Field("auto", description="never: D0 and D1 search no documents or past talks")
    context_policy: Path | None = Field(None, description="how long conversations are kept; else the shipped one")
    tool_policy: Path | None = Field(None, description="contracts of tools; else the shipped ones")
    reference_policy: Path | None = Field(None, description="kinds of references in messages; else the shipped ones")
    profile_policy: Path | None = Field(None, description="what query profiles ask memory for; else the shipped ones")
    pack_policy: Path | None = Field(None, description="what callers may ask of packs; else the shipped bounds")
    lexicons: Path | None = Field(None, description="a folder of word lists that are added to the shipped ones")
    assessment_policy: Path | None = Field(None, description="tools that an assessment advises; else those over MCP")

    reference_wait_ms: int = Field(5_000, ge=0, description="how long a correction waits before writers are asked")
    tool_wait_ms: int = Field(200, ge=0, description="how long a tool call waits for a result that sets its context")

    compression: Literal["none", "gzip", "lz4", "zstd"] | None = Field(None, description="else zstd; on Kafka none")
    layout: Literal["chained", "split"] = Field("chained", description="of the pack path; see `fathom layout`")
    commit_interval_ms: int = Field(500, ge=10)
    session_timeout_ms: int = Field(10_000, ge=1_000)
    max_in_flight: int = Field(1_000, ge=1, description="records a stage handles at a time, at most")
    max_waiting_mb: int = Field(
        16, ge=0, description="messages read ahead in an overload, so that tenants take turns; 0: none"
    )
    cache_mb: int = Field(112, ge=16, description="MiB that all caches of a process may take together")
    max_crashes: int = Field(4, ge=0, description="processes that may die of a record; then a dead letter, 0: never")
    dlq_max_consecutive: int = Field(500, ge=1, description="dead letters in a row that stop a stage")
    dlq_max_ratio: float = Field(0.9, gt=0, le=1, description="share of dead letters of the last 2,000 records")
    canary_every_s: float = Field(0, ge=0, le=86_400, description="seconds between timed questions of ours; 0: none")
    http_host: str = "127.0.0.1"
    http_port: int = Field(0, ge=0, le=65535, description="health and metrics; 0 picks a free port")
    http_names: str = Field("", description="names, with commas, by which health, metrics and console are called")
    mcp_tenant: str = Field(DEFAULT_TENANT, description="whose memory `fathom mcp` on stdio asks")
    mcp_client: str = Field("mcp", description="which application asks over MCP on stdio")
    mcp_user: str | None = Field(None, description="who asks over MCP on stdio; the client by default")
    mcp_tokens_file: Path | None = Field(None, description="JSON of bearer tokens for `fathom mcp --http`, and whose")
    mcp_origins: str = Field("", description="web origins, with commas, that may call `fathom mcp --http`")
    mcp_console_url: str | None = Field(None, description="the console that answers link to; else that of `up`")
    mcp_calls_per_minute: int = Field(600, ge=1, description="MCP calls of one caller; more are told to wait")
    ask_tokens_file: Path | None = Field(None, description="JSON of bearer tokens for `fathom serve`, and whose")
    ask_origins: str = Field("", description="web origins, with commas, that may call `fathom serve`")
    ask_calls_per_minute: int = Field(6_000, ge=1, description="requests of one token; more are told when to try again")
    ask_timeout_ms: int = Field(10_000, ge=100, description="how long `/ask` waits where the caller names no time")
    ask_deep_timeout_ms: int = Field(30_000, ge=100, description="how long a call with `deep=true` waits")
    ask_most_waiting: int = Field(1_000, ge=1, description="questions that wait for an answer at a time")
    events_most_streams: int = Field(100, ge=1, description="open streams of `GET /events` of one tenant")
    upstream_url: str | None = Field(None, description="the model behind `/v1`: OpenAI-compatible, https://HOST/v1")
    upstream_key_file: Path | None = Field(None, description="a file that holds the API key for upstream_url")
    upstream_max_bytes: int = Field(1_000_000, ge=1_000, le=32_000_000, description="largest body of a `/v1` request")
    upstream_user_header: str = Field("X-OpenWebUI-User-Id", description="a front-end's header on who asks `/v1`")
    upstream_wait_ms: int = Field(3_000, ge=1, description="how long `/v1` waits for a pack, or a call's verdict")
    upstream_timeout_ms: int = Field(600_000, ge=100, description="how long the model behind `/v1` may be silent")
    mcp_timeout_ms: int = Field(10_000, ge=100, description="how long an MCP call waits for a pack or reads the log")
    rag_enable_cograg: bool = Field(False, description="answer complex questions by cognition, beside their packs")
    rag_cograg_max_depth: int = Field(3, ge=1, le=3, description="levels of sub-questions")
    rag_cograg_max_children: int = Field(4, ge=2, le=4, description="sub-questions of one question")
    rag_cograg_complexity_threshold: float = Field(0.5, ge=0, le=1, description="questions below it get only a pack")
    rag_cograg_similarity_threshold: float = Field(
        0.0, ge=0, le=1, description="the least cosine of a passage that only its vector speaks for"
    )
    rag_cograg_theme_retrieval_enabled: bool = Field(False, description="look for evidence by themes, too")
    rag_cograg_evidence_refinement_enabled: bool = Field(False, description="discard evidence, find conflicts in it")
    rag_cograg_memory_enabled: bool = Field(False, description="keep what was asked and answered")
    rag_cograg_abstain_mode: bool = Field(True, description="off: what the verifier rejects is delivered, and flagged")
    rag_cograg_abstain_threshold: float = Field(0.3, ge=0, le=1, description="an answer less sure than this abstains")
    rag_cograg_verification_enabled: bool = Field(False, description="answer and check each claim; off: only evidence")
    rag_cograg_max_rethink_attempts: int = Field(1, ge=0, le=2, description="rounds that the verifier may send back")
    rag_cograg_hallucination_loop: bool = Field(False, description="search again where a claim lacks evidence")
    rag_cograg_model_tier: ModelTier = Field(
        "fast",
        description="nodes that ask the model of llm_url; fast: none, standard: planner, reasoner, advanced: all",
    )
    rag_cograg_decomposer_model: str = Field(
        "gemini-2.0-flash", description="the endpoint's model that divides questions"
    )
    rag_cograg_response_model: str | None = Field(
        None, description="the endpoint's model that answers sub-questions; else the standard one"
    )
    rag_cograg_verification_model: str = Field("gemini-2.0-flash", description="the endpoint's model that checks")
    max_llm_calls_per_request: int = Field(20, ge=1, description="calls of a language model of one run of cognition")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "json", "text"] = "auto"

    @classmethod
    def settings_customise_sources(  # type: ignore[override]
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  (the library's signature)
        init_settings: PydanticBaseSettingsSource,
        **_: object,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use only the values passed by `load`, which reads the environment and refuses unknown names."""
        return (init_settings,)

    @field_validator("*", mode="before")
    @classmethod
    def _on_off(cls, value: object, about: ValidationInfo) -> object:
        if cls.model_fields[about.field_name or ""].annotation is not bool or not isinstance(value, str):
            return value
        return {"on": True, "off": False}.get(value.lower(), value)

    @field_validator("broker")
    @classmethod
    def _broker(cls, value: str) -> str:
        if value.startswith("embedded://"):
            return value
        if "://" in value:
            raise ValueError("a broker's address has no scheme; write host:port")
        for server in value.split(","):
            host, _, port = server.strip().rpartition(":")
            if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
                raise ValueError("write embedded://DIR, or host:port with commas between servers")
        return value

    @field_validator("otlp_url")
    @classmethod
    def _collector(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"https?://[^/\s]+(/\S*)?", value):
            raise ValueError("write http://HOST:4318/v1/traces, where the collector takes OTLP over HTTP")
        return value

    def name_models(self) -> bool:
        """Whether an operator's model, engine or narrator is configured."""
        return self.rag_cograg_model_tier != "fast" or any(getattr(self, name) is not None for name in MODELS)

    def cognition(self) -> CognitionOptions:
        """Whether complex questions are answered, and how."""
        return CognitionOptions(
            enabled=self.rag_enable_cograg,
            flags=CognitionFlags(
                theme=self.rag_cograg_theme_retrieval_enabled,
                refinement=self.rag_cograg_evidence_refinement_enabled,
                memory=self.rag_cograg_memory_enabled,
                abstain=self.rag_cograg_abstain_mode,
                verification=self.rag_cograg_verification_enabled,
                hallucination_loop=self.rag_cograg_hallucination_loop and self.rag_cograg_verification_enabled,
            ),
            limits=CognitionLimits(
                max_depth=self.rag_cograg_max_depth,
                max_children=self.rag_cograg_max_children,
                max_rethink=self.rag_cograg_max_rethink_attempts,
                max_llm_calls=self.max_llm_calls_per_request,
                complexity_threshold=self.rag_cograg_complexity_threshold,
                abstain_threshold=self.rag_cograg_abstain_threshold,
                similarity_threshold=self.rag_cograg_similarity_threshold,
            ),
        )

    def limits(self) -> Limits:
        """Token budgets and deadlines per level, and the caps of the tiers."""
        return Limits(
            max_tokens={level: getattr(self, f"max_tokens_{level.value.lower()}") for level in DepthLevel},
            deadline_ms={level: getattr(self, f"pack_deadline_ms_{level.value.lower()}") for level in DepthLevel},
            look_up=self.look_up == "auto",
            tiers=with_latencies(
                {
                    "minimal": self.tier_minimal_max_latency_ms,
                    "standard": self.tier_standard_max_latency_ms,
                    "deep": self.tier_deep_max_latency_ms,
                }
            ),
        )


def environment_name(field: str) -> str:
    """The environment name of a setting."""
    name = field.upper()
    return name if name.startswith(COGNITION) or field in UNPREFIXED else PREFIX + name


def load(environment: Mapping[str, str] | None = None, **overrides: object) -> Settings:
    """The settings of an environment; `overrides` (flags) win. Raises `ConfigError`."""
    return load_changed({}, environment, **overrides)


def load_changed(
    changed: Mapping[str, str], environment: Mapping[str, str] | None = None, **overrides: object
) -> Settings:
    """The settings of an environment; `changed` names replace its own, flags win over both. Raises `ConfigError`."""
    found = dict(os.environ if environment is None else environment)
    settings, wrong = _read(found | dict(changed), overrides)
    if settings is None:
        raise ConfigError(wrong[0])
    return settings


def add_to_environment(found: Mapping[str, str]) -> None:
    """Set what the environment does not, for this process and those that it starts."""
    for name, text in found.items():
        os.environ.setdefault(name, text)


def faults(environment: Mapping[str, str] | None = None) -> list[str]:
    """All that `load` would refuse, a sentence each."""
    return _read(dict(os.environ if environment is None else environment), {})[1]


def _read(found: Mapping[str, str], overrides: Mapping[str, object]) -> tuple[Settings | None, list[str]]:
    fields = {environment_name(name): name for name in Settings.model_fields}
    known = set(fields)
    wrong = [
        f"{name} {REMOVED[name]}" if name in REMOVED else f"unknown setting {name}{_nearest(name, known)}"
        for name in sorted(found)
        if name.startswith((PREFIX, "RAG_")) and not (name in known | OTHERS or name.startswith(OTHERS_BEGIN))
    ]
    values: dict[str, Any] = {fields[name]: text for name, text in found.items() if name in fields}
    flags = {name: value for name, value in overrides.items() if value is not None}
    values.update(flags)
    for name in [name for name, value in values.items() if value == "" and Settings.model_fields[name].default != ""]:
        wrong.append(f"{environment_name(name)} is empty; give it a value, or unset it")
        del values[name]
    try:
        settings = Settings(**values)
    except ValidationError as error:
        wrong += [_fault(each, flags) for each in error.errors(include_url=False, include_context=False)]
        return None, wrong
    return (None if wrong else settings), wrong


def _fault(fault: Mapping[str, Any], flags: Mapping[str, object]) -> str:
    field = str(fault["loc"][0]) if fault["loc"] else ""
    hint = Settings.model_fields[field].description if field in Settings.model_fields else None
    # The one setting that is also an option of commands.
    name = "--broker" if field == "broker" and field in flags else environment_name(field)
    why = sentence_of(fault)
    return f"{name}={fault.get('input')!r}: {why}{f' ({hint})' if hint and fault['type'] != 'value_error' else ''}"


def listed(text: str) -> list[str]:
    """The parts of a comma-separated setting."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _nearest(name: str, known: set[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else "; `fathom --help` names the page that lists all settings"


def secret(name: str, path: Path | None) -> str | None:
    """The content of a secret's file, without its line end; None without a file. Raises `ConfigError`."""
    if path is None:
        return None
    try:
        found = path.read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no text"
        raise ConfigError(f"{PREFIX}{name.upper()}={str(path)!r}: {why}; name a file that holds the secret") from None
    if not found:
        raise ConfigError(f"{PREFIX}{name.upper()}={str(path)!r}: the file is empty; write the secret into it")
    return found
