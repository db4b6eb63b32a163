"""Predictions for labelled items: one function per task, by the production code.

Only input fields are read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module

from agents.core.assessment import context_needs as assessment
from agents.core.claims import lifecycle
from agents.core.conversation.utterances import Utterance
from agents.core.depth.levels import D1_NAMES, DECIDING
from agents.core.language import contradiction as sentences
from agents.core.tools import slot_carryover
from bench.evaluation.measures import Item
from bench.evaluation.played import Spoken, played, played_turns, strongest
from schemas.assessment import QueryType
from schemas.base import Conversation, Source
from schemas.depth import DepthLevel
from streams.stores.passages.vectors import UseEmbedder

Predict = Callable[[Item], Iterable[Item]]
SIMPLE = frozenset({QueryType.GREETING, QueryType.CLARIFICATION, QueryType.DIRECT_QUESTION})
PAST = datetime(2000, 1, 1, tzinfo=UTC)
# More likely than not.
EVEN = 0.5


def text_of(item: Item, name: str = "text") -> str:
    """A field that must be a text; raises `TypeError`."""
    if not isinstance(item[name], str):
        raise TypeError(f"the field {name!r} is no text")
    return str(item[name])


def spoken(turns: Iterable[Item]) -> list[Spoken]:
    return [(text_of(turn, "role"), text_of(turn)) for turn in turns]


def depth_question_type(item: Item) -> Iterator[Item]:
    """`label`: the level of an opening message, with the stage's confidence."""
    [decided] = played([("user", text_of(item))])
    label = decided.depth_level.value if decided else DepthLevel.D0.value
    sure = decided.confidence if decided else 0.0
    yield {"id": item["id"], "label": label, "score": strongest(decided, DepthLevel.D2), "confidence": sure}


def depth_followup(item: Item) -> Iterator[Item]:
    """`needs_context`: whether a signal of dependence on earlier turns is decisive."""
    decided = played([*spoken(item["history"]), ("user", text_of(item))])[-1]
    score = strongest(decided, DepthLevel.D1, tuple(D1_NAMES))
    yield {"id": item["id"], "needs_context": score >= DECIDING, "score": score}


def depth_correction(item: Item) -> Iterator[Item]:
    """`correction`: whether the level of the last turn is D3."""
    decided = played([*spoken(item["history"]), ("user", text_of(item))])[-1]
    corrects = decided is not None and decided.depth_level is DepthLevel.D3
    yield {"id": item["id"], "correction": corrects, "score": strongest(decided, DepthLevel.D3)}


def depth_topic_shift(item: Item) -> Iterator[Item]:
    """`shifts`: the turns with a segment probability above one half, whoever says them."""
    segments = [segment for _, segment in played_turns(spoken(item["turns"]))]
    yield {
        "id": item["id"],
        "shifts": [at for at, sure in enumerate(segments) if at and sure >= EVEN],
        "scores": segments,
    }


def context_needs(item: Item) -> Iterator[Item]:
    """`label`: greeting, clarification, direct_question or other."""
    kind = assessment.query_type(text_of(item))
    yield {"id": item["id"], "label": kind.value if kind in SIMPLE else "other"}


def contradiction(item: Item) -> Iterator[Item]:
    """`label`: contradiction where the claims of the two sentences conflict, else the label of the sentence vectors."""
    texts = [text_of(item, name) for name in ("premise", "hypothesis")]
    said = [_utterance(number, text) for number, text in enumerate(texts)]
    found = lifecycle.contradictions(lifecycle.session_claims(said))
    premise, hypothesis = map(sentences.EmbeddedSentence, texts, embedder().encode(texts))
    judged = sentences.judged(premise, hypothesis)
    score = max((each.score for each in found), default=0.0)
    yield {
        "id": item["id"],
        "label": "contradiction" if found else judged.label,
        "score": max(score, judged.score),
    }


@lru_cache(maxsize=1)
def embedder() -> UseEmbedder:
    return UseEmbedder()


def _utterance(number: int, text: str) -> Utterance:
    return Utterance(
        conversation=Conversation(tenant="eval", client_id="eval", conversation_id="pair"),
        message_id=f"sentence-{number}",
        author="user",
        text=text,
        lang="pt",
        seq=number,
        frame_id="frame",
        user_id="eval",
        at=PAST,
        source=Source(topic="messages.in", partition=0, offset=number),
    )


def of_package(task: str) -> Predict:
    """A task of a package that may be left out: it is imported with the first item."""

    def predict(item: Item) -> Iterable[Item]:
        made: Iterable[Item] = getattr(import_module("bench.evaluation.deep.tasks"), task)(item)
        return made

    return predict


def tool_arguments(item: Item) -> Iterator[Item]:
    """`filled` and `ask` of the item's `call`: arguments known from the dialogue, and required ones still missing."""
    call, contract = item["call"], item["contract"]
    required = list(contract["required"])
    wanted = [*required, *contract.get("optional", ())]
    missing = list(item.get("missing") or [name for name in wanted if name not in call["args"]])
    dialogue = [_said(turn) for turn in item["dialogue"]]
    found = slot_carryover.recall(dialogue, call["name"], missing, call["args"])
    ask = [name for name in required if name not in found and name not in call["args"]]
    yield {"id": item["id"], "filled": {name: each.value for name, each in found.items()}, "ask": ask}


def _said(turn: Item) -> slot_carryover.EarlierTurn:
    call, result = turn.get("call"), turn.get("result")
    rows = [row for row in result if isinstance(row, Mapping)] if isinstance(result, list) else []
    used = None if call is None else slot_carryover.Used(call["name"], call["args"], rows)
    return slot_carryover.EarlierTurn(turn["role"], turn["text"], used)


def memory_retrieval(item: Item) -> Iterator[Item]:
    """`ranked`: the documents found by the retrieval stages for each query of a corpus, best first."""
    from bench.evaluation.ranked import rankings

    yield from ({"id": query, "ranked": ranked} for query, ranked in rankings(item))


TASKS: Mapping[str, Predict] = {
    "depth_question_type": depth_question_type,
    "depth_followup": depth_followup,
    "depth_correction": depth_correction,
    "depth_topic_shift": depth_topic_shift,
    "context_needs": context_needs,
    "contradiction": contradiction,
    "decomposition": of_package("decomposition"),
    "legal_entities": of_package("legal_entities"),
    "memory_retrieval": memory_retrieval,
    "tool_arguments": tool_arguments,
}
