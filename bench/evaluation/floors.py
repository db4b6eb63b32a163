"""Floors: the figures of trivial rules, for comparison.

Taken from the description of the evaluation kit (measured on its dev split), except for those that `scoring` derives
from the labels ("never" of topic shifts). Floors of other splits are not included.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Floor(NamedTuple):
    value: float
    rule: str


Key = tuple[str, str, str, str]
# Task, data set, part, measure.
FLOORS: Mapping[Key, Floor] = {
    ("depth_question_type", "nfcats", "", "f1"): Floor(0.706, "key words"),
    ("depth_question_type", "nfcats", "", "balanced_accuracy"): Floor(0.773, "key words"),
    ("depth_followup", "cast", "later turns", "balanced_accuracy"): Floor(0.731, "a pronoun, or short"),
    ("depth_followup", "canard", "later turns", "balanced_accuracy"): Floor(0.785, "a pronoun, or short"),
    ("depth_followup", "cast", "all turns", "balanced_accuracy"): Floor(0.681, "not the first turn"),
    ("depth_correction", "sgd", "", "f1"): Floor(0.331, "cue words"),
    ("depth_correction", "sgd", "hard", "f1"): Floor(0.378, "always a correction"),
    ("depth_topic_shift", "superdialseg", "", "f1"): Floor(0.345, "no shared word"),
    ("depth_topic_shift", "tiage", "", "f1"): Floor(0.306, "no shared word"),
    ("depth_topic_shift", "sgd", "", "f1"): Floor(0.114, "no shared word"),
    ("context_needs", "clinc150", "", "macro_f1"): Floor(0.623, "cue words"),
    ("contradiction", "inferbr", "clean, contradiction", "f1"): Floor(0.583, "a negation on one side"),
    ("contradiction", "inferbr", "all, contradiction", "f1"): Floor(0.583, "a negation on one side"),
    ("contradiction", "inferbr", "contradiction", "f1"): Floor(0.583, "a negation on one side"),
    ("legal_entities", "lener_br", "LEGISLACAO", "strict_f1"): Floor(0.530, "patterns"),
    ("legal_entities", "lener_br", "LEGISLACAO", "relaxed_f1"): Floor(0.855, "patterns"),
    ("legal_entities", "lener_br", "JURISPRUDENCIA", "strict_f1"): Floor(0.467, "patterns"),
    ("legal_entities", "lener_br", "JURISPRUDENCIA", "relaxed_f1"): Floor(0.896, "patterns"),
    ("memory_retrieval", "faquad", "", "recall@1"): Floor(0.869, "BM25"),
    ("memory_retrieval", "oab", "", "recall@5"): Floor(0.481, "BM25"),
    ("memory_retrieval", "locomo", "", "ndcg@10_mean_over_categories"): Floor(0.324, "BM25"),
    ("memory_retrieval", "locomo", "", "recall@10"): Floor(0.551, "BM25"),
    ("memory_retrieval", "locomo", "", "recall_under_512_tokens"): Floor(0.558, "BM25"),
    ("decomposition", "strategyqa", "", "aligned_f1"): Floor(0.200, "not divided"),
    ("decomposition", "break", "", "aligned_f1"): Floor(0.419, "not divided"),
    ("decomposition", "hotpot", "kind", "macro_f1"): Floor(0.855, "key words"),
    ("tool_arguments", "sgd", "", "argument_accuracy"): Floor(0.418, "latest of the same name"),
    ("tool_arguments", "sgd", "evidence call", "argument_accuracy"): Floor(0.827, "latest of the same name"),
    ("tool_arguments", "sgd", "evidence result", "argument_accuracy"): Floor(0.185, "latest of the same name"),
    ("tool_arguments", "sgd", "evidence system", "argument_accuracy"): Floor(0.0, "latest of the same name"),
    ("tool_arguments", "sgd", "origin cross-service", "argument_accuracy"): Floor(0.153, "latest of the same name"),
    ("tool_arguments", "sgd", "", "ask_f1"): Floor(0.738, "latest of the same name"),
    ("tool_arguments", "sgd", "", "traps_filled"): Floor(0.046, "latest of the same name"),
    ("tool_arguments", "sgd", "", "whole_call_exact"): Floor(0.496, "latest of the same name"),
}
