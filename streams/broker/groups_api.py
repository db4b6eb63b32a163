"""Requests about consumer groups and their offsets."""

import asyncio
from typing import Any

from streams.broker.errors import Code, RequestRefused, outcome
from streams.broker.groups import Group, Groups, JoinRequest
from streams.broker.offsets import Committed, Offsets
from streams.broker.records_api import by_partition
from streams.broker.topics import Topics

MEMBER_ID_REQUIRED_FROM = 4
MAX_METADATA = 4096
NO_OPERATIONS = -(2**31)
NOTHING = Committed(-1)


class GroupsApi:
    def __init__(self, topics: Topics, groups: Groups, offsets: Offsets) -> None:
        self._topics, self._groups, self._offsets = topics, groups, offsets

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
            joined = await self._groups.join(ask)
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
        return 0, outcome(self._groups.heartbeat, r.group, r.generation, r.member, r.instance)[0]

    def leave(self, request: Any) -> Any:
        def code(id: str, instance: str | None) -> Code:
            return outcome(self._groups.leave, request.group, id, instance)[0]

        if request.member is not None:
            return 0, code(request.member, None), ()
        return 0, Code.NONE, [(m.id, m.instance, code(m.id, m.instance)) for m in request.members or ()]

    def commit(self, r: Any) -> Any:
        refusal, _ = outcome(self._groups.may_commit, r.group, r.generation, r.member, r.instance)
        good = {}

        def check(name: str, p: Any) -> tuple[int, Code]:
            long = len(p.metadata or "") > MAX_METADATA
            unfit = Code.OFFSET_METADATA_TOO_LARGE if long else outcome(self._topics.partition, name, p.index)[0]
            code = refusal or unfit
            if not code:
                good[name, p.index] = Committed(p.offset, p.metadata, p.leader_epoch)
            return p.index, code

        answers = by_partition(r.topics, check)
        stored, _ = outcome(self._offsets.commit, r.group, good)
        return 0, [(name, [(index, code or stored) for index, code in codes]) for name, codes in answers]

    def fetch_offsets(self, request: Any) -> Any:
        known = self._offsets.of(request.group)
        wanted: dict[str, list[int]] = {}
        if request.topics is None:
            for name, index in known:
                wanted.setdefault(name, []).append(index)
        else:
            wanted = {t.name: t.partitions or [] for t in request.topics}

        def answer(name: str, index: int) -> tuple[Any, ...]:
            committed = known.get((name, index), NOTHING)
            return index, committed.offset, committed.leader_epoch, committed.metadata or "", Code.NONE

        return 0, [(name, [answer(name, i) for i in indexes]) for name, indexes in wanted.items()], Code.NONE

    def list_groups(self, _request: Any) -> Any:
        stored = dict.fromkeys(self._offsets.groups(), "")
        live = {group.name: group.protocol_type for group in self._groups.by_name.values()}
        return 0, Code.NONE, list((stored | live).items())

    def describe_groups(self, request: Any) -> Any:
        return 0, [self._describe(name) for name in request.groups or ()]

    def _describe(self, name: str) -> tuple[Any, ...]:
        group = self._groups.by_name.get(name)
        if group is None:
            group = Group(name, "Empty" if self._offsets.of(name) else "Dead")
        protocol = group.protocol if group.state == "Stable" else ""
        members = [
            (m.id, m.instance, m.asked.client_id, "/127.0.0.1", m.protocols.get(group.protocol, b""), m.assignment)
            for m in group.members.values()
        ]
        return Code.NONE, name, group.state, group.protocol_type, protocol, members, NO_OPERATIONS
