"""The Helm chart, rendered: valid for Kubernetes, safe by its own rules, and true of the topology."""

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.topics import TOPICS
from streams import config
from streams.faust.consumer_group import STOP_LIMIT_S
from streams.kafka.producer import STOP_LIMIT_S as PRODUCER_LIMIT_S
from streams.kafka.topics_plan import wanted
from streams.runtime import access
from streams.runtime.app import HANDOVER_S
from streams.topology import LAYOUTS, groups_of, stages_of
from tests.checkout import ROOT
from tests.proofs.deploy import tools
from tests.servers.install import InstallError

CHART = ROOT / "deploy/helm/fathom"
HERE = Path(__file__).parent
LEAST: dict[str, Any] = {
    "kafka": {"bootstrapServers": "k:9093"},
    "stores": {
        "redis": {"url": "redis://redis:6379/0"},
        "qdrant": {"url": "http://qdrant:6333"},
        "neo4j": {"url": "bolt://neo4j:7687", "passwordSecret": "neo4j"},
    },
    "serve": {"tokensSecret": "tokens"},
}
ALL: dict[str, Any] = LEAST | {
    "kafka": {"bootstrapServers": "k:9093", "caSecret": "ca", "partitions": 3},
    "strimzi": {"enabled": True, "cluster": "k", "namespace": "kafka"},
    "stores": {
        "redis": {"urlSecret": "redis"},
        "qdrant": {"url": "http://qdrant:6333", "apiKeySecret": "qdrant"},
        "neo4j": {"url": "bolt://neo4j:7687", "passwordSecret": "neo4j"},
        "keys": {"urlSecret": "keys-url", "masterKeySecret": "keys", "plainTopics": "context-packs.out"},
    },
    "serve": {
        "tokensSecret": "tokens",
        "ingress": {"enabled": True, "host": "fathom.example", "tlsSecret": "tls"},
        "upstream": {"url": "https://model.example/v1", "keySecret": "model"},
    },
    "autoscaling": {"enabled": True},
    "serviceMonitor": {"enabled": True},
    "seal": {"enabled": True},
    "policies": {"tools.yaml": "version: 1\n", "context.yaml": "version: 1\n"},
    "settings": {"RAG_ENABLE_COGRAG": "on"},
}
MTLS = LEAST | {
    "stores": LEAST["stores"] | {"keys": {"url": "redis://keys:6379/0", "masterKeySecret": "keys"}},
    "kafka": {"bootstrapServers": "k:9093", "security": "SSL"},
    "strimzi": {"enabled": True, "cluster": "k"},
    "seal": {"enabled": True, "every": 5},
}
PLAIN = LEAST | {"kafka": {"bootstrapServers": "k:9092", "security": "PLAINTEXT"}, "serve": {"enabled": False}}
SPLIT = ALL | {"layout": "split", "groups": {"planner": {"replicas": 2}}}
RENDERED = {"least": LEAST, "all": ALL, "mtls": MTLS, "plain": PLAIN, "split": SPLIT}

Given = dict[str, Any]
Kinds = dict[str, list[dict[str, Any]]]


def tool(get: Callable[[], Path]) -> Path:
    try:
        return get()
    except InstallError as error:
        pytest.skip(str(error))


def helm(*arguments: str, values: Given) -> subprocess.CompletedProcess[str]:
    command = [str(tool(tools.helm)), *arguments, str(CHART), "--values", "-"]
    return subprocess.run(command, input=json.dumps(values), capture_output=True, text=True, check=False)


def rendered(values: Given) -> str:
    done = helm("template", "it", values=values)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=RENDERED)
def values(request: pytest.FixtureRequest) -> Given:
    return RENDERED[request.param]


def by_kind(values: Given) -> Kinds:
    found: Kinds = {}
    for each in yaml.safe_load_all(rendered(values)):
        found.setdefault(each["kind"], []).append(each)
    return found


@pytest.fixture(scope="module")
def kinds(values: Given) -> Kinds:
    return by_kind(values)


@pytest.fixture(scope="module")
def everything() -> Kinds:
    return by_kind(ALL)


