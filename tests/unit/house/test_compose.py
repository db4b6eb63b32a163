"""docker-compose.yml and the Dockerfile: valid by the Compose schema, and by our own rules. No engine runs here."""

import json
import re
import shutil
import stat
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from streams import config
from streams.edges.http import tokens
from streams.edges.http.tokens import Grant
from streams.stores.keys.master_key import read_master_key
from streams.topology import GROUPS, stages_of
from streams.version import version
from tests.checkout import ROOT

SCHEMA = json.loads((ROOT / "tests/unit/house/compose-spec.json").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
KEYS: dict[str, Any] = yaml.safe_load((ROOT / "deploy/compose.keys.yml").read_text())
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text()
EXACT = re.compile(r"[\w./-]+:v?\d+\.\d+\.\d+(-[a-z0-9.-]+|\.dev\d+)?")
PROFILES = {"core", "obs", "ui", "demo"}
# Their images write configuration into themselves as they start.
WRITABLE = {"kafka", "qdrant", "neo4j"}
# What has a password in it is a file's name, never the password.
SECRET = re.compile(r"PASSWORD|API_KEY|AUTH|TOKEN|SECRET")


def environment(name: str) -> dict[str, str]:
    """What a service states; what it has from whoever runs Compose, where they state it, has no value here."""
    stated = SERVICES[name].get("environment", {}).items()
    return {key: value for key, value in stated if key.startswith("FATHOM_") and value is not None}


def workers() -> dict[str, list[str]]:
    """The groups of every service that runs some."""
    return {
        name: service["command"][2:]
        for name, service in SERVICES.items()
        if service.get("command", [])[:2] == ["fathom", "worker"]
    }


def test_the_schema_accepts_it_and_would_refuse_a_slip():
    assert list(Draft7Validator(SCHEMA).iter_errors(COMPOSE)) == []
    slip = {**COMPOSE, "services": {"kafka": {**SERVICES["kafka"], "healtcheck": {}}}}
    assert list(Draft7Validator(SCHEMA).iter_errors(slip)) != []


def test_all_that_fathom_needs_is_there_and_every_group_runs_once():
    assert {
        "kafka",
        "redis",
        "qdrant",
        "neo4j",
        "prometheus",
        "grafana",
        "kafka-ui",
        "demo",
        "ask",
        "seal",
    } <= SERVICES.keys()
    run = Counter(stage.group_name for groups in workers().values() for stage in set(stages_of(groups)))
    stages = Counter(stage.group_name for stage in stages_of(()))
    assert run == stages
    assert len(workers()) >= 3
    assert set(GROUPS) == set(run)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_checked_for_health_or_ends_by_itself(name: str):
    health = SERVICES[name]["healthcheck"]
    if health.get("disable"):
        assert SERVICES[name]["restart"] == "no"
        return
    assert health["test"][0] in ("CMD", "CMD-SHELL")
    assert {"interval", "timeout", "retries"} <= health.keys()


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_named_by_an_exact_version(name: str):
    image = SERVICES[name]["image"]
    assert EXACT.fullmatch(image), image
    assert "latest" not in image


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_waits_for_is_healthy_and_in_reach_of_its_profile(name: str):
    service = SERVICES[name]
    for target, how in service.get("depends_on", {}).items():
        assert how == {"condition": "service_healthy"}
        assert not SERVICES[target]["healthcheck"].get("disable"), target
        # `demo` is asked for together with `core`.
        assert SERVICES[target]["profiles"] in (service["profiles"], ["core"])


def test_every_service_has_a_profile_and_no_profile_is_empty():
    assert all(len(service["profiles"]) == 1 for service in SERVICES.values())
    assert {profile for service in SERVICES.values() for profile in service["profiles"]} == PROFILES


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_open_on_loopback_only(name: str):
    for port in SERVICES[name].get("ports", []):
        assert port.startswith("127.0.0.1:"), port


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_may_do_more_than_it_needs_or_take_all_memory(name: str):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("privileged", False) is False
    assert not {"cap_add", "devices", "network_mode", "pid"} & service.keys()
    assert {"memory", "pids"} <= service["deploy"]["resources"]["limits"].keys()
    assert service.get("read_only", False) is (name not in WRITABLE)


def test_grafana_finds_prometheus():
    [source] = yaml.safe_load((ROOT / "deploy/grafana/provisioning/datasources/prometheus.yml").read_text())[
        "datasources"
    ]
    assert source["type"] == "prometheus"
    host, _, port = source["url"].removeprefix("http://").partition(":")
    assert SERVICES[host]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert SERVICES["grafana"]["depends_on"].keys() == {host}


def test_no_two_services_want_the_same_port_of_the_host():
    ports = [port.split(":")[1] for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(ports) == len(set(ports))


@pytest.mark.parametrize("name", SERVICES)
def test_every_setting_is_one_fathom_knows_with_a_value_it_takes(name: str):
    assert config.load(environment(name)).model_fields_set == {
        key.removeprefix("FATHOM_").lower() for key in environment(name)
    }


@pytest.mark.parametrize("name", SERVICES)
def test_secrets_are_files_and_each_that_is_named_is_given(name: str):
    service = SERVICES[name]
    given = {f"/run/secrets/{secret}" for secret in service.get("secrets", [])}
    assert set(service.get("secrets", [])) <= COMPOSE["secrets"].keys()
    for key, value in service.get("environment", {}).items():
        if SECRET.search(key):
            assert key.endswith("_FILE"), key
            assert value in given, key


def test_every_volume_is_used_and_every_server_keeps_its_data():
    used = {
        volume.partition(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", [])
        if not volume.startswith(".")
    }
    assert used == COMPOSE["volumes"].keys()
    assert {"kafka", "redis", "qdrant", "neo4j"} <= used


def test_each_secret_is_made_once_and_lies_where_its_owner_alone_gets_in(tmp_path: Path):
    script = shutil.copy(ROOT / "deploy/secrets.sh", tmp_path / "secrets.sh")
    read = {}
    for _ in range(2):
        subprocess.run(["sh", str(script)], check=True, capture_output=True)
        before, read = read, {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert before == read
    named = [*COMPOSE["secrets"].values(), *KEYS["secrets"].values()]
    assert {f"./deploy/secrets/{name}" for name in read} == {each["file"] for each in named}
    read_master_key(tmp_path / "secrets/master_key")
    # The key of a model's server is nobody's to make.
    assert all(len(text) >= 32 for name, text in read.items() if name != "upstream_key")
    assert read["neo4j_auth"] == f"neo4j/{read['neo4j_password']}"
    known = tokens.of_file(tmp_path / "secrets/ask_tokens", "ask_tokens_file")
    [token] = json.loads(read["ask_tokens"])
    assert known.grant(token) == Grant(tenant="default")
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert "deploy/secrets/" in (ROOT / ".gitignore").read_text().splitlines()


def test_prometheus_asks_every_process_of_ours_at_its_port():
    scraped = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())["scrape_configs"]
    targets = {target for job in scraped for each in job["static_configs"] for target in each["targets"]}
    assert targets == {f"{name}:{environment(name)['FATHOM_HTTP_PORT']}" for name in (*workers(), "ask", "seal")}


def test_the_sealer_has_no_secret_and_goes_on_sealing():
    assert SERVICES["seal"]["secrets"] == []
    assert SERVICES["seal"]["command"][1:4] == ["audit", "seal", "--every"]
    assert SERVICES["seal"]["restart"] == "unless-stopped"


def test_with_keys_of_persons_every_process_that_speaks_of_them_has_them():
    assert list(Draft7Validator(SCHEMA).iter_errors(KEYS)) == []
    services = KEYS["services"]
    assert services.keys() == {"keys", "ask", "demo", *workers()}
    for name in services.keys() - {"keys"}:
        settings = services[name]["environment"]
        assert config.load(environment(name) | settings).subject_keys == "redis://keys:6379/0"
        assert settings["FATHOM_MASTER_KEY_FILE"] == f"/run/secrets/{services[name]['secrets'][0]}"
        assert services[name]["depends_on"] == {"keys": {"condition": "service_healthy"}}
    own, sessions = services["keys"], SERVICES["redis"]
    assert own["command"][own["command"].index("--appendfsync") + 1] == "always"
    assert own["volumes"] == [f"{name}:/data" for name in KEYS["volumes"]] != sessions["volumes"]
    for field in ("image", "read_only", "cap_drop", "security_opt", "user", "profiles"):
        assert own[field] == sessions[field], field


def test_the_front_before_a_model_is_served_with_the_interface_and_takes_its_address_from_whoever_runs_it():
    front = SERVICES["ask"]
    assert front["environment"]["FATHOM_UPSTREAM_URL"] is None
    assert front["environment"]["FATHOM_UPSTREAM_KEY_FILE"] == "/run/secrets/upstream_key"
    assert "upstream_key" in front["secrets"]
    assert front["extra_hosts"] == ["host.docker.internal:host-gateway"]
    assert config.load(environment("ask") | {"FATHOM_UPSTREAM_URL": "http://host.docker.internal:11434/v1"})
    page = (ROOT / "docs/openai.md").read_text()
    assert "FATHOM_UPSTREAM_URL=http://host.docker.internal:11434/v1 docker compose --profile core up -d --wait" in page
    assert f"http://{front['ports'][0].rpartition(':')[0]}/v1" in page


def test_the_dockerfile_builds_what_compose_runs():
    for name in (*workers(), "demo", "ask", "seal"):
        assert SERVICES[name]["image"] == f"fathom:{version()}"
        assert SERVICES[name]["build"] == {"context": ".", "dockerfile": "deploy/Dockerfile"}
        assert SERVICES[name]["command"][0] == "fathom"
    [base] = set(re.findall(r"^FROM (\S+)(?: AS wheel)?$", DOCKERFILE, re.MULTILINE))
    assert EXACT.fullmatch(base), base
    assert "--require-hashes" in DOCKERFILE
    assert re.search(r"^USER fathom$", DOCKERFILE, re.MULTILINE)
    assert 'CMD ["fathom", "worker"]' in DOCKERFILE


def test_the_image_holds_what_the_wheel_installs_and_no_sources():
    image = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.findall(r"^COPY (\S+)", image, re.MULTILINE) == ["deploy/requirements/base.txt"]
    assert "from=wheel,source=/dist,target=/dist pip install --no-cache-dir --no-deps /dist/*.whl" in image


def test_what_the_dockerfile_copies_is_there_and_is_not_kept_from_it():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    copied = [source for line in re.findall(r"^COPY (.+)$", DOCKERFILE, re.MULTILINE) for source in line.split()[:-1]]
    assert copied
    for source in copied:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignored, source
