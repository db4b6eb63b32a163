"""What the user of a connection may do with each topic, as the broker says."""

from collections.abc import Iterable
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Int16, Int32, Schema, String

from streams.kafka import aiokafka_private

METADATA, VERSION = 3, 8
READ, WRITE = 3, 4
# Of a broker that does not know, and of one without an authorizer in some versions.
UNTOLD: Final = -(2**31)
DENIED = 29


class _MetadataResponse8(Response):  # type: ignore[misc]
    API_KEY = METADATA
    API_VERSION = VERSION
    SCHEMA = Schema(
        ("throttle_ms", Int32),
        ("brokers", Array(("id", Int32), ("host", String("utf-8")), ("port", Int32), ("rack", String("utf-8")))),
        ("cluster_id", String("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            Array(
                ("error_code", Int16),
                ("topic", String("utf-8")),
                ("internal", Boolean),
                (
                    "partitions",
                    Array(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", Array(Int32)),
                        ("isr", Array(Int32)),
                        ("offline", Array(Int32)),
                    ),
                ),
                ("operations", Int32),
            ),
        ),
        ("cluster_operations", Int32),
    )


class _MetadataRequest8(RequestStruct):  # type: ignore[misc]
    API_KEY = METADATA
    API_VERSION = VERSION
    RESPONSE_TYPE = _MetadataResponse8
    SCHEMA = Schema(
        ("topics", Array(String("utf-8"))),
        ("create", Boolean),
        ("cluster_operations", Boolean),
        ("topic_operations", Boolean),
    )


class _RightsRequest(Request[_MetadataRequest8]):  # type: ignore[misc]
    API_KEY = METADATA

    def __init__(self, topics: Iterable[str]) -> None:
        self._topics = list(topics)

    def build(self, request_struct_class: type[_MetadataRequest8]) -> _MetadataRequest8:
        """The request to send."""
        return request_struct_class(self._topics, False, False, True)


async def rights(admin: AIOKafkaAdminClient, topics: Iterable[str]) -> dict[str, int] | None:
    """The allowed operations of each existing topic as bits by their code; 0 for one that we may not even see.

    None where the broker does not tell: one older than Kafka 2.3, or without an authorizer.
    """
    oldest, newest = aiokafka_private.api_versions(admin).get(METADATA, (0, 0))
    if not oldest <= VERSION <= newest:
        return None
    answer = await aiokafka_private.ask_broker(admin, _RightsRequest(topics))
    told = answer.to_object()["topics"]
    found = {each["topic"]: 0 if each["error_code"] == DENIED else each["operations"] for each in told}
    known = {name: bits for name, bits in found.items() if bits != UNTOLD}
    return known or None


def lacking(bits: int) -> list[str]:
    """Which of reading and writing these bits do not allow."""
    return [name for name, code in (("read", READ), ("write", WRITE)) if not bits >> code & 1]
