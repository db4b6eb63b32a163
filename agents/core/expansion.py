"""What an engine of the caller's is told when it decides whether a statement needs expansion (REQ-017.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ExpansionContext:
    """The least that an engine is told (S3-38); no user where the request names none."""

    user_id: str | None
    metadata: Mapping[str, Any]
    session_id: str = "assessment"