@pytest.fixture(scope="module", params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def laid_out(layout: str) -> Kinds:
    """Everything, in each layout of the pack path."""
    return by_kind(ALL | {"layout": layout})


def deployed(layout: str) -> tuple[str, ...]:
    return groups_of(LAYOUTS[layout])


def pods(kinds: Kinds) -> list[dict[str, Any]]:
    return [each["spec"]["template"]["spec"] for each in kinds["Deployment"]]


def environment(kinds: Kinds, pod: dict[str, Any]) -> dict[str, str]:
    """What the process finds, its own over what all share; a Secret's value is one that fits."""
    [container] = pod["containers"]
    shared = {config_map["metadata"]["name"]: config_map["data"] for config_map in kinds["ConfigMap"]}
    shared_from = [each["configMapRef"]["name"] for each in container.get("envFrom", [])]
    own = {each["name"]: each.get("value", "redis://:x@redis:6379/0") for each in container["env"]}
    both = {name: value for source in shared_from for name, value in shared[source].items()} | own
    return {name: value for name, value in both.items() if name.startswith(("FATHOM_", "RAG_"))}


def test_lint_has_nothing_to_say(values: Given) -> None:
    done = helm("lint", "--strict", values=values)
    assert done.returncode == 0, done.stdout
    assert "0 chart(s) failed" in done.stdout
    assert "[WARNING]" not in done.stdout


@pytest.mark.parametrize("version", tools.KUBERNETES)
def test_kubernetes_would_take_every_field(values: Given, version: str) -> None:
    locations = (
        f"{tool(tools.schemas)}/{version}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json",
        f"{HERE}/schemas/{{{{ .Group }}}}_{{{{ .ResourceKind }}}}_{{{{ .ResourceAPIVersion }}}}.json",
    )
    options = [option for location in locations for option in ("-schema-location", location)]
    command = [str(tool(tools.kubeconform)), "-strict", "-summary", *options]
    done = subprocess.run(command, input=rendered(values), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Invalid: 0, Errors: 0, Skipped: 0" in done.stdout


def test_a_field_that_is_unknown_would_be_noticed() -> None:
    slip = rendered(LEAST).replace("terminationGracePeriodSeconds", "terminationGracePeriod")
    location = f"{tool(tools.schemas)}/{tools.KUBERNETES[0]}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"
    command = [str(tool(tools.kubeconform)), "-strict", "-schema-location", location]
    done = subprocess.run(command, input=slip, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "terminationGracePeriod" in done.stdout


def test_there_is_a_deployment_for_each_group_of_the_layout_and_its_command_runs_that_one(
    laid_out: Kinds, layout: str
) -> None:
    commands = [pod["containers"][0]["command"] for pod in pods(laid_out)]
    assert [command[2] for command in commands if command[1] == "worker"] == list(deployed(layout))
    assert all(stages_of([command[2]], layout) for command in commands if command[1] == "worker")
    found = [environment(laid_out, pod) for pod in pods(laid_out) if pod["containers"][0]["name"] == "worker"]
    assert {config.load(each).layout for each in found} == {layout}


def test_without_a_word_the_layout_is_what_fathom_has_of_itself(everything: Kinds) -> None:
    assert everything == by_kind(ALL | {"layout": config.Settings.model_fields["layout"].default})


def test_every_setting_is_one_that_fathom_takes(kinds: Kinds) -> None:
    for pod in pods(kinds):
        found = environment(kinds, pod)
        settings = config.load(found)
        assert settings.broker.startswith("k:")
        assert settings.create_topics is False
        assert settings.http_port == 8080


def test_secrets_are_files_that_are_mounted_read_only(kinds: Kinds) -> None:
    for pod in pods(kinds):
        [container] = pod["containers"]
        mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        for name, path in environment(kinds, pod).items():
            if not name.endswith("_FILE"):
                continue
            mount = mounts[path.rpartition("/")[0]]
            assert mount["readOnly"] is True
            assert "secret" in volumes[mount["name"]], name
            assert volumes[mount["name"]]["secret"]["defaultMode"] == 0o440
        assert volumes.keys() == {mount["name"] for mount in mounts.values()}


def test_pods_are_restricted_as_the_pod_security_standards_say(kinds: Kinds) -> None:
    for pod in pods(kinds):
        [container] = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        own = container["securityContext"]
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert (own["allowPrivilegeEscalation"], own["readOnlyRootFilesystem"]) == (False, True)
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        assert pod["automountServiceAccountToken"] is False
        assert {*container["resources"]["requests"]} == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


def test_probes_ask_the_pages_of_health(kinds: Kinds) -> None:
    for pod in pods(kinds):
        [container] = pod["containers"]
        for probe, page in {"startupProbe": "startup", "livenessProbe": "live", "readinessProbe": "ready"}.items():
            assert container[probe]["httpGet"] == {"path": f"/health/{page}", "port": "health"}
            assert container[probe]["timeoutSeconds"] == 3


def test_a_pod_is_given_longer_than_it_takes_to_drain(kinds: Kinds) -> None:
    for pod in pods(kinds):
        [container] = pod["containers"]
        waits = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])[1]
        drain = PRODUCER_LIMIT_S + (HANDOVER_S + STOP_LIMIT_S if container["name"] == "worker" else 0)
        assert pod["terminationGracePeriodSeconds"] > int(waits) + drain


def test_labels_are_those_that_tools_look_for(kinds: Kinds) -> None:
    for each in (each for some in kinds.values() for each in some):
        labels = each["metadata"]["labels"]
        assert labels["app.kubernetes.io/name"] == "fathom"
        assert labels["app.kubernetes.io/instance"] == "it"
        assert labels["app.kubernetes.io/managed-by"] == "Helm"
        assert labels["helm.sh/chart"].startswith("fathom-0.")


def test_one_pod_of_each_kind_may_be_away_and_budgets_find_their_pods(kinds: Kinds) -> None:
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in kinds["Deployment"]]
    for budget in kinds["PodDisruptionBudget"]:
        selector = budget["spec"]["selector"]["matchLabels"].items()
        assert sum(selector <= each.items() for each in labels) == 1
        assert budget["spec"]["maxUnavailable"] == 1
    assert len(kinds["PodDisruptionBudget"]) == len(labels)


