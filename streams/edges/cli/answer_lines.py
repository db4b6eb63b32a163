"""An answer by cognition as console text: its sections, where each citation is from, what is missing."""

from collections.abc import Iterator

from rich.console import RenderableType

from schemas.cognition import EvidencePassage
from schemas.packs import ContextPack
from streams.edges.client.console_output import shortened
from streams.edges.client.console_pack import line
from streams.edges.client.deep_answers import DeepAnswerShown, RawReply

TITLE_CHARS = 80


def reply_lines(reply: RawReply) -> Iterator[RenderableType]:
    """The question, its answer, and in one line its pack."""
    pack = ContextPack.model_validate_json(reply.pack, extra="ignore")
    yield line(0, pack.query, "bold")
    yield from answer_lines(reply.answer)
    tokens = f"{pack.total_tokens_estimated} of {pack.max_tokens} tokens"
    yield line(1, f"pack {pack.depth_level.value} {pack.strategy} · {tokens} · message {pack.message_id}", "dim")


def answer_lines(answer: DeepAnswerShown) -> Iterator[RenderableType]:
    """The answer as lines for a console."""
    sure = f", confidence {answer.confidence:.2f}" if answer.status != "abstained" else ""
    yield line(1, f"{answer.status}{sure}", "bold")
    for section in answer.sections:
        yield line(1, section.title, "cyan")
        for text in section.text.splitlines():
            yield line(2, text)
    if answer.citations:
        yield line(1, "citations", "cyan")
    for citation in answer.citations:
        yield line(2, f"{citation} {source_of(answer, citation)}")
    for number, missing in enumerate(answer.missing):
        if not number:
            yield line(1, "missing", "cyan")
        yield line(2, f"- {missing}")


def source_of(answer: DeepAnswerShown, citation: str) -> str:
    """Where a citation is from: the passage's heading, its document, and since when that is known; of a turn, whose."""
    cite = citation.strip("[]")
    return "; ".join(_place(each) for each in answer.sources if each.cite == cite)


def _place(source: EvidencePassage) -> str:
    title, day = shortened(source.title, TITLE_CHARS), f"{source.recorded_at:%Y-%m-%d}"
    if turn := source.turn:
        return f"said by the {turn.role} · conversation {turn.conversation_id} · {day}"
    return f"{title} · document {source.document_id} · recorded {day}"
