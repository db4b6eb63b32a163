"""The waves of a search: a leaf that names the answer of another node is searched once that answer is known."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.cognition import CognitiveState, CognitiveTree, MindMapNode
from tests.builders.examples import examples
from tests.unit.cognition.core.runs import Run, opened

TENANCY = {
    "lei:8245": "A locação de imóveis urbanos é regulada pela Lei 8.245/1991.",
    "doc:appeal": "Na Lei 8.245/1991 o recurso previsto é o do Processo 0000111-45.2023.5.02.0001.",
    "doc:time": "No Processo 0000111-45.2023.5.02.0001 o prazo é de dez dias.",
}


def test_a_leaf_that_names_an_inner_node_is_searched_with_what_the_leaves_below_it_found() -> None:
    run = Run(TENANCY)
    run.of(opened("Qual é o prazo do recurso previsto na lei que regula a locação de imóveis urbanos?"))
    assert [each.node_id for each in run.searched[:3]] == ["1.1", "1.2", "2"]
    assert "8.245/1991" in run.searched[1].query
    assert run.searched[2].query == "Qual é o prazo de 0000111-45.2023.5.02.0001?"


def tree_of(children: dict[str, tuple[str, ...]], uses: dict[str, tuple[str, ...]]) -> CognitiveState:
    """The state of a run whose question is divided so."""
    parents = {child: node for node, below in children.items() for child in below}
    nodes = {
        name: MindMapNode(
            node_id=name,
            question=f"What is word{name}, {' '.join(f'#{each}' for each in uses.get(name, ()))}?",
            level=name.count(".") + 1 if name != "0" else 0,
            parent_id=parents.get(name),
            children=children.get(name, ()),
            uses=uses.get(name, ()),
        )
        for name in ("0", *parents)
    }
    tree = CognitiveTree(root_question="What?", nodes=nodes)
    return opened(lang="en").model_copy(update={"mind_map": tree})


def test_only_the_answers_that_a_leaf_uses_are_put_into_its_question() -> None:
    run = Run(TENANCY)
    run.of(opened("Quem abriu o chamado #2 e qual é o prazo do recurso do chamado #1?"))
    assert [each.query for each in run.searched[:2]] == [
        "Quem abriu o chamado #2?",
        "Qual é o prazo do recurso do chamado #1?",
    ]
    run.searched.clear()
    run.of(opened("Qual é o prazo do recurso #1 previsto na lei que regula a locação de imóveis urbanos?"))
    assert "# 1" in run.searched[-1].query


def waves(state: CognitiveState) -> list[tuple[str, ...]]:
    """The leaves of each wave; fails where there are more waves than leaves."""
    run, found, leaves = Run({}), [], len(state.mind_map.leaves()) if state.mind_map else 0
    for number in count():
        wanted, state = run.wave(state)
        if not wanted:
            return found
        assert number < leaves
        found.append(tuple(sorted(wanted)))
    raise AssertionError


CHILDREN = {"0": ("1", "2", "3"), "1": ("1.1", "1.2"), "2": ("2.1", "2.2")}
LEAVES = ("1.1", "1.2", "2.1", "2.2", "3")


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ({"3": ("1",)}, [("1.1", "1.2", "2.1", "2.2"), ("3",)]),
        ({"3": ("2",), "2.1": ("1",)}, [("1.1", "1.2", "2.2"), ("2.1",), ("3",)]),
        ({"3": ("0",)}, [("1.1", "1.2", "2.1", "2.2"), ("3",)]),
        # Those that wait for each other do not wait for ever, and are not left out.
        ({"1.1": ("2",), "2.1": ("1",)}, [("1.2", "2.2", "3"), ("1.1", "2.1")]),
    ],
)
def test_leaves_wait_for_all_below_what_they_name(uses: dict[str, tuple[str, ...]], expected: list[tuple[str]]) -> None:
    assert waves(tree_of(CHILDREN, uses)) == expected


NAMES = st.lists(st.sampled_from(("0", "1", "2", *LEAVES)), max_size=3, unique=True).map(tuple)


@settings(max_examples=examples(60), deadline=None)
@given(uses=st.dictionaries(st.sampled_from(LEAVES), NAMES))
def test_whatever_leaves_name_each_is_searched_once(uses: dict[str, tuple[str, ...]]) -> None:
    assert sorted(leaf for wave in waves(tree_of(CHILDREN, uses)) for leaf in wave) == sorted(LEAVES)
