"""What `fathom doctor` makes of what it sees: each broken thing is found, and each whole one passes."""

import asyncio
from pathlib import Path

from streams.config import Settings
from streams.edges.cli.doctor import broker, canary, keys, machine, running, shown, stores
from streams.edges.cli.doctor.findings import DOWN, OK, SKIPPED, WARN, WRONG, Finding
from streams.edges.cli.doctor.remedies import REMEDIES
from streams.edges.operations.lag import GroupLag
from streams.encryption.opening import encryption_of
from streams.kafka.lag_status import LagJudged, LagStatus
from streams.kafka.topics_plan import TopicChange
from streams.stores.keys.master_key import made_master_key
from streams.stores.passages.vectors import HashingEmbedder, UseEmbedder
from streams.stores.seen.neo4j_seen import Neo4jSeen
from streams.stores.seen.qdrant_seen import QdrantSeen, collection_of
from streams.stores.seen.redis_seen import RedisSeen
from streams.topology import GROUPS

HOME = Path("/var/fathom")


def states(findings: list[Finding]) -> dict[str, str]:
    return {each.id: each.state for each in findings}


def test_there_are_at_least_twenty_checks() -> None:
    assert len(REMEDIES) >= 20


def test_python_and_packages_are_held_against_their_pins() -> None:
    assert machine.python_version((3, 10, 1)).state == WRONG
    wanted = machine.pins(["aiokafka == 0.14.0", "x>=1", 'y==2; extra == "z"'])
    assert wanted == {"aiokafka": "0.14.0"}
    assert machine.packages(wanted, {"aiokafka": "0.14.0"}).state == OK
    assert "0.15.0, pinned 0.14.0" in machine.packages(wanted, {"aiokafka": "0.15.0"}).seen


def test_a_directory_that_others_own_or_read_and_a_full_disk_are_told() -> None:
    assert machine.directory(HOME, 0o40700, 5, 5).state == OK
    assert machine.directory(HOME, 0o40755, 5, 5).state == WARN
    assert machine.directory(HOME, 0o40700, 6, 5).state == WRONG
    assert [machine.disk(HOME, free).state for free in (10**10, 10**8, 10**6)] == [OK, WARN, WRONG]
    assert machine.owner(HOME, published=True, alive=False).state == DOWN
    assert machine.secrets({"a": 0o600}).state == OK
    assert machine.secrets({"a": 0o604}).fix == "chmod 600 a"


def test_topics_are_held_against_the_plan() -> None:
    keep = [TopicChange("a", "keep", "topic", "as planned", "")]
    assert set(states(broker.plan(keep)).values()) == {OK}
    odd = [
        TopicChange("a", "create", "topic", "missing", ""),
        TopicChange("b", "grow", "partitions", "1", "2"),
        TopicChange("c", "alter", "retention.ms", "1", "2"),
        TopicChange("d", "by hand", "replication", "1", "3"),
    ]
    assert list(states(broker.plan(odd)).values()) == [WRONG, WRONG, WARN, WARN]


def test_a_right_that_lacks_is_named_with_its_command() -> None:
    assert broker.rights(None).state == SKIPPED
    assert broker.rights({"a": 0b11000}).state == OK
    denied = broker.rights({"a": 0b11000, "b": 0b01000})
    assert (denied.state, "--operation write --topic b" in denied.fix) == (WRONG, True)


def test_replicas_versions_clock_and_dead_letters() -> None:
    whole = {"partition": 0, "leader": 1, "replicas": [1, 2], "isr": [1, 2]}
    for change, state in (({}, OK), ({"isr": [1]}, WARN), ({"leader": -1}, DOWN)):
        assert broker.replicas([{"topic": "a", "partitions": [whole | change]}]).state == state
    assert [broker.version(each).state for each in ({}, {3: (0, 8)}, {44: (0, 1)})] == [SKIPPED, WRONG, OK]
    assert (broker.clock([]).state, broker.clock(["a"]).state) == (OK, WARN)
    assert (broker.dead_letters({}).state, broker.dead_letters({"dead-letters.depth": 2}).state) == (OK, WARN)


def test_a_group_without_a_member_that_has_records_is_wrong_and_its_topics_are_unread() -> None:
    name = GROUPS[0]
    stopped = GroupLag(name, 0, {"t[0]": LagJudged(LagStatus.STOP, 3, "3 to read, and no member reads them")})
    assert states(broker.groups([stopped])) == {f"group.{name}": WRONG}
    assert broker.unread([stopped]).state == WARN
    reading = GroupLag(name, 1, {"t[0]": LagJudged(LagStatus.OK, 0, "read to its end")})
    assert states(broker.groups([reading])) == {f"group.{name}": OK}
    assert broker.unread([reading]).state == OK


