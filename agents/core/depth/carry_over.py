"""Carry-over of references from earlier turns to a message.

Only follow-ups carry references over, while these are recent by the policy; the message's own references come first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.core.conversation.memory import Session, Turns
from agents.core.depth.levels import D1_NAMES, DECIDING, DepthDecision
from schemas.depth import DepthLevel
from schemas.policy import ContextPolicy
from schemas.references import Parameter, Reference

# The weight above which a signal decides alone; a weaker one counts only for a message without content words.
SURE = 0.7


@dataclass(frozen=True, slots=True)
class CarriedTopic:
    """The subject of a message; `parameters` have their origin, the message's own at the end."""

    intent: str
    entity: str | None
    parameters: tuple[Parameter, ...]


def about(
    decision: DepthDecision,
    named: Sequence[Reference],
    session: Session,
    history: Turns,
    policy: ContextPolicy,
    as_of: datetime,
) -> CarriedTopic:
    """The subject from the message itself and, for a follow-up, from earlier turns."""
    own = [_parameter(each, "message") for each in named]
    if not policy.planner.enabled or not continues(decision, history):
        return CarriedTopic(decision.intent, decision.entity, tuple(own))
    oldest = as_of - timedelta(seconds=policy.ttl_seconds)
    kinds = {each.kind for each in named}
    recent = [each for each in session.references if each.kind not in kinds and each.at >= oldest]
    # "e o dividendo?" asks for something only as the message before it did.
    intends_nothing = all(sign.name in D1_NAMES for sign in decision.signals)
    return CarriedTopic(
        intent=(session.last_intent if intends_nothing else None) or decision.intent,
        entity=decision.entity or session.last_entity,
        parameters=(*(_parameter(each, "history") for each in recent), *own),
    )


def continues(decision: DepthDecision, history: Turns) -> bool:
    """Whether a message is a follow-up; a change of subject and a greeting are not."""
    if not history or decision.level is DepthLevel.D4:
        return False
    least = DECIDING if decision.intent in D1_NAMES or not decision.terms else SURE
    return any(sign.name in D1_NAMES and sign.weight >= least for sign in decision.signals)


def _parameter(reference: Reference, source: str) -> Parameter:
    return Parameter.model_validate({**reference.model_dump(), "source": source})
