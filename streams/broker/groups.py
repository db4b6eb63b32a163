"""Consumer groups by the classic rebalance protocol: join, sync, heartbeat, leave, static members.

Membership lives in memory, as long as the process: after a restart of the broker members are unknown and join again.
Time comes from outside: `tick` expires sessions and ends overdue joins.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from streams.broker.errors import Code, RequestRefused

SESSION_MS = (1_000, 1_800_000)


class Joined(NamedTuple):
    generation: int
    protocol: str
    leader: str
    member: str
    members: list[tuple[str, str | None, bytes]]


@dataclass(slots=True)
class Member:
    id: str
    instance: str | None
    client_id: str
    session: float
    rebalance: float
    protocols: dict[str, bytes]
    deadline: float
    assignment: bytes = b""
    joining: asyncio.Future[Joined] | None = None
    syncing: asyncio.Future[bytes] | None = None

    @property
    def waits(self) -> bool:
        return self.joining is not None and not self.joining.done()

    def dismiss(self, code: Code) -> None:
        for future in (self.joining, self.syncing):
            if future is not None and not future.done():
                future.set_exception(RequestRefused(code))
        self.joining = self.syncing = None


@dataclass(slots=True)
class Group:
    name: str
    state: str = "Empty"
    generation: int = 0
    protocol_type: str = ""
    protocol: str = ""
    leader: str = ""
    members: dict[str, Member] = field(default_factory=dict)
    static: dict[str, str] = field(default_factory=dict)
    pending: dict[str, float] = field(default_factory=dict)  # ids given out, not yet joined with
    join_until: float = 0.0
    settles_at: float = 0.0  # the first join of an empty group waits this long for company

    def listing(self) -> list[tuple[str, str | None, bytes]]:
        return [(m.id, m.instance, m.protocols.get(self.protocol, b"")) for m in self.members.values()]

    def joined(self, member: Member) -> Joined:
        members = self.listing() if member.id == self.leader else []
        return Joined(self.generation, self.protocol, self.leader, member.id, members)


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


class Groups:
    def __init__(self, clock: Callable[[], float], settle: float = 0.02) -> None:
        self._clock = clock
        self._settle = settle
        self.by_name: dict[str, Group] = {}

    # Joining

    def join(self, ask: JoinRequest) -> asyncio.Future[Joined]:
        group = self._group_for(ask)
        member = self._member_for(group, ask)
        member.dismiss(Code.REBALANCE_IN_PROGRESS)
        changed = member.protocols != ask.protocols
        member.protocols, member.session, member.rebalance = (ask.protocols, ask.session, ask.rebalance)
        member.deadline = self._clock() + ask.session
        future: asyncio.Future[Joined] = asyncio.get_running_loop().create_future()
        leads = member.id == group.leader
        settled = group.state == "CompletingRebalance" or (group.state == "Stable" and not leads)
        if ask.member and settled and not changed:
            # The answer was lost on its way: repeat it, nobody else need join again.
            future.set_result(group.joined(member))
            return future
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
        if ask.member:
            if ask.member in group.pending and ask.instance is None:
                del group.pending[ask.member]
                return self._add(group, ask.member, ask)
            return self._known(group, ask.member, ask.instance)
        fresh = f"{ask.client_id}-{uuid.uuid4()}"
        if ask.instance is not None:
            return self._static(group, fresh, ask)
        if ask.id_required:
            group.pending[fresh] = self._clock() + ask.session
            raise RequestRefused(Code.MEMBER_ID_REQUIRED, fresh)
        return self._add(group, fresh, ask)

    def _add(self, group: Group, id: str, ask: JoinRequest) -> Member:
        deadline = self._clock() + ask.session
        member = Member(id, ask.instance, ask.client_id, ask.session, ask.rebalance, {}, deadline)
        if group.state == "Empty":
            group.settles_at = self._clock() + self._settle
            asyncio.get_running_loop().call_later(self._settle, self._settled, group)
        group.members[id] = member
        if ask.instance is not None:
            group.static[ask.instance] = id
        return member

    def _static(self, group: Group, fresh: str, ask: JoinRequest) -> Member:
        """A static member back under a new id: the old one is fenced, its place and assignment are kept."""
        assert ask.instance is not None
        old = group.members.get(group.static.get(ask.instance, ""))
        if old is None:
            return self._add(group, fresh, ask)
        old.dismiss(Code.FENCED_INSTANCE_ID)
        deadline = self._clock() + ask.session
        heir = Member(fresh, ask.instance, ask.client_id, ask.session, ask.rebalance, old.protocols, deadline)
        heir.assignment = old.assignment
        # Same place in the order: the assignor must see the members as before.
        group.members = {
            (fresh if id == old.id else id): (heir if id == old.id else m) for id, m in group.members.items()
        }
        group.static[ask.instance] = fresh
        if group.leader == old.id:
            group.leader = fresh
        return heir

    def rejoins_in_place(self, ask: JoinRequest) -> Joined | None:
        """What a known static member is told that comes back to a stable group: no rebalance, as long as the
        protocol stays (Kafka's rule: not even when its subscription has changed).

        The former leader's id is named as leader, so that a leader who comes back does not assign anew.
        """
        group = self.by_name.get(ask.group)
        if group is None or group.state != "Stable" or ask.member or ask.instance is None:
            return None
        old = group.members.get(group.static.get(ask.instance, ""))
        others = [m for m in group.members.values() if m is not old]
        if old is None or group.protocol not in _common(others, ask.protocols):
            return None
        leader = group.leader
        heir = self._static(group, f"{ask.client_id}-{uuid.uuid4()}", ask)
        heir.protocols = ask.protocols
        members = group.listing() if leader == heir.id else []
        return Joined(group.generation, group.protocol, leader, heir.id, members)

    # Rebalancing

    def _rebalance(self, group: Group) -> None:
        if group.state == "PreparingRebalance":
            return
        group.state = "PreparingRebalance"
        for member in group.members.values():
            if member.syncing is not None and not member.syncing.done():
                member.syncing.set_exception(RequestRefused(Code.REBALANCE_IN_PROGRESS))
            member.syncing = None
        group.join_until = self._clock() + max((m.rebalance for m in group.members.values()), default=0)

    def _settled(self, group: Group) -> None:
        group.settles_at = 0.0
        self._complete_if_all_joined(group)

    def _complete_if_all_joined(self, group: Group) -> None:
        if group.state != "PreparingRebalance" or self._clock() < group.settles_at:
            return
        if not group.pending and all(m.waits for m in group.members.values()):
            self._complete(group)

    def _complete(self, group: Group) -> None:
        """End the join phase with whoever is there; absent static members keep their place until they expire."""
        for member in [m for m in group.members.values() if not m.waits and m.instance is None]:
            self._remove(group, member)
        group.generation += 1
        if not group.members:
            group.state = "Empty"
            return
        present = [m for m in group.members.values() if m.waits]
        if not present:
            group.join_until = self._clock() + max(m.rebalance for m in group.members.values())
            return
        if group.leader not in {m.id for m in present}:
            group.leader = present[0].id
        group.protocol = _elected(list(group.members.values()))
        group.state = "CompletingRebalance"
        for member in present:
            member.deadline = self._clock() + member.session
            if member.joining is not None:
                member.joining.set_result(group.joined(member))
            member.joining = None

    def sync(
        self, name: str, generation: int, id: str, instance: str | None, assignments: Iterable[tuple[str, bytes]]
    ) -> asyncio.Future[bytes]:
        group, member = self.member(name, generation, id, instance)
        if group.state == "PreparingRebalance":
            raise RequestRefused(Code.REBALANCE_IN_PROGRESS)
        member.deadline = self._clock() + member.session
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if group.state == "CompletingRebalance":
            member.syncing = future
            if id == group.leader:
                self._assign(group, dict(assignments))
        else:
            future.set_result(member.assignment)
        return future

    def _assign(self, group: Group, assignments: dict[str, bytes]) -> None:
        group.state = "Stable"
        for member in group.members.values():
            member.assignment = assignments.get(member.id) or b""
            if member.syncing is not None and not member.syncing.done():
                member.syncing.set_result(member.assignment)
            member.syncing = None

    # Staying and leaving

    def heartbeat(self, name: str, generation: int, id: str, instance: str | None) -> None:
        group, member = self.member(name, generation, id, instance)
        member.deadline = self._clock() + member.session
        if group.state == "PreparingRebalance":
            raise RequestRefused(Code.REBALANCE_IN_PROGRESS)

    def leave(self, name: str, id: str, instance: str | None) -> None:
        group = self.by_name.get(name)
        if group is None:
            raise RequestRefused(Code.UNKNOWN_MEMBER_ID)
        if group.pending.pop(id, None) is None:
            member = self._known(group, id or group.static.get(instance or "", ""), instance)
            self._depart(group, [member])
        self._complete_if_all_joined(group)

    def member(self, name: str, generation: int, id: str, instance: str | None) -> tuple[Group, Member]:
        """The member, or Refused when it is unknown, fenced or of another generation."""
        group = self.by_name.get(name)
        if group is None:
            raise RequestRefused(Code.UNKNOWN_MEMBER_ID)
        member = self._known(group, id, instance)
        if generation != group.generation:
            raise RequestRefused(Code.ILLEGAL_GENERATION)
        return group, member

    def _known(self, group: Group, id: str, instance: str | None) -> Member:
        if instance is not None and group.static.get(instance, id) != id:
            raise RequestRefused(Code.FENCED_INSTANCE_ID)
        member = group.members.get(id)
        if member is None:
            raise RequestRefused(Code.UNKNOWN_MEMBER_ID)
        return member

    def may_commit(self, name: str, generation: int, id: str, instance: str | None) -> None:
        """Refused unless this member, or for an empty group anyone outside the protocol, may commit offsets."""
        group = self.by_name.get(name)
        if generation < 0 and (group is None or not group.members):
            return
        group, member = self.member(name, generation, id, instance)
        member.deadline = self._clock() + member.session
        if group.state == "CompletingRebalance":
            raise RequestRefused(Code.REBALANCE_IN_PROGRESS)

    def _remove(self, group: Group, member: Member) -> None:
        del group.members[member.id]
        if member.instance is not None:
            group.static.pop(member.instance, None)
        member.dismiss(Code.UNKNOWN_MEMBER_ID)

    def _depart(self, group: Group, members: list[Member]) -> None:
        for member in members:
            self._remove(group, member)
        if members:
            self._rebalance(group)
            if not group.members and not group.pending:
                self._complete(group)

    def tick(self) -> None:
        """Expire silent members and end join phases that took too long."""
        now = self._clock()
        for group in self.by_name.values():
            group.pending = {id: deadline for id, deadline in group.pending.items() if deadline > now}
            self._depart(group, [m for m in group.members.values() if not m.waits and m.deadline <= now])
            if group.state == "PreparingRebalance" and now >= group.join_until:
                self._complete(group)
            self._complete_if_all_joined(group)

    def delete(self, name: str) -> bool:
        """Whether the group was known here; Refused while it has members."""
        group = self.by_name.get(name)
        if group is not None and group.members:
            raise RequestRefused(Code.NON_EMPTY_GROUP)
        return self.by_name.pop(name, None) is not None


def _common(members: list[Member], protocols: Iterable[str]) -> set[str]:
    return set(protocols).intersection(*(m.protocols for m in members))


def _elected(members: list[Member]) -> str:
    """The protocol most members prefer among those all of them know."""
    candidates = _common(members[1:], members[0].protocols)
    votes = Counter(next(p for p in m.protocols if p in candidates) for m in members)
    return max(members[0].protocols, key=lambda p: votes.get(p, 0))
