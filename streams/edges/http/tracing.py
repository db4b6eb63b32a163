"""W3C trace context of a call: the caller's, from MCP's `_meta` or the HTTP header, else a new one."""

import re
from collections.abc import Mapping
from secrets import token_hex

TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def traceparent_of(meta: Mapping[str, object] | None, headers: Mapping[str, str] | None) -> str:
    """The caller's traceparent if it is valid, else a new one."""
    for source in (meta, headers):
        stated = (source or {}).get("traceparent")
        if isinstance(stated, str) and TRACEPARENT.fullmatch(stated):
            return stated
    return f"00-{token_hex(16)}-{token_hex(8)}-01"


def trace_id_of(traceparent: str) -> str:
    """The trace id, 32 hexadecimal digits."""
    return traceparent.split("-")[1]
