"""The explanation of a message from what the log and the graph hold of it; pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from agents.core.progress.pack_document import title
from schemas.chat import AskPayload, ChatMessage, Turn
from schemas.depth import DepthClassified, Signal
from schemas.envelope import Received
from schemas.items import Provenance
from schemas.memory import CorrectionIssued, PackDecision
from schemas.packs import ContextPack
from schemas.retrieval import PlanTerms, RetrievalPlan
from schemas.tools import ToolCallResolved
from streams.explanations.evidence import LogEvidence, Missing
from streams.explanations.explanation import (
    AnswerExplained,
    BudgetExplained,
    CorrectionExplained,
    DecisionExplained,
    DepthExplained,
    EvidenceOrigin,
    Explanation,
    ItemExplained,
    LogPlace,
    MessageExplained,
    OmissionExplained,
    PackExplained,
    PartExplained,
    PlanExplained,
    SectionTokens,
    VerdictExplained,
)
from streams.explanations.quarantined import quarantines_of

TEXT_CHARS = 200


def explained(found: LogEvidence, kept: Sequence[ItemExplained], as_of: datetime | None = None) -> Explanation:
    """The explanation; `kept` are the items of the newest pack as they are shown."""
    packs = _packs(found)
    newest = packs[-1] if packs else None
    message = _message(found, newest)
    return Explanation(
        tenant=found.tenant,
        as_of=as_of,
        message=message,
        depth=_depth(found, newest),
        plan=_plan(found),
        parts=tuple(_parts(found, newest)),
        packs=tuple(map(_pack, packs)),
        kept=tuple(kept),
        dropped=tuple(_dropped(found, newest)),
        budget=None if newest is None else _budget(newest.event, kept),
        decisions=tuple(_decisions(found)),
        answers=tuple(_answers(found)),
        verdicts=tuple(_verdicts(found)),
        corrections=tuple(_corrections(found)),
        quarantines=tuple(
            quarantines_of(found, newest and newest.event, newest.event.assembled_at if newest else message.at)
        ),
        gaps=tuple(_gaps(found, as_of)),
    )


def newest_pack(found: LogEvidence) -> ContextPack | None:
    """The last revision of the message's pack that was found."""
    packs = _packs(found)
    return packs[-1].event if packs else None


def place(of: Received[Any]) -> LogPlace:
    """Where a record is."""
    return LogPlace(topic=of.topic, partition=of.partition, offset=of.offset, at=of.logged_at)


def place_text(of: LogPlace | Provenance | Received[Any] | None) -> str | None:
    """`topic[partition]@offset`, or `store:id`."""
    if of is None:
        return None
    if of.topic is not None:
        return f"{of.topic}[{of.partition}]@{of.offset}"
    return f"{of.store}:{of.id}" if isinstance(of, Provenance) else None


def _packs(found: LogEvidence) -> list[Received[ContextPack]]:
    """A record of each revision, in their order: a revision may have been sent twice."""
    by_revision = {each.event.revision: each for each in reversed(found.of(ContextPack))}
    return [by_revision[number] for number in sorted(by_revision)]


def _message(found: LogEvidence, newest: Received[ContextPack] | None) -> MessageExplained:
    sent = next((each for each in found.events if isinstance(each.event, AskPayload | ChatMessage)), None)
    turn = next((each for each in found.of(Turn) if each.event.message_id == found.message_id), None)
    classified = found.first(DepthClassified)
    text = turn.event.content if turn else classified.event.query if classified else newest and newest.event.query
    told = turn.event if turn else classified.event if classified else newest and newest.event
    first = next(iter(found.events), None)
    at = found.trace.at if found.trace else first.envelope.time if first else None
    assert at is not None  # a message is located by its decision in the log or in the graph
    return MessageExplained(
        message_id=found.message_id,
        conversation_id=found.where.conversation_id,
        client_id=found.where.client_id,
        user_id=told.user_id if told else found.trace and found.trace.user_id,
        text=text,
        lang=told.lang if told else None,
        at=at,
        place=place(sent) if sent else None,
    )


