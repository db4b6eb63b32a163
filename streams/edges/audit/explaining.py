"""The explanation of one message, for the command and for HTTP: read from a broker, and from a graph where one is."""

from datetime import UTC, datetime, timedelta

from agents.errors import Unavailable
from agents.ports.graph import DecisionReader
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.client.log_lookup import SECONDS, UnknownId
from streams.explanations.build import explained, newest_pack
from streams.explanations.explanation import Explanation
from streams.explanations.gather import gather
from streams.explanations.items import items_of
from streams.explanations.kafka_excerpts import KafkaExcerpts
from streams.explanations.locating import ExplanationQuery
from streams.kafka import log_reader, topics_admin

OPTIONS = {"client_id": clients.CLIENT_ID}
HOW_TO_FIND = (
    "take a message_id from a pack, from what sending it gave, from `fathom audit show`, or from the console's audit"
)


async def explanation_of(
    bootstrap: str, asked: ExplanationQuery, graph: DecisionReader | None, seconds: float = SECONDS
) -> Explanation:
    """What was decided on the message; `seconds` is how long its decision is searched for where no graph has it.

    Raises `UnknownId` where the asker has no such message, `CommandFailed` without a broker.
    """
    security = clients.security_for(bootstrap)
    counts = await clients.partition_counts(bootstrap)

    async def retention(topic: str) -> timedelta | None:
        return (await topics_admin.retentions(bootstrap, [topic], security)).get(topic)

    # A reader that asks again soon for the topics it does not know yet: a page has eleven.
    try:
        async with log_reader.opened(bootstrap, security, "broker", **OPTIONS) as consumer:
            log = KafkaExcerpts(consumer, counts, retention, seconds)
            found = await gather(asked, log, graph, datetime.now(UTC))
    except Unavailable as error:
        raise CommandFailed(f"{error}; try again once it answers", DOWN) from None
    if found is None:
        raise UnknownId(_unknown(asked, graph is not None, log.cut_at))
    pack = newest_pack(found)
    return explained(found, items_of(pack) if pack is not None else (), asked.as_of)


def _unknown(asked: ExplanationQuery, in_graph: bool, cut_at: int | None) -> str:
    where = "the graph and memory.decisions" if in_graph else "memory.decisions; there is no graph to ask"
    then = f" as of {asked.as_of:%Y-%m-%d %H:%M:%SZ}" if asked.as_of else ""
    said = f"no decision on a message {asked.message_id!r} of tenant {asked.tenant!r}{then} is in {where}"
    if cut_at is not None:
        at = datetime.fromtimestamp(cut_at / 1000, UTC)
        said += (
            f" since {at:%Y-%m-%d %H:%M:%SZ}, further back it was not searched: name its --conversation and --client"
        )
    return f"{said}; {HOW_TO_FIND}"
