"""Policies that operators write: merged over the defaults; what is wrong is named with its line, and never a crash."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from agents.core.assessment.advised_tools import TOOLS
from agents.core.assessment.context_needs import AssessmentPolicy, assess
from agents.core.conversation.answers import narrator_allows_entity
from schemas.policy import DEFAULT_PACKS, DEFAULT_POLICY, ContextPolicy, NarratorPolicy, OptionBounds
from streams import config, policies
from streams.config import ConfigError
from tests.checkout import ROOT

SHIPPED = ROOT / "deploy/policies"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "context.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.covers("S1-18", "S1-19", "AC-41")
@pytest.mark.parametrize(
    ("text", "max_turns", "warned"),
    [
        ("max_turns: [", 20, True),
        ("- a\n- b\n", 20, True),
        ("max_turns: many", 20, True),
        ("max_turns: true", 20, True),
        ("max_turns: -1", 20, True),
        ("max_turns: '3'", 20, True),
        ("max_turn: 3", 20, True),
        ("context: 7", 20, True),
        ("narrator: off", 20, True),
        ("ttl_seconds: 2026-13-45", 20, True),
        (b"\xff\xfe\xff", 20, True),
        ("[" * 1000, 20, True),
        ("max_turns: &a [*a]", 20, True),
        ("", 20, False),
        ("context:\n", 20, False),
        ("max_turns: 3", 3, False),
        ("context:\n  max_turns: 3\n  ttl_seconds:\n  narrator:\n", 3, False),
    ],
)
def test_a_policy_file_is_merged_over_the_defaults_and_never_a_crash(tmp_path, text, max_turns, warned):
    policy, warning = policies.context_policy(written(tmp_path, text))
    assert policy == replace(DEFAULT_POLICY, max_turns=max_turns)
    assert (warning is not None) == warned


@pytest.mark.covers("S1-19", "AC-41")
def test_an_absent_policy_file_means_the_defaults(tmp_path):
    policy, warning = policies.context_policy(tmp_path / "none.yaml")
    assert policy == DEFAULT_POLICY
    assert warning is not None
    assert warning.endswith("none.yaml: No such file or directory")


@pytest.mark.covers("S1-18")
def test_the_blocks_of_a_policy_are_merged_key_by_key(tmp_path):
    text = "narrator:\n  denied_entities: [cadastro]\nplanner:\n  enabled: false\n"
    policy, warning = policies.context_policy(written(tmp_path, text))
    assert warning is None
    assert policy.narrator == NarratorPolicy(denied_entities=("cadastro",))
    assert not policy.planner.enabled


@pytest.mark.covers("S1-17", "AC-41")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ttl_second: 5\n", "line 1: unknown key 'ttl_second', did you mean 'ttl_seconds'?"),
        ("context:\n  max_turns: 3\n\n  max_char: 9\n", "line 4: unknown key 'max_char', did you mean 'max_chars'?"),
        (
            "narrator:\n  enabled: true\n  deny_entities: [a]\n",
            "line 3: unknown key 'narrator.deny_entities', did you mean 'denied_entities'?",
        ),
        ("max_turns: 3\nzzz: 1\n", "line 2: unknown key 'zzz'"),
        ("enabled: true\nmax_turns: soon\n", "line 2: max_turns: Input should be a valid integer"),
        (
            "narrator:\n  denied_entities:\n    - a\n    - 7\n",
            "line 4: narrator.denied_entities.1: Input should be a valid string",
        ),
        ("max_turns: 3\nttl_seconds: [\n", "line 3: expected the node content, but found '<stream end>'"),
    ],
    ids=["top", "below-root", "in-a-block", "nothing-near", "type", "in-a-list", "no-yaml"],
)
def test_a_warning_names_the_line_and_what_was_meant(tmp_path, text, said):
    _, warning = policies.context_policy(written(tmp_path, text))
    assert warning is not None
    assert said in warning
    assert "\n" not in warning


@pytest.mark.covers("S1-17")
def test_the_shipped_policy_names_every_key_and_is_the_default_one():
    policy, warning = policies.context_policy(SHIPPED / "context.yaml")
    assert (policy, warning) == (DEFAULT_POLICY, None)
    text = (SHIPPED / "context.yaml").read_text()
    for kind in (ContextPolicy, NarratorPolicy):
        assert [field.name for field in fields(kind) if f"  {field.name}:" not in text] == []


@pytest.mark.parametrize(
    "setting", ["context_policy", "reference_policy", "tool_policy", "profile_policy", "assessment_policy"]
)
def test_a_policy_that_was_named_and_cannot_be_used_stops_the_start(tmp_path, setting):
    name = f"FATHOM_{setting.upper()}"
    for path, why in (
        (tmp_path / "none.yaml", "No such file or directory"),
        (written(tmp_path, "zzz: 1\n"), "unknown key"),
    ):
        settings = config.load({}, **{setting: path})
        [fault] = policies.check(settings)
        assert str(fault).startswith(f"{name}: ")
        assert why in str(fault)
        assert str(fault).endswith(f"; correct the file, or unset {name} for the shipped one")
    assert list(policies.check(config.load({}))) == []
    assert policies.context_policy(None) == (DEFAULT_POLICY, None)


@pytest.mark.covers("S1-25", "AC-42", "CF-65")
@pytest.mark.parametrize(
    ("narrator", "entity", "allows"),
    [
        (NarratorPolicy(), "cadastro", True),
        (NarratorPolicy(), None, True),
        (NarratorPolicy(denied_entities=("cadastro",)), "Cadastro", False),
        (NarratorPolicy(denied_entities=("cadastro",)), "preço", True),
        (NarratorPolicy(denied_entities=("cadastro",)), None, True),
        (NarratorPolicy(allowed_entities=("preço",)), "Preço", True),
        (NarratorPolicy(allowed_entities=("preço",)), "cadastro", False),
        (NarratorPolicy(allowed_entities=("preço",)), None, False),
        (NarratorPolicy(allowed_entities=("preço",), denied_entities=("preço",)), "preço", False),
        (NarratorPolicy(allowed_entities=()), "preço", False),
    ],
)
def test_the_narrator_sees_history_about_what_the_policy_allows(narrator, entity, allows):
    assert narrator_allows_entity(ContextPolicy(narrator=narrator), entity) is allows


@pytest.mark.covers("REQ-017.3", "S3-34", "S3-35")
def test_the_tools_that_an_assessment_advises_are_those_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "assessment.yaml"
    tool = "{uses: {direct_question: It knows}, otherwise: Nothing is asked}"
    file.write_text(f"assessment:\n  tools:\n    lookup: {tool}\n")
    policy = AssessmentPolicy(tools=policies.advised_tools(file))
    assert [(tool.name, tool.reason) for tool in assess("Who pays?", policy=policy).recommended_tools] == [
        ("lookup", "It knows")
    ]
    assert [(tool.name, tool.reason) for tool in assess("Hello!", policy=policy).skip_tools] == [
        ("lookup", "Nothing is asked")
    ]
    assert policies.advised_tools(None) is TOOLS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("assessment:\n  tools:\n    lookup: {uses: {question: x}, otherwise: y}\n", "line 3"),
        ("assessment:\n  tols: {}\n", "did you mean 'tools'"),
        ("tools: [", "line 1"),
    ],
    ids=["unknown-type", "misspelled", "no-yaml"],
)
def test_a_file_of_tools_that_is_none_stops_the_start(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "assessment.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="FATHOM_ASSESSMENT_POLICY: ") as error:
        policies.advised_tools(file)
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "options:\n  highest_min_dept: D2\n",
            "line 2: unknown key 'options.highest_min_dept', did you mean 'high",
        ),
        ("options: {highest_min_depth: D7}\n", "line 1: options.highest_min_depth: Input should be 'D0', 'D1'"),
        ("options: {smallest_max_tokens: 10}\n", "smallest_max_tokens: Input should be greater than or equal to 300"),
        (
            "options:\n  smallest_max_tokens: 900\n  largest_max_tokens: 800\n",
            "line 2: options.smallest_max_tokens: is",
        ),
        ("options: {look_up: [never]}\n", "options.look_up: has to hold auto: what is not allowed becomes it"),
        ("options: {look_up: [auto, maybe]}\n", "look_up.1: Input should be 'auto', 'always' or 'never'"),
        (
            "tenants:\n  acme:\n    options: {largest_max_token: 900}\n",
            "line 3: unknown key 'tenants.acme.options.large",
        ),
        (
            "options: {smallest_max_tokens: 900}\ntenants:\n  acme: {options: {largest_max_tokens: 500}}\n",
            "line 3: tenants.acme.options.smallest_max_tokens: is above largest_max_tokens, which is 500",
        ),
        (
            "templates:\n  brief: '{{ knowlege }}'\n",
            "line 2: templates.brief: template brief: knowlege is not known; a",
        ),
        (
            "templates:\n  brief: '{% for x in knowledge %}'\n",
            "line 2: templates.brief: template brief: Unexpected end",
        ),
        ("templates:\n  default: ''\n", "line 2: templates.default: is the name of a shipped one; choose another"),
        ("template: brief\n", "line 1: template: there is no template 'brief'; there are default, context"),
        ("tenants:\n  acme: {template: x}\n", "line 2: tenants.acme.template: there is no template 'x'; there are "),
    ],
)
def test_a_mistake_in_the_pack_policy_stops_the_start_with_its_line(tmp_path, text, said):
    with pytest.raises(ConfigError) as error:
        policies.pack_policy(written(tmp_path, text))
    assert str(error.value).startswith("FATHOM_PACK_POLICY: packs policy ")
    assert said in str(error.value)


def test_the_shipped_pack_policy_names_every_bound_and_is_the_default_one():
    path = SHIPPED / "packs.yaml"
    assert policies.pack_policy(path) == policies.pack_policy(None) == DEFAULT_PACKS
    assert [field.name for field in fields(OptionBounds) if f"    {field.name}:" not in path.read_text()] == []
