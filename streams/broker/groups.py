"""Consumer groups by the classic rebalance protocol: join, sync, heartbeat, leave, static members.

Membership is kept in memory only: after a restart of the broker members are unknown and join again.
The clock is a parameter: `tick` expires sessions and ends overdue joins.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from streams.broker.errors import Code, RequestRefused

SESSION_MS = (1_000, 1_800_000)


class Joined(NamedTuple):
    generation: int
    protocol: str
    leader: str
    member: str
    members: list[tuple[str, str | None, bytes]]


class JoinRequest(NamedTuple):
    """A JoinGroup request; times in seconds."""

    group: str
    member: str
    instance: str | None
    client_id: str
    session: float
    rebalance: float
    protocol_type: str
    protocols: dict[str, bytes]
    id_required: bool


@dataclass(slots=True)
class Member:
    id: str
    asked: JoinRequest
    deadline: float
    assignment: bytes = b""
    joining: asyncio.Future[Joined] | None = None

    @property
    def waits(self) -> bool:
        return self.joining is not None and not self.joining.done()

    def dismiss(self, code: Code) -> None:
        if self.joining is not None and not self.joining.done():
            self.joining.set_exception(RequestRefused(code))
        self.joining = None


@dataclass(slots=True)
class Group:
    name: str
    state: str = "Empty"
    generation: int = 0
    protocol_type: str = ""
    protocol: str = ""
    leader: str = ""
    members: dict[str, Member] = field(default_factory=dict)
    pending: dict[str, float] = field(default_factory=dict)  # assigned ids that have not joined yet
    assigned: asyncio.Event = field(default_factory=asyncio.Event)  # also set when this generation gets no assignment
    join_until: float = 0.0
    settles_at: float = 0.0  # the first join of an empty group waits this long for other members

    def static(self, instance: str | None) -> Member | None:
        return next((m for m in self.members.values() if instance is not None and m.asked.instance == instance), None)

    def known(self, id: str, instance: str | None) -> Member:
        """The member; RequestRefused when unknown, or fenced by another one of its instance."""
        namesake = self.static(instance)
        if namesake is not None and namesake.id != id:
            raise RequestRefused(Code.FENCED_INSTANCE_ID)
        if id not in self.members:
            raise RequestRefused(Code.UNKNOWN_MEMBER_ID)
        return self.members[id]

    def joined(self, member: Member, leader: str) -> Joined:
        """The response to a join; only the leader gets the list of members."""
        members = self.members.values() if member.id == leader else ()
        listing = [(m.id, m.asked.instance, m.asked.protocols.get(self.protocol, b"")) for m in members]
        return Joined(self.generation, self.protocol, leader, member.id, listing)

    def remove(self, member: Member) -> None:
        del self.members[member.id]
        member.dismiss(Code.UNKNOWN_MEMBER_ID)

    def succeed(self, old: Member, fresh: str) -> Member:
        """A returning static member under a new id: the old id is fenced, position and assignment are kept."""
        old.dismiss(Code.FENCED_INSTANCE_ID)
        heir = replace(old, id=fresh)
        # Same position in the order: the assignor must see the members as before.
        self.members = {m.id: m for m in (heir if m is old else m for m in self.members.values())}
        self.leader = fresh if self.leader == old.id else self.leader
        return heir


class Groups:
    def __init__(self, clock: Callable[[], float], settle: float = 0.02) -> None:
        self._clock = clock
        self._settle = settle
        self.by_name: dict[str, Group] = {}

    def join(self, ask: JoinRequest) -> asyncio.Future[Joined]:
        group = self._group_for(ask)
        before, leader = group.members.get(ask.member) or group.static(ask.instance), group.leader
        in_place = before is not None and _keeps_its_place(group, before, ask)
        member = self._member_for(group, ask)
        member.dismiss(Code.REBALANCE_IN_PROGRESS)
        member.asked, member.deadline = ask, self._clock() + ask.session
        future: asyncio.Future[Joined] = asyncio.get_running_loop().create_future()
        if in_place:
            # The former leader's id is returned, so that a returning static leader does not assign again.
            future.set_result(group.joined(member, leader))
        else:
            member.joining = future
            self._rebalance(group)
            self._complete_if_all_joined(group)
        return future

    def _group_for(self, ask: JoinRequest) -> Group:
        if not ask.group:
            raise RequestRefused(Code.INVALID_GROUP_ID)
        if not SESSION_MS[0] <= ask.session * 1000 <= SESSION_MS[1]:
            raise RequestRefused(Code.INVALID_SESSION_TIMEOUT, f"session timeout must be within {SESSION_MS} ms")
        group = self.by_name.get(ask.group)
        if group is None:
            if ask.member:
                raise RequestRefused(Code.UNKNOWN_MEMBER_ID)
            group = Group(ask.group)
        others = [m for m in group.members.values() if m.id != ask.member]
        mismatch = others and ask.protocol_type != group.protocol_type
        if mismatch or not ask.protocols or not _common(others, ask.protocols):
            raise RequestRefused(Code.INCONSISTENT_GROUP_PROTOCOL)
        self.by_name[ask.group] = group
        group.protocol_type = ask.protocol_type
        return group

    def _member_for(self, group: Group, ask: JoinRequest) -> Member:
        if ask.member and (ask.member not in group.pending or ask.instance is not None):
            return group.known(ask.member, ask.instance)
        fresh = ask.member or f"{ask.client_id}-{uuid.uuid4()}"
        namesake = group.static(ask.instance)
        if namesake is not None:
            return group.succeed(namesake, fresh)
        if ask.id_required and ask.instance is None and not ask.member:
            group.pending[fresh] = self._clock() + ask.session
            raise RequestRefused(Code.MEMBER_ID_REQUIRED, fresh)
        group.pending.pop(fresh, None)
        if group.state == "Empty":
            group.settles_at = self._clock() + self._settle
            asyncio.get_running_loop().call_later(self._settle, self._complete_if_all_joined, group, group.settles_at)
        member = group.members[fresh] = Member(fresh, ask, deadline=0.0)
        return member

    def _rebalance(self, group: Group) -> None:
        if group.state == "PreparingRebalance":
            return
        group.state = "PreparingRebalance"
        group.assigned.set()
        group.join_until = self._clock() + max((m.asked.rebalance for m in group.members.values()), default=0)

    def _complete_if_all_joined(self, group: Group, at: float | None = None) -> None:
        # A timer passes its own time: it may fire slightly before the clock reaches it.
        if group.state != "PreparingRebalance" or (self._clock() if at is None else at) < group.settles_at:
            return
        if not group.pending and all(m.waits for m in group.members.values()):
            self._complete(group)

    def _complete(self, group: Group) -> None:
        """End the join phase with the members present; absent static members keep their place until they expire."""
        for member in [m for m in group.members.values() if not m.waits and m.asked.instance is None]:
            group.remove(member)
        group.generation += 1
        if not group.members:
            group.state = "Empty"
            return
        present = [m for m in group.members.values() if m.waits]
        if not present:
            group.join_until = self._clock() + max(m.asked.rebalance for m in group.members.values())
            return
        if group.leader not in {m.id for m in present}:
            group.leader = present[0].id
        group.protocol = _elected(list(group.members.values()))
        group.state, group.assigned = "CompletingRebalance", asyncio.Event()
        for member in present:
            member.deadline = self._clock() + member.asked.session
            if member.joining is not None:
                member.joining.set_result(group.joined(member, group.leader))
            member.joining = None

    async def sync(
        self, name: str, generation: int, id: str, instance: str | None, assignments: Iterable[tuple[str, bytes]]
    ) -> bytes:
        """The member's assignment, once the leader has sent it."""
        group, member = self._heard(name, generation, id, instance)
        if group.state == "CompletingRebalance":
            if id == group.leader:
                given = dict(assignments)
                for one in group.members.values():
                    one.assignment = given.get(one.id) or b""
                group.state = "Stable"
                group.assigned.set()
            await group.assigned.wait()
            group, member = self._heard(name, generation, id, instance)
        if group.state == "PreparingRebalance":
            raise RequestRefused(Code.REBALANCE_IN_PROGRESS)
        return member.assignment

    def _heard(self, name: str, generation: int, id: str, instance: str | None) -> tuple[Group, Member]:
        """The member, its session restarted; RequestRefused when unknown, fenced or of another generation."""
        group = self.by_name.get(name)
        if group is None:
            raise RequestRefused(Code.UNKNOWN_MEMBER_ID)
        member = group.known(id, instance)
        if generation != group.generation:
            raise RequestRefused(Code.ILLEGAL_GENERATION)
        member.deadline = self._clock() + member.asked.session
        return group, member

    def heartbeat(self, name: str, generation: int, id: str, instance: str | None) -> None:
        group, _ = self._heard(name, generation, id, instance)
        if group.state == "PreparingRebalance":
            raise RequestRefused(Code.REBALANCE_IN_PROGRESS)

    def may_commit(self, name: str, generation: int, id: str, instance: str | None) -> None:
        """RequestRefused unless this member, or for an empty group anyone outside the protocol, may commit offsets."""
        group = self.by_name.get(name)
        if generation < 0 and (group is None or not group.members):
            return
        group, _ = self._heard(name, generation, id, instance)
        if group.state == "CompletingRebalance":
            raise RequestRefused(Code.REBALANCE_IN_PROGRESS)

    def leave(self, name: str, id: str, instance: str | None) -> None:
        group = self.by_name.get(name)
        if group is None:
            raise RequestRefused(Code.UNKNOWN_MEMBER_ID)
        if group.pending.pop(id, None) is None:
            namesake = None if id else group.static(instance)
            self._depart(group, [namesake or group.known(id, instance)])
        self._complete_if_all_joined(group)

    def _depart(self, group: Group, members: list[Member]) -> None:
        for member in members:
            group.remove(member)
        if members:
            self._rebalance(group)
            if not group.members and not group.pending:
                self._complete(group)

    def tick(self) -> None:
        """Expire silent members and end overdue join phases."""
        now = self._clock()
        for group in self.by_name.values():
            group.pending = {id: deadline for id, deadline in group.pending.items() if deadline > now}
            self._depart(group, [m for m in group.members.values() if not m.waits and m.deadline <= now])
            if group.state == "PreparingRebalance" and now >= group.join_until:
                self._complete(group)
            self._complete_if_all_joined(group)


def _keeps_its_place(group: Group, before: Member, ask: JoinRequest) -> bool:
    """Whether a known member that rejoins is answered at once, without a rebalance."""
    if ask.member:
        # The response was lost: repeat it.
        settled = group.state == "CompletingRebalance" or (group.state == "Stable" and ask.member != group.leader)
        return settled and before.asked.protocols == ask.protocols
    # Kafka's rule for static members: no rebalance even for a changed subscription, as long as the protocol stays.
    others = [m for m in group.members.values() if m is not before]
    return group.state == "Stable" and group.protocol in _common(others, ask.protocols)


def _common(members: list[Member], protocols: Iterable[str]) -> set[str]:
    return set(protocols).intersection(*(m.asked.protocols for m in members))


def _elected(members: list[Member]) -> str:
    """The protocol preferred by most members among those supported by all."""
    first, *others = (m.asked.protocols for m in members)
    candidates = set(first).intersection(*others)
    votes = Counter(next(p for p in known if p in candidates) for known in (first, *others))
    return max(first, key=lambda p: votes.get(p, 0))
