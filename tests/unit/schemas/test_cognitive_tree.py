"""The tree of sub-questions: its levels and leaves, its bounds, and its JSON form."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.cognition import CognitiveTree, MindMapNode, NodeState

NODES: Mapping[str, Mapping[str, Any]] = {
    "0": {"level": 0, "children": ("1", "2"), "state": "Continue", "kind": "list"},
    "1": {"level": 1, "parent_id": "0", "children": ("1.1", "1.2"), "state": "Continue"},
    "2": {"level": 1, "parent_id": "0", "uses": ("1",)},
    "1.1": {"level": 2, "parent_id": "1"},
    "1.2": {"level": 2, "parent_id": "1"},
}


def tree(changes: Mapping[str, Mapping[str, Any]] | None = None, **fields: Any) -> CognitiveTree:
    nodes = {name: {**each, **(changes or {}).get(name, {})} for name, each in NODES.items()}
    made = {name: MindMapNode(node_id=name, question=f"q{name}?", **each) for name, each in nodes.items()}
    return CognitiveTree(root_question="q?", nodes=made, **fields)


@pytest.mark.covers("S2-24", "S2-25", "S2-26", "S2-27", "S2-153")
def test_a_tree_tells_its_root_leaves_and_levels_and_survives_json() -> None:
    made = tree()
    assert made.root().node_id == "0"
    assert [each.node_id for each in made.leaves()] == ["2", "1.1", "1.2"]
    assert [each.node_id for each in made.nodes_by_level(1)] == ["1", "2"]
    assert made.max_level() == 2
    assert (made.max_depth, made.max_children, made.conditions) == (3, 4, ())
    assert CognitiveTree.model_validate(made.to_dict()) == made
    leaf = made.to_dict()["nodes"]["1.1"]  # type: ignore[index,call-overload]
    assert leaf == {
        "node_id": "1.1", "question": "q1.1?", "level": 2, "state": "End", "parent_id": "1", "children": [],
        "kind": "single", "uses": [], "expects": "any", "evidence": [], "verified": False,
    }  # fmt: skip
    assert made.root().state is NodeState.CONTINUE


@pytest.mark.covers("S2-26", "S2-153")
@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({}, {"max_depth": 1}),
        ({}, {"max_children": 1}),
        ({"1": {"parent_id": "2"}}, {}),
        ({"2": {"parent_id": None, "level": 0}}, {}),
        ({"1.2": {"level": 3}}, {}),
        ({"2": {"uses": ("9",)}}, {}),
        ({"0": {"children": ("1", "1")}}, {}),
        ({"1.2": {"parent_id": "0"}}, {}),
    ],
)
def test_what_is_no_tree_in_its_bounds_is_refused(changes: dict[str, Any], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        tree(changes, **fields)
