"""Settings of the connection to Kafka: what goes together, what is missing, and that no secret is shown."""

import ast
import asyncio
from pathlib import Path

import pytest

from streams import config
from streams.kafka import clients
from streams.kafka.security import PLAINTEXT, Security, security_of
from tests.unit.house import tree

SECRET = "s3cret-of-the-broker"


@pytest.fixture
def password(tmp_path: Path) -> str:
    (tmp_path / "password").write_text(f"{SECRET}\n")
    return str(tmp_path / "password")


def test_a_plain_connection_needs_nothing_and_says_nothing():
    assert security_of(config.load({})) is PLAINTEXT
    assert PLAINTEXT.client_options() == {}


def test_the_secret_reaches_the_client_and_nobody_who_looks(password: str):
    given = {"FATHOM_KAFKA_USER": "ana", "FATHOM_KAFKA_PASSWORD_FILE": password}
    settings = config.load({"FATHOM_BROKER": "k:9092", "FATHOM_KAFKA_SECURITY": "SASL_PLAINTEXT", **given})
    security = security_of(settings)
    options = security.client_options()
    assert (options["sasl_plain_username"], options["sasl_plain_password"]) == ("ana", SECRET)
    assert options["sasl_mechanism"] == "SCRAM-SHA-512"
    assert SECRET not in repr(security) + repr(settings)


def test_tls_checks_the_certificate_and_the_name_of_the_broker():
    security = security_of(config.load({"FATHOM_BROKER": "k:9092", "FATHOM_KAFKA_SECURITY": "SSL"}))
    assert security.tls is not None
    assert security.tls.check_hostname
    assert security.tls.verify_mode.name == "CERT_REQUIRED"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"SECURITY": "SASL_SSL"}, "needs FATHOM_KAFKA_USER and FATHOM_KAFKA_PASSWORD_FILE"),
        ({"SECURITY": "SASL_SSL", "USER": "ana"}, "needs FATHOM_KAFKA_USER and FATHOM_KAFKA_PASSWORD_FILE"),
        ({"SECURITY": "SASL_SSL", "USER": "ana", "PASSWORD_FILE": "/nowhere"}, "FATHOM_KAFKA_PASSWORD_FILE='/nowhere'"),
        ({"USER": "ana"}, "FATHOM_KAFKA_USER has no use with FATHOM_KAFKA_SECURITY=PLAINTEXT"),
        ({"CA_FILE": "ca.pem"}, "FATHOM_KAFKA_CA_FILE has no use with FATHOM_KAFKA_SECURITY=PLAINTEXT"),
        ({"SECURITY": "SSL", "SASL_MECHANISM": "PLAIN"}, "FATHOM_KAFKA_SASL_MECHANISM has no use"),
        ({"SECURITY": "SSL", "CA_FILE": "/nowhere"}, "FATHOM_KAFKA_CA_FILE='/nowhere': No such file"),
        ({"SECURITY": "SSL", "CA_FILE": __file__}, "name a file that holds certificates in PEM form"),
        ({"SECURITY": "SSL", "CERT_FILE": __file__}, "FATHOM_KAFKA_KEY_FILE go together"),
        ({"SECURITY": "SSL", "CERT_FILE": __file__, "KEY_FILE": __file__}, "a certificate in PEM form, with its key"),
        ({"SECURITY": "TLS"}, "FATHOM_KAFKA_SECURITY='TLS'"),
        ({"SASL_MECHANISM": "GSSAPI"}, "FATHOM_KAFKA_SASL_MECHANISM='GSSAPI'"),
    ],
)
def test_what_is_missing_or_would_have_no_effect_is_an_error(given: dict[str, str], says: str):
    environment = {f"FATHOM_KAFKA_{name}": value for name, value in given.items()}
    with pytest.raises(config.ConfigError) as error:
        security_of(config.load({"FATHOM_BROKER": "k:9092", **environment}))
    assert says in str(error.value)


def test_the_embedded_broker_knows_no_security(password: str):
    with pytest.raises(config.ConfigError, match="for brokers of host:port"):
        security_of(config.load({"FATHOM_KAFKA_SECURITY": "SSL"}))


def test_no_client_of_kafka_is_made_without_the_security_of_the_process():
    """All are made in one file; a group's member gets its own in `client_options`, from the worker."""
    made, bare = 0, []
    making = ("new_consumer", "new_producer", "new_admin")
    for path in tree.naming(making, "streams"):
        for call in (node for node in tree.nodes(path) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func)
            if name.rpartition(".")[2] in making:
                made += 1
                given = [ast.unparse(each) for each in (*call.args, *(each.value for each in call.keywords))]
                if not any("security" in each or "client_options" in each for each in given):
                    bare.append(f"{path.name}:{call.lineno}")
    assert bare == []
    assert made >= 10
    security = Security("SASL_PLAINTEXT", "PLAIN", "ana", "secret")

    async def protocols() -> set[str]:
        makers = (clients.new_consumer, clients.new_producer, clients.new_admin)
        made = [make("127.0.0.1:1", security) for make in makers]
        links = [each.client if hasattr(each, "client") else each._client for each in made]
        return {link._security_protocol for link in links}

    assert asyncio.run(protocols()) == {"SASL_PLAINTEXT"}
