"""A query profile decides what memory is asked for: by its parameters, as the operator's file has them."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from agents.core.packs import profiles
from schemas.depth import DepthLevel
from schemas.packs import ContextPack
from schemas.policy import ProfilePolicy
from schemas.retrieval import MemoryClass, RetrievalPlan, SourceRequest
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL, RETRIEVAL_PLANS
from streams import config, policies
from streams.config import ConfigError
from streams.runtime.app import dependencies
from streams.runtime.stores import Stores
from streams.testing.pipeline import EPOCH, Pipeline
from tests.builders.pack_items import events, exchange, passages, summaries
from tests.checkout import ROOT

D0, D1, D2, D3, D4 = DepthLevel
SHIPPED = ROOT / "deploy/policies/profiles.yaml"
WHY = "Por que o projeto Atlas atrasou?"
SUPPLIER = "O projeto Atlas atrasou porque o fornecedor faliu em maio."
RAIN = "A chuva forte parou as obras: com ela o projeto Atlas atrasou duas semanas."
GLOSSARY = "Churn é a taxa de cancelamento por mês. O churn de maio foi alto na região sul."


def profile(folder: Path, text: str) -> Path:
    """A file with these terms of a profile, as version 2."""
    name, _, terms = text.partition(": ")
    path = folder / "profiles.yaml"
    path.write_text(f"profiles:\n  {name}:\n    version: 2\n    {terms}\n")
    return path


def with_profile(folder: Path, text: str) -> Pipeline:
    return Pipeline(profile_policy=profile(folder, text))


@pytest.fixture
def shipped() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def explained(fathom: Pipeline) -> ContextPack:
    fathom.document("supplier", "Atraso do Atlas", SUPPLIER, created_at=EPOCH - timedelta(days=400))
    fathom.document("rain", "Chuva", RAIN, created_at=EPOCH - timedelta(days=3))
    pack = fathom.ask(WHY)
    assert (pack.depth_level, pack.query_profile_used) == (D2, "document_evidence")
    return pack


def source_of(fathom: Pipeline, pack: ContextPack, memory: MemoryClass) -> SourceRequest:
    made: RetrievalPlan = fathom.one(RETRIEVAL_PLANS, pack_id=pack.pack_id)
    [found] = [source for source in made.sources if source.memory_class == memory]
    return found


def test_as_shipped_both_documents_come(shipped: Pipeline):
    assert sorted(passages(explained(shipped))) == sorted([SUPPLIER, RAIN])


@pytest.mark.covers("S0-76", "REQ-CDC-009", "REQ-CDC-017")
def test_a_limit_of_one_brings_the_likeliest_passage_and_no_other(shipped: Pipeline, tmp_path: Path):
    likeliest = passages(explained(shipped))[0]
    with with_profile(tmp_path, "document_evidence: semantic: {related_concepts: {limit: 1}}") as fathom:
        assert passages(explained(fathom)) == [likeliest]


@pytest.mark.covers("S0-76", "REQ-CDC-009", "REQ-CDC-017")
def test_kinds_of_definitions_only_bring_no_chunk_and_no_concept(shipped: Pipeline, tmp_path: Path):
    def asked(fathom: Pipeline) -> tuple[bool, bool, list[str]]:
        fathom.document("glossary", "Glossário", GLOSSARY)
        found = fathom.ask("Explique o churn").semantic
        assert found is not None
        return bool(found.knowledge_chunks), bool(found.concepts), [each.title for each in found.definitions]

    chunks, concepts, _ = asked(shipped)
    assert chunks or concepts
    with with_profile(tmp_path, "document_evidence: semantic: {related_concepts: {kinds: [definition]}}") as fathom:
        assert asked(fathom) == (False, False, ["Churn"])


@pytest.mark.covers("S0-76", "REQ-CDC-009", "REQ-CDC-017")
def test_what_is_older_than_the_maximal_age_is_out(tmp_path: Path):
    with with_profile(tmp_path, "document_evidence: semantic: {related_concepts: {max_age_days: 365}}") as fathom:
        assert passages(explained(fathom)) == [RAIN]


def test_what_is_too_old_takes_no_place_of_the_limit(shipped: Pipeline, tmp_path: Path):
    assert passages(explained(shipped))[0] == SUPPLIER
    terms = "{related_concepts: {limit: 1, max_age_days: 365}}"
    with with_profile(tmp_path, f"document_evidence: semantic: {terms}") as fathom:
        assert passages(explained(fathom)) == [RAIN]


def test_a_concept_from_the_graph_is_held_to_the_age_and_the_kinds_too(shipped: Pipeline, tmp_path: Path):
    def named(fathom: Pipeline) -> list[str]:
        fathom.document("glossary", "Glossário", GLOSSARY, created_at=EPOCH - timedelta(days=400))
        found = fathom.ask("O que é churn?").semantic
        return [] if found is None else [each.id for each in (*found.concepts, *found.definitions)]

    assert named(shipped) != []
    for terms in ("{max_age_days: 365}", "{kinds: [chunk]}"):
        with with_profile(tmp_path, f"document_evidence: semantic: {{related_concepts: {terms}}}") as fathom:
            assert named(fathom) == []


@pytest.mark.covers("REQ-CDC-009")
def test_a_share_bounds_what_a_source_may_spend(shipped: Pipeline, tmp_path: Path):
    def spent(fathom: Pipeline) -> int:
        for number in range(6):
            rest = " ".join(f"O anexo {number}{line} traz a planilha de custos da obra." for line in range(8))
            fathom.document(f"d{number}", "Atraso", f"O projeto Atlas atrasou na fase {number}. {rest}")
        pack = fathom.ask(WHY)
        assert pack.semantic is not None
        return sum(each.tokens for each in pack.semantic.knowledge_chunks)

    assert spent(shipped) > 300
    with with_profile(tmp_path, "document_evidence: semantic: {related_concepts: {share: 0.1}}") as fathom:
        assert 0 < spent(fathom) <= 300


def test_past_talks_come_of_the_kinds_and_the_age_of_the_profile(shipped: Pipeline, tmp_path: Path):
    said = "O projeto Atlas atrasou porque o guindaste quebrou"

    def asked(fathom: Pipeline, days: int) -> tuple[list[tuple[str, str]], list[str]]:
        exchange(fathom, said, "Entendi, o guindaste quebrou.", "before")
        fathom.wait(days * 86400)
        exchange(fathom, "Fala da obra", "A obra segue.")
        pack = fathom.ask(WHY)
        return summaries(pack), [each for each in events(pack) if said in each]

    assert asked(shipped, 40) == ([("current", "c1")], [f"user: {said}"])
    for days, terms, found in (
        (0, "kinds: [message]", ([], [f"user: {said}"])),
        (40, "kinds: [summary]", ([("current", "c1"), ("previous", "before")], [])),
        (40, "max_age_days: 30", ([("current", "c1")], [])),
    ):
        with with_profile(tmp_path, f"document_evidence: episodic: {{recent_summaries: {{{terms}}}}}") as fathom:
            assert asked(fathom, days) == found


def test_processes_are_held_to_limit_and_age(tmp_path: Path):
    text = "# Como solicitar reembolso de viagem\n\n1. Guarde os recibos.\n2. Preencha o formulário.\n"
    with with_profile(tmp_path, "document_evidence: procedural: {if_how_to_question: {max_age_days: 30}}") as fathom:
        fathom.document("travel", "Viagens", text, created_at=EPOCH - timedelta(days=31))
        pack = fathom.ask("Como solicitar reembolso de viagem?")
        assert pack.procedural is not None
        assert pack.procedural.relevant_processes == pack.procedural.playbook_steps == ()


@pytest.mark.covers("S0-34", "REQ-CDC-009")
def test_a_follow_up_reads_as_many_summaries_as_its_profile_says(shipped: Pipeline, tmp_path: Path):
    def read(fathom: Pipeline) -> set[int | None]:
        for name in ("one", "two", "three"):
            exchange(fathom, f"Fala da obra {name}", "A obra segue.")
        pack = fathom.ask("e o orçamento?")
        assert pack.depth_level == D1
        asked = fathom.one(RETRIEVAL_PLANS, pack_id=pack.pack_id).sources
        return {each.limit for each in asked if each.selector == "last_conversation_summary"}

    assert read(shipped) == {1}
    with with_profile(tmp_path, "org_context: episodic: {last_conversation_summary: {limit: 2}}") as fathom:
        assert read(fathom) == {2}


@pytest.mark.covers("REQ-CDC-009", "REQ-CDC-018")
def test_the_plan_says_what_the_profile_came_to_so_that_no_worker_needs_it(tmp_path: Path):
    terms = "{limit: 3, share: 0.5, kinds: [definition, chunk], max_age_days: 10}"
    with with_profile(tmp_path, f"document_evidence: semantic: {{related_concepts: {terms}}}") as fathom:
        pack = fathom.ask(WHY)
        asked = source_of(fathom, pack, MemoryClass.SEMANTIC)
        assert (asked.limit, asked.max_tokens, asked.kinds) == (3, 1000, ("definition", "chunk"))
        assert asked.since == fathom.one(RETRIEVAL_PLANS, pack_id=pack.pack_id).as_of - timedelta(days=10)
        # What the file leaves out is as shipped.
        other = source_of(fathom, pack, MemoryClass.EPISODIC)
        assert (other.limit, other.max_tokens, other.kinds, other.since) == (20, 2000, None, None)


@pytest.mark.covers("CF-19", "S0-33")
def test_a_direct_answer_has_no_profile_and_no_file_changes_what_it_asks_for(tmp_path: Path):
    with with_profile(tmp_path, "org_context: semantic: {look_up: {limit: 1, max_age_days: 1}}") as fathom:
        pack = fathom.ask("Qual o email do João Silva?")
        assert pack.depth_level == D0
        assert (pack.query_profile_used, pack.query_profile_version) == (None, None)
        asked = source_of(fathom, pack, MemoryClass.SEMANTIC)
        assert (asked.limit, asked.since) == (6, None)
        assert fathom.one(PACKS_PARTIAL, kind="inputs").terms.profile is None
        assert fathom.one(MEMORY_DECISIONS, kind="pack").profile is None
        assert fathom.nodes("QueryProfile") == []
        assert '"query_profile_used":null' in fathom.log.of(CONTEXT_PACKS.name)[-1].value.decode()


@pytest.mark.covers("S0-76", "S0-81", "REQ-CDC-017")
def test_the_graph_names_profile_version_and_params_of_each_decision(tmp_path: Path):
    with with_profile(tmp_path, "document_evidence: semantic: {related_concepts: {limit: 1}}") as fathom:
        explained_ = explained(fathom)
        goes_on = fathom.ask("e o orçamento?")
        decisions = {node["message_id"]: node for node in fathom.nodes("CDCDecision")}
        used = {start: end for start, end, _ in fathom.edges("USED_PROFILE")}
        nodes = {node["id"]: node for node in fathom.nodes("QueryProfile")}
    for pack, name, version in ((explained_, "document_evidence", 2), (goes_on, "org_context", 1)):
        decision = decisions[pack.message_id]
        assert (decision["query_profile_used"], decision["query_profile_version"]) == (name, version)
        assert pack.query_profile_version == version
        node = nodes[used[decision["id"]]]
        assert (node["name"], node["version"]) == (name, version)
    [related] = [
        each
        for each in json.loads(nodes[used[decisions[explained_.message_id]["id"]]]["params"])
        if each["selector"] == "related_concepts"
    ]
    assert related == {"memory_class": "semantic", "selector": "related_concepts", "limit": 1, "share": 1.0}


def test_other_params_under_one_version_are_another_node_of_the_graph(tmp_path: Path):
    found = set()
    for limit in (1, 2):
        terms = f"document_evidence: semantic: {{related_concepts: {{limit: {limit}}}}}"
        with with_profile(tmp_path, terms) as fathom:
            fathom.ask(WHY)
            found |= {node["id"] for node in fathom.nodes("QueryProfile")}
    assert len(found) == 2


CONTEXT, EVIDENCE = "  org_context:\n    version: 2\n", "  document_evidence:\n    version: 2\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "  document_evidnce: {version: 2}",
            "line 2: unknown key 'document_evidnce', did you mean 'document_evidence'?",
        ),
        (CONTEXT + "    semantics: {}", "line 4: unknown key 'org_context.semantics', did you mean 'semantic'?"),
        (
            CONTEXT + "    semantic:\n      look_up: {limits: 3}",
            "line 5: unknown key 'org_context.semantic.look_up.limits', did you mean 'limit'?",
        ),
        (
            EVIDENCE + "    semantic:\n      related_concept: {limit: 3}",
            "line 5: document_evidence.semantic.related_concept: this profile has no such source, did you mean "
            "'related_concepts'?",
        ),
        (
            CONTEXT + "    semantic:\n      related_concepts: {limit: 3}",
            "line 5: org_context.semantic.related_concepts: this profile has no such source; it has look_up",
        ),
        (
            CONTEXT + "    procedural: {x: {limit: 3}}",
            "line 4: org_context.procedural.x: this profile has no such source; it has none of this memory",
        ),
        (
            CONTEXT + "    semantic:\n      look_up:\n        limit: 3\n        kinds: [message]",
            "line 7: org_context.semantic.look_up.kinds: this source brings only chunk, definition, concept",
        ),
        (
            CONTEXT + "    episodic:\n      last_conversation_summary: {kinds: [message]}",
            "org_context.episodic.last_conversation_summary.kinds: this source brings only summary",
        ),
        (
            EVIDENCE + "    claims:\n      user_claims_in_session: {max_age_days: 3}",
            "line 5: document_evidence.claims.user_claims_in_session.max_age_days: a claim stands until",
        ),
        ("  org_context:\n    semantic: {look_up: {limit: 3}}", "line 2: org_context.version: Field required"),
        (
            CONTEXT + "    semantic: {look_up: {limit: 0}}",
            "line 4: org_context.semantic.look_up.limit: Input should be greater than or equal to 1",
        ),
        (
            CONTEXT + "    semantic: {look_up: {share: 2}}",
            "line 4: org_context.semantic.look_up.share: Input should be less than or equal to 1",
        ),
        ("  org_context: [", "line 3: expected the node content"),
    ],
)
def test_a_file_with_a_mistake_stops_the_start_with_the_line_and_what_was_meant(
    shipped: Pipeline, tmp_path: Path, text: str, said: str
):
    file = tmp_path / "profiles.yaml"
    file.write_text(f"profiles:\n{text}\n")
    own = shipped.working_sets, shipped.weights, shipped.tool_sessions, shipped.index
    stores = Stores(*own, shipped.graph, shipped.graph, shipped.graph, shipped.tokens)
    with pytest.raises(ConfigError) as error:
        dependencies(config.load({"FATHOM_PROFILE_POLICY": str(file)}), stores)
    assert str(error.value).startswith(f"FATHOM_PROFILE_POLICY: profiles policy {file}: ")
    assert said in str(error.value)


def test_the_shipped_file_says_every_value_of_the_shipped_profiles():
    said = policies.query_profiles(SHIPPED)
    assert said == policies.query_profiles(None) == profiles.SHIPPED == profiles.of_policy(ProfilePolicy())
    text = SHIPPED.read_text()
    for each in profiles.SHIPPED.values():
        for source in each.sources:
            assert f"{source.selector}: {{limit: {source.limit}, share: {source.share}}}" in text