def test_scaling_follows_the_lag_of_every_topic_and_stays_within_the_partitions(laid_out: Kinds, layout: str) -> None:
    for scaled, group in zip(laid_out["ScaledObject"], deployed(layout), strict=True):
        spec = scaled["spec"]
        assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (1, 3)
        asked = {trigger["metadata"]["topic"] for trigger in spec["triggers"]}
        assert asked == {topic.name for stage in stages_of([group], layout) for topic in stage.consumes}
        for trigger in spec["triggers"]:
            assert trigger["metadata"]["excludePersistentLag"] == "true"
            assert trigger["metadata"]["consumerGroup"] == stages_of([group], layout)[0].consumer_group
    assert all("replicas" not in each["spec"] for each in laid_out["Deployment"] if "worker" in str(each["metadata"]))


def test_topics_are_those_of_the_plan_with_its_settings(everything: Kinds) -> None:
    found = {each["spec"]["topicName"]: each["spec"] for each in everything["KafkaTopic"]}
    assert found.keys() == {topic.name for topic in wanted(3, 3)} >= {topic.name for topic in TOPICS}
    for topic in wanted(3, 3):
        made = found[topic.name]
        assert (made["partitions"], made["replicas"]) == (topic.partitions, topic.replication)
        assert made["config"] == topic.config


def test_each_user_has_the_rights_of_its_process_literally_and_no_others(laid_out: Kinds, layout: str) -> None:
    users = {each["metadata"]["name"]: each["spec"]["authorization"]["acls"] for each in laid_out["KafkaUser"]}
    rights = {group: access.of_group(group, layout) for group in deployed(layout)} | {
        "serve": access.of_serve(),
        "seal": access.of_seal(),
    }
    assert users.keys() == {f"it-fathom-{name}" for name in rights}
    for name, given in rights.items():
        acls = users[f"it-fathom-{name}"]
        assert {acl["resource"]["patternType"] for acl in acls} == {"literal"}
        topics = {a["resource"]["name"]: tuple(a["operations"]) for a in acls if a["resource"]["type"] == "topic"}
        groups = {a["resource"]["name"]: tuple(a["operations"]) for a in acls if a["resource"]["type"] == "group"}
        assert (topics, groups) == (given.topics, given.groups)
    for deployment in laid_out["Deployment"]:
        [user] = [
            e["value"] for e in deployment["spec"]["template"]["spec"]["containers"][0]["env"]
            if e["name"] == "FATHOM_KAFKA_USER"
        ]  # fmt: skip
        assert user == deployment["metadata"]["name"]


