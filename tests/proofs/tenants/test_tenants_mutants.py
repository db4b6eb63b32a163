"""Each place where a tenant is part of a filter, a key or a row is broken in turn, and something notices."""

import ast
from itertools import chain

import pytest

from tests.tenants import killing
from tests.tenants.mutants import (
    ROOT,
    code_mutants,
    left_over,
    read_texts,
    removing_texts,
    sources,
    text_mutants,
    write_texts,
)


@pytest.mark.parametrize("name", killing.PROBES)
def test_the_probes_find_nothing_wrong_with_what_is(name: str) -> None:
    """Else every mutant would be noticed for another reason."""
    killing.PROBES[name]()


@pytest.mark.covers("AC-36", "S2-87", "B19")
def test_no_condition_of_a_read_can_be_left_out_unnoticed() -> None:
    survivors, tried = killing.survivors_of_reads()
    assert survivors == []
    assert tried >= 80


@pytest.mark.covers("AC-36", "S2-87", "B19")
def test_no_condition_of_a_removal_can_be_left_out_unnoticed() -> None:
    survivors, tried = killing.survivors_of_removals()
    assert survivors == []
    assert tried == len(removing_texts()) >= 25


@pytest.mark.covers("AC-36", "S2-87", "B19")
def test_no_tenant_of_a_write_can_be_left_out_unnoticed() -> None:
    survivors, tried = killing.survivors_of_writes()
    assert survivors == []
    assert tried >= 90


@pytest.mark.covers("AC-36", "CF-61", "S2-87", "B19")
@pytest.mark.timeout(600)
def test_no_tenant_can_be_lost_in_the_sources_unnoticed() -> None:
    survivors, tried = killing.survivors_of_code()
    assert survivors == []
    assert tried >= 370


def test_a_text_says_nothing_of_tenants_but_what_a_mutant_changes() -> None:
    """A condition of another shape would be a filter that no mutant tries."""
    written = ((name, text) for name, (_, _, text) in write_texts().items())
    texts = [*chain(read_texts().items(), removing_texts().items(), written)]
    assert {name: rest for name, text in texts if (rest := left_over(text))} == {}
    assert [name for name, text in texts if not [*text_mutants(name, text)]] == []
    assert left_over("MATCH (n) WHERE $tenant = n.tenant_id RETURN n") != ""


def test_every_source_that_speaks_of_tenants_is_looked_through() -> None:
    named = {str(path.relative_to(ROOT)) for path in sources()}
    assert named >= {
        *(f"streams/stores/{name}.py" for name in ("tenant", "graph/store", "graph/embedded/reads", "sessions/memory")),
        *(f"streams/stores/{name}.py" for name in ("sessions/redis_working_sets", "sessions/votes")),
        *(
            f"streams/stores/passages/{name}.py"
            for name in ("memory", "qdrant_edge", "edge_search", "recent", "qdrant_server")
        ),
        *(f"agents/stages/{name}.py" for name in ("correction", "feedback", "writers")),
        *("schemas/base.py", "streams/views/vote_log.py", "agents/core/packs/join_table.py"),
    }
    spoken = [path for path in sources() if _reads_a_tenant(path.read_text())]
    assert [str(path) for path in spoken if not [*code_mutants(path)]] == []


def _reads_a_tenant(text: str) -> bool:
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and "tenant" in node.id]
    return any(isinstance(node.ctx, ast.Load) for node in names)
