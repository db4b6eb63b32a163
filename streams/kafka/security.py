"""Security of this process's Kafka clients: TLS, SASL, client certificates."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from streams.config import PREFIX, ConfigError, Settings, secret

if TYPE_CHECKING:
    from streams.encryption.records import RecordEncryption

SECURITY, PASSWORD, CA = "FATHOM_KAFKA_SECURITY", "FATHOM_KAFKA_PASSWORD_FILE", "FATHOM_KAFKA_CA_FILE"
CERT = "FATHOM_KAFKA_CERT_FILE"


@dataclass(frozen=True, slots=True)
class Security:
    """The protocol of all connections with its parameters, and the encryption of records.

    The default is a plain connection and plain records.
    """

    protocol: str = "PLAINTEXT"
    mechanism: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    encryption: "RecordEncryption | None" = field(default=None, repr=False)

    @property
    def sasl(self) -> bool:
        return self.protocol.startswith("SASL_")

    def client_options(self) -> Mapping[str, object]:
        """The arguments of every aiokafka client."""
        if self.protocol == "PLAINTEXT":
            return {}
        options: dict[str, object] = {"security_protocol": self.protocol, "ssl_context": self.tls}
        if self.sasl:
            options |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.user,
                "sasl_plain_password": self.password,
            }
        return options


PLAINTEXT = Security()


def security_of(settings: Settings) -> Security:
    """The security of a process; its files are read here, once. Raises `ConfigError`."""
    security = _connections(settings)
    if not {"subject_keys", "master_key_file", "plain_topics"} & settings.model_fields_set:
        return security
    # Imported here: a third of the time in which a command starts, and without these settings nothing needs it.
    from streams.encryption.opening import encryption_of

    return replace(security, encryption=encryption_of(settings))


def _connections(settings: Settings) -> Security:
    protocol = settings.kafka_security
    _check_fit(settings)
    if protocol == "PLAINTEXT":
        return PLAINTEXT
    tls = _context(settings) if protocol.endswith("SSL") else None
    if not protocol.startswith("SASL_"):
        return Security(protocol, tls=tls)
    password = secret("kafka_password_file", settings.kafka_password_file)
    if not settings.kafka_user or password is None:
        raise ConfigError(f"{SECURITY}={protocol} needs FATHOM_KAFKA_USER and {PASSWORD}")
    return Security(protocol, settings.kafka_sasl_mechanism, settings.kafka_user, password, tls)


def _check_fit(settings: Settings) -> None:
    """Refuse settings that would have no effect."""
    protocol = settings.kafka_security
    if protocol != "PLAINTEXT" and settings.broker.startswith("embedded://"):
        raise ConfigError(
            f"{SECURITY}={protocol} is for brokers of host:port; the embedded one listens on loopback only"
        )
    own = {"kafka_ca_file", "kafka_cert_file", "kafka_key_file"} if not protocol.endswith("SSL") else set()
    if not protocol.startswith("SASL_"):
        own |= {"kafka_user", "kafka_password_file", "kafka_sasl_mechanism"}
    unused = sorted(own & {name for name in settings.model_fields_set if getattr(settings, name) is not None})
    if unused:
        raise ConfigError(f"{PREFIX}{unused[0].upper()} has no use with {SECURITY}={protocol}; set {SECURITY} too")
    if (settings.kafka_cert_file is None) != (settings.kafka_key_file is None):
        raise ConfigError(f"{CERT} and FATHOM_KAFKA_KEY_FILE go together: the client's certificate and its key")


def _context(settings: Settings) -> ssl.SSLContext:
    """A TLS context that checks the broker's certificate and host name; without a CA file, against the system's."""
    ca, cert, key = settings.kafka_ca_file, settings.kafka_cert_file, settings.kafka_key_file
    try:
        context = ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise _unreadable(CA, ca, error, "certificates in PEM form") from None
    if cert is not None and key is not None:
        try:
            # OpenSSL would ask for the password of an encrypted key on the terminal.
            context.load_cert_chain(cert, key, password="")
        except (OSError, ssl.SSLError) as error:
            raise _unreadable(
                CERT, cert, error, f"a certificate in PEM form, with its key without a password in {key}"
            ) from None
    return context


def _unreadable(name: str, path: Path | None, error: OSError, holds: str) -> ConfigError:
    why = "not what it should be" if isinstance(error, ssl.SSLError) else error.strerror
    return ConfigError(f"{name}={str(path)!r}: {why}; name a file that holds {holds}")
