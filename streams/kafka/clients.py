"""Every client of aiokafka in this process is made here: security, sizes and waits in one place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from agents.errors import Unavailable
from streams.kafka import aiokafka_private, broker_diagnosis
from streams.kafka.security import PLAINTEXT, Security

# The limit of a batch, a request and a record: a dead letter is its original and what was wrong with it.
MAX_MESSAGE_BYTES = 4_000_000
# One batch per partition is under way at a time; the default of 16 KB is full after a dozen records, and every further
# send of that partition then waits a round trip.
MAX_BATCH_BYTES = 1_000_000
# A reader that never waits for what is yet to come. By the client's defaults each read that reaches a partition's end
# leaves a fetch behind it that the broker holds for half a second, and every next one to that broker waits for it.
PROMPT_MS = 10


def new_producer(bootstrap: str, security: Security = PLAINTEXT, **options: object) -> AIOKafkaProducer:
    """An idempotent producer, not yet started."""
    aiokafka_private.prepare()
    sure: dict[str, object] = {"acks": "all", "enable_idempotence": True, "max_request_size": MAX_MESSAGE_BYTES}
    return AIOKafkaProducer(bootstrap_servers=bootstrap, **sure, **security.client_options(), **options)


def new_consumer(bootstrap: str | list[str], security: Security = PLAINTEXT, **options: object) -> AIOKafkaConsumer:
    """A consumer that commits only what it is told to, not yet started; without `group_id` it moves no offsets."""
    aiokafka_private.prepare()
    defaults = {"enable_auto_commit": False, "fetch_max_wait_ms": PROMPT_MS, **security.client_options()}
    return AIOKafkaConsumer(bootstrap_servers=bootstrap, **{**defaults, **options})


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
    """What an error of a client means; raises `BrokerRejected` where a broker answers and will not have us."""
    hint = await broker_diagnosis.check(bootstrap, security)
    return Unavailable("broker", f"{bootstrap}: {hint or error or type(error).__name__}")