def _depth(found: LogEvidence, newest: Received[ContextPack] | None) -> DepthExplained:
    classified = found.first(DepthClassified)
    if classified is not None:
        event = classified.event
        return DepthExplained(
            level=event.depth_level,
            why=_why(event, event.signals),
            confidence=event.confidence,
            classifier=event.classifier,
            signals=event.signals,
            candidates=event.candidates,
            options=event.options,
            place=place(classified),
        )
    if newest is not None:
        pack = newest.event
        return DepthExplained(
            level=pack.depth_level, why=_why(pack, pack.signals), confidence=pack.confidence, signals=pack.signals,
            options=pack.options, place=place(newest),
        )  # fmt: skip
    decided = found.first(PackDecision)
    if decided is not None:
        level, names = decided.event.depth_level, decided.event.detected_signals
    else:
        assert found.trace is not None
        level, names = found.trace.level, found.trace.signals
    why = f"by {', '.join(names)}" if names else "no signal was found"
    return DepthExplained(level=level, why=f"{why}; the words that showed it are no longer in the log")


def _why(event: DepthClassified | ContextPack, signals: Sequence[Signal]) -> str:
    said = [f"{each.name} (“{each.evidence}”) speaks for {each.level.value}" for each in signals]
    why = "; ".join(said) or "no signal was found"
    if isinstance(event, DepthClassified) and event.raised_from is not None:
        why += f"; in doubt raised from {event.raised_from.value}"
    if event.options is not None and event.options.reason:
        why += f"; {event.options.reason}"
    return why


def _plan(found: LogEvidence) -> PlanExplained | None:
    made: Received[PlanTerms] | None = found.first(RetrievalPlan) or found.opened()
    if made is None:
        return None
    event = made.event
    return PlanExplained(
        plan_id=event.plan_id,
        strategy=event.strategy,
        query_profile=event.query_profile,
        deadline_at=event.deadline_at,
        tier=event.tier,
        special_instructions=event.special_instructions,
        place=place(made),
    )


def _parts(found: LogEvidence, newest: Received[ContextPack] | None) -> Iterator[PartExplained]:
    """Each wanted memory: from the pack's report, else from the records of the parts themselves."""
    plan, opened = found.first(RetrievalPlan), found.opened()
    sent = {each.event.memory_class: each for each in reversed(found.parts())}
    reports = {each.memory_class: each for each in (newest.event.parts if newest else ())}
    wanted = opened.event.wanted if opened else [each.memory_class for each in plan.event.sources] if plan else ()
    for memory in dict.fromkeys((*reports, *wanted, *sent)):
        asked = plan.event.wants(memory) if plan else None
        report, part = reports.get(memory), sent.get(memory)
        latency = report.latency_ms if report else None
        if latency is None and part is not None and opened is not None:
            latency = max((part.logged_at - opened.logged_at).total_seconds() * 1000, 0.0)
        yield PartExplained(
            memory_class=memory,
            selector=asked and asked.selector,
            limit=asked and asked.limit,
            max_tokens=asked and asked.max_tokens,
            skip=asked and asked.skip,
            status=report.status if report else part.event.status.value if part else "missing",
            items=report.items if report else len(part.event.items) if part else 0,
            latency_ms=latency,
            error=report.error if report else part and part.event.error,
            place=place(part) if part else None,
        )


def _pack(each: Received[ContextPack]) -> PackExplained:
    pack = each.event
    return PackExplained(
        pack_id=pack.pack_id,
        revision=pack.revision,
        settled_by=pack.settled_by,
        degraded=pack.degraded,
        degraded_reasons=pack.degraded_reasons,
        evidence=pack.evidence,
        latency_ms=pack.latency_ms,
        place=place(each),
    )


def _dropped(found: LogEvidence, newest: Received[ContextPack] | None) -> Iterator[OmissionExplained]:
    parts = found.parts()
    # Of two answers of a memory the first counts.
    sent = {part.event.memory_class: part for part in reversed(parts)}
    items = {item.id: item for part in parts for item in part.event.items}
    titles = {name: title(item) for name, item in items.items()}
    sources = {name: item.provenance for name, item in items.items()}
    if newest is None:
        return
    for each in newest.event.dropped:
        source = sources.get(each.id) or sent.get(each.memory_class)
        yield OmissionExplained(
            memory_class=each.memory_class, id=each.id, reason=each.reason, source=place_text(source),
            score=each.score, tokens=each.tokens, title=titles.get(each.id),
        )  # fmt: skip
    for held in newest.event.already_in_context:
        yield OmissionExplained(
            memory_class=held.memory_class, id=held.id, reason="the caller still holds it", pack_id=held.pack_id,
            source=place_text(sources.get(held.id)), title=titles.get(held.id),
        )  # fmt: skip


