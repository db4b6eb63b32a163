"""Settings are read once; what is unknown or bad is an error that says what to write instead (A21)."""

import pytest

from schemas.cognition import CognitionFlags
from schemas.depth import DepthLevel
from streams import config


def test_defaults_are_those_of_the_requirements():
    limits = config.load({}).limits()
    assert [limits.max_tokens[level] for level in DepthLevel] == [500, 700, 2000, 2000, 1000]
    assert [limits.deadline_ms[level] for level in DepthLevel] == [1000, 1000, 2000, 2000, 2000]
    assert config.load({}).partitions == 12
    assert config.load({}).broker.startswith("embedded://")


@pytest.mark.covers("REQ-CDC-008")
def test_the_environment_sets_and_a_flag_wins():
    settings = config.load({"FATHOM_MAX_TOKENS_D2": "800", "FATHOM_PARTITIONS": "3"}, partitions=5)
    assert settings.limits().max_tokens[DepthLevel.D2] == 800
    assert settings.partitions == 5


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("FATHOM_BROKR", "x", "FATHOM_BROKER"),
        ("FATHOM_PARTITION", "3", "FATHOM_PARTITIONS"),
        ("RAG_ENABLE_COGRAGG", "x", "RAG_ENABLE_COGRAGG"),
        ("FATHOM_PARTITIONS", "zero", "FATHOM_PARTITIONS"),
        ("FATHOM_PARTITIONS", "0", "FATHOM_PARTITIONS"),
        ("FATHOM_BROKER", "somewhere", "host:port"),
        ("FATHOM_EMBEDDER", "gpt", "FATHOM_EMBEDDER"),
        ("FATHOM_LOG_LEVEL", "loud", "FATHOM_LOG_LEVEL"),
        ("FATHOM_PACK_REVISIONS", "maybe", "its next revision"),
    ],
)
def test_an_unknown_or_bad_setting_is_named(name: str, value: str, says: str):
    with pytest.raises(config.ConfigError) as error:
        config.load({name: value})
    assert says in str(error.value)


def test_a_setting_that_is_gone_is_named_with_what_took_its_place():
    with pytest.raises(config.ConfigError, match=r"FATHOM_SKIP_REPEATED_ITEMS is gone: .*`have`"):
        config.load({"FATHOM_SKIP_REPEATED_ITEMS": "on"})


def test_settings_of_others_and_of_the_machine_are_left_alone():
    settings = config.load({"PATH": "/bin", "FATHOM_TEST_KAFKA": "x", "RAG_COGRAG_MAX_DEPTH": "3"})
    assert settings == config.load({})


@pytest.mark.covers("S2-51", "S2-53")
@pytest.mark.covers(
    "S2-47", "S2-48", "S2-49", "S2-52", "S2-54", "S2-55", "S2-56", "S2-57", "S2-59", "S2-60", "S2-151", "CF-26"
)
def test_cognition_has_the_settings_of_its_specification_and_is_off():
    options = config.load({}).cognition()
    assert (options.enabled, options.flags) == (False, CognitionFlags())
    assert {name for name, on in options.flags.model_dump().items() if on} == {"abstain"}
    limits = options.limits
    assert (limits.max_depth, limits.max_children, limits.max_rethink) == (3, 4, 1)
    assert (limits.complexity_threshold, limits.abstain_threshold, limits.similarity_threshold) == (0.5, 0.3, 0.0)
    changed = {
        "RAG_ENABLE_COGRAG": "true",
        "RAG_COGRAG_MAX_DEPTH": "2",
        "RAG_COGRAG_MAX_CHILDREN": "3",
        "RAG_COGRAG_COMPLEXITY_THRESHOLD": "0.4",
        "RAG_COGRAG_SIMILARITY_THRESHOLD": "0.7",
        "RAG_COGRAG_THEME_RETRIEVAL_ENABLED": "true",
        "RAG_COGRAG_EVIDENCE_REFINEMENT_ENABLED": "true",
        "RAG_COGRAG_MEMORY_ENABLED": "true",
        "RAG_COGRAG_ABSTAIN_MODE": "false",
        "RAG_COGRAG_ABSTAIN_THRESHOLD": "0.2",
        "RAG_COGRAG_VERIFICATION_ENABLED": "true",
        "RAG_COGRAG_MAX_RETHINK_ATTEMPTS": "2",
        "RAG_COGRAG_HALLUCINATION_LOOP": "true",
    }
    options = config.load(changed).cognition()
    assert options.enabled
    assert {name for name, on in options.flags.model_dump().items() if on} == {
        "theme", "refinement", "memory", "verification", "hallucination_loop"
    }  # fmt: skip
    limits = options.limits
    assert (limits.max_depth, limits.max_children, limits.max_rethink) == (2, 3, 2)
    assert (limits.complexity_threshold, limits.abstain_threshold, limits.similarity_threshold) == (0.4, 0.2, 0.7)
    assert not config.load({"RAG_COGRAG_VERIFICATION_ENABLED": "true"}).cognition().flags.hallucination_loop
    alone = config.load({"RAG_COGRAG_HALLUCINATION_LOOP": "true"}).cognition()
    assert not alone.flags.hallucination_loop


