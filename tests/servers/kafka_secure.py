"""One Apache Kafka broker that asks who comes: TLS with SCRAM or PLAIN, TLS with client certificates, and plain SASL.

with SecureKafka(directory, make_certificates(directory)) as kafka:
    use(kafka.sasl_ssl, kafka.certificates.ca, kafka.user, kafka.password)
"""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.servers.kafka import QUICK_JVM, KafkaServer
from tests.servers.process import HOST, free_ports

DAYS = "2"
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
MECHANISMS = "SCRAM-SHA-512,SCRAM-SHA-256,PLAIN"
MODULES = "org.apache.kafka.common.security"
# Whoever comes without a name, at the plain listener, may do all: the broker itself, and the tests.
ASKING = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "false",
}
DENIED = re.compile(r"Principal = User:(\S+) is Denied operation = (\w+) .*? on resource = (\w+):LITERAL:(\S+)")


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM files: who is trusted, the broker's own, a client's own, and an authority nobody knows."""

    ca: Path
    server: Path
    client: Path
    client_key: Path
    stranger_ca: Path
    stranger: Path
    stranger_key: Path


def openssl(*arguments: str | Path) -> None:
    """Run it; raises `RuntimeError` with its last words."""
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr.strip()[-300:]}")


def make_certificates(directory: Path, names: str = f"IP:{HOST}") -> Certificates:
    """Authorities and what they signed; `names` are the broker's, as openssl writes them."""
    directory.mkdir(parents=True, exist_ok=True)
    for authority in ("ca", "stranger-ca"):
        key, cert = directory / f"{authority}.key", directory / f"{authority}.pem"
        # Since Python 3.13 an authority must say that it signs.
        use = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
        openssl("req", "-x509", *CURVE, "-keyout", key, "-out", cert, "-subj", f"/CN={authority}", "-days", DAYS, *use)
    _signed(directory, "server", "ca", names)
    _signed(directory, "client", "ca", "DNS:fathom")
    _signed(directory, "stranger", "stranger-ca", "DNS:stranger")
    both = directory / "server-and-key.pem"
    both.touch(mode=0o600)
    both.write_text((directory / "server.key").read_text() + (directory / "server.pem").read_text())
    names_of = ("ca.pem", both.name, "client.pem", "client.key", "stranger-ca.pem", "stranger.pem", "stranger.key")
    return Certificates(*(directory / name for name in names_of))


def _signed(directory: Path, name: str, authority: str, names: str) -> None:
    key, cert, request = (directory / f"{name}.{end}" for end in ("key", "pem", "csr"))
    openssl("req", "-new", *CURVE, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
    extension = directory / f"{name}.ext"
    extension.write_text(f"subjectAltName={names}\n")
    openssl(
        "x509", "-req", "-in", request, "-CA", directory / f"{authority}.pem", "-CAkey", directory / f"{authority}.key",
        "-CAcreateserial", "-out", cert, "-days", DAYS, "-extfile", extension,
    )  # fmt: skip


class SecureKafka(KafkaServer):
    """Four listeners: plain (for itself), `sasl_ssl`, `ssl` (with client certificates), `sasl_plaintext`."""

    def __init__(
        self,
        directory: Path,
        certificates: Certificates,
        *,
        user: str = "fathom",
        password: str = "only-for-tests",
        others: Sequence[str] = (),
        rights: bool = False,
    ) -> None:
        """`others` are users with the same password; with `rights`, users may do what they were given alone."""
        noted = ("-Dorg.slf4j.simpleLogger.log.kafka.authorizer.logger=info",) if rights else ()
        super().__init__(directory, jvm=(*QUICK_JVM, *noted), properties=ASKING if rights else {})
        self._users = (user, *others)
        self.certificates, self.user, self.password = certificates, user, password
        self.sasl_ssl, self.ssl, self.sasl_plaintext = (f"{HOST}:{port}" for port in free_ports(3))

    def _properties(self) -> dict[str, str]:
        own = super()._properties()
        known = " ".join(f'user_{user}="{self.password}"' for user in self._users)
        plain = f"{MODULES}.plain.PlainLoginModule required {known};"
        logins = {
            f"listener.name.{listener}.{mechanism}.sasl.jaas.config": module
            for listener in ("sasl_ssl", "sasl_plaintext")
            for mechanism, module in (
                ("plain", plain),
                ("scram-sha-512", f"{MODULES}.scram.ScramLoginModule required;"),
                ("scram-sha-256", f"{MODULES}.scram.ScramLoginModule required;"),
            )
        }
        return {
            **own,
            "listeners": f"{own['listeners']},SASL_SSL://{self.sasl_ssl},SSL://{self.ssl},"
            f"SASL_PLAINTEXT://{self.sasl_plaintext}",
            "listener.security.protocol.map": f"{own['listener.security.protocol.map']},"
            "SASL_SSL:SASL_SSL,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT",
            "sasl.enabled.mechanisms": MECHANISMS,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.certificates.server),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificates.ca),
            "listener.name.ssl.ssl.client.auth": "required",
            **logins,
        }

    def denied(self) -> set[tuple[str, str, str, str]]:
        """What was refused since the start: user, operation, kind of resource and its name, in Kafka's words."""
        return set(DENIED.findall(self.log.read_text(errors="replace")))

    def _format_options(self) -> Sequence[str]:
        secret = f"[name={self.user},password={self.password}]"
        return [part for kind in ("512", "256") for part in ("--add-scram", f"SCRAM-SHA-{kind}={secret}")]
