"""The alert rules: about series that exist, each with what to do, each tried both ways."""

import re
from collections import defaultdict
from typing import Any

import pytest
import yaml

from streams.telemetry.metrics import REGISTRY
from tests.builders import promql
from tests.checkout import ROOT

RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
GUIDE = (ROOT / "docs/operators-guide.md").read_text()
NAMES = promql.known(REGISTRY)


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as they are made by what shows Markdown."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.+)$", page, re.M)}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_series_that_exist_and_names_what_to_do(rule: dict[str, Any]):
    assert promql.wrong(rule["expr"], NAMES) == []
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"]["summary"]
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    assert (page, anchor in anchors(GUIDE)) == ("docs/operators-guide.md", True)


def test_every_alert_has_a_case_that_fires_and_one_that_does_not():
    cases = yaml.safe_load((ROOT / "deploy/prometheus/alerts.test.yml").read_text())["tests"]
    ends: dict[str, set[bool]] = defaultdict(set)
    for case in cases:
        for asked in case["alert_rule_test"]:
            ends[asked["alertname"]].add(bool(asked["exp_alerts"]))
        for given in case["input_series"]:
            made_up = given["series"].startswith("fathom_other")
            assert made_up or promql.wrong(given["series"], NAMES) == []
    assert ends == {rule["alert"]: {True, False} for rule in RULES}


def test_a_slip_in_an_expression_would_be_noticed():
    assert promql.wrong("rate(fathom_packs_totl[5m])", NAMES) == ["no metric fathom_packs_totl"]
    assert promql.wrong('fathom_packs_total{levl="D1"}', NAMES) == ["fathom_packs_total has no label levl"]
    assert promql.wrong("sum by (sort) (fathom_ready)", NAMES) == ["nothing there has a label sort"]
    assert promql.wrong("vector(1)", NAMES) == ["no metric of ours in vector(1)"]


def test_no_metric_has_a_label_whose_values_come_from_users():
    labels = set().union(*NAMES.values())
    assert not [label for label in labels if re.search("tenant|user|client|conversation|message|session|id$", label)]
    assert len({name for name in NAMES if name.startswith("fathom_") and not name.endswith(("_bucket", "_sum"))}) >= 40
