"""Migrations before any server is asked: the files, what is left to apply, what is refused, the settings."""

import re

import pytest

from streams.config import ConfigError, load, secret
from streams.edges.client.errors import CONFIG, explain
from streams.runtime.up import store_settings
from streams.stores.graph.migrations import DatabaseRefused, bundled, missing, read
from streams.topology import STAGES
from tests.checkout import ROOT

ONE = read("0001_one", "// why\nCREATE A;\nCREATE\n  B;\n")
TWO = read("0002_two", "CREATE C;")


def test_a_file_is_its_statements_without_comments():
    assert ONE.statements == ("CREATE A", "CREATE\n  B")
    assert read("x", "// only; a comment\n").statements == ()


def test_every_change_of_a_file_changes_its_hash():
    assert read("x", "CREATE A;").sha256 != read("x", "CREATE A; ").sha256
    assert len(ONE.sha256) == 64


def test_the_files_are_numbered_without_a_gap_and_every_statement_can_be_repeated():
    names = [each.name for each in bundled()]
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z_]+", name) for name in names)
    assert {path.stem for path in (ROOT / "deploy" / "neo4j").iterdir()} == set(names)
    for each in bundled():
        assert each.statements
        for statement in each.statements:
            made = re.match(r"CREATE (CONSTRAINT|INDEX|FULLTEXT INDEX) \w+ IF NOT EXISTS ", statement)
            assert made or re.fullmatch(r"DROP CONSTRAINT \w+ IF EXISTS", statement), statement
            assert ";" not in statement


def test_what_was_not_applied_is_left_in_order():
    assert missing([ONE, TWO], {}) == (ONE, TWO)
    assert missing([ONE, TWO], {"0001_one": ONE.sha256}) == (TWO,)
    assert missing([ONE], {"0001_one": ONE.sha256, "0007_later": "x"}) == ()


def test_an_edited_file_is_refused_with_both_hashes_and_the_next_step():
    with pytest.raises(DatabaseRefused, match=f"0001_one.*it was sha256 abc and is {ONE.sha256}; put the file back"):
        missing([TWO, ONE], {"0001_one": "abc"})


def test_a_refused_database_ends_a_command_as_a_bad_setting_does():
    sentence, code = explain(DatabaseRefused("the graph's server is too old; upgrade it"))
    assert (sentence, code) == ("the graph's server is too old; upgrade it", CONFIG)


# --- settings -------------------------------------------------------------------------------------------------------


def test_the_user_and_the_password_in_its_file_reach_the_graph(tmp_path):
    (tmp_path / "password").write_text(" s3 cret \n")
    environment = {
        "FATHOM_NEO4J_URL": "neo4j+s://graph.example:7687",
        "FATHOM_NEO4J_USER": "fathom",
        "FATHOM_NEO4J_PASSWORD_FILE": str(tmp_path / "password"),
    }
    settings = store_settings(load(environment), STAGES)
    assert settings.on_neo4j()
    assert (settings.neo4j_user, settings.neo4j_password) == ("fathom", " s3 cret ")
    assert "s3 cret" not in repr(settings)


def test_without_a_password_file_there_is_no_password():
    assert store_settings(load({}), STAGES).neo4j_password is None


@pytest.mark.parametrize("content", [None, "", "\n", b"\xff\xfe"])
def test_a_secret_that_cannot_be_read_is_refused_by_its_settings_name(tmp_path, content):
    path = tmp_path / "password"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError, match=r"FATHOM_NEO4J_PASSWORD_FILE=.*; (name|write)"):
        secret("neo4j_password_file", path)


@pytest.mark.parametrize(
    ("url", "on_server"),
    [
        ("bolt://h", True),
        ("bolt+s://h:7687", True),
        ("neo4j://h", True),
        ("neo4j+s://h", True),
        ("bolt://", False),
        ("bolt://user:secret@h", False),
        ("bolt+ssc://h", False),
        ("embedded://", False),
        ("memory://", False),
    ],
)
def test_which_urls_are_a_neo4j(url, on_server):
    assert store_settings(load({"FATHOM_NEO4J_URL": url}), STAGES).on_neo4j() is on_server