def test_the_sealer_sees_kafka_and_no_store(everything: Kinds) -> None:
    [pod] = [pod for pod in pods(everything) if pod["containers"][0]["name"] == "seal"]
    found = environment(everything, pod)
    assert pod["containers"][0]["command"][:4] == ["fathom", "audit", "seal", "--every"]
    assert not [name for name in found if "NEO4J" in name or "QDRANT" in name or "REDIS" in name]
    assert {volume["name"] for volume in pod["volumes"]} == {"tmp", "kafka", "kafka-ca"}


@pytest.mark.parametrize("values", [ALL, MTLS], ids=["url in a secret", "url in the values"])
def test_every_process_but_the_sealer_has_the_keys_of_persons(values: Given) -> None:
    kinds = by_kind(values)
    for pod in pods(kinds):
        found = environment(kinds, pod)
        names = {name for name in found if name in ("FATHOM_SUBJECT_KEYS", "FATHOM_MASTER_KEY_FILE")}
        assert len(names) == (0 if pod["containers"][0]["name"] == "seal" else 2), pod["containers"][0]["command"]


def test_without_keys_of_persons_nothing_speaks_of_them() -> None:
    assert not {"SUBJECT_KEYS", "MASTER_KEY"} & {*re.findall(r"[A-Z]+_KEYS?", rendered(LEAST))}


def test_the_front_before_a_model_is_there_where_a_model_is_named() -> None:
    [pod] = [pod for pod in pods(by_kind(ALL)) if pod["containers"][0]["name"] == "serve"]
    found = environment(by_kind(ALL), pod)
    assert found["FATHOM_UPSTREAM_URL"] == "https://model.example/v1"
    [mount] = [each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "upstream"]
    assert found["FATHOM_UPSTREAM_KEY_FILE"] == f"{mount['mountPath']}/key"
    [secret] = [each["secret"] for each in pod["volumes"] if each["name"] == "upstream"]
    assert secret["secretName"] == "model"
    assert "UPSTREAM" not in rendered(LEAST)


def test_the_version_is_that_of_the_package() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert chart["appVersion"] == version
    assert chart["version"] == version.replace(".dev", "-dev.")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"kafka": {"bootstrapServers": ""}}, "kafka.bootstrapServers is missing"),
        ({"stores": LEAST["stores"] | {"redis": {}}}, "stores.redis is missing"),
        ({"stores": LEAST["stores"] | {"keys": {"url": "redis://k:6379/0"}}}, "stores.keys.masterKeySecret is missing"),
        ({"stores": LEAST["stores"] | {"keys": {"masterKeySecret": "keys"}}}, "stores.keys.url is missing"),
        ({"serve": {}}, "serve.tokensSecret is missing"),
        ({"serve": LEAST["serve"] | {"upstream": {"keySecret": "model"}}}, "serve.upstream.url is missing"),
        (
            {"groups": {"depht": {"replicas": 2}}},
            "groups.depht is no group of the layout chained; there are depth, learning",
        ),
        ({"groups": {"planner": {"replicas": 2}}}, "groups.planner is no group of the layout chained"),
        ({"layout": "spilt"}, "layout"),
        ({"groups": {"depth": {"replicas": 99}}}, "replicas beyond the partitions have nothing to read"),
        ({"strimzi": {"enabled": True}}, "strimzi.cluster is missing"),
        ({"worker": {"terminationGracePeriodSeconds": 10}}, "terminationGracePeriodSeconds"),
        ({"kafkaa": {}}, "kafkaa"),
        ({"settings": {"PATH": "/x"}}, "PATH"),
        ({"seal": {"every": 0}}, "every"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_what_to_write(wrong: Given, says: str) -> None:
    done = helm("template", "it", values=LEAST | wrong)
    assert done.returncode != 0
    assert says in done.stderr
