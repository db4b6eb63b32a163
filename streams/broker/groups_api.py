"""Requests about consumer groups and their offsets."""

from streams.broker.errors import Code, RequestRefused, outcome
from streams.broker.groups import Groups, JoinRequest
from streams.broker.offsets import Committed, Offsets
from streams.broker.records_api import by_partition
from streams.broker.topics import Topics
from streams.broker.wire import Answer, Decoded

MEMBER_ID_REQUIRED_FROM = 4
MAX_METADATA = 4096
# What the asker may do with a group, which was not asked.
NO_OPERATIONS = -(2**31)


class GroupsApi:
    def __init__(self, topics: Topics, groups: Groups, offsets: Offsets) -> None:
        self._topics, self._groups, self._offsets = topics, groups, offsets

    async def join(self, r: Decoded) -> Answer:
        session = r.session_timeout / 1000
        rebalance = r.rebalance_timeout / 1000 if r.rebalance_timeout >= 0 else session
        protocols = {p.name: p.metadata or b"" for p in r.protocols or ()}
        id_required = r.version >= MEMBER_ID_REQUIRED_FROM
        who = r.group, r.member, r.instance, r.client_id or ""
        ask = JoinRequest(*who, session, rebalance, r.protocol_type, protocols, id_required)
        try:
            joined = await self._groups.join(ask)
        except RequestRefused as e:
            member = e.message if e.code == Code.MEMBER_ID_REQUIRED else r.member
            return 0, e.code, -1, "", "", member, []
        return 0, Code.NONE, *joined

    async def sync(self, r: Decoded) -> Answer:
        assignments = [(a.member, a.assignment or b"") for a in r.assignments or ()]
        try:
            assignment = await self._groups.sync(r.group, r.generation, r.member, r.instance, assignments)
        except RequestRefused as e:
            return 0, e.code, b""
        return 0, Code.NONE, assignment

    def heartbeat(self, r: Decoded) -> Answer:
        return 0, outcome(self._groups.heartbeat, r.group, r.generation, r.member, r.instance)[0]

    def leave(self, request: Decoded) -> Answer:
        def code(id: str, instance: str | None) -> Code:
            return outcome(self._groups.leave, request.group, id, instance)[0]

        if request.member is not None:
            return 0, code(request.member, None), ()
        return 0, Code.NONE, [(m.id, m.instance, code(m.id, m.instance)) for m in request.members or ()]

    def list_all(self, _request: Decoded) -> Answer:
        """Every group that has members or offsets, by name."""
        found = dict.fromkeys(self._offsets.groups(), "")
        found |= {name: group.protocol_type for name, group in self._groups.by_name.items()}
        return 0, Code.NONE, sorted(found.items())

    def describe(self, request: Decoded) -> Answer:
        """State and members of groups; an unknown group is a dead one, as in Kafka."""
        return 0, [self._described(name) for name in request.groups or ()]

    def _described(self, name: str) -> Answer:
        group = self._groups.by_name.get(name)
        if group is None:
            return Code.NONE, name, "Dead", "", "", [], NO_OPERATIONS
        members = [
            (m.id, m.asked.client_id, "", m.asked.protocols.get(group.protocol, b""), m.assignment)
            for m in group.members.values()
        ]
        return Code.NONE, name, group.state, group.protocol_type, group.protocol, members, NO_OPERATIONS

    def commit(self, r: Decoded) -> Answer:
        refusal, _ = outcome(self._groups.may_commit, r.group, r.generation, r.member, r.instance)
        good = {}

        def check(name: str, p: Decoded) -> tuple[int, Code]:
            long = len(p.metadata or "") > MAX_METADATA
            unknown = Code.NONE if self._topics.find(name, p.index) else Code.UNKNOWN_TOPIC_OR_PARTITION
            code = refusal or (Code.OFFSET_METADATA_TOO_LARGE if long else unknown)
            if not code:
                good[name, p.index] = Committed(p.offset, p.metadata, p.leader_epoch)
            return p.index, code

        answers = by_partition(r.topics, check)
        stored, _ = outcome(self._offsets.commit, r.group, good)
        return 0, [(name, [(index, code or stored) for index, code in codes]) for name, codes in answers]

    def fetch_offsets(self, request: Decoded) -> Answer:
        known = self._offsets.of(request.group)
        asked = known if request.topics is None else [(t.name, i) for t in request.topics for i in t.partitions or ()]
        answers: dict[str, list[Answer]] = {}
        for name, index in asked:
            found = known.get((name, index), Committed(-1))
            answer = (index, found.offset, found.leader_epoch, found.metadata or "", Code.NONE)
            answers.setdefault(name, []).append(answer)
        return 0, list(answers.items()), Code.NONE
