"""What addresses among the settings must look like; raises `ValueError` with what to write instead."""

import re


def broker(value: str) -> str:
    """The address of a broker: embedded://DIR, or host:port with commas between servers."""
    if value.startswith("embedded://"):
        return value
    if "://" in value:
        raise ValueError("a broker's address has no scheme; write host:port")
    for server in value.split(","):
        host, _, port = server.strip().rpartition(":")
        if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise ValueError("write embedded://DIR, or host:port with commas between servers")
    return value


def collector(value: str | None) -> str | None:
    """The address of a collector of traces."""
    if value is not None and not re.fullmatch(r"https?://[^/\s]+(/\S*)?", value):
        raise ValueError("write http://HOST:4318/v1/traces, where the collector takes OTLP over HTTP")
    return value
