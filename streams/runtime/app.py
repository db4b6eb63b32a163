"""The composition root: settings to adapters to agents to stages, and one worker process around them."""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any
from urllib.parse import urlsplit

from agents.context import ContextManager
from agents.core.quarantine.sources import Quarantines
from agents.ports.sessions import ToolSessions, WorkingSets
from schemas.policy import ContextPolicy
from schemas.tool_policy import ToolPolicy
from schemas.topics import MEMORY_VOTES, MESSAGES_IN, TOOLS_CALLS_IN
from streams import policies
from streams.config import Settings
from streams.dependencies import Dependencies
from streams.faust.consumer_group import ConsumerGroup
from streams.kafka import ledger
from streams.kafka.broker_probe import BrokerProbe
from streams.kafka.lag_status import NUMBERS, LagSample, LagWindow, stands, worst
from streams.kafka.ledger import Start
from streams.kafka.producer import Producer, codec_of
from streams.kafka.records import TopicPartition
from streams.kafka.security import security_of
from streams.kafka.writer_progress import KafkaWriterProgress
from streams.models.open import NONE, Models
from streams.runtime import access, data_dir
from streams.runtime.admission.priority import PriorityGate
from streams.runtime.group_runner import GroupRunner
from streams.runtime.health import GroupState, Health, ProcessState
from streams.runtime.health_server import HealthServer, ServedApi
from streams.runtime.store_watch import Check, DamageWatch, StoreWatch, answered
from streams.runtime.stores import Stores
from streams.runtime.suspects import SuspectTurns
from streams.stage import Stage
from streams.stores.settings import EMBEDDED, MEMORY
from streams.telemetry import metrics
from streams.telemetry.clock import SystemClock
from streams.views.quarantines import QuarantineFollower
from streams.views.restorable import RestorableToolSessions, RestorableWorkingSets
from streams.views.tool_log import KafkaToolLog
from streams.views.tool_sessions import RecoverableToolSessions
from streams.views.turn_log import KafkaTurnLog
from streams.views.vote_log import KafkaVoteLog
from streams.views.votes import RecoverableVotes
from streams.views.working_sets import RecoverableWorkingSets
from streams.web_pages import names_of

BEAT_EVERY_S = 0.5
# How often offsets are kept, to tell how groups keep up.
LOOK_EVERY_S = 2.0
# As long as a cluster takes to find a new leader; a rebalance waits for thirty seconds.
HANDOVER_S = 20.0
# Watched as the stores are.
BROKER, DISK, KEYS = "broker", "disk", "keys"
# Stages that learn from packs read several records at a time: a fetch for each would cost more than handling it.
PATIENT_BYTES, PATIENT_MS = 65_536, 100


def dependencies(
    settings: Settings,
    stores: Stores,
    follow: Callable[[RestorableWorkingSets, ContextPolicy], WorkingSets] | None = None,
    follow_tools: Callable[[RestorableToolSessions, ToolPolicy], ToolSessions] | None = None,
) -> Dependencies:
    """The dependencies of the stages; `follow` and `follow_tools` wrap stores into views of the log."""
    policy, references = policies.conversation_policies(settings)
    working_sets = follow(stores.working_sets, policy) if follow else stores.working_sets
    tools = policies.tool_policy(settings.tool_policy)
    return Dependencies(
        settings=settings,
        clock=SystemClock(),
        tokens=stores.tokens,
        context=ContextManager(working_sets, policy),
        references=references,
        profiles=policies.query_profiles(settings.profile_policy),
        packs=policies.pack_policy(settings.pack_policy),
        tools=tools,
        tool_sessions=follow_tools(stores.tool_sessions, tools) if follow_tools else stores.tool_sessions,
        working_sets=working_sets,
        weights=stores.weights,
        index=stores.index,
        graph=stores.graph,
        writer=stores.graph_writer,
    )


