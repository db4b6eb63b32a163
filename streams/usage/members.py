"""What stems from a source, by ids, and whether a pack or an answer has any of it; pure.

Of a record only the ids are looked at first: few of a million packs are worth decoding.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import orjson

from agents.core.quarantine.sources import HiddenSources, Quarantine, SourceName, hidden_by
from schemas.chat import AnswerGiven, Turn
from schemas.envelope import Received
from schemas.items import ConversationSummary, ItemBase
from schemas.learning import ConsultationRecorded, QuarantinedMessage
from schemas.memory import ClaimAsserted, KnowledgeRecorded, ProcessEntry, ProfileEntry, SummaryMade
from schemas.packs import ContextPack

IDS = re.compile(
    rb'"(?:id|message_id|claim_id|contradicts|chunk_uid|conversation_id|user_id|answers)":"((?:[^"\\]|\\.)*)"'
)
SECTIONS = ("episodic", "semantic", "procedural", "claims")


class SourceMembers:
    """The ids of all that stems from a source; it grows with what was answered from it."""

    def __init__(self, quarantine: Quarantine) -> None:
        self.source: SourceName = quarantine.source
        self.documents: set[str] = set()
        self.messages: dict[str, QuarantinedMessage] = {each.message_id: each for each in quarantine.messages}
        self._quarantine = quarantine
        self._hidden: HiddenSources | None = None
        self._ids: set[str] = {*self.messages, *self.hidden.messages, *self.hidden.claims}
        self._profiles: set[str] = set(self.hidden.users)

    def __len__(self) -> int:
        return len(self._ids) + len(self._profiles)

    @property
    def hidden(self) -> HiddenSources:
        """What a quarantine of the source hides, with these messages."""
        if self._hidden is None:
            self._hidden = hidden_by([replace(self._quarantine, messages=tuple(self.messages.values()))])
        return self._hidden

    def add_message(self, message: QuarantinedMessage) -> None:
        """Count a message, such as an answer that was given on it, to the source."""
        if message.message_id not in self.messages:
            self.messages[message.message_id] = message
            self._ids.add(message.message_id)
            self._hidden = None

    def learn(self, received: Received[Any]) -> bool:
        """Take the ids of a record that stems from the source; whether it does."""
        match received.event:
            case KnowledgeRecorded() as event:
                return self._learn_document(event)
            case Turn() as turn:
                return self._learn(turn.client_id, turn.conversation_id, turn.user_id, turn.message_id)
            case ClaimAsserted() as claim:
                place = (claim.client_id, claim.conversation_id, claim.user_id)
                return self._learn(*place, claim.claim_id, claim.message_id)
            case SummaryMade() as summary:
                place = (summary.client_id, summary.conversation_id, summary.user_id)
                return self._learn(*place, summary.summary_id)
        return False

    def _learn(self, client_id: str, conversation_id: str, user_id: str, own: str, message_id: str = "") -> bool:
        source = self.source
        place = (source.client_id, source.id) == (client_id, conversation_id)
        is_own = place or (source.kind == "user" and source.id == user_id)
        if is_own or message_id in self.messages or own in self._ids:
            self._ids.add(own)
            return True
        return False

    def _learn_document(self, event: KnowledgeRecorded) -> bool:
        if not self.hidden.has_document(event.document_id):
            return False
        self.documents.add(event.document_id)
        for entry in event.entries:
            self._ids.add(entry.id)
            if isinstance(entry, ProcessEntry):
                self._ids |= {step.id for step in entry.steps}
            if isinstance(entry, ProfileEntry):
                self._profiles.add(entry.profile.user_id)
        return True

    def may_be_in(self, value: bytes | None) -> bool:
        """Whether a record names any id of the source, by its bytes."""
        return any(
            found in self._ids or found in self._profiles or self._is_place(found) for found in ids_in(value or b"")
        )

    def _is_place(self, conversation_id: str) -> bool:
        hidden = self.hidden
        return any(conversation_id == of for _, of in (*hidden.places, *hidden.positions))

    def in_pack(self, pack: ContextPack) -> tuple[str, ...]:
        """The ids of the items of a pack that stem from the source."""
        found = [item.id for item in items_of(pack) if self._has(item, pack)]
        session = pack.working_set
        left_out = {each.id for each in pack.dropped if each.memory_class == "working_set"}
        if session.session_summary and not left_out.isdisjoint(self._ids):
            found.append(session.session_summary_item.id if session.session_summary_item else "session_summary")
        persona = pack.persona_context.provenance
        stored = persona is not None and unquote((persona.id or "").partition("|")[2])
        if stored and stored in self._profiles:
            found.append(stored)
        return tuple(dict.fromkeys(found))

    def _has(self, item: ItemBase, pack: ContextPack) -> bool:
        names = (getattr(item, name, None) for name in ("id", "message_id", "claim_id", "contradicts", "process_id"))
        if any(name in self._ids for name in names):
            return True
        if not isinstance(item, ConversationSummary):
            return False
        # The summary of a current conversation is of the pack's client; of another one the client is not said.
        client = pack.client_id if item.conversation_id == pack.conversation_id else None
        return self.hidden.has_conversation(client, item.conversation_id) or self.hidden.is_within(
            client, item.conversation_id, item.from_seq, item.to_seq
        )

    def in_answer(self, answer: AnswerGiven) -> tuple[str, ...]:
        """The ids of passages that a deep answer cites and that stem from the source."""
        told = answer.results if isinstance(answer.results, dict) else {}
        cited = {claim["chunk_uid"] for each in told.get("sub_answers", ()) for claim in each.get("claims", ())}
        return tuple(sorted(cited & self._ids))

    def in_consultation(self, consultation: ConsultationRecorded) -> tuple[str, ...]:
        """The ids of passages that a kept answer cites and that stem from the source."""
        return tuple(sorted({ref.id for sub in consultation.sub_questions for ref in sub.uses} & self._ids))


def placed(event: Turn | ClaimAsserted) -> QuarantinedMessage:
    """The message of a turn or a claim, with its place."""
    return QuarantinedMessage(
        message_id=event.message_id,
        client_id=event.client_id,
        conversation_id=event.conversation_id,
        seq=max(event.seq, 0),
    )


def items_of(pack: ContextPack) -> Iterator[ItemBase]:
    """Every item of a pack, of all its sections."""
    yield from pack.working_set.recent_messages
    yield from pack.persona_context.current_objectives or ()
    for name in SECTIONS:
        if (section := getattr(pack, name)) is not None:
            for part in type(section).model_fields:
                yield from getattr(section, part)


def ids_in(value: bytes) -> Iterator[str]:
    """The ids that a record's JSON names."""
    for found in IDS.findall(value):
        yield orjson.loads(b'"%b"' % found) if b"\\" in found else found.decode(errors="replace")
