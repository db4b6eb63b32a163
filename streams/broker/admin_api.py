"""Requests about the cluster and its topics: metadata, creation, deletion, growth, configs."""

from collections.abc import Callable
from typing import Any

from streams.broker.configs import DEFAULTS, checked
from streams.broker.errors import Code, RequestRefused
from streams.broker.offsets import Offsets
from streams.broker.topics import Topics

NODE = 1
CLUSTER = "fathom-embedded"
TOPIC, BROKER = 2, 4
FROM_TOPIC, FROM_DEFAULT = 1, 5  # where a config's value comes from
SET, DELETE = 0, 1


class AdminApi:
    def __init__(self, topics: Topics, offsets: Offsets, auto_create: bool) -> None:
        self._topics, self._offsets, self._auto_create = topics, offsets, auto_create
        self.host, self.port = "", 0

    def metadata(self, request: Any) -> Any:
        names = request.topics
        if names is None or (request.version == 0 and not names):
            names = list(self._topics.by_name)
        described = [self._describe(name, bool(request.auto_create)) for name in names]
        return 0, [(NODE, self.host, self.port, None)], CLUSTER, NODE, described

    def _describe(self, name: str, auto_create: bool) -> tuple[Any, ...]:
        try:
            if auto_create and self._auto_create and name not in self._topics.by_name:
                self._topics.create(name, -1, {})
            topic = self._topics.existing(name)
        except RequestRefused as e:
            return e.code, name, False, []
        partitions: list[Any] = [(Code.NONE, i, NODE, [NODE], [NODE], []) for i in range(len(topic.partitions))]
        return Code.NONE, name, False, partitions

    def find_coordinator(self, _request: Any) -> Any:
        return 0, Code.NONE, None, NODE, self.host, self.port

    def create_topics(self, request: Any) -> Any:
        return 0, [_answer(t.name, self._create, t, request.validate_only) for t in request.topics or ()]

    def _create(self, t: Any, dry_run: bool) -> None:
        if t.assignments:
            raise RequestRefused(Code.INVALID_REPLICA_ASSIGNMENT, "one node: partitions cannot be assigned")
        if t.replication not in (1, -1):
            raise RequestRefused(Code.INVALID_REPLICATION_FACTOR, "one node: the replication factor must be 1")
        self._topics.check_new(t.name, t.partitions)
        configs = checked((c.name, c.value) for c in t.configs or ())
        if not dry_run:
            self._topics.create(t.name, t.partitions, configs)

    def delete_topics(self, request: Any) -> Any:
        answers = [_answer(name, self._delete, name) for name in request.topics or ()]
        return 0, [(name, code) for name, code, _ in answers]

    def _delete(self, name: str) -> None:
        self._topics.delete(name)
        self._offsets.forget_topic(name)

    def create_partitions(self, request: Any) -> Any:
        dry = request.validate_only
        return 0, [_answer(t.name, self._topics.grow, t.name, t.count, dry) for t in request.topics or ()]

    def describe_configs(self, request: Any) -> Any:
        return 0, [self._configs(r.type, r.name, r.keys) for r in request.resources or ()]

    def _configs(self, kind: int, name: str, keys: list[str] | None) -> tuple[Any, ...]:
        try:
            if kind == TOPIC:
                own = self._topics.existing(name).configs
            elif kind == BROKER:
                own = {}
            else:
                raise RequestRefused(Code.INVALID_REQUEST, "only topics and brokers have configs here")
        except RequestRefused as e:
            return e.code, e.message, kind, name, []
        entries: list[Any] = [
            (key, own.get(key, default), kind == BROKER, FROM_TOPIC if key in own else FROM_DEFAULT, False, [])
            for key, default in DEFAULTS.items()
            if keys is None or key in keys
        ]
        return Code.NONE, None, kind, name, entries

    def alter_configs(self, request: Any) -> Any:
        return 0, [_resource(r, self._replace, request.validate_only) for r in request.resources or ()]

    def _replace(self, r: Any, dry_run: bool) -> None:
        self._configure(r, checked((e.name, e.value) for e in r.entries or ()), dry_run)

    def alter_configs_by_entry(self, request: Any) -> Any:
        return 0, [_resource(r, self._merge, request.validate_only) for r in request.resources or ()]

    def _merge(self, r: Any, dry_run: bool) -> None:
        entries = r.entries or ()
        if any(e.operation not in (SET, DELETE) for e in entries):
            raise RequestRefused(Code.INVALID_REQUEST, "configs here are single values: set or delete them")
        configs = dict(self._topics.existing(r.name).configs) if r.type == TOPIC else {}
        configs |= checked((e.name, e.value) for e in entries if e.operation == SET)
        dropped = {e.name for e in entries if e.operation == DELETE}
        kept = {name: value for name, value in configs.items() if name not in dropped}
        self._configure(r, kept, dry_run)

    def _configure(self, r: Any, configs: dict[str, str], dry_run: bool) -> None:
        if r.type != TOPIC:
            raise RequestRefused(Code.INVALID_REQUEST, "only the configs of topics can be changed")
        self._topics.configure(r.name, configs, dry_run)


def _answer(name: str, action: Callable[..., object], *args: Any) -> tuple[str, Code, str | None]:
    try:
        action(*args)
    except RequestRefused as e:
        return name, e.code, e.message
    return name, Code.NONE, None


def _resource(r: Any, action: Callable[[Any, bool], None], dry_run: bool) -> tuple[Code, str | None, int, str]:
    _, code, message = _answer(r.name, action, r, dry_run)
    return code, message, r.type, r.name
