"""An explanation as blocks of sentences and tables, from which every rendering is made; pure."""

from collections.abc import Iterator
from typing import NamedTuple

from schemas.depth import AppliedOptions
from streams.explanations.build import place_text
from streams.explanations.explanation import BudgetExplained, Explanation, LogPlace

Row = tuple[str, ...]
NOTHING = "–"


class PageBlock(NamedTuple):
    """A heading with sentences and a table; a block without either says that there is nothing."""

    title: str
    sentences: Row = ()
    columns: Row = ()
    rows: tuple[Row, ...] = ()


def blocks(of: Explanation) -> Iterator[PageBlock]:
    """The blocks of the page, in order."""
    yield _message(of)
    yield _depth(of)
    yield from _plan(of)
    yield _kept(of)
    yield _dropped(of)
    yield from _budget(of)
    yield _decision(of)
    yield _came_of_it(of)
    yield _corrections(of)
    if of.quarantines:
        yield _quarantines(of)
    if of.gaps:
        yield PageBlock("What could not be read", of.gaps)


def title(of: Explanation) -> str:
    """The title of the page."""
    then = f", as known on {of.as_of:%Y-%m-%d %H:%M:%SZ}" if of.as_of else ""
    return f"Message {of.message.message_id}{then}"


def _message(of: Explanation) -> PageBlock:
    said = of.message
    who = f", user {said.user_id}" if said.user_id else ""
    where = f"tenant {of.tenant}, client {said.client_id}, conversation {said.conversation_id}{who}"
    text = f"“{said.text}”" if said.text is not None else "its text is no longer in the log"
    return PageBlock("Message", (text, f"{where}; sent {said.at:%Y-%m-%d %H:%M:%SZ}", _at(said.place)))


def _depth(of: Explanation) -> PageBlock:
    depth = of.depth
    sure = "" if depth.confidence is None else f" with confidence {depth.confidence:.2f}"
    by = f", by the {depth.classifier}" if depth.classifier else ""
    said = [f"{depth.level.value}{sure}{by}: {depth.why}", _at(depth.place)]
    if depth.candidates:
        said.insert(1, f"in question were {', '.join(level.value for level in depth.candidates)}")
    if depth.options is not None:
        said.insert(1, _options(depth.options))
    rows = tuple((each.name, each.evidence, each.level.value, f"{each.weight:.2f}") for each in depth.signals)
    return PageBlock("Depth", tuple(said), ("signal", "words", "speaks for", "weight"), rows)


def _options(options: AppliedOptions) -> str:
    stated = ", ".join(f"{name} {value}" for name, value in options.stated().items())
    limited = f"; limited by the policy: {', '.join(options.clamped)}" if options.clamped else ""
    return f"the caller asked for {stated or 'nothing'}{limited}"


def _plan(of: Explanation) -> Iterator[PageBlock]:
    said: list[str] = []
    if of.plan is not None:
        plan = of.plan
        profile = f", query profile {plan.query_profile}" if plan.query_profile else ""
        tier = f", tier {plan.tier}" if plan.tier else ""
        said = [f"{plan.strategy}{profile}{tier}, due {plan.deadline_at:%H:%M:%S.%f}"[:-3] + "Z", _at(plan.place)]
    for pack in of.packs:
        how = "complete" if pack.settled_by == "complete" else "at its deadline"
        degraded = f", degraded: {', '.join(pack.degraded_reasons)}" if pack.degraded else ""
        said.append(
            f"pack {pack.pack_id} revision {pack.revision}: {how} after {pack.latency_ms:.0f} ms{degraded}; "
            f"{_at(pack.place)}"
        )
    rows = tuple(
        (
            part.memory_class.value,
            _asked(part.selector, part.limit, part.max_tokens, part.skip),
            part.status,
            str(part.items),
            NOTHING if part.latency_ms is None else f"{part.latency_ms:.0f} ms",
            part.error or NOTHING,
            place_text(part.place) or NOTHING,
        )
        for part in of.parts
    )
    yield PageBlock(
        "Plan and parts", tuple(said), ("memory", "asked", "status", "items", "latency", "error", "record"), rows
    )


