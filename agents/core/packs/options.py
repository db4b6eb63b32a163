"""The options in force for a message: what its caller and its tier ask for, within the operator's bounds."""

from agents.core.packs.profiles import Misfit
from agents.core.packs.text import TemplateMistake, TextTemplate
from schemas.assessment import TierName
from schemas.depth import AppliedOptions, DepthLevel, OptionName, RequestOptions
from schemas.policy import SHIPPED_TEMPLATES, OptionBounds, PackPolicy

# What the tier `deep` asks for, where the caller states no such option.
DEEP = RequestOptions(min_depth=DepthLevel.D2, look_up="always")


def in_force(
    asked: RequestOptions, tier: TierName | None, policy: PackPolicy, tenant: str, *, answers: bool = False
) -> AppliedOptions | None:
    """The options of a tenant's message; None where nothing was asked for.

    A template it may not choose is left out, and `deep` where cognition `answers` nothing.
    """
    wanted = {**(_deep(asked) if tier == "deep" else {}), **asked.stated()}
    if not wanted:
        return None
    limited = {**wanted, **_limited(RequestOptions.model_validate(wanted), policy.bounds(tenant))}
    if asked.template is not None and asked.template not in policy.may_choose(tenant):
        limited["template"] = None
    if asked.deep and not answers:
        limited["deep"] = None
    names: tuple[OptionName, ...] = ("min_depth", "max_depth", "look_up", "max_tokens", "template", "deep", "wait_ms")
    clamped = tuple(name for name in names if limited.get(name) != wanted.get(name))
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
    if wanted.wait_ms is not None:
        found["wait_ms"] = min(wanted.wait_ms, bounds.longest_wait_ms)
    return found


def check(policy: PackPolicy) -> None:
    """Raise `Misfit` for bounds that exclude each other, of all tenants or of one, and unusable templates."""
    _check(policy.options, ("options",))
    for name, source in policy.templates.items():
        if name in SHIPPED_TEMPLATES:
            raise Misfit(("templates", name), "is the name of a shipped one; choose another")
        try:
            TextTemplate(name, source).try_out()
        except TemplateMistake as mistake:
            raise Misfit(("templates", name), str(mistake)) from None
    _check_name(policy.template, policy, ("template",))
    for tenant, own in policy.tenants.items():
        _check(policy.bounds(tenant), ("tenants", tenant, "options"))
        _check_name(own.template or policy.template, policy, ("tenants", tenant, "template"))


def _check_name(name: str, policy: PackPolicy, where: tuple[str, ...]) -> None:
    if name not in (known := (*SHIPPED_TEMPLATES, *policy.templates)):
        raise Misfit(where, f"there is no template {name!r}; there are {', '.join(known)}")


def _check(bounds: OptionBounds, where: tuple[str, ...]) -> None:
    if bounds.smallest_max_tokens > bounds.largest_max_tokens:
        raise Misfit(
            (*where, "smallest_max_tokens"), f"is above largest_max_tokens, which is {bounds.largest_max_tokens}"
        )
    if "auto" not in bounds.look_up:
        raise Misfit((*where, "look_up"), "has to hold auto: what is not allowed becomes it")
