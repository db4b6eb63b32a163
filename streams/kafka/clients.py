"""The factory of all aiokafka clients in this process: security, sizes and timeouts in one place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaConnectionError, KafkaError

from agents.errors import Unavailable
from streams.kafka import aiokafka_private, broker_diagnosis
from streams.kafka.security import PLAINTEXT, Security

if TYPE_CHECKING:
    from streams.encryption.records import RecordEncryption

# The limit of a batch, a request and a record: a dead letter is its original plus the reason.
MAX_MESSAGE_BYTES = 4_000_000
# One batch per partition is in flight at a time; the default of 16 KB is full after a dozen records, and every further
# send to that partition would wait a round trip.
MAX_BATCH_BYTES = 1_000_000
# What a client asks for at a time, of a partition and of all. What is fetched and not read yet is the memory of one
# that is behind; a batch that is larger comes whole all the same.
PARTITION_FETCH_BYTES, FETCH_BYTES = 256 << 10, 8 << 20
# A reader that never waits for future records. With the client's defaults each read that reaches a partition's end
# leaves a pending fetch that the broker holds for half a second, and the next one to that broker waits for it.
PROMPT_MS = 10


def new_producer(bootstrap: str, security: Security = PLAINTEXT, **options: object) -> AIOKafkaProducer:
    """An idempotent producer, not yet started; it encrypts where the `security` has keys."""
    aiokafka_private.prepare()
    sure: dict[str, object] = {"acks": "all", "enable_idempotence": True, "max_request_size": MAX_MESSAGE_BYTES}
    if security.encryption is None:
        return AIOKafkaProducer(bootstrap_servers=bootstrap, **sure, **security.client_options(), **options)
    from streams.kafka.encrypted import EncryptingProducer

    producer = EncryptingProducer(bootstrap_servers=bootstrap, **sure, **security.client_options(), **options)
    producer.encryption = security.encryption
    return producer


def new_consumer(
    bootstrap: str | list[str],
    security: Security = PLAINTEXT,
    *,
    encryption: "RecordEncryption | None" = None,
    **options: Any,
) -> AIOKafkaConsumer:
    """A consumer with explicit commits only, not yet started; without `group_id` it moves no offsets.

    It decrypts by the keys of the `security`, or those given.
    """
    aiokafka_private.prepare()
    # What a producer rolled back was never said.
    sure: dict[str, object] = {"isolation_level": "read_committed", "enable_auto_commit": False}
    sizes = {"max_partition_fetch_bytes": PARTITION_FETCH_BYTES, "fetch_max_bytes": FETCH_BYTES}
    defaults = {"fetch_max_wait_ms": PROMPT_MS, **sizes, **sure, **security.client_options()}
    encryption = encryption or security.encryption
    if encryption is None:
        return AIOKafkaConsumer(bootstrap_servers=bootstrap, **{**defaults, **options})
    from streams.kafka.encrypted import DecryptingConsumer

    consumer = DecryptingConsumer(bootstrap_servers=bootstrap, **{**defaults, **options})
    consumer.encryption = encryption
    return consumer


def new_admin(bootstrap: str, security: Security = PLAINTEXT, **options: object) -> AIOKafkaAdminClient:
    """An administrator, not yet started."""
    aiokafka_private.prepare()
    return AIOKafkaAdminClient(bootstrap_servers=bootstrap, **security.client_options(), **options)


@asynccontextmanager
async def administering(bootstrap: str, security: Security = PLAINTEXT) -> AsyncIterator[AIOKafkaAdminClient]:
    """A started administrator; raises `Unavailable`, `BrokerRejected`."""
    admin = new_admin(bootstrap, security)
    try:
        await admin.start()
        yield admin
    except KafkaError as error:
        raise await unavailable(bootstrap, security, error) from error
    finally:
        await admin.close()


async def unavailable(bootstrap: str, security: Security, error: KafkaError) -> Unavailable:
    """The port error for a client's error; raises `BrokerRejected` where a broker refuses us."""
    hint = await broker_diagnosis.check(bootstrap, security)
    return Unavailable("broker", f"{bootstrap}: {hint or _said(error)}")


def _said(error: BaseException) -> str:
    """What a client's error says to a person: aiokafka's own text for this one is a list of sockets."""
    return "no answer" if isinstance(error, KafkaConnectionError) else str(error) or type(error).__name__
