"""The URL scheme `safekafka://` for Faust: a direct consumer, and no producer.

Adapted in part from faust (faust/transport/drivers/aiokafka.py):
Copyright (c) 2017-2020, Robinhood Markets, Inc. (BSD 3-Clause).
"""

from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from faust.transport import base, drivers, producer

from streams.faust.consumer import DirectConsumer
from streams.kafka import clients

SCHEME = "safekafka"
# The maximum wait of a fetch at the broker. Faust fixes 1.5 s, by which a resumed partition would be delayed.
FETCH_WAIT_MS = 500
# Round robin over all topics is the fairest assignment, but where the members do not divide the partitions, number 0 of
# two topics may have different owners. The range assignment per topic gives equal numbers one owner. Never both at
# once: aiokafka joins the group once for each, and every join is another rebalance.
EVENLY, TOGETHER = (RoundRobinPartitionAssignor,), (RangePartitionAssignor,)


class NoProducer(producer.Producer):
    """A placeholder for Faust's producer; opens no connection. Outputs use another producer."""

    async def on_start(self) -> None:
        """Do nothing."""

    async def flush(self) -> None:
        """Do nothing."""


class Transport(base.Transport):
    """Kafka through aiokafka, records delivered directly."""

    app: Any
    Consumer = DirectConsumer
    Producer = NoProducer
    default_port = 9092
    driver_version = "aiokafka"

    def new_client(self) -> AIOKafkaConsumer:
        """A client of the app's group, not yet connected."""
        conf = self.app.conf
        servers = [f"{url.host}:{url.port or self.default_port}" for url in self.url]
        options: dict[str, object] = {
            "client_id": conf.broker_client_id,
            "group_id": conf.id,
            "group_instance_id": conf.consumer_group_instance_id or None,
            "partition_assignment_strategy": TOGETHER if self.app.copartitioned else EVENLY,
            "auto_offset_reset": "earliest",
            "check_crcs": conf.broker_check_crcs,
            "fetch_max_wait_ms": FETCH_WAIT_MS,
            "request_timeout_ms": _ms(conf.broker_request_timeout),
            "session_timeout_ms": _ms(conf.broker_session_timeout),
            "rebalance_timeout_ms": _ms(conf.broker_rebalance_timeout),
            "heartbeat_interval_ms": _ms(conf.broker_heartbeat_interval),
            "max_poll_interval_ms": _ms(conf.broker_max_poll_interval),
        }
        return clients.new_consumer(servers, **{**options, **self.app.client_options})


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


def register() -> None:
    """Register the scheme with Faust; may be called more than once."""
    drivers.TRANSPORTS.aliases[SCHEME] = f"{__name__}:Transport"
