"""Distinguish a broker that refuses the connection from one that is away: waiting helps only with the second."""

import ssl

from aiokafka.conn import create_conn
from aiokafka.errors import (
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka.protocol.metadata import MetadataRequest

from streams.config import ConfigError
from streams.kafka.security import CA, CERT, PASSWORD, SECURITY, Security

ASK_MS = 5_000
HOSTNAME_MISMATCH, IP_ADDRESS_MISMATCH, EXPIRED, NOT_YET_VALID = 62, 64, 10, 9


class BrokerRejected(ConfigError):
    """The broker refuses us, or we do not trust it; the message names the setting to check."""


async def check(bootstrap: str, security: Security) -> str | None:
    """Ask the first reachable broker for its reason to refuse us; None where none answers, or nothing is wrong.

    Raises `BrokerRejected` for permanent refusals; otherwise returns a possible reason in words.
    """
    hint = None
    for server in bootstrap.split(","):
        host, _, port = server.rpartition(":")
        try:
            connection = await create_conn(host, int(port), request_timeout_ms=ASK_MS, **security.client_options())
            try:
                await connection.send(MetadataRequest([]))
                return None
            finally:
                connection.close()
        except (OSError, KafkaError) as error:
            if (refused := _refusal(server, security, error)) is not None:
                raise BrokerRejected(refused) from None
            hint = hint or _hint(security, error)
    return hint


def _refusal(server: str, security: Security, error: BaseException) -> str | None:
    """The reason for a refusal that will not change with time; None for others."""
    if isinstance(error, KafkaConnectionError) and error.__cause__ is not None:
        # With TLS 1.3 a broker refuses our certificate after the handshake: the response to the first request is lost.
        error = error.__cause__
    if isinstance(error, ssl.SSLCertVerificationError):
        return _untrusted(server, error)
    if isinstance(error, ssl.SSLError):
        reason = str(error.reason or "")
        if "WRONG_VERSION_NUMBER" in reason or "RECORD_LAYER_FAILURE" in reason:
            return (
                f"{server} does not speak TLS; {SECURITY}={security.protocol} does: look at the port, or at {SECURITY}"
            )
        if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason or "ALERT" in reason:
            return (
                f"{server} does not take our certificate ({reason.lower()}): look at {CERT} and FATHOM_KAFKA_KEY_FILE"
            )
    if isinstance(error, SaslAuthenticationFailed):
        who = f"user {security.user!r} with this password"
        return f"{server} does not know {who}: look at FATHOM_KAFKA_USER and {PASSWORD}"
    if isinstance(error, UnsupportedSaslMechanismError | IllegalSaslStateError):
        return f"{server} does not offer {security.mechanism}: look at FATHOM_KAFKA_SASL_MECHANISM, or at the port"
    return None


def _untrusted(server: str, error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in (HOSTNAME_MISMATCH, IP_ADDRESS_MISMATCH):
        return f"{server} has a certificate for another name: use a name of the certificate in FATHOM_BROKER"
    if error.verify_code in (EXPIRED, NOT_YET_VALID):
        return f"{server} has a certificate that is not valid today: renew it, or look at the clock"
    return f"{server} has a certificate of nobody we trust ({error.verify_message}): look at {CA}"


def _hint(security: Security, error: BaseException) -> str | None:
    """The usual cause of a connection that was closed right after it was made."""
    if isinstance(error, KafkaError | ConnectionResetError):
        return f"it closes the connection; does it want another {SECURITY} than {security.protocol}?"
    return None
