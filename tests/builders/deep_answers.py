"""A deep answer and the pack of its question, as the stages put them on their topics."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import orjson

from schemas.cognition import CognitiveState, Node
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS
from streams.edges.client.deep_answers import LETTERS_OF_RUNS
from streams.testing.pipeline import Pipeline

LAW = """# CLT: artigos

## Art. 59
A duração diária do trabalho poderá ser acrescida de horas extras, em número não excedente de duas.

## Art. 71
Em qualquer trabalho contínuo de mais de seis horas é obrigatório um intervalo para almoço de no mínimo uma hora.
"""
QUESTION = "Quantas horas extras por dia são permitidas e quanto dura o intervalo de almoço?"
UNKNOWN = "Qual é a alíquota do ITBI e qual é o prazo do IPTU?"
ON = {"rag_enable_cograg": True, "rag_cograg_verification_enabled": True}


@cache
def pack_and_answer(question: str = QUESTION, *, on: bool = True) -> tuple[bytes, bytes | None]:
    """The records' values for a question asked with `deep`; no answer where cognition is off."""
    with Pipeline(**(ON if on else {})) as fathom:
        fathom.document("clt", "CLT", LAW)
        fathom.say(question, deep=True)
        answers = fathom.log.of(ANSWERS_OUT.name)
        return fathom.log.of(CONTEXT_PACKS.name)[-1].value, answers[-1].value if answers else None


@contextmanager
def broken_reasoner() -> Iterator[None]:
    """The context in which every run fails at its reasoner."""

    from agents.cognition import stage  # here: the texts above serve where deep answers are left out

    def reasoned(_: CognitiveState) -> CognitiveState:
        raise ZeroDivisionError("division by zero")

    rules: MutableMapping[Node, Any] = stage.ANSWERING  # type: ignore[assignment]
    whole, rules[Node.REASONER] = rules[Node.REASONER], reasoned
    try:
        yield
    finally:
        rules[Node.REASONER] = whole


@cache
def _letter() -> tuple[tuple[str, bytes], ...]:
    with broken_reasoner(), Pipeline(**ON) as fathom:
        fathom.say(QUESTION)
        return tuple(fathom.log.of(LETTERS_OF_RUNS)[-1].headers)


def failure(message_id: str, tenant: str = "acme") -> list[tuple[str, bytes]]:
    """The headers of the dead letter that says that the run of a message has failed."""
    said = {"ce_correlationid": message_id.encode(), "tenant": tenant.encode()}
    return [(name, said.get(name, value)) for name, value in _letter()]


def renamed(value: bytes, message_id: str) -> bytes:
    """A pack or an answer as that of another message."""
    said = orjson.loads(value)
    if "meta" in said:
        said["meta"]["answers"] = message_id
    else:
        said["message_id"] = message_id
    return orjson.dumps(said)
