"""The options in force for a message: what its caller and its tier ask for, within the operator's bounds."""

from agents.core.packs.profiles import Misfit
from schemas.assessment import TierName
from schemas.depth import AppliedOptions, DepthLevel, OptionName, RequestOptions
from schemas.policy import OptionBounds, PackPolicy

# What the tier `deep` asks for, where the caller states no such option.
DEEP = RequestOptions(min_depth=DepthLevel.D2, look_up="always")


def in_force(asked: RequestOptions, tier: TierName | None, bounds: OptionBounds) -> AppliedOptions | None:
    """The options of a message; None where nothing was asked for."""
    wanted = {**(_deep(asked) if tier == "deep" else {}), **asked.stated()}
    if not wanted:
        return None
    limited = {**wanted, **_limited(RequestOptions.model_validate(wanted), bounds)}
    clamped: tuple[OptionName, ...] = tuple(
        name for name in ("min_depth", "max_depth", "look_up", "max_tokens") if limited.get(name) != wanted.get(name)
    )
    return AppliedOptions.model_validate({**limited, "clamped": clamped})


def _deep(asked: RequestOptions) -> dict[str, object]:
    """The options of the tier `deep`; a caller's `max_depth` below its least level wins."""
    least = DepthLevel.D2 if asked.max_depth is None else min(DepthLevel.D2, asked.max_depth)
    return {**DEEP.stated(), "min_depth": least}


def _limited(wanted: RequestOptions, bounds: OptionBounds) -> dict[str, object]:
    """The options that the bounds concern, within them."""
    found: dict[str, object] = {}
    if wanted.min_depth is not None:
        found["min_depth"] = min(wanted.min_depth, bounds.highest_min_depth)
    if wanted.max_depth is not None:
        found["max_depth"] = max(wanted.max_depth, bounds.lowest_max_depth)
    if wanted.look_up is not None:
        found["look_up"] = wanted.look_up if wanted.look_up in bounds.look_up else "auto"
    if wanted.max_tokens is not None:
        found["max_tokens"] = min(max(wanted.max_tokens, bounds.smallest_max_tokens), bounds.largest_max_tokens)
    return found


def check(policy: PackPolicy) -> None:
    """Raise `Misfit` for bounds that exclude each other, of all tenants or of one."""
    _check(policy.options, ("options",))
    for tenant in policy.tenants:
        _check(policy.bounds(tenant), ("tenants", tenant, "options"))


def _check(bounds: OptionBounds, where: tuple[str, ...]) -> None:
    if bounds.smallest_max_tokens > bounds.largest_max_tokens:
        raise Misfit(
            (*where, "smallest_max_tokens"), f"is above largest_max_tokens, which is {bounds.largest_max_tokens}"
        )
    if "auto" not in bounds.look_up:
        raise Misfit((*where, "look_up"), "has to hold auto: what is not allowed becomes it")