def test_on_and_off_are_words_for_a_switch():
    assert config.load({"FATHOM_CREATE_TOPICS": "off"}).create_topics is False
    assert config.load({"FATHOM_PACK_REVISIONS": "on"}).pack_revisions is True


def test_settings_cannot_be_changed_after_they_were_read():
    with pytest.raises(ValueError, match="frozen"):
        config.load({}).partitions = 3


@pytest.mark.parametrize(
    ("broker", "why"),
    [
        ("nowhere", "write embedded://DIR, or host:port with commas between servers"),
        ("localhost:notaport", "write embedded://DIR, or host:port with commas between servers"),
        ("localhost:0", "write embedded://DIR, or host:port with commas between servers"),
        ("a:1,b", "write embedded://DIR, or host:port with commas between servers"),
        ("http://127.0.0.1:9092", "a broker's address has no scheme; write host:port"),
    ],
)
def test_a_broker_that_is_no_address_is_named_as_it_was_given(broker: str, why: str):
    with pytest.raises(config.ConfigError) as error:
        config.load({}, broker=broker)
    assert str(error.value) == f"--broker={broker!r}: {why}"
    with pytest.raises(config.ConfigError) as error:
        config.load({"FATHOM_BROKER": broker})
    assert str(error.value) == f"FATHOM_BROKER={broker!r}: {why}"
    assert config.load({}, broker="[::1]:9092,b:1").broker == "[::1]:9092,b:1"


def test_a_setting_with_an_empty_value_is_none():
    with pytest.raises(config.ConfigError) as error:
        config.load({"FATHOM_MCP_TENANT": ""})
    assert str(error.value) == "FATHOM_MCP_TENANT is empty; give it a value, or unset it"
    assert config.load({"FATHOM_ASK_ORIGINS": ""}).ask_origins == ""


def test_what_the_client_libraries_read_is_no_unknown_setting():
    names = ("FATHOM_URL", "FATHOM_TOKEN", "FATHOM_TOKEN_FILE")
    assert config.faults(dict.fromkeys(names, "x")) == []
    assert config.faults({"FATHOM_TOKENS": "x"}) != []


def test_all_that_is_wrong_is_listed():
    found = config.faults(
        {"FATHOM_BROKR": "x", "FATHOM_PARTITIONS": "0", "FATHOM_LOG_LEVEL": "loud", "FATHOM_BROKER": ""}
    )
    assert [each.split(":")[0].split(";")[0] for each in found] == [
        "unknown setting FATHOM_BROKR", "FATHOM_BROKER is empty", "FATHOM_PARTITIONS='0'", "FATHOM_LOG_LEVEL='loud'",
    ]  # fmt: skip
