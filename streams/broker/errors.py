"""Kafka's error codes used by this broker, and its two exceptions."""

from collections.abc import Callable
from enum import IntEnum


class Code(IntEnum):
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    MESSAGE_TOO_LARGE = 10
    OFFSET_METADATA_TOO_LARGE = 12
    INVALID_TOPIC = 17
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    INVALID_REQUEST = 42
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    INVALID_PRODUCER_EPOCH = 47
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    KAFKA_STORAGE_ERROR = 56
    FETCH_SESSION_ID_NOT_FOUND = 70
    MEMBER_ID_REQUIRED = 79
    FENCED_INSTANCE_ID = 82
    INVALID_RECORD = 87


class RequestRefused(Exception):
    """A request, or one item of it, is answered with this code; the connection stays open."""

    def __init__(self, code: Code, message: str = "") -> None:
        super().__init__(message or code.name)
        self.code, self.message = code, str(self)


class BrokerFailed(Exception):
    """The broker cannot start, or its files are damaged: one sentence for a person."""


def outcome(action: Callable[..., object], *args: object) -> tuple[Code, str | None]:
    """The error code and message of an action's result: NONE and no message unless it is refused."""
    try:
        action(*args)
    except RequestRefused as e:
        return e.code, e.message
    return Code.NONE, None