class Worker:
    """The stages of this process: one consumer group each (or shared), one producer, one health server."""

    def __init__(
        self,
        settings: Settings,
        stages: Sequence[Stage],
        bootstrap: str,
        stores: Stores,
        listener: socket,
        models: Models | None = None,
        api: ServedApi | None = None,
    ) -> None:
        self._settings, self._stages = settings, stages
        self._models = models or NONE
        self._bootstrap = bootstrap
        self._stores = stores
        self._security = security_of(settings)
        self._producer = Producer(bootstrap, security=self._security, compression=codec_of(settings))
        self._gate, self._suspect_turns = PriorityGate(), SuspectTurns()
        self._groups: list[tuple[ConsumerGroup, GroupRunner]] = []
        self._background: list[asyncio.Task[None]] = []
        self._windows: defaultdict[str, LagWindow] = defaultdict(LagWindow)
        # Groups of background stages may stand for long in an overload, and no pack waits for them.
        self._awaited = {stage.group_name for stage in stages if not stage.background}
        self._probe = BrokerProbe(lambda: bootstrap, self._security)
        self._watch = StoreWatch(self._checks())
        self._damage = DamageWatch(partial(data_dir.damaged, settings))
        self._partitions = settings.partitions
        # By the topic whose partition assignment determines the content of the view.
        self._views: dict[str, RecoverableWorkingSets | RecoverableToolSessions | RecoverableVotes] = {}
        self.health = Health(self._describe)
        self._api = api
        self._server = HealthServer(self.health, listener, names_of(settings))

    @property
    def http(self) -> str:
        """Address of health, metrics and the HTTP interface."""
        return self._server.address

    async def start(self) -> None:
        """Start consuming. Raises `GroupError`, `TopicError`, `Unavailable`, `OSError`."""
        self._server.start(self._api, self._bootstrap)
        await self._damage.look()
        self._background = [asyncio.create_task(each) for each in (self._beat(), self._watch.run(), self._damage.run())]
        self._partitions = await access.check_topics(self._bootstrap, self._security, self._settings, self._stages)
        await self._producer.start()
        built = dependencies(
            self._settings,
            self._stores,
            self._follow if self._shares_view() else None,
            self._follow_tools if any(TOOLS_CALLS_IN in stage.reads for stage in self._stages) else None,
        )
        if any(MEMORY_VOTES in stage.reads for stage in self._stages):
            self._follow_weights()
        quarantines = await self._follow_quarantines()
        groups = {topic: group for stage in self._stages for topic, group in stage.awaited.items()}
        progress = KafkaWriterProgress(self._bootstrap, groups, self._security)
        built = replace(
            built, models=self._models, full_for=self._gate.full_for, quarantines=quarantines, progress=progress
        )
        for name in dict.fromkeys(stage.group_name for stage in self._stages):
            self._groups.append(self._group(name, built))
        await asyncio.gather(*(group.start() for group, _ in self._groups))
        for _, runner in self._groups:
            runner.start_ticking()
        self.health.started = True

    async def failed(self) -> BaseException:
        """Wait for the first fatal error."""
        fatal = [failed for group, runner in self._groups for failed in (group.failed, runner.failed) if failed]
        # No background task ends but by a fault, and nobody else awaits them.
        either: set[asyncio.Future[Any]] = {*fatal, *self._background}
        done, _ = await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if told := next((each.result() for each in fatal if each in done), None):
            return told
        ended = done.pop()
        return (None if ended.cancelled() else ended.exception()) or RuntimeError(f"{ended!r} has ended")

    async def stop(self) -> None:
        """Stop reading, drain, commit, leave the groups."""
        self.health.stopping = True
        for _, runner in self._groups:
            await runner.stop()
        await asyncio.gather(*(group.stop() for group, _ in self._groups), return_exceptions=True)
        await self._producer.stop()
        for task in self._background:
            task.cancel()
        self._probe.close()
        await asyncio.to_thread(self._server.stop)

    def _decides(self) -> bool:
        return any(MESSAGES_IN in stage.reads for stage in self._stages)

    def _shares_view(self) -> bool:
        """Whether the working set is shared with the depth stage: in-process stores only if it runs here."""
        return self._decides() or urlsplit(self._settings.redis_url).scheme not in (MEMORY, EMBEDDED)

    def _follow(self, sets: RestorableWorkingSets, policy: ContextPolicy) -> WorkingSets:
        log = KafkaTurnLog(self._bootstrap, self._security)
        view = self._views[MESSAGES_IN.name] = RecoverableWorkingSets(sets, log, policy, partitions=self._partitions)
        if self._decides():
            self._background.append(asyncio.create_task(view.restore_loop()))
        return view

    def _follow_tools(self, sessions: RestorableToolSessions, policy: ToolPolicy) -> ToolSessions:
        log = KafkaToolLog(self._bootstrap, self._security)
        view = RecoverableToolSessions(sessions, log, policy, partitions=self._partitions)
        self._views[TOOLS_CALLS_IN.name] = view
        self._background.append(asyncio.create_task(view.restore_loop()))
        return view

    def _follow_weights(self) -> None:
        log = KafkaVoteLog(self._bootstrap, self._security)
        view = self._views[MEMORY_VOTES.name] = RecoverableVotes(self._stores.weights, log, partitions=self._partitions)
        self._background.append(asyncio.create_task(view.restore_loop()))

    async def _follow_quarantines(self) -> Quarantines:
        """The quarantines, read once and followed, where a stage hides what they name."""
        quarantines = Quarantines()
        if any(stage.hiding for stage in self._stages):
            following = await QuarantineFollower(quarantines, self._bootstrap, self._security).start()
            self._background.append(following)
        return quarantines

    def _group(self, name: str, built: Dependencies) -> tuple[ConsumerGroup, GroupRunner]:
        settings = self._settings
        rows = [(stage, stage.handler(built)) for stage in self._stages if stage.group_name == name]
        runner = GroupRunner(
            name, rows, self._producer, settings, partitions=self._partitions, read_ledger=self._read_ledger,
            give_up=self._producer.give_up, gate=self._gate, suspect_turns=self._suspect_turns,
        )  # fmt: skip
        group = ConsumerGroup(
            rows[0][0].consumer_group,
            runner.topics,
            # What is in hand is awaited, or it is done again by the next owner: with what follows from a message, or a
            # join's packs twice. Of other groups some records only wait, for what they name.
            handover_timeout=HANDOVER_S if any(stage.ledger or stage.first for stage, _ in rows) else None,
            bootstrap=self._bootstrap,
            sink=runner.sink,
            copartitioned=runner.copartitioned,
            on_assigned=partial(self._assigned, runner),
            on_revoked=partial(self._revoked, runner),
            commit_interval=settings.commit_interval_ms / 1000,
            session_timeout=settings.session_timeout_ms / 1000,
            heartbeat_interval=min(3.0, settings.session_timeout_ms / 3000),
            instance_id=f"{settings.instance_id}-{name}" if settings.instance_id else None,
            client_options={**self._security.client_options(), "encryption": self._security.encryption},
            patience=(PATIENT_BYTES, PATIENT_MS) if all(stage.background for stage, _ in rows) else None,
        )
        runner.join(group)
        return group, runner

    async def _read_ledger(
        self, stage: Stage, numbers: Collection[int], start: Start, since: datetime | None
    ) -> dict[int, datetime]:
        assert stage.own_output is not None
        sources = [topic.name for topic in stage.fed_from]
        asked = (self._bootstrap, sources, stage.own_output, numbers, stage.consumer_group, start, self._security)
        return await ledger.read(*asked, since=since)

    async def _assigned(self, runner: GroupRunner, partitions: frozenset[TopicPartition]) -> None:
        for topic, view in self._views.items():
            if topic in runner.topics:
                await view.on_assigned(tp.partition for tp in partitions if tp.topic == topic)
        await runner.on_assigned(partitions)

    async def _revoked(self, runner: GroupRunner, partitions: frozenset[TopicPartition]) -> None:
        try:
            await runner.on_revoked(partitions)
        finally:  # also where what is in hand took too long: what another owns is not served from here
            for topic, view in self._views.items():
                if topic in runner.topics:
                    view.on_revoked()

    def _checks(self) -> dict[str, Check]:
        checks: dict[str, Check] = {**self._stores.asking(), BROKER: partial(answered, self._probe)}
        if self._security.encryption is not None:
            checks[KEYS] = self._security.encryption.store.ping
        if (home := data_dir.home_of(self._settings.broker)) is not None:
            # In a thread: a disk that hangs would stop the loop.
            checks[DISK] = partial(asyncio.to_thread, _room, home)
        return checks

    def _state(self, group: ConsumerGroup, name: str) -> GroupState:
        partitions = self._windows[name].judged()
        judged = worst(partitions)
        return {
            "healthy": group.healthy(),
            "partitions": len(group.assignment()),
            "stalled_s": round(group.stalled_for(), 1),
            "status": judged.status,
            "lag": judged.lag,
            "why": judged.why,
            "stuck": name in self._awaited and stands(partitions),
        }

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        look = 0.0
        while True:
            due = loop.time() + BEAT_EVERY_S
            await asyncio.sleep(BEAT_EVERY_S)
            self.health.beat()
            metrics.LOOP_LAG.set(max(loop.time() - due, 0.0))
            for group, runner in self._groups:
                _measure(group, runner)
                if loop.time() >= look:
                    self._windows[runner.name].add(_offsets(group, runner, loop.time()))
                    metrics.LAG_STATUS.labels(runner.name).set(
                        NUMBERS[worst(self._windows[runner.name].judged()).status]
                    )
            if loop.time() >= look:
                look = loop.time() + LOOK_EVERY_S

    def _describe(self) -> ProcessState:
        groups: dict[str, GroupState] = {runner.name: self._state(group, runner.name) for group, runner in self._groups}
        said, away = self._watch.states(), self._watch.away()
        return {
            "groups": groups,
            "disk": said.pop(DISK, "ok"),
            "damaged": self._damage.files,
            "stores": said,
            "away": [wrong for name, wrong in away.items() if name != DISK],
        }