def _budget(pack: ContextPack, kept: Iterable[ItemExplained]) -> BudgetExplained:
    by_section: dict[str, int] = {}
    for item in kept:
        by_section[item.section] = by_section.get(item.section, 0) + item.tokens
    used = pack.total_tokens_estimated
    return BudgetExplained(
        asked=pack.options.max_tokens if pack.options else None,
        granted=pack.max_tokens,
        used=used,
        unused=pack.max_tokens - used,
        sections=tuple(SectionTokens(name=name, tokens=tokens) for name, tokens in by_section.items()),
        frame=used - sum(by_section.values()),
    )


def _decisions(found: LogEvidence) -> Iterator[DecisionExplained]:
    in_graph = found.trace.decision_ids if found.trace else ()
    logged = {each.event.id: each for each in reversed(found.of(PackDecision))}
    for name in dict.fromkeys((*reversed(logged), *in_graph)):
        here = logged.get(name)
        both: tuple[EvidenceOrigin, ...] = ("log", "graph")
        event, trace = here.event if here else None, found.trace
        yield DecisionExplained(
            id=name,
            node=f"CDCDecision/{name}",
            level=event.depth_level if event else trace and trace.level,
            signals=event.detected_signals if event else trace.signals if trace else (),
            query_profile=event and event.query_profile_used,
            sources_retrieved=event.sources_retrieved if event else (),
            tokens_used=event.tokens_used if event else trace and trace.tokens,
            latency_ms=event.latency_ms if event else trace and trace.latency_ms,
            found_in=tuple(one for one, there in zip(both, (here, name in in_graph), strict=True) if there),
            place=place(here) if here else None,
        )


def _answers(found: LogEvidence) -> Iterator[AnswerExplained]:
    for each in found.of(Turn):
        if each.event.message_id != found.message_id:
            text = " ".join(each.event.content.split())
            shown = text if len(text) <= TEXT_CHARS else f"{text[: TEXT_CHARS - 1]}…"
            yield AnswerExplained(message_id=each.event.message_id, text=shown, place=place(each))


def _verdicts(found: LogEvidence) -> Iterator[VerdictExplained]:
    for each in found.of(ToolCallResolved):
        verdict = each.event
        yield VerdictExplained(
            call_id=verdict.call_id,
            tool_name=verdict.tool_name,
            status=verdict.status,
            taken=tuple(one.arg for one in verdict.injections if one.evidence == found.message_id),
            error=verdict.error,
            place=place(each),
        )


def _corrections(found: LogEvidence) -> Iterator[CorrectionExplained]:
    """Those of the log, and those that only the graph has, by time."""
    logged = {each.event.correction_id: each for each in reversed(found.of(CorrectionIssued))}
    shown = [
        CorrectionExplained(
            id=name, target=f"{each.event.kind}/{each.event.target_id}", kind=each.event.correction_kind,
            by=each.event.user_id, text=each.event.text, new_value=each.event.new_value, at=each.event.issued_at,
            found_in="log", place=place(each),
        )
        for name, each in logged.items()
    ]  # fmt: skip
    shown += [
        CorrectionExplained(
            id=each.correction_id, target=f"claim/{each.claim_id}", kind=each.kind, by=each.user_id, text=each.text,
            new_value=each.new_value, at=each.at, found_in="graph",
        )
        for each in found.contested
        if each.correction_id not in logged
    ]  # fmt: skip
    return iter(sorted(shown, key=lambda each: (each.at, each.id)))


def _gaps(found: LogEvidence, as_of: datetime | None) -> Iterator[str]:
    for each in found.missing:
        yield _gap(each, in_graph=found.trace is not None, then=as_of is not None)
    if found.graph is not None:
        yield found.graph
    if found.others:
        named = ", ".join(f"{each.conversation_id!r} of client {each.client_id!r}" for each in found.others)
        yield f"a message of this id is in other conversations, too: {named}; name the conversation to have its page"


def _gap(missing: Missing, *, in_graph: bool, then: bool) -> str:
    name, days = missing.topic.name, f"{missing.retention.total_seconds() / 86_400:g} days"
    if missing.partly:
        return f"{name} was looked through in part only: there may be more"
    if not missing.expired and then:
        return f"{name}: nothing of the message was there by then"
    if not missing.expired:
        return f"{name}: nothing of the message was found, although the log reaches further back than it"
    kept = f", and its first record is of {missing.kept_from:%Y-%m-%d %H:%M:%SZ}" if missing.kept_from else ""
    there = "; the graph still has the decision" if in_graph else ""
    return f"{name}: no longer in the log: retention of {name} is {days}{kept}{there}"
