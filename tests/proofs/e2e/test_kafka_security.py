"""Fathom on an Apache Kafka that asks who comes: TLS, SCRAM and client certificates, and each wrong thing refused."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.errors import Unavailable
from schemas.topics import CONTEXT_PACKS
from streams import config
from streams.kafka import ledger, topics_admin, topics_plan
from streams.kafka.broker_diagnosis import BrokerRejected
from streams.kafka.producer import Producer
from streams.kafka.security import security_of
from tests.e2e.processes import fathom, running
from tests.servers.install import lacking
from tests.servers.kafka_secure import SecureKafka, make_certificates

SECRET = "s3cret-of-the-broker"

Settings = dict[str, str]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    if (why := lacking("kafka")) is not None:
        pytest.skip(why)
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    place = tmp_path_factory.mktemp("secure")
    (place / "password").write_text(f"{SECRET}\n")
    (place / "wrong-password").write_text("wr0ng-one\n")
    with SecureKafka(place / "kafka", make_certificates(place / "pem"), password=SECRET) as server:
        yield server


def sasl_ssl(kafka: SecureKafka, **changed: object) -> Settings:
    files = kafka.directory.parent
    return {
        "FATHOM_BROKER": kafka.sasl_ssl,
        "FATHOM_KAFKA_SECURITY": "SASL_SSL",
        "FATHOM_KAFKA_USER": kafka.user,
        "FATHOM_KAFKA_PASSWORD_FILE": str(files / "password"),
        "FATHOM_KAFKA_CA_FILE": str(kafka.certificates.ca),
        **{f"FATHOM_{name.upper()}": str(value) for name, value in changed.items()},
    }


def mtls(kafka: SecureKafka, **changed: object) -> Settings:
    own = kafka.certificates
    return {
        "FATHOM_BROKER": kafka.ssl,
        "FATHOM_KAFKA_SECURITY": "SSL",
        "FATHOM_KAFKA_CA_FILE": str(own.ca),
        "FATHOM_KAFKA_CERT_FILE": str(own.client),
        "FATHOM_KAFKA_KEY_FILE": str(own.client_key),
        **{f"FATHOM_{name.upper()}": str(value) for name, value in changed.items()},
    }


def topics_seen(environment: Settings) -> dict[str, int]:
    settings = config.load(environment)
    return asyncio.run(topics_admin.existing(settings.broker, security_of(settings)))


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"])
def test_each_mechanism_lets_every_client_of_ours_in(kafka: SecureKafka, mechanism: str) -> None:
    settings = config.load(sasl_ssl(kafka, kafka_sasl_mechanism=mechanism))
    security = security_of(settings)

    async def scenario() -> None:
        await topics_admin.create_missing(settings.broker, topics_plan.wanted(1), security)
        sending = Producer(settings.broker, security=security)
        await sending.start()
        try:
            await (await sending.send("dead-letters.depth", b"k", b"v", []))
        finally:
            await sending.stop()
        group = f"nobody-{mechanism}"
        emitted: list[object] = []
        reading = (settings.broker, ["packs.partial"], CONTEXT_PACKS, [0], group)
        assert [*await ledger.read(*reading, lambda _: emitted.append, security)] == [0]
        assert emitted == []

    asyncio.run(scenario())


def test_a_client_certificate_lets_in_and_a_missing_or_foreign_one_does_not(kafka: SecureKafka) -> None:
    assert isinstance(topics_seen(mtls(kafka)), dict)
    none = {name: value for name, value in mtls(kafka).items() if "CERT_FILE" not in name and "KEY_FILE" not in name}
    own = kafka.certificates
    foreign = mtls(kafka, kafka_cert_file=own.stranger, kafka_key_file=own.stranger_key)
    for wrong in (none, foreign):
        with pytest.raises(BrokerRejected, match=r"does not take our certificate .*FATHOM_KAFKA_CERT_FILE"):
            topics_seen(wrong)


def test_each_wrong_thing_is_refused_with_what_to_look_at_and_without_the_secret(kafka: SecureKafka) -> None:
    wrong_password = kafka.directory.parent / "wrong-password"
    port = kafka.sasl_ssl.rpartition(":")[2]
    cases = [
        (sasl_ssl(kafka, kafka_password_file=wrong_password), "FATHOM_KAFKA_PASSWORD_FILE"),
        (sasl_ssl(kafka, kafka_sasl_mechanism="PLAIN", kafka_password_file=wrong_password), "FATHOM_KAFKA_USER"),
        (sasl_ssl(kafka, kafka_user="nobody"), "user 'nobody'"),
        (sasl_ssl(kafka, kafka_ca_file=kafka.certificates.stranger_ca), "FATHOM_KAFKA_CA_FILE"),
        (sasl_ssl(kafka, broker=f"localhost:{port}"), "a certificate for another name"),
    ]
    for environment, says in cases:
        with pytest.raises(BrokerRejected) as refused:
            topics_seen(environment)
        assert says in str(refused.value), says
        assert SECRET not in str(refused.value)
        assert "wr0ng" not in str(refused.value)


def test_a_client_at_a_door_of_another_kind_hears_which_setting_it_may_be(kafka: SecureKafka) -> None:
    for environment, ours in (
        ({"FATHOM_BROKER": kafka.sasl_plaintext}, "PLAINTEXT"),
        ({"FATHOM_BROKER": kafka.sasl_ssl}, "PLAINTEXT"),
        (sasl_ssl(kafka, broker=kafka.bootstrap), "SASL_SSL"),
    ):
        with pytest.raises(Unavailable, match=f"does it want another FATHOM_KAFKA_SECURITY than {ours}"):
            topics_seen(environment)


def test_a_command_with_a_wrong_password_ends_with_3_and_one_sentence(kafka: SecureKafka) -> None:
    stores = {f"FATHOM_{name}_URL": "memory://" for name in ("REDIS", "QDRANT", "NEO4J")}
    wrong = sasl_ssl(kafka, kafka_password_file=kafka.directory.parent / "wrong-password")
    for command in (("worker", "depth"), ("send", "oi"), ("topics", "plan")):
        ended = fathom(*command, **wrong, **stores)
        assert ended.returncode == 3, ended.stderr
        assert "FATHOM_KAFKA_PASSWORD_FILE" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert "wr0ng" not in ended.stderr


def test_a_message_in_gives_a_pack_out_over_tls_and_scram(kafka: SecureKafka, tmp_path: Path) -> None:
    environment = sasl_ssl(kafka, partitions=1, redis_url="memory://")
    stores = {"FATHOM_QDRANT_URL": "memory://", "FATHOM_NEO4J_URL": "memory://"}
    with running("worker", stderr=tmp_path / "err", **environment, **stores) as process:
        process.ready()
        asked = fathom("ask", "Oi, tudo bem?", "--json", "--timeout", "60", **environment, **stores)
        assert asked.returncode == 0, asked.stderr
        assert json.loads(asked.stdout)["depth_level"] == "D0"
        planned = fathom("topics", "plan", "--json", **environment, **stores)
        assert planned.returncode == 0, planned.stdout
        replayed = fathom("replay", "--mode", "exact", "--to-earliest", "--json", **environment, **stores)
        assert replayed.returncode == 0, replayed.stderr
        assert process.end()[0] == 0
    assert SECRET not in (tmp_path / "err").read_text()
