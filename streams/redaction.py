"""Settings as they are shown: without credentials."""

import re

PASSWORD = re.compile(r"(?<=://)([^/@]*)@")
HIDDEN = "***"


def redacted(value: object) -> object:
    """The value without the credentials in a URL."""
    return PASSWORD.sub(f"{HIDDEN}@", value) if isinstance(value, str) else value
