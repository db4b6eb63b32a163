"""What a contesting message says against the session and against documents, where claims cannot tell."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from agents.core.claims import statements
from agents.core.claims.statements import Statement, comparable, contradictions, new_in, of
from agents.core.language import contradiction
from agents.errors import Unavailable
from schemas.items import Contradiction
from schemas.packs import ContextPack
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder, UseEmbedder
from streams.testing.pipeline import Pipeline
from tests.builders.claims import said


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    return UseEmbedder()


def talking(embedder: Any) -> Pipeline:
    return Pipeline(replace={"index": MemoryPassageIndex(embedder)})


def conflicts(pack: ContextPack, kind: str) -> list[Contradiction]:
    return [each for each in pack.claims.contradictions if each.kind == kind] if pack.claims else []


@pytest.mark.covers("S0-67", "S0-73")
@pytest.mark.parametrize(
    ("before", "now", "both"),
    [
        ("O cliente aprovou a proposta.", "Não, o cliente recusou a proposta.", ("aprovou", "recusou", "assistente")),
        ("O backup roda todas as noites.", "Discordo. O backup não está rodando.", ("roda", "não está", "usuário")),
        ("The deployment succeeded.", "That's wrong, the deployment failed.", ("succeeded", "failed", "assistant")),
    ],
)
def test_what_the_assistant_said_and_the_user_denies_is_a_conflict_with_both_sides(
    before: str, now: str, both: tuple[str, ...], embedder: UseEmbedder
) -> None:
    with talking(embedder) as fathom:
        fathom.say(before, role="assistant")
        [found] = conflicts(fathom.ask(now), statements.KIND)
        assert found.status == "pending_reconciliation"
        assert found.current is None
        assert all(part in found.explanation for part in both)


@pytest.mark.covers("S0-67", "S0-73")
def test_what_a_document_says_otherwise_is_a_conflict_named_by_its_title(embedder: UseEmbedder) -> None:
    with talking(embedder) as fathom:
        fathom.document("d1", "Notebooks", "Ninguém pode levar o notebook para casa.")
        [found] = conflicts(
            fathom.ask("Isso está errado, os funcionários podem levar o notebook para casa."), "document"
        )
        assert "«Notebooks»" in found.explanation
        assert "Ninguém pode levar" in found.explanation


def test_a_document_above_the_readers_level_says_nothing_to_him(embedder: UseEmbedder) -> None:
    with talking(embedder) as fathom:
        text = "Ninguém pode levar o notebook para casa."
        fathom.document("d1", "Notebooks", text, access_level="restricted")
        pack = fathom.ask("Isso está errado, os funcionários podem levar o notebook para casa.")
        assert "Ninguém" not in pack.model_dump_json()


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("O cliente aprovou a proposta.", "Discordo. O cliente pediu uma cópia da proposta."),
        ("A garantia cobre quedas.", "Você está errado, a garantia não cobre roubo."),
        ("The shop is open on Sundays.", "I disagree. The shop is closed on Mondays."),
    ],
)
def test_what_can_both_hold_is_no_conflict(before: str, now: str, embedder: UseEmbedder) -> None:
    with talking(embedder) as fathom:
        fathom.say(before, role="assistant")
        pack = fathom.ask(now)
        assert pack.depth_level == "D3"
        assert conflicts(pack, statements.KIND) == []


def test_where_claims_tell_meaning_is_not_asked(embedder: UseEmbedder) -> None:
    with talking(embedder) as fathom:
        fathom.say("O café não está incluído na diária.", role="assistant")
        pack = fathom.ask("Não, o café está incluído na diária.")
        assert pack.claims is not None
        assert {each.kind for each in pack.claims.contradictions} == {"negation"}


@pytest.mark.parametrize("size", [HashingEmbedder.size, contradiction.SIZE])
def test_only_vectors_of_the_encoder_that_was_fitted_to_are_judged(size: int) -> None:
    with talking(Alike(size)) as fathom:
        fathom.say("A equipe de vendas bateu a meta.", role="assistant")
        pack = fathom.ask("Discordo. A equipe de vendas não bateu a meta.")
        assert len(conflicts(pack, statements.KIND)) == (size == contradiction.SIZE)
        assert not pack.degraded


class Alike(HashingEmbedder):
    """Texts of one vector."""

    def __init__(self, size: int) -> None:
        self.size = size

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] + [0.0] * (self.size - 1) for _ in texts]


class WithoutVectors(MemoryPassageIndex):
    """An index whose model does not answer."""

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        raise Unavailable("index", "connection refused")


class SlowVectors(MemoryPassageIndex):
    """An index whose model takes its time."""

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        await asyncio.sleep(60)
        return []


@pytest.mark.parametrize("index", [WithoutVectors, SlowVectors])
def test_without_vectors_the_claims_are_still_compared_and_the_pack_says_so(index: type[MemoryPassageIndex]) -> None:
    with Pipeline(replace={"index": index(HashingEmbedder()), "hurried": True}) as fathom:
        fathom.say("O prazo do projeto Atlas é dia 15. O cliente aprovou a proposta.", role="assistant")
        pack = fathom.ask("Não concordo. O cliente recusou a proposta.")
        assert pack.claims is not None
        assert [claim.value for claim in pack.claims.system_claims] == ["dia 15"]
        assert pack.degraded


# --- which sentences say something ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Não, o cliente recusou a proposta.", ["o cliente recusou a proposta."]),
        ("No, that's wrong, the client rejected it again.", ["the client rejected it again."]),
        ("O cliente recusou a proposta?", []),
        ("Se o cliente recusar a proposta, cancele o pedido.", []),
        ("Maybe the client rejected our proposal.", []),
        ("Obrigado!", []),
        ("O cliente recusou " + "a proposta " * 60, []),
    ],
)
def test_what_is_asked_or_supposed_or_too_long_states_nothing(text: str, left: list[str]) -> None:
    assert [each.text for each in of(said(1, "user", text))] == left


def test_a_typed_value_is_left_to_the_claims() -> None:
    message = said(1, "user", "O prazo do projeto é dia 20. O cliente recusou a proposta.")
    assert [each.text for each in new_in(message)] == ["O cliente recusou a proposta."]


def test_of_all_that_was_said_the_newest_that_share_a_word_are_compared() -> None:
    new = new_in(said(99, "user", "O cliente recusou a proposta."))
    before = [each for n in range(80) for each in of(said(n, "system", f"A proposta número {n} chegou ao cliente."))]
    before += of(said(80, "system", "O elevador social quebrou."))
    assert [each.text for each in comparable(new, before)] == [
        each.text for each in before[80 - statements.MAX_BEFORE : 80]
    ]
    assert comparable((), before) == ()


def test_of_all_that_was_said_what_shares_most_words_is_compared_however_old() -> None:
    new = new_in(said(99, "user", "O cliente recusou a proposta."))
    near = of(said(0, "system", "O cliente aceitou a proposta."))
    far = [each for n in range(1, 80) for each in of(said(n, "system", f"O contrato {n} é do cliente."))]
    assert [each.text for each in comparable(new, [*near, *far])][:2] == [
        "O cliente aceitou a proposta.",
        far[-statements.MAX_BEFORE + 1].text,
    ]


def test_where_a_message_states_nothing_what_was_said_is_not_read() -> None:
    def unread() -> Iterator[Statement]:
        raise AssertionError("it was read")
        yield

    assert comparable((), unread()) == ()


def test_only_the_nearest_pairs_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    monkeypatch.setattr(contradiction, "against", lambda one, _: judged.append(one.text) or 0.0)
    new = new_in(said(99, "user", "O cliente recusou a proposta."))
    before = [each for n in range(30) for each in of(said(n, "system", f"A proposta número {n} chegou ao cliente."))]
    nearness = {each.text: [1 / (1 + n)] for n, each in enumerate(before)}
    assert contradictions(new, before, {new[0].text: [1.0], **nearness}) == ()
    assert judged == [each.text for each in before[: statements.MAX_JUDGED]]
