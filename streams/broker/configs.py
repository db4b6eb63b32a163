"""Topic configs: which exist here, their defaults, and what a value must be.

A config this broker cannot honour is refused by name, never stored and ignored.
"""

from collections.abc import Iterable, Mapping

from streams.broker.errors import Code, RequestRefused

DEFAULTS: Mapping[str, str] = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "1048588",
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "67108864",
}
LOWEST: Mapping[str, int] = {"max.message.bytes": 0, "retention.bytes": -1, "retention.ms": -1, "segment.bytes": 1024}
HIGHEST = 2**63 - 1


def checked(items: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """The configs as given, or Refused with INVALID_CONFIG and the reason."""
    configs: dict[str, str] = {}
    for name, value in items:
        if name not in DEFAULTS:
            known = ", ".join(DEFAULTS)
            raise RequestRefused(Code.INVALID_CONFIG, f"{name} is not supported here; supported are {known}")
        if value is None:
            raise RequestRefused(Code.INVALID_CONFIG, f"{name} needs a value")
        _check_value(name, value)
        configs[name] = value
    return configs


def _check_value(name: str, value: str) -> None:
    if name not in LOWEST:
        if value != DEFAULTS[name]:
            only = f"{name}={value} is not supported by the embedded broker, only {DEFAULTS[name]}"
            raise RequestRefused(Code.INVALID_CONFIG, only)
        return
    try:
        number = int(value)
    except ValueError:
        raise RequestRefused(Code.INVALID_CONFIG, f"{name} must be a whole number, not {value!r}") from None
    if not LOWEST[name] <= number <= HIGHEST:
        raise RequestRefused(Code.INVALID_CONFIG, f"{name} must be at least {LOWEST[name]}")
