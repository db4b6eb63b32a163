"""`fathom replay --mode exact`: packs made again from recorded parts, and compared."""

from typing_extensions import TypedDict

from schemas.topics import CONTEXT_PACKS, PACKS_PARTIAL
from streams.config import Settings
from streams.edges.cli.progress import Progress
from streams.edges.cli.replay.orders import ReplayOrder
from streams.edges.cli.replay.rebuild import show_plan
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, CONFIG, OK, CommandFailed
from streams.edges.client.standard_output import print_json
from streams.kafka.clients import MAX_BATCH_BYTES
from streams.kafka.security import security_of
from streams.replay import broker_source, exact, packs
from streams.replay.log import opened
from streams.replay.selection import topic_of
from streams.stores.tokens import best_tokens


class PacksRemade(TypedDict):
    """The packs that were made again on a topic, in numbers, and the first that came out otherwise."""

    mode: str
    replay_id: str
    topic: str
    made: int
    equal: int
    different: int
    missing: int
    extra: int
    waiting: int
    lost: int
    unreadable: int
    records: int
    refused: int
    differences: list[exact.Difference]


async def remake(order: ReplayOrder, settings: Settings) -> int:
    """Print the packs to remake, or remake them; the exit code tells whether they came out the same."""
    security = security_of(settings)
    async with broker_source.broker_of(settings) as bootstrap, opened(bootstrap, security) as log:
        if not log.partitions(PACKS_PARTIAL.name):
            raise CommandFailed(f"the broker has no topic {PACKS_PARTIAL.name}: nothing was recorded", CONFIG)
        todo = await exact.stretches(log, order.selection.since)
        reads = {PACKS_PARTIAL.name: [each.records for each in todo], CONTEXT_PACKS.name: [each.packs for each in todo]}
        plan = await packs.extents(log, reads)
        target = topic_of(CONTEXT_PACKS.name, order.replay_id)
        if not order.execute:
            show_plan(order, plan, [f"the packs made again to {target}, {len(todo)} partitions; nothing else"])
            return OK
        await packs.create(bootstrap, settings, target, CONTEXT_PACKS.name, len(todo))
        with Progress(sum(len(each.records) for each in todo)) as progress:
            async with clients.producing(bootstrap, linger_ms=5, max_batch_size=MAX_BATCH_BYTES) as producer:
                writer = packs.ReplayWriter(producer, target, order.replay_id)
                selection, advance = order.selection, progress.advance
                verdict = await packs.remake(log, todo, settings, best_tokens(), selection, writer, advance)
    _show_verdict(order, target, verdict)
    return OK if verdict.identical else CHECK


def _show_verdict(order: ReplayOrder, target: str, verdict: exact.Verdict) -> None:
    if order.as_json:
        print_json(
            PacksRemade(
                mode=order.mode, replay_id=order.replay_id, topic=target, made=verdict.made, equal=verdict.equal,
                different=verdict.different, missing=verdict.missing, extra=verdict.extra, waiting=verdict.waiting,
                lost=verdict.lost, unreadable=verdict.unreadable, records=verdict.records, refused=verdict.refused,
                differences=verdict.differences,
            )
        )  # fmt: skip
        return
    print(
        f"{verdict.made} packs made again on {target}: {verdict.equal} equal, {verdict.different} different, "
        f"{verdict.missing} missing, {verdict.extra} extra"
    )
    for one in verdict.differences:
        where = f": {one.field}" if one.field else ""
        print(f"  {one.what:<9} {one.pack_id} revision {one.revision}, partition {one.partition}{where}")
    if verdict.waiting:
        print(f"{verdict.waiting} are not recorded yet: workers have not come to them")
    if verdict.lost:
        print(f"{verdict.lost} recorded packs cannot be made again: {PACKS_PARTIAL.name} is not kept that long")
    if verdict.refused or verdict.unreadable:
        print(f"{verdict.unreadable} records cannot be read, {verdict.refused} parts have no plan, as in the first run")
    if verdict.different:
        print(
            "FATHOM_PACK_REVISIONS and the version of fathom decide what a pack is: they have to be those of the first "
            "run"
        )
