"""Where a Brazilian legal text mentions law or case law: the rules, and a linear chain fitted on annotated judgments.

Wider than `references`: a mention may have no normal form (`Lei Rouanet`, `art. 5º da referida lei`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.legal.legal_tokens import LegalToken, may_mention, tokens
from agents.legal.mention_features import features
from agents.legal.sequence_models import OUTSIDE, sequence_table

KINDS = {"L": "legislacao", "J": "jurisprudencia"}


@dataclass(frozen=True, slots=True)
class LegalMention:
    """A mention: `legislacao` or `jurisprudencia`, and its place in characters, the end exclusive."""

    kind: str
    start: int
    end: int


def mentions(text: str) -> tuple[LegalMention, ...]:
    """The mentions of a sentence or paragraph, in order; none lies over another."""
    read = tokens(text)
    if not may_mention(read):
        return ()
    return tuple(spans(read, sequence_table("legal_mentions").best(features(text, read))))


def spans(read: Sequence[LegalToken], labels: Sequence[str]) -> Iterator[LegalMention]:
    """The runs of tokens that labels join: `B-L` begins a mention of law, `I-L` goes on with it."""
    begun: LegalMention | None = None
    for token, label in zip(read, labels, strict=True):
        if begun and label.startswith("I"):
            begun = LegalMention(begun.kind, begun.start, token.end)
            continue
        if begun:
            yield begun
        begun = None if label == OUTSIDE else LegalMention(KINDS[label[2:]], token.start, token.end)
    if begun:
        yield begun