def _asked(selector: str | None, limit: int | None, tokens: int | None, skip: str | None) -> str:
    said = [selector or "", "" if limit is None else f"at most {limit}", "" if tokens is None else f"{tokens} tokens"]
    said.append(f"not asked: {skip}" if skip else "")
    return ", ".join(filter(None, said)) or NOTHING


def _kept(of: Explanation) -> PageBlock:
    rows = tuple(
        (
            item.section,
            item.text + (" (cut to fit)" if item.truncated else ""),
            item.reason,
            f"{item.score:.3f}",
            str(item.tokens),
            item.source,
        )
        for item in of.kept
    )
    return PageBlock("Kept", (), ("section", "item", "why", "score", "tokens", "source"), rows)


def _dropped(of: Explanation) -> PageBlock:
    rows = tuple(
        (
            item.memory_class.value,
            item.id,
            f"{item.reason} (pack {item.pack_id})" if item.pack_id else item.reason,
            NOTHING if item.score is None else f"{item.score:.3f}",
            NOTHING if item.tokens is None else str(item.tokens),
            item.source or NOTHING,
        )
        for item in of.dropped
    )
    return PageBlock("Left out", (), ("memory", "item", "why", "score", "tokens", "source"), rows)


def _budget(of: Explanation) -> Iterator[PageBlock]:
    if of.budget is None:
        return
    budget: BudgetExplained = of.budget
    asked = "the caller asked for no limit" if budget.asked is None else f"the caller asked for {budget.asked}"
    rows = [(each.name, str(each.tokens)) for each in budget.sections]
    rows += [("headings, question, instructions", str(budget.frame)), ("used", str(budget.used))]
    rows += [("unused", str(budget.unused)), ("granted", str(budget.granted))]
    yield PageBlock("Budget in tokens", (f"{asked}; granted are {budget.granted}",), ("what", "tokens"), tuple(rows))


def _decision(of: Explanation) -> PageBlock:
    rows = tuple(
        (
            each.node,
            each.level.value if each.level else NOTHING,
            ", ".join(each.signals) or NOTHING,
            each.query_profile or NOTHING,
            NOTHING if each.tokens_used is None else str(each.tokens_used),
            NOTHING if each.latency_ms is None else f"{each.latency_ms} ms",
            " and ".join(each.found_in),
            place_text(each.place) or NOTHING,
        )
        for each in of.decisions
    )
    columns = ("node", "level", "signals", "profile", "tokens", "latency", "found in", "record")
    return PageBlock("Decision", (), columns, rows)


def _came_of_it(of: Explanation) -> PageBlock:
    rows = [("answer", each.message_id, each.text, place_text(each.place) or "") for each in of.answers]
    for each in of.verdicts:
        taken = f", took {', '.join(each.taken)} of it" if each.taken else ""
        wrong = f": {each.error}" if each.error else ""
        said = f"{each.tool_name}: {each.status}{taken}{wrong}"
        rows.append(("tool call", each.call_id, said, place_text(each.place) or ""))
    return PageBlock("Answers and tool calls", (), ("what", "id", "said", "record"), tuple(rows))


def _corrections(of: Explanation) -> PageBlock:
    rows = tuple(
        (
            f"{each.at:%Y-%m-%d %H:%M:%SZ}",
            each.target,
            each.by,
            each.text + (f" → {each.new_value}" if each.new_value else ""),
            each.kind,
            place_text(each.place) or "graph",
        )
        for each in of.corrections
    )
    return PageBlock("Later corrections", (), ("when", "of", "by", "said", "kind", "record"), rows)


def _quarantines(of: Explanation) -> PageBlock:
    rows = tuple(
        (
            each.source,
            f"{each.since:%Y-%m-%d %H:%M:%SZ}",
            each.state,
            ", ".join(each.items) or NOTHING,
            f"{each.by}: {each.reason}" if each.reason else each.by,
        )
        for each in of.quarantines
    )
    in_force = any(each.state != "set since" for each in of.quarantines)
    said = ("nothing of a source that was in force could be in the pack",) if in_force else ()
    columns = ("source", "since", "state", "items of the pack", "by")
    return PageBlock("Quarantined sources", said, columns, rows)


def _at(place: LogPlace | None) -> str:
    return "its record is no longer in the log" if place is None else f"record {place_text(place)}"