def test_redis_that_evicts_keeps_nothing_or_is_full_is_told() -> None:
    fine = RedisSeen("Redis", "7.2.4", "noeviction", 0, 10, True, 0.0)
    assert set(states(stores.redis(fine)).values()) == {OK}
    bad = RedisSeen("Redis", "5.0.1", "allkeys-lru", 100, 99, False, 9.0)
    assert list(states(stores.redis(bad)).values()) == [OK, WRONG, WRONG, WARN, WARN, WARN]


def test_keys_of_persons_that_are_lost_or_opened_by_another_master_key_are_told(tmp_path: Path) -> None:
    def told(**given: object) -> dict[str, str]:
        return states(asyncio.run(keys.keys(Settings(**given))))  # type: ignore[arg-type]

    checks = ("keys", *keys.CHECKS)
    assert told() == dict.fromkeys(checks, SKIPPED)
    here = {"subject_keys": f"embedded://{tmp_path}"}
    embedded = dict.fromkeys(checks, SKIPPED) | {"keys": OK}
    assert told(**here) == embedded
    encryption = encryption_of(Settings(**here))  # type: ignore[arg-type]
    assert encryption is not None
    asyncio.run(encryption.store.add("acme|ana", made_master_key(tmp_path / "keys" / "master.key").fresh()))
    assert told(**here) == embedded | {"master-key": OK}
    made_master_key(tmp_path / "another.key")
    other = told(**here, master_key_file=tmp_path / "another.key")
    assert other == embedded | {"master-key": WRONG}
    away = {"subject_keys": "redis://127.0.0.1:1/0", "master_key_file": tmp_path / "another.key"}
    assert told(**away) == dict.fromkeys(checks, SKIPPED) | {"keys": DOWN}
    assert told(subject_keys="redis://127.0.0.1:1/0") == dict.fromkeys(checks, SKIPPED) | {"keys": WRONG}


def test_a_server_of_keys_that_evicts_them_keeps_nothing_or_has_the_sessions_is_told() -> None:
    fine = RedisSeen("Redis", "7.2.4", "noeviction", 0, 10, True, 0.0)
    bad = RedisSeen("Redis", "7.2.4", "allkeys-lru", 0, 10, False, 0.0)
    assert states(keys.kept(fine)) == {"keys-policy": OK, "keys-persistence": OK}
    assert states(keys.kept(bad)) == {"keys-policy": WRONG, "keys-persistence": WRONG}
    for one, other, state in (
        ("redis://keys:6379/0", "redis://redis:6379/0", OK),
        ("redis://redis:6379/1", "redis://redis/0", WARN),
        ("redis://:x@redis:6380/1", "redis://redis:6379/0", OK),
        ("unix:///a.sock", "unix:///b.sock", OK),
        ("redis://redis:6379/0", "embedded://.fathom/valkey", OK),
    ):
        assert keys.apart(one, other).state == state, (one, other)


def test_a_graph_without_its_schema_is_told() -> None:
    assert set(states(stores.graph(Neo4jSeen("5.26.1", "community", (), {"a": "ONLINE"}))).values()) == {OK}
    bad = stores.graph(Neo4jSeen("4.4.0", "community", ("0001_identity",), {"a": "POPULATING"}))
    assert list(states(bad).values()) == [OK, WRONG, WRONG, WRONG]


def test_an_index_without_its_tenants_or_of_another_embedder_is_told() -> None:
    told = {
        "payload_schema": {"tenant_id": {"params": {"is_tenant": True}}},
        "config": {"metadata": {"embedder": "UseEmbedder 512"}},
    }
    fine = QdrantSeen("1.19.0", {"a": collection_of(told)})
    assert set(states(stores.index(fine, "use")).values()) == {OK}
    bad = QdrantSeen("1.9.0", {"a": collection_of(told | {"payload_schema": {}}), "b": None})
    assert list(states(stores.index(bad, "hashing")).values()) == [OK, WARN, WARN, WRONG, WRONG]
    assert set(stores.EMBEDDERS.values()) == {UseEmbedder.__name__, HashingEmbedder.__name__}


def test_a_process_that_is_not_ready_says_why() -> None:
    assert running.readiness(None, "h:1").state == DOWN
    assert running.readiness({"ready": False, "why": ["the disk is full"]}, "h:1").seen == "the disk is full"
    assert running.readiness({"ready": True}, "h:1").state == OK


def test_a_canary_is_judged_by_its_end_and_its_time() -> None:
    assert [canary.judged(*each).state for each in (("no pack", 0.0), ("", 9.0), ("", 0.1))] == [DOWN, WARN, OK]


def test_what_fails_is_shown_with_cause_next_step_and_page() -> None:
    text = "\n".join(shown.lines([broker.dead_letters({"dead-letters.depth": 2}), broker.clock([])]))
    assert "fathom tail dead-letters.depth" in text
    assert "docs/errors.md#dead-letters" in text
    assert text.endswith("2 checks, 1 with something to do")
