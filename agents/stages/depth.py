"""Classify the depth of each user message, and store every accepted turn in the working set.

reads   messages.in         key conversation
writes  conversation.turns  every accepted turn, validated once, with seq, frame and language
        depth.classified    user turns with a pack only
        memory.erasures     for a conversation to be forgotten, whose working set is emptied
state   the working set: the turn is written, and the next record of the conversation reads it
        the votes on depth (read), as of the message's time
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from agents.context import ContextManager
from agents.core.assessment import question
from agents.core.assessment.question import MemoryNeed
from agents.core.conversation import memory as rules
from agents.core.conversation import references, turn_links
from agents.core.conversation.memory import Opened, Session, Turns
from agents.core.conversation.session_state import TurnOutcome, remembered, session_after
from agents.core.depth import accept, levels, without_pack
from agents.core.depth import votes as depth_weights
from agents.core.depth.accept import CarriedTopic, Message
from agents.core.depth.levels import DepthDecision
from agents.core.depth.requested import as_requested
from agents.core.language.identification import first_language, identify_language
from agents.core.language.messages import LANGUAGES
from agents.core.packs import options as pack_options
from agents.errors import Rejected, Unavailable
from agents.ports.graph import GraphReader
from agents.ports.models import Clock
from agents.ports.sessions import SignalWeights
from agents.second_opinion import Classifier, SecondOpinion
from schemas.assessment import TierName
from schemas.base import Conversation, Source, derive
from schemas.chat import AskPayload, ChatMessage, ConversationForgotten, Role
from schemas.depth import NO_OPTIONS, Anchor, DepthClassified, DepthLevel, Reference, RequestOptions
from schemas.envelope import Outgoing, Received
from schemas.memory import ErasureIssued
from schemas.policy import DEFAULT_PACKS, NO_KINDS, PackPolicy, ReferencePolicy
from schemas.topics import CONVERSATION_TURNS, DEPTH_CLASSIFIED, MEMORY_ERASURES

LOGGER = logging.getLogger("fathom.depth")
TIERS = ("minimal", "standard", "deep")
MAX_TOPIC_CHARS = 160
# A burst that is over by then is none: everything is looked up, within the deadlines.
OVERLOAD_AFTER_S = 0.5
# They are looked up for in an overload, and have more time; deep ones of those who send too much are not.
SIMPLE = (DepthLevel.D0, DepthLevel.D1)


class DepthAgent:
    """The depth stage. `window` is the number of earlier messages used; `weights` holds the users' votes on depth.

    `kinds` are the kinds of references that are recognised in messages and carried over to later ones; `packs` bounds
    what callers may ask for; `answers` says whether cognition is on.
    """

    def __init__(
        self,
        context: ContextManager,
        graph: GraphReader,
        clock: Clock,
        *,
        window: int = 10,
        weights: SignalWeights | None = None,
        kinds: ReferencePolicy = NO_KINDS,
        packs: PackPolicy = DEFAULT_PACKS,
        second: SecondOpinion | None = None,
        answers: bool = False,
        full_for: Callable[[str | None], float] = lambda _: 0.0,
    ) -> None:
        self._context = context
        self._graph = graph
        self._clock = clock
        self._window = window
        self._weights = weights
        self._references = kinds
        self._packs = packs
        self._second = second
        self._answers = answers
        self._full_for = full_for

    async def handle(self, record: Received[AskPayload | ChatMessage | ConversationForgotten]) -> Sequence[Outgoing]:
        """Emit the accepted turn and, for a user's message, its depth; for a conversation to forget, its erasure."""
        if isinstance(record.event, ConversationForgotten):
            return await self._forget(record, record.event)
        message = _read(record, record.event, self._packs, answers=self._answers)
        if without_pack.is_from_the_future(message, record.logged_at):
            raise Rejected("from_the_future", f"it states {message.created_at}, which is to come")
        began = self._clock.now()
        try:
            opened = await self._context.open(message.conversation, message.message_id)
        except Unavailable:
            if record.envelope.user_bound:
                raise  # whose conversation it is, nobody knows now
            # A pack without history is better than none: the working set is rebuilt from the log.
            opened = Opened(Session(), ())
        if record.offset <= opened.session.forgotten:
            # Its first delivery was handled, and the conversation was forgotten after it. Nothing else says so where
            # the topic was made again and its offsets have not come as far as before.
            fields = _passed_over(message.source, opened.session.forgotten)
            LOGGER.warning("message.forgotten", extra={"fields": fields})
            return ()
        if opened.outcome:
            outcome = TurnOutcome.model_validate_json(opened.outcome)
        else:
            self._context.check_participant(message.conversation, record.envelope, opened.session)
            message = replace(message, seq=max(record.offset, opened.session.last_seq + 1))
            outcome = await self._decide(message, opened, began)
        if outcome.turn.source != message.source:
            # The producer sent the message again: its first delivery was handled in this partition's order.
            return ()
        key = message.conversation.key()
        filed = Outgoing(CONVERSATION_TURNS, key, outcome.turn, record.envelope)
        if outcome.classified is None:
            return (filed,)
        return filed, Outgoing(DEPTH_CLASSIFIED, key, outcome.classified, record.envelope)

    async def _forget(
        self, record: Received[AskPayload | ChatMessage | ConversationForgotten], wish: ConversationForgotten
    ) -> Sequence[Outgoing]:
        """Empty the working set, and have every other store erase; raises `Unavailable`, for none may be skipped."""
        conversation = record.conversation(wish.client_id, wish.conversation_id)
        session = (await self._context.open(conversation, "")).session
        self._context.check_participant(conversation, record.envelope, session)
        # A repeat covers what its first delivery covered, and nothing that was said since.
        up_to = record.offset if record.offset <= session.forgotten else max(record.offset, session.last_seq)
        await self._context.forget(conversation, up_to)
        issued = ErasureIssued(
            erasure_id=derive("erasure", conversation.key(), record.offset),
            conversation_id=wish.conversation_id,
            client_id=wish.client_id,
            asked_by=record.envelope.user_id or wish.client_id,
            up_to_seq=up_to,
            issued_at=record.logged_at,
            source=Source(topic=record.topic, partition=record.partition, offset=record.offset),
            user_id=wish.user_id,
        )
        return (Outgoing(MEMORY_ERASURES, conversation.key(), issued, record.envelope),)

    async def _decide(self, message: Message, opened: Opened, began: datetime) -> TurnOutcome:
        session = opened.session
        lang = self._lang(message, session)
        history = self._context.recent(opened.turns, message.created_at)
        known = history[max(len(history) - self._window, 0) :]  # with a window of 0, [-0:] would be everything
        if message.role == Role.USER and not message.wants_pack:
            outcome = self._remembered(message, opened, history, lang)
        elif message.role == Role.USER:
            decision, classifier = await self._decide_depth(message, known, session.anchor, lang, began)
            decision, options = as_requested(decision, message.options)
            said = self._named(message)
            about = accept.topic_of(decision, said, session, history, self._context.policy, message.created_at)
            always = options is not None and options.look_up == "always"
            need = question.need_of(message.content, history, decision, lang, always=always)
            if self._second is not None:
                need = await self._second.standing_alone(need, message, history)
            message = replace(message, options=options)
            outcome = self._classified(message, session, lang, decision, classifier, about, need, began)
            outcome = turn_links.linked(outcome, opened.turns)
        else:
            asked = accept.asked(message, opened.turns)
            message = accept.answering(message, asked, self._context.policy)
            frame_id = await self._frame_of_answer(message, session)
            outcome = TurnOutcome(turn=accept.answer(message, frame_id, lang, asked, self._named(message), known))
        try:
            before = await self._context.append_turn(
                message.conversation,
                remembered(outcome.turn),
                frame_id=outcome.turn.frame_id,
                session=session_after(session, outcome),
                outcome=outcome.kept(),
            )
        except Unavailable:
            return outcome  # as above: the working set is rebuilt from the log
        # Whoever owned the partition meanwhile has decided on the message: there are no two outcomes of one.
        return TurnOutcome.model_validate_json(before) if before else outcome

    def _remembered(self, message: Message, opened: Opened, history: Turns, lang: str) -> TurnOutcome:
        named, policy = self._named(message), self._context.policy
        return without_pack.remembered(message, opened, history, named, lang=lang, policy=policy)

    def _named(self, message: Message) -> tuple[Reference, ...]:
        return references.named(
            message.content, message.role.value, self._references, message.message_id, message.created_at
        )

    async def _decide_depth(
        self, message: Message, history: Turns, anchor: Anchor | None, lang: str, began: datetime
    ) -> tuple[DepthDecision, Classifier]:
        """The depth and its classifier: by rules, in doubt by a model if configured, then adjusted by votes."""
        decision = await self._by_words(message, history, anchor, lang)
        classifier: Classifier = "heuristic"
        if self._second is not None:
            spent = max((self._clock.now() - began).total_seconds(), 0.0)
            decision, classifier = await self._second.on(decision, message.content, history, spent)
        return await self._weighed(decision, message), classifier

    async def _by_words(self, message: Message, history: Turns, anchor: Anchor | None, lang: str) -> DepthDecision:
        """The depth by rules; the user's role matters only where two levels are close."""
        decision = levels.classify(message.content, history, lang=lang, anchor=anchor)
        if len(decision.candidates) < 2:
            return decision
        try:
            persona = await self._graph.persona(message.conversation.tenant, message.user_id, message.created_at)
        except Unavailable:
            return decision
        if persona is None:
            return decision
        role = persona.person.user_role
        return levels.classify(message.content, history, lang=lang, anchor=anchor, user_role=role)

    async def _weighed(self, decision: DepthDecision, message: Message) -> DepthDecision:
        """The decision as raised by votes on its pattern; unchanged where the votes cannot be read."""
        if self._weights is None or not depth_weights.may_rise(decision):
            return decision
        try:
            votes = await self._weights.votes(message.conversation.tenant)
        except Unavailable:
            return decision
        return depth_weights.raised(decision, votes, message.created_at)

    def _classified(
        self,
        message: Message,
        session: Session,
        lang: str,
        decision: DepthDecision,
        classifier: Classifier,
        about: CarriedTopic,
        need: MemoryNeed,
        began: datetime,
    ) -> TurnOutcome:
        frame_id, opens, anchor = _frame(message, session, decision)
        classified = DepthClassified(
            message_id=message.message_id,
            conversation_id=message.conversation.conversation_id,
            client_id=message.conversation.client_id,
            user_id=message.user_id,
            query=message.content,
            depth_level=decision.level,
            confidence=decision.confidence,
            signals=decision.signals,
            candidates=decision.candidates,
            classifier=classifier,
            raised_from=decision.raised_from,
            how_to=decision.how_to,
            lang=lang,
            seq=message.seq,
            source=message.source,
            frame_id=frame_id,
            frame_opened=opens,
            anchor=anchor,
            as_of=message.created_at,
            accepted_at=began,
            latency_ms=max((self._clock.now() - began).total_seconds() * 1000, 0.0),
            parameters=about.parameters or None,
            **need,
            request_id=message.request_id,
            tier=message.tier,
            resets=decision.resets,
            segment=decision.segment,
            overload=self._is_overload(decision.level, message.conversation) or None,
            options=message.options,
        )
        return TurnOutcome(turn=accept.turn(message, frame_id, lang, about, decision.level), classified=classified)

    def _is_overload(self, level: DepthLevel, conversation: Conversation) -> bool:
        """Whether there is one; for deep messages, which are not looked up for then, one of their tenant's own."""
        return self._full_for(None if level in SIMPLE else conversation.tenant) > OVERLOAD_AFTER_S

    async def _frame_of_answer(self, message: Message, session: Session) -> str:
        answers = message.answer.answers if message.answer else None
        if answers is not None:
            with suppress(Unavailable):
                if (frame_id := await self._context.frame_of(message.conversation, answers)) is not None:
                    return frame_id
        return session.frame_id or rules.first_frame(message.conversation, session.forgotten)

    def _lang(self, message: Message, session: Session) -> str:
        """As stated, or as the words tell; where they do not, the conversation's goes before what is stated."""
        locale = (message.locale or "").lower()[:2]
        stated = locale if locale in LANGUAGES else None
        if told := identify_language(message.content, ""):
            return stated or told
        return session.lang or stated or first_language(message.content, self._context.policy.lang)


