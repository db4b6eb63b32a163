"""Requests about consumer groups, their offsets, and transactions."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from streams.broker.errors import Code, RequestRefused
from streams.broker.groups import Group, Groups, JoinRequest
from streams.broker.offsets import Committed, Offsets
from streams.broker.topics import Topics
from streams.broker.transactions import Transactions

MEMBER_ID_REQUIRED_FROM = 4
LONGEST_METADATA = 4096
NO_OPERATIONS = -(2**31)


def code_of(action: Callable[..., object], *args: Any) -> Code:
    try:
        action(*args)
    except RequestRefused as e:
        return e.code
    return Code.NONE


class GroupsApi:
    def __init__(self, topics: Topics, groups: Groups, offsets: Offsets, transactions: Transactions) -> None:
        self._topics, self._groups = topics, groups
        self._offsets, self._transactions = offsets, transactions

    def join(self, request: Any) -> Any:
        return asyncio.ensure_future(self._join(request))

    async def _join(self, request: Any) -> Any:
        rebalance = request.rebalance_timeout if request.rebalance_timeout >= 0 else request.session_timeout
        ask = JoinRequest(
            request.group,
            request.member,
            request.instance,
            request.client_id or "",
            request.session_timeout / 1000,
            rebalance / 1000,
            request.protocol_type,
            {p.name: p.metadata or b"" for p in request.protocols or ()},
            request.version >= MEMBER_ID_REQUIRED_FROM,
        )
        try:
            joined = self._groups.rejoins_in_place(ask) or await self._groups.join(ask)
        except RequestRefused as e:
            member = e.message if e.code == Code.MEMBER_ID_REQUIRED else request.member
            return 0, e.code, -1, "", "", member, []
        return 0, Code.NONE, *joined

    def sync(self, request: Any) -> Any:
        return asyncio.ensure_future(self._sync(request))

    async def _sync(self, r: Any) -> Any:
        assignments = [(a.member, a.assignment or b"") for a in r.assignments or ()]
        try:
            assignment = await self._groups.sync(r.group, r.generation, r.member, r.instance, assignments)
        except RequestRefused as e:
            return 0, e.code, b""
        return 0, Code.NONE, assignment

    def heartbeat(self, r: Any) -> Any:
        return 0, code_of(self._groups.heartbeat, r.group, r.generation, r.member, r.instance)

    def leave(self, request: Any) -> Any:
        if request.member is not None:
            return 0, code_of(self._groups.leave, request.group, request.member, None), ()
        answers = []
        for m in request.members or ():
            code = code_of(self._groups.leave, request.group, m.id, m.instance)
            answers.append((m.id, m.instance, code))
        return 0, Code.NONE, answers

    # Offsets

    def commit(self, r: Any) -> Any:
        refusal = code_of(self._groups.may_commit, r.group, r.generation, r.member, r.instance)
        return 0, self._commit(r.topics, refusal, lambda items: self._offsets.commit(r.group, items))

    def _commit(
        self, topics: Iterable[Any] | None, refusal: Code, store: Callable[[dict[Any, Committed]], None]
    ) -> list[Any]:
        codes = {
            (t.name, p.index): refusal or self._checked(t.name, p) for t in topics or () for p in t.partitions or ()
        }
        good = {
            (t.name, p.index): Committed(p.offset, p.metadata, p.leader_epoch)
            for t in topics or ()
            for p in t.partitions or ()
            if codes[t.name, p.index] == Code.NONE
        }
        stored = code_of(store, good) if good else Code.NONE
        return [
            (t.name, [(p.index, codes[t.name, p.index] or stored) for p in t.partitions or ()]) for t in topics or ()
        ]

    def _checked(self, name: str, p: Any) -> Code:
        if len(p.metadata or "") > LONGEST_METADATA:
            return Code.OFFSET_METADATA_TOO_LARGE
        return code_of(self._topics.partition, name, p.index)

    def fetch_offsets(self, request: Any) -> Any:
        known = self._offsets.of(request.group)
        wanted: dict[str, list[int]] = {}
        if request.topics is None:
            for name, index in known:
                wanted.setdefault(name, []).append(index)
        else:
            wanted = {t.name: t.partitions or [] for t in request.topics}
        nothing = Committed(-1)
        return (
            0,
            [
                (name, [_committed(i, known.get((name, i), nothing)) for i in indexes])
                for name, indexes in wanted.items()
            ],
            Code.NONE,
        )

    # Looking at groups

    def list_groups(self, _request: Any) -> Any:
        live = {g.name: g.protocol_type for g in self._groups.by_name.values()}
        stored = {name: "" for name in self._offsets.groups() if name not in live}
        return 0, Code.NONE, list({**live, **stored}.items())

    def describe_groups(self, request: Any) -> Any:
        return 0, [self._describe(name) for name in request.groups or ()]

    def _describe(self, name: str) -> tuple[Any, ...]:
        group = self._groups.by_name.get(name)
        if group is None:
            state = "Empty" if self._offsets.of(name) else "Dead"
            return Code.NONE, name, state, "", "", [], NO_OPERATIONS
        stable = group.state == "Stable"
        protocol = group.protocol if stable else ""
        return (Code.NONE, name, group.state, group.protocol_type, protocol, _members(group), NO_OPERATIONS)

    def delete_groups(self, request: Any) -> Any:
        return 0, [(name, code_of(self._delete, name)) for name in request.groups or ()]

    def _delete(self, name: str) -> None:
        known = self._groups.delete(name)
        if self._offsets.of(name):
            self._offsets.forget_group(name)
        elif not known:
            raise RequestRefused(Code.GROUP_ID_NOT_FOUND)

    # Transactions

    def init_producer(self, request: Any) -> Any:
        try:
            if request.transactional_id is None:
                return 0, Code.NONE, self._transactions.new_producer_id(), 0
            if not request.transactional_id:
                raise RequestRefused(Code.INVALID_REQUEST)
            started = self._transactions.start_producer(request.transactional_id, request.timeout / 1000)
        except RequestRefused as e:
            return 0, e.code, -1, -1
        return 0, Code.NONE, *started

    def add_partitions(self, r: Any) -> Any:
        partitions = [(t.name, index) for t in r.topics or () for index in t.partitions or ()]
        missing = {p for p in partitions if code_of(self._topics.partition, *p)}
        producer = r.transactional_id, r.producer_id, r.epoch
        found = [p for p in partitions if p not in missing]
        code = code_of(self._transactions.add_partitions, *producer, found)
        return 0, [
            (t.name, [(i, _unknown((t.name, i), missing) or code) for i in t.partitions or ()]) for t in r.topics or ()
        ]

    def add_offsets_group(self, r: Any) -> Any:
        return 0, code_of(self._transactions.add_group, r.transactional_id, r.producer_id, r.epoch)

    def commit_in_transaction(self, r: Any) -> Any:
        refusal = Code.NONE
        if r.generation >= 0:
            refusal = code_of(self._groups.may_commit, r.group, r.generation, r.member, r.instance)
        producer = r.transactional_id, r.producer_id, r.epoch
        return 0, self._commit(
            r.topics, refusal, lambda items: self._transactions.add_offsets(*producer, r.group, items)
        )

    def end_transaction(self, r: Any) -> Any:
        producer = r.transactional_id, r.producer_id, r.epoch
        return 0, code_of(self._transactions.end, *producer, r.commit)


def _unknown(partition: tuple[str, int], missing: set[tuple[str, int]]) -> Code:
    return Code.UNKNOWN_TOPIC_OR_PARTITION if partition in missing else Code.NONE


def _committed(index: int, c: Committed) -> tuple[int, int, int, str, Code]:
    return index, c.offset, c.leader_epoch, c.metadata or "", Code.NONE


def _members(group: Group) -> list[tuple[Any, ...]]:
    return [
        (m.id, m.instance, m.client_id, "/127.0.0.1", m.protocols.get(group.protocol, b""), m.assignment)
        for m in group.members.values()
    ]