def _room(home: Path) -> str | None:
    if home.is_dir():
        metrics.DISK_FREE.set(shutil.disk_usage(home).free)
    return data_dir.full(home)


def _offsets(group: ConsumerGroup, runner: GroupRunner, now: float) -> Iterator[tuple[str, LagSample]]:
    """The offsets of the partitions held: what is not committed yet is not done, except what a join holds."""
    for tp in group.assignment():
        position, end = group.position(tp), group.highwater(tp)
        if position is not None and end is not None:
            done = position if runner.holds else position - group.uncommitted(tp)
            yield f"{tp.topic}[{tp.partition}]", LagSample(now, done, end)


def _measure(group: ConsumerGroup, runner: GroupRunner) -> None:
    held = group.assignment()
    lags: dict[str, int] = dict.fromkeys(runner.topics, 0)
    for tp in held:
        position, end = group.position(tp), group.highwater(tp)
        if position is not None and end is not None:
            lags[tp.topic] += max(end - position, 0)
    for topic, lag in lags.items():
        metrics.LAG.labels(runner.name, topic).set(lag)
    metrics.UNCOMMITTED.labels(runner.name).set(sum(group.uncommitted(tp) for tp in held))
    metrics.OLDEST_HELD.labels(runner.name).set(max((group.oldest_unacked_age(tp) for tp in held), default=0.0))
    metrics.IN_FLIGHT.labels(runner.name).set(runner.load())
