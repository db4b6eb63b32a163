"""The same broker seen by librdkafka (confluent-kafka): records, codecs, groups, offsets, topics."""

import time
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.contract.broker_cluster import fresh


@pytest.fixture
def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


def create(admin: AdminClient, partitions: int = 1, **configs: str) -> str:
    name = fresh("topic")
    admin.create_topics([NewTopic(name, partitions, 1, config=configs)])[name].result(10)
    deadline = time.monotonic() + 10
    while name not in admin.list_topics(name, timeout=5).topics or admin.list_topics(name).topics[name].error:
        assert time.monotonic() < deadline
    return name


def send(bootstrap: str, topic: str, *values: bytes | None, **options: Any) -> list[int]:
    """The offsets of the values, all acknowledged."""
    offsets: list[int] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        offsets.append(message.offset())

    client = Producer({"bootstrap.servers": bootstrap, **options})
    for value in values:
        client.produce(topic, value, key=b"k", headers=[("h", b"1")], on_delivery=delivered)
    assert client.flush(10) == 0
    return offsets


def read(bootstrap: str, topic: str, count: int, name: str = "", **options: Any) -> list[Message]:
    """`count` records through a group; what it read is committed."""
    client = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": name or fresh("group"),
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **options,
        }
    )
    client.subscribe([topic])
    got: list[Message] = []
    deadline = time.monotonic() + 15
    try:
        while len(got) < count and time.monotonic() < deadline:
            message = client.poll(0.2)
            if message is not None:
                assert message.error() is None, message.error()
                got.append(message)
        if got:
            client.commit(asynchronous=False)
    finally:
        client.close()
    return got


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_an_idempotent_producer_and_a_group_round_trip_every_codec(
    bootstrap: str, admin: AdminClient, codec: str
) -> None:
    topic = create(admin)
    values = [b"x" * 200 + b"%d" % i for i in range(200)]
    options = {"enable.idempotence": True, "compression.type": codec, "linger.ms": 20}
    assert send(bootstrap, topic, *values, **options) == list(range(200))
    got = read(bootstrap, topic, 200)
    assert [m.value() for m in got] == values
    assert (got[0].key(), got[0].headers()) == (b"k", [("h", b"1")])


def test_a_group_goes_on_where_it_committed(bootstrap: str, admin: AdminClient) -> None:
    topic, name = create(admin), fresh("group")
    send(bootstrap, topic, b"1", b"2")
    assert [m.value() for m in read(bootstrap, topic, 2, name)] == [b"1", b"2"]
    send(bootstrap, topic, b"3")
    assert [m.value() for m in read(bootstrap, topic, 1, name)] == [b"3"]


def test_a_static_member_is_assigned_everything_and_comes_back_to_it(bootstrap: str, admin: AdminClient) -> None:
    topic, name = create(admin, partitions=2), fresh("group")
    send(bootstrap, topic, b"1")
    options = {"group.instance.id": "replica-1", "enable.auto.commit": True}
    for expected in (b"1", b"2"):
        client = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": name, "auto.offset.reset": "earliest", **options}
        )
        client.subscribe([topic])
        try:
            message = client.poll(15)
            assert message is not None
            assert message.value() == expected
            assert {p.partition for p in client.assignment()} == {0, 1}
        finally:
            client.close()
        send(bootstrap, topic, b"2")


def test_the_offsets_of_a_group_are_moved(bootstrap: str, admin: AdminClient) -> None:
    topic, name = create(admin), fresh("group")
    send(bootstrap, topic, b"1", b"2")
    read(bootstrap, topic, 2, name)
    moved = ConsumerGroupTopicPartitions(name, [TopicPartition(topic, 0, 1)])
    admin.alter_consumer_group_offsets([moved])[name].result(10)
    asked = ConsumerGroupTopicPartitions(name, [TopicPartition(topic, 0)])
    found = admin.list_consumer_group_offsets([asked])[name].result(10)
    assert [(p.topic, p.partition, p.offset) for p in found.topic_partitions] == [(topic, 0, 1)]
    assert [m.value() for m in read(bootstrap, topic, 1, name)] == [b"2"]


def test_offsets_by_time(bootstrap: str, admin: AdminClient) -> None:
    topic = create(admin)
    send(bootstrap, topic, b"1", b"2", b"3")
    part = TopicPartition(topic, 0)

    def offset(spec: OffsetSpec) -> int:
        return admin.list_offsets({part: spec})[part].result(10).offset

    assert (offset(OffsetSpec.earliest()), offset(OffsetSpec.latest())) == (0, 3)
    assert offset(OffsetSpec.for_timestamp(1_000)) == 0


def test_configs_are_described_changed_and_checked(bootstrap: str, admin: AdminClient) -> None:
    topic = create(admin, **{"retention.ms": "60000"})
    resource = ConfigResource(ResourceType.TOPIC, topic)

    def value(key: str) -> str:
        return admin.describe_configs([resource])[resource].result(10)[key].value

    def becomes(key: str, expected: str) -> bool:
        # Apache Kafka answers a change once its controller has it; brokers see it a moment later.
        deadline = time.monotonic() + 10
        while value(key) != expected:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def change(key: str, to: str | None, how: AlterConfigOpType) -> None:
        entry = ConfigEntry(key, to, incremental_operation=how)
        changed = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        admin.incremental_alter_configs([changed])[changed].result(10)

    assert (value("retention.ms"), value("cleanup.policy")) == ("60000", "delete")
    change("retention.ms", "120000", AlterConfigOpType.SET)
    assert becomes("retention.ms", "120000")
    change("retention.ms", None, AlterConfigOpType.DELETE)
    assert becomes("retention.ms", "604800000")
    with pytest.raises(KafkaException) as raised:
        change("retention.ms", "soon", AlterConfigOpType.SET)
    assert raised.value.args[0].code() == KafkaError.INVALID_CONFIG


def test_topics_grow_and_go(bootstrap: str, admin: AdminClient) -> None:
    topic = create(admin, partitions=1)
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result(10)
    deadline = time.monotonic() + 10
    while len(admin.list_topics(topic, timeout=5).topics[topic].partitions) != 3:
        assert time.monotonic() < deadline
    admin.delete_topics([topic])[topic].result(10)
    with pytest.raises(KafkaException) as raised:
        admin.delete_topics([topic])[topic].result(10)
    assert raised.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
