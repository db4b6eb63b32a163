"""Requests about the cluster and its topics: metadata, creation, deletion, growth, configs."""

from streams.broker.errors import Code, RequestRefused, outcome
from streams.broker.offsets import Offsets
from streams.broker.topics import DEFAULT_CONFIGS, Topics, checked
from streams.broker.wire import Answer, Decoded

NODE = 1
CLUSTER = "fathom-embedded"
TOPIC = 2  # the only kind of resource with configs here
FROM_TOPIC, FROM_DEFAULT = 1, 5  # the origin of a config's value
SET, DELETE = 0, 1
TRANSACTION = 1  # the kind of coordinator
NO_TRANSACTIONS = "the embedded broker has no transactions: send without a transactional id, or use Apache Kafka"


class AdminApi:
    def __init__(self, topics: Topics, offsets: Offsets) -> None:
        self._topics, self._offsets = topics, offsets
        self.host, self.port = "", 0

    def metadata(self, request: Decoded) -> Answer:
        names = request.topics
        if names is None or (request.version == 0 and not names):
            names = list(self._topics.by_name)
        described = [self._describe(name, bool(request.auto_create)) for name in names]
        return 0, [(NODE, self.host, self.port, None)], CLUSTER, NODE, described

    def _describe(self, name: str, first_use: bool) -> Answer:
        try:
            topic = self._topics.existing(name, first_use)
        except RequestRefused as e:
            return e.code, name, False, []
        partitions: list[Answer] = [(Code.NONE, i, NODE, [NODE], [NODE], []) for i in range(len(topic.partitions))]
        return Code.NONE, name, False, partitions

    def find_coordinator(self, request: Decoded) -> Answer:
        if request.key_type == TRANSACTION:
            return 0, Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, NO_TRANSACTIONS, -1, "", -1
        return 0, Code.NONE, None, NODE, self.host, self.port

    def create_topics(self, request: Decoded) -> Answer:
        return 0, [(t.name, *outcome(self._create, t, request.validate_only)) for t in request.topics or ()]

    def _create(self, t: Decoded, dry_run: bool) -> None:
        if t.assignments:
            raise RequestRefused(Code.INVALID_REPLICA_ASSIGNMENT, "one node: partitions cannot be assigned")
        if t.replication not in (1, -1):
            raise RequestRefused(Code.INVALID_REPLICATION_FACTOR, "one node: the replication factor must be 1")
        self._topics.check_new(t.name, t.partitions)
        configs = checked((c.name, c.value) for c in t.configs or ())
        if not dry_run:
            self._topics.create(t.name, t.partitions, configs)

    def delete_topics(self, request: Decoded) -> Answer:
        return 0, [(name, outcome(self._delete, name)[0]) for name in request.topics or ()]

    def _delete(self, name: str) -> None:
        self._topics.delete(name)
        self._offsets.forget_topic(name)

    def create_partitions(self, request: Decoded) -> Answer:
        dry = request.validate_only
        return 0, [(t.name, *outcome(self._topics.grow, t.name, t.count, dry)) for t in request.topics or ()]

    def describe_configs(self, request: Decoded) -> Answer:
        return 0, [self._configs(r.type, r.name, r.keys) for r in request.resources or ()]

    def _configs(self, kind: int, name: str, keys: list[str] | None) -> Answer:
        try:
            own = self._own_configs(kind, name)
        except RequestRefused as e:
            return e.code, e.message, kind, name, []
        entries: list[Answer] = [
            (key, own.get(key, default), False, FROM_TOPIC if key in own else FROM_DEFAULT, False, [])
            for key, default in DEFAULT_CONFIGS.items()
            if keys is None or key in keys
        ]
        return Code.NONE, None, kind, name, entries

    def _own_configs(self, kind: int, name: str) -> dict[str, str]:
        if kind != TOPIC:
            raise RequestRefused(Code.INVALID_REQUEST, "only topics have configs here")
        return self._topics.existing(name).configs

    def alter_configs(self, request: Decoded) -> Answer:
        dry = request.validate_only
        return 0, [(*outcome(self._alter, r, dry), r.type, r.name) for r in request.resources or ()]

    def _alter(self, r: Decoded, dry_run: bool) -> None:
        entries = r.entries or ()
        if any(e.operation not in (SET, DELETE) for e in entries):
            raise RequestRefused(Code.INVALID_REQUEST, "configs here are single values: set or delete them")
        configs = self._own_configs(r.type, r.name) | checked((e.name, e.value) for e in entries if e.operation == SET)
        dropped = {e.name for e in entries if e.operation == DELETE}
        kept = {name: value for name, value in configs.items() if name not in dropped}
        self._topics.configure(r.name, kept, dry_run)
