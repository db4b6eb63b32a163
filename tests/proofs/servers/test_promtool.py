"""What Prometheus' own checker says of our metrics and alert rules."""

import subprocess
from pathlib import Path

import pytest

from streams.telemetry import metrics
from tests.checkout import ROOT
from tests.servers.install import InstallError, install_prometheus

RULES = ROOT / "deploy/prometheus"


@pytest.fixture(scope="module")
def promtool() -> Path:
    try:
        return install_prometheus()
    except InstallError as error:
        pytest.skip(str(error))


def checked(promtool: Path, *arguments: str, given: bytes = b"") -> tuple[int, str]:
    done = subprocess.run([promtool, *arguments], input=given, capture_output=True, cwd=RULES, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


def test_nothing_is_said_of_the_metrics(promtool: Path) -> None:
    page = metrics.metrics_page()
    assert checked(promtool, "check", "metrics", given=page) == (0, "")
    slip = b"# HELP fathom_slip Some\n# TYPE fathom_slip counter\nfathom_slip 1\n"
    assert checked(promtool, "check", "metrics", given=page + slip)[0] != 0


def test_every_alert_fires_when_it_should_and_not_else(promtool: Path) -> None:
    code, said = checked(promtool, "test", "rules", "alerts.test.yml")
    assert code == 0, said


def test_the_configuration_finds_its_rules(promtool: Path) -> None:
    code, said = checked(promtool, "check", "config", "prometheus.yml")
    assert code == 0, said
    assert "rules found" in said


def test_a_rule_that_would_be_quiet_is_noticed(promtool: Path, tmp_path: Path) -> None:
    for name in ("alerts.yml", "alerts.test.yml"):
        (tmp_path / name).write_text((RULES / name).read_text().replace("fathom_ready == 0", "fathom_ready == 2"))
    code, said = checked(promtool, "test", "rules", str(tmp_path / "alerts.test.yml"))
    assert (code != 0, "FathomNotReady" in said) == (True, True)
