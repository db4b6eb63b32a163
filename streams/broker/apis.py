"""The supported requests: key, versions and layouts (syntax in `wire`), as in Kafka's own definitions.

ApiVersions above 2 is answered in version 0 with UNSUPPORTED_VERSION and this list; any other unsupported version
closes the connection, as in Kafka. Versions end before leader epochs matter: there is one node and no epoch.
"""

from functools import cache
from typing import NamedTuple

from streams.broker.wire import Layout, parse

HEADER = "key:h version:h correlation:i client_id:S "


class Api(NamedTuple):
    key: int
    first: int
    last: int
    name: str
    request: str
    response: str


APIS = (
    Api(0, 3, 8, "Produce",
        "transactional_id:S acks:h timeout:i topics[ name:s partitions[ index:i records:B ] ]",
        "topics[ name:s partitions[ index:i error:h base_offset:q append_time:q log_start:q@5 "
        "record_errors[ index:i message:S ]@8 message:S@8 ] ] throttle:i"),
    Api(1, 4, 11, "Fetch",
        "replica:i max_wait:i min_bytes:i max_bytes:i isolation:b session:i@7 session_epoch:i@7 "
        "topics[ name:s partitions[ index:i leader_epoch:i@9 offset:q log_start:q@5 max_bytes:i ] ] "
        "forgotten[ name:s partitions:*i ]@7 rack:S@11",
        "throttle:i error:h@7 session:i@7 topics[ name:s partitions[ index:i error:h high_watermark:q last_stable:q "
        "log_start:q@5 aborted[ producer_id:q first_offset:q ] preferred:i@11 records:B ] ]"),
    Api(2, 1, 3, "ListOffsets",
        "replica:i isolation:b@2 topics[ name:s partitions[ index:i timestamp:q ] ]",
        "throttle:i@2 topics[ name:s partitions[ index:i error:h timestamp:q offset:q ] ]"),
    Api(3, 0, 5, "Metadata",
        "topics:*s auto_create:?@4",
        "throttle:i@3 brokers[ node:i host:s port:i rack:S@1 ] cluster:S@2 controller:i@1 topics[ error:h name:s "
        "internal:?@1 partitions[ error:h index:i leader:i replicas:*i isr:*i offline:*i@5 ] ]"),
    Api(8, 2, 7, "OffsetCommit",
        "group:s generation:i member:s instance:S@7 retention:q@2-4 "
        "topics[ name:s partitions[ index:i offset:q leader_epoch:i@6 metadata:S ] ]",
        "throttle:i@3 topics[ name:s partitions[ index:i error:h ] ]"),
    Api(9, 1, 5, "OffsetFetch",
        "group:s topics[ name:s partitions:*i ]",
        "throttle:i@3 topics[ name:s partitions[ index:i offset:q leader_epoch:i@5 metadata:S error:h ] ] error:h@2"),
    Api(10, 0, 2, "FindCoordinator",
        "key_text:s key_type:b@1",
        "throttle:i@1 error:h message:S@1 node:i host:s port:i"),
    Api(11, 0, 5, "JoinGroup",
        "group:s session_timeout:i rebalance_timeout:i@1 member:s instance:S@5 protocol_type:s "
        "protocols[ name:s metadata:B ]",
        "throttle:i@2 error:h generation:i protocol:s leader:s member:s members[ id:s instance:S@5 metadata:B ]"),
    Api(12, 0, 3, "Heartbeat", "group:s generation:i member:s instance:S@3", "throttle:i@1 error:h"),
    Api(13, 0, 3, "LeaveGroup",
        "group:s member:s@0-2 members[ id:s instance:S ]@3",
        "throttle:i@1 error:h members[ id:s instance:S error:h ]@3"),
    Api(14, 0, 3, "SyncGroup",
        "group:s generation:i member:s instance:S@3 assignments[ member:s assignment:B ]",
        "throttle:i@1 error:h assignment:B"),
    Api(15, 0, 3, "DescribeGroups",
        "groups:*s authorized:?@3",
        "throttle:i@1 groups[ error:h group:s state:s protocol_type:s protocol:s members[ id:s client:s host:s "
        "metadata:B assignment:B ] authorized:i@3 ]"),
    Api(16, 0, 2, "ListGroups", "", "throttle:i@1 error:h groups[ name:s protocol_type:s ]"),
    Api(18, 0, 2, "ApiVersions", "", "error:h apis[ key:h first:h last:h ] throttle:i@1"),
    Api(19, 2, 4, "CreateTopics",
        "topics[ name:s partitions:i replication:h assignments[ index:i replicas:*i ] configs[ name:s value:S ] ] "
        "timeout:i validate_only:?",
        "throttle:i topics[ name:s error:h message:S ]"),
    Api(20, 1, 3, "DeleteTopics", "topics:*s timeout:i", "throttle:i topics[ name:s error:h ]"),
    Api(22, 0, 1, "InitProducerId", "transactional_id:S timeout:i", "throttle:i error:h producer_id:q epoch:h"),
    Api(32, 1, 2, "DescribeConfigs",
        "resources[ type:b name:s keys:*s ] synonyms:?",
        "throttle:i resources[ error:h message:S type:b name:s entries[ name:s value:S read_only:? source:b "
        "sensitive:? synonyms[ name:s value:S source:b ] ] ]"),
    Api(37, 0, 1, "CreatePartitions",
        "topics[ name:s count:i assignments[ replicas:*i ] ] timeout:i validate_only:?",
        "throttle:i topics[ name:s error:h message:S ]"),
    Api(44, 0, 0, "IncrementalAlterConfigs",
        "resources[ type:b name:s entries[ name:s operation:b value:S ] ] validate_only:?",
        "throttle:i resources[ error:h message:S type:b name:s ]"),
)  # fmt: skip

BY_KEY = {api.key: api for api in APIS}


@cache
def codec(key: int, version: int) -> tuple[str, Layout, Layout] | None:
    """A request's name and the layouts of its request and response; None for an unsupported version."""
    api = BY_KEY.get(key)
    if api is None or not api.first <= version <= api.last:
        return None
    return api.name, Layout(parse(HEADER + api.request), version), Layout(parse(api.response), version)