def _frame(message: Message, session: Session, decision: DepthDecision) -> tuple[str, bool, Anchor]:
    """The frame of the message, whether the message opens it, and the frame's anchor."""
    opens = decision.level == DepthLevel.D4 and decision.resets
    frame_id = session.frame_id or rules.first_frame(message.conversation, session.forgotten)
    anchor = session.anchor
    if opens:
        frame_id = rules.next_frame(message.conversation, message.message_id)
    if opens or anchor is None:
        anchor = Anchor(topic=message.content[:MAX_TOPIC_CHARS], terms=decision.terms)
    return frame_id, opens, anchor


def _read(record: Received[Any], event: AskPayload | ChatMessage, packs: PackPolicy, *, answers: bool) -> Message:
    envelope = record.envelope
    ask = isinstance(event, AskPayload)
    role = Role.USER if isinstance(event, AskPayload) else event.role
    content = event.question if isinstance(event, AskPayload) else event.content
    if role == Role.USER and not content.strip():
        raise Rejected("empty_content", "a user's message needs text in 'question' or 'content'")
    if envelope.tier is not None and envelope.tier not in TIERS:
        raise Rejected("unknown_tier", f"the header 'tier' is one of {', '.join(TIERS)}, not {envelope.tier!r}")
    tier = cast("TierName | None", envelope.tier)
    full = None if ask else cast("ChatMessage", event)
    asked = _asked(full or NO_OPTIONS, envelope.options) if role == Role.USER else NO_OPTIONS
    return Message(
        conversation=record.conversation(event.client_id, event.conversation_id),
        message_id=(full.message_id if full and full.message_id else envelope.id),
        role=role,
        content=content,
        created_at=(full.created_at if full and full.created_at else envelope.time),
        user_id=envelope.user_id or event.client_id,
        user_named=envelope.user_id is not None,
        source=Source(topic=record.topic, partition=record.partition, offset=record.offset),
        seq=record.offset,
        request_id=envelope.request_id,
        tier=tier,
        locale=envelope.locale,
        answer=full,
        options=pack_options.in_force(asked, tier, packs, envelope.tenant, answers=answers)
        if role == Role.USER
        else None,
    )


def _passed_over(place: Source, forgotten: int) -> dict[str, object]:
    return {
        **place.model_dump(),
        "why": f"its conversation is forgotten up to offset {forgotten}: read again, or the topic was made again",
        "next": "if the topic was made again, go on under another conversation_id",
    }


def _asked(stated: RequestOptions, in_headers: RequestOptions | None) -> RequestOptions:
    """The options of the fields, completed from the headers."""
    try:
        return stated.over(in_headers)
    except ValueError as error:
        raise Rejected("bad_options", f"of the message's fields and headers together: {error}") from None
