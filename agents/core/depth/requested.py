"""The level of a message as its caller asked for it: raised to a least one, or kept to a highest one."""

from dataclasses import replace

from agents.core.depth.levels import DepthDecision
from schemas.depth import AppliedOptions, DepthLevel

D0, D1, D2, D3, D4 = DepthLevel


def as_requested(
    decision: DepthDecision, options: AppliedOptions | None
) -> tuple[DepthDecision, AppliedOptions | None]:
    """The decision within `min_depth` and `max_depth`, and the options with the reason where they changed it.

    A change of subject (D4) that the caller does not allow keeps the conversation, and is explained with context (D2)
    at most. A caller who asks for D4 announces a change of subject.
    """
    least = options.min_depth if options else None
    most = options.max_depth if options else None
    level = decision.level
    if least is not None and level < least:
        why = f"caller asked for at least {least.value}"
        level = least
    elif most is not None and level > most:
        why = f"caller allowed at most {most.value}"
        level = min(most, D2) if level is D4 else most
        level = level if least is None else max(level, least)
    if options is None or level is decision.level:
        return decision, options
    changed = replace(
        decision,
        level=level,
        candidates=(level, *(each for each in decision.candidates if each is not level)),
        raised_from=decision.level if level > decision.level else None,
        resets=level is D4,
    )
    return changed, options.model_copy(update={"reason": f"{why}; the words say {decision.level.value}"})
