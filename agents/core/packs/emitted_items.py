"""The items of the packs of one output partition, which later packs need not repeat. Pure: no clock, no I/O."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from agents.core.caching.budget import ENTRY_BYTES
from agents.core.caching.lru import ByteCache
from agents.core.packs import packing
from schemas.base import derive
from schemas.depth import MAX_HELD
from schemas.packs import ContextPack
from schemas.retrieval import JoinOpened

# Packs of one conversation whose items are remembered: as many as a caller may name.
MAX_PACKS = MAX_HELD
# The maximum age of a pack whose items are withheld, and how long a late part can revise a pack. On assignment the
# runner reads the output partition at least this far back, so that a restart has the same state as a run without one.
REPEAT_WINDOW = timedelta(minutes=2)


class _PackItems(NamedTuple):
    frame_id: str
    assembled_at: datetime
    items: tuple[str, ...]


class EmittedItems:
    """Conversation -> its newest packs by id, in the order of the output, each with its items."""

    def __init__(self) -> None:
        self._packs: ByteCache[str, Mapping[str, _PackItems]] = ByteCache("emitted_packs")

    def held(self, tenant: str, about: JoinOpened | ContextPack, at: datetime) -> Mapping[str, str]:
        """The items to withhold, each with the pack that has it: of the packs that the caller still holds."""
        emitted = self._packs.get(_subject(tenant, about)) or {}
        held = [(name, pack) for name in _held(about, emitted) if (pack := emitted.get(name))]
        recent = [(name, pack) for name, pack in held if at - pack.assembled_at <= REPEAT_WINDOW]
        return {item: name for name, pack in recent for item in pack.items}

    def remember(self, tenant: str, pack: ContextPack) -> None:
        """Add a pack that is out, or its next revision."""
        subject = _subject(tenant, pack)
        packs = dict(self._packs.get(subject) or {})
        if pack.revision == 1:
            packs.pop(pack.pack_id, None)  # to the end, where the newest is
        elif pack.pack_id not in packs:
            return
        packs[pack.pack_id] = _PackItems(pack.frame_id, pack.assembled_at, packing.injected(pack))
        packs = dict(list(packs.items())[-MAX_PACKS:])
        self._packs.put(subject, packs, ENTRY_BYTES * sum(3 + len(each.items) for each in packs.values()))


def _held(about: JoinOpened | ContextPack, emitted: Mapping[str, _PackItems]) -> Iterable[str]:
    """The packs whose items are withheld: those named in `have`, before 0.2 the newest one of the frame."""
    if isinstance(about, JoinOpened) and about.looks_up is None:
        return [name for name, pack in emitted.items() if pack.frame_id == about.frame_id][-1:]
    return (about.options and about.options.have) or ()


def _subject(tenant: str, about: JoinOpened | ContextPack) -> str:
    return derive(tenant, about.client_id, about.conversation_id)
