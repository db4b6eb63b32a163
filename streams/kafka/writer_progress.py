"""How far the consumer groups are that fill the stores, by their committed offsets."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupAuthorizationFailedError, KafkaError, TopicAuthorizationFailedError, for_code

from agents.concurrency import MicroBatcher
from agents.errors import Unavailable
from schemas.topics import Topic
from streams.kafka.broker_diagnosis import BrokerRejected
from streams.kafka.clients import administering
from streams.kafka.log_reader import bounds, opened, written_since
from streams.kafka.security import PLAINTEXT, Security

# Of those who ask at once.
MOST = 1_000
BROKER = "broker"
# Of all topics: nobody needs to ask again alone.
ERRORS = (Unavailable, BrokerRejected)
Asked = tuple[Topic, datetime]
# An error is of one topic or group: others may be asked about.
Said = str | None | Unavailable


class KafkaWriterProgress:
    """Writers commit a record after their store holds it; `groups` names the consumer group for each topic.

    Nothing is kept open: it is asked when something is missing. Those who ask meanwhile are answered together.
    """

    def __init__(self, bootstrap: str, groups: Mapping[Topic, str], security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._groups = groups
        self._security = security
        self._asked: MicroBatcher[Asked, Said] = MicroBatcher(self._look, MOST, shared_errors=ERRORS)

    async def behind(self, topic: Topic, by: datetime) -> str | None:
        """Why a record that a topic had at a time may not be stored yet; None once all of them are.

        Raises `Unavailable`.
        """
        try:
            [why] = await self._asked.add([(topic, by)])
        except BrokerRejected as rejected:  # nothing is wrong with the record that waits
            raise Unavailable(BROKER, str(rejected)) from rejected
        if isinstance(why, Unavailable):
            raise why
        return why

    async def _look(self, asked: list[Asked]) -> Sequence[Said]:
        async with (
            administering(self._bootstrap, self._security) as admin,
            opened(self._bootstrap, self._security, BROKER) as reader,
        ):
            known: dict[Asked, Said] = {}
            for each in asked:
                if each not in known:
                    try:
                        known[each] = await self._behind(admin, reader, *each)
                    except KafkaError as error:
                        known[each] = Unavailable(BROKER, self._told(each[0], error))
        return [known[each] for each in asked]

    def _told(self, topic: Topic, error: KafkaError) -> str:
        refused = isinstance(error, TopicAuthorizationFailedError | GroupAuthorizationFailedError)
        needed = f"; give our user Describe on the topic {topic.name} and the group {self._groups[topic]}"
        return f"{error}{needed if refused else ''}"

    async def _behind(
        self, admin: AIOKafkaAdminClient, reader: AIOKafkaConsumer, topic: Topic, by: datetime
    ) -> str | None:
        group = self._groups[topic]
        had = await _had(admin, reader, topic.name, by)
        # Of all that the group reads, one may not see the rest.
        committed = await admin.list_consumer_group_offsets(group, partitions=list(had)) if had else {}
        left = sum(max(end - max(committed[tp].offset, 0), 0) for tp, end in had.items())
        return f"{group} has yet to store {left} records of {topic.name} from before" if left else None


async def _had(
    admin: AIOKafkaAdminClient, reader: AIOKafkaConsumer, topic: str, by: datetime
) -> dict[TopicPartition, int]:
    """The offset after the last record that each partition had at a time; none where all are gone since."""
    [described] = await admin.describe_topics([topic])
    if described["error_code"]:  # what one may not see has no partitions
        raise for_code(described["error_code"])(topic)
    whole = await bounds(reader, topic, range(len(described["partitions"])))
    later = int(by.timestamp() * 1000) + 1
    since = await written_since(reader, whole, {tp.partition: later for tp in whole})
    return {tp: begin for tp, (begin, _) in since.items() if begin > whole[tp][0]}
