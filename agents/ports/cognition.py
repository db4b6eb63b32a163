"""Deep answers as others know them: whether runs are opened, and what the graph has for a complex question.

Themes, passages linked to each other, past answers, and what corrections leave of a passage's score.
"""

from dataclasses import dataclass, field

from schemas.cognition import CognitionFlags, CognitionLimits
from schemas.items import AccessLevel
from schemas.memory import ThemeLevel


@dataclass(frozen=True, slots=True)
class CognitionOptions:
    """Whether runs are opened, and with which flags and limits."""

    enabled: bool = False
    flags: CognitionFlags = field(default_factory=CognitionFlags)
    limits: CognitionLimits = field(default_factory=CognitionLimits)

    @property
    def answers(self) -> bool:
        """Whether runs end in answers; without verification they only gather evidence."""
        return self.enabled and self.flags.verification


@dataclass(frozen=True, slots=True)
class ThemeFound:
    """A theme of documents; the question has `met` of its `wanted` words, or it is one step from the theme `near`."""

    id: str
    name: str
    level: ThemeLevel
    met: int = 0
    wanted: int = 1
    near: str = ""


@dataclass(frozen=True, slots=True)
class PassageLink:
    """A passage that a link of the graph leads to: from a theme by its id, or by the name of what both mention."""

    chunk_uid: str
    by: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """The answer to one sub-question of a consultation, the passages it cites, and all that were read for it."""

    question: str
    answer: str
    signature: str
    chunks: tuple[str, ...]
    evidence: tuple[str, ...]
    confidence: float
    verified: bool


@dataclass(frozen=True, slots=True)
class PastConsultation:
    """A consultation of the tenant, to be reused or not; `corrected` by a user in more than its form."""

    id: str
    question: str
    status: str
    access_level: AccessLevel
    scope: str
    case_id: str | None
    corrected: bool
    answers: tuple[PastAnswer, ...]


@dataclass(frozen=True, slots=True)
class ChunkPenalty:
    """What one correction leaves of a passage's score (`weight`, 0-1), and the question it was the answer to."""

    chunk_uid: str
    weight: float
    question: str
    correction_id: str
