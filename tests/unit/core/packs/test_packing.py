"""A pack fits its budget strictly, says what it left out and why, and never drops what must stay (CF-17)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agents.core.packs import packing
from agents.core.packs.draft import ORIGINAL
from agents.core.packs.join import Join, report
from agents.core.packs.planning import Limits
from agents.core.packs.rendering import line
from schemas.depth import DepthLevel
from schemas.items import Concept, Contradiction, Knowledge, Objective, Process, Step
from schemas.packs import ContextPack
from schemas.retrieval import MemoryClass, PartFound, PartStatus
from streams.stores.tokens import EstimatedTokens
from tests.builders.events import AT, chunk, claim, item, message, opened, part, persona, summary, time_point

D0, D1, D2, D3, D4 = DepthLevel
M = MemoryClass
TOKENS = EstimatedTokens()
WORDS = "a política de férias garante trinta dias por ano a cada pessoa da equipe. "


def packed(
    level: DepthLevel,
    *parts: PartFound,
    max_tokens: int | None = None,
    previous: Mapping[str, str] | None = None,
    **fields: Any,
) -> ContextPack:
    limits = Limits(max_tokens={**Limits().max_tokens, level: max_tokens or Limits().max_tokens[level]})
    terms = opened(level, limits, **fields)
    by_class = {p.memory_class: p for p in parts}
    join = Join("p", AT, opened=terms, opened_at=AT, parts=by_class, arrived=dict.fromkeys(by_class, AT))
    return packing.pack(
        terms, by_class, report(join), packing.Settlement("complete", AT, previous or {}), TOKENS, first_sentences
    )


def first_sentences(messages: Sequence[Any], lang: str, max_chars: int) -> str:
    return " ".join(m.content for m in messages)[:max_chars]


def complete(level: DepthLevel, *parts: PartFound) -> tuple[PartFound, ...]:
    given = {p.memory_class for p in parts}
    rest = [part(memory) for memory in opened(level, how_to=False).wanted if memory not in given]
    return (*parts, *rest)


def counted(pack: ContextPack) -> int:
    """The tokens of a pack, counted again from the text that goes into a prompt."""
    assert pack.text is not None
    return TOKENS.count(pack.text)


@pytest.mark.covers("S0-49", "S0-50", "S0-51", "S0-52", "S0-57", "S0-58", "REQ-CDC-010", "REQ-CDC-011", "REQ-CDC-015")
@pytest.mark.parametrize("level", list(DepthLevel))
def test_every_level_has_working_set_persona_and_instructions(level: DepthLevel):
    pack = packed(level, *complete(level, part(M.PERSONA, persona())))
    assert pack.depth_level == level
    assert pack.working_set is not None
    known = pack.persona_context
    assert (known.user_role, known.department, known.access_level) == ("analista", "RH", "internal")
    assert pack.llm_instructions
    assert (pack.query_profile_used is None) == (level == D0)


@pytest.mark.covers("S0-55", "REQ-CDC-012", "REQ-CDC-013", "REQ-CDC-014", "S0-53", "CF-12", "S0-54", "CF-11", "S0-56")
def test_sections_appear_by_level_and_are_absent_below_it():
    packs = {level: packed(level, *complete(level)) for level in DepthLevel}
    assert [level for level, p in packs.items() if p.episodic is not None] == [D1, D2, D3, D4]
    assert [level for level, p in packs.items() if p.semantic is not None] == [D2, D3, D4]
    assert [level for level, p in packs.items() if p.claims is not None] == [D3]
    assert [level for level, p in packs.items() if p.procedural is not None] == []
    assert packed(D2, *complete(D2), how_to=True).procedural is not None


@pytest.mark.covers("S0-61", "CF-17", "CF-71")
def test_d0_stays_strictly_below_its_budget_and_others_within():
    long = [message(f"m{n}", WORDS * 20, seq=n) for n in range(2)]
    for level, most in ((D0, 499), (D1, 1500)):
        pack = packed(level, *complete(level, part(M.WORKING_SET, *long), part(M.PERSONA, persona())))
        assert pack.total_tokens_estimated <= most
        assert pack.total_tokens_estimated == counted(pack)


@pytest.mark.covers("AC-21", "CF-17")
def test_the_lowest_scored_semantic_item_goes_first():
    chunks = [chunk(f"c{n}", f"{n} {WORDS * 5}", score=n / 10) for n in range(1, 9)]
    pack = packed(
        D2,
        *complete(D2, part(M.SEMANTIC, *chunks), part(M.WORKING_SET, message("m9", "oi"))),
        max_tokens=800,
    )
    kept = {c.id for c in pack.semantic.knowledge_chunks} if pack.semantic else set()
    dropped = {d.id for d in pack.dropped}
    assert pack.total_tokens_estimated <= 800
    assert kept
    assert kept | dropped == {c.id for c in chunks}
    assert min(c.score for c in chunks if c.id in kept) > max(c.score for c in chunks if c.id in dropped)
    assert {d.reason for d in pack.dropped} <= {"budget", "little_worth"}
    assert [m.id for m in pack.working_set.recent_messages] == ["m9"]


@pytest.mark.covers("AC-22", "CF-17")
def test_a_long_session_keeps_the_original_claim_and_summarises_old_turns():
    turns = [message(f"m{n}", f"{n} {WORDS * 3}", seq=n) for n in range(200)]
    original = claim("k0", "O prazo é dia 15", scores={ORIGINAL: 1.0}, score=1.0)
    others = [claim(f"k{n}", f"{n} {WORDS}", score=0.1) for n in range(1, 60)]
    pack = packed(D3, *complete(D3, part(M.WORKING_SET, *reversed(turns)), part(M.CLAIMS, original, *others)))
    assert pack.total_tokens_estimated <= 2000
    assert pack.claims is not None
    assert "k0" in {c.claim_id for c in pack.claims.system_claims}
    assert pack.working_set.session_summary
    assert pack.working_set.recent_messages[-1].seq == 199
    assert pack.reconciliation is not None
    assert pack.reconciliation.original_claim_id == "k0"


@pytest.mark.covers("CF-17")
def test_a_single_item_over_the_cap_is_cut_and_marked():
    pack = packed(D0, *complete(D0, part(M.WORKING_SET, message("m1", WORDS * 200))))
    [only] = pack.working_set.recent_messages
    assert only.truncated
    assert 0 < len(only.content) < len(WORDS * 200)
    assert pack.total_tokens_estimated <= 499


@pytest.mark.covers("CF-17")
def test_the_longest_is_cut_and_the_best_evidence_to_the_sentences_that_answer():
    newest = message("m9", "Bom dia, uma pergunta só.")
    filler = "O refeitório abre às oito horas, menos aos domingos. " * 12
    long = chunk("c1", f"{filler}A política de férias pede um aviso por escrito. {filler}", score=0.9)
    pack = packed(D2, *complete(D2, part(M.SEMANTIC, long), part(M.WORKING_SET, newest)), max_tokens=180)
    assert [each.content for each in pack.working_set.recent_messages] == [newest.content]
    assert pack.semantic
    [shown] = pack.semantic.knowledge_chunks
    assert shown.truncated
    assert "um aviso por escrito" in shown.text
    assert counted(pack) <= 180


@pytest.mark.covers("CF-17")
def test_a_turn_and_what_contests_it_come_and_go_together():
    said = time_point("t1", "user: São 19 quilos.", score=0.4).model_copy(update={"contested_by": "t2"})
    other = time_point("t2", "user: São 21,4 e não 19.", score=0.0).model_copy(update={"contests": ("t1",)})
    pack = packed(D2, *complete(D2, part(M.EPISODIC, said, other)))
    assert pack.episodic
    assert {each.id for each in pack.episodic.relevant_events} == {"t1", "t2"}


def test_a_past_turn_in_the_words_of_a_message_that_the_pack_has_is_not_shown_twice():
    again = time_point("t1", "user: o prazo é  dia 15", score=0.9)
    pack = packed(D2, *complete(D2, part(M.WORKING_SET, message("m1", "O prazo é dia 15")), part(M.EPISODIC, again)))
    assert [(each.id, each.reason) for each in pack.dropped] == [("t1", "in_working_set")]


@pytest.mark.covers("CF-17", "S0-61")
def test_a_question_longer_than_the_budget_is_cut_in_the_pack_and_marked():
    pack = packed(D0, *complete(D0), query=WORDS * 200)
    assert pack.query_truncated
    assert pack.total_tokens_estimated <= 499


@pytest.mark.covers("S0-74", "AC-23")
def test_every_kept_item_has_source_time_access_and_reason():
    pack = packed(
        D3,
        *complete(
            D3,
            part(M.WORKING_SET, message("m1", "oi")),
            part(M.SEMANTIC, chunk("c1", "texto"), item(Concept, "x", name="x", definition="y")),
            part(M.EPISODIC, summary("s1", "resumo"), time_point("t1", "visita")),
            part(M.CLAIMS, claim("k1", "O prazo é dia 15")),
        ),
    )
    assert pack.semantic
    assert pack.episodic
    assert pack.claims
    items = [
        *pack.working_set.recent_messages,
        *pack.semantic.knowledge_chunks,
        *pack.semantic.concepts,
        *pack.episodic.conversation_summaries,
        *pack.episodic.relevant_events,
        *pack.claims.system_claims,
    ]
    assert len(items) == 6
    assert all(one.provenance and one.recorded_at and one.access_level and one.reason for one in items)
    assert all(one.tokens == TOKENS.count(line(one, pack.lang)) for one in items)


@pytest.mark.covers("CF-70", "AC-24")
def test_an_item_above_the_askers_access_is_left_out():
    parts = complete(D2, part(M.SEMANTIC, chunk("c1", "segredo", access_level="restricted"), chunk("c2", "aberto")))
    public = packed(D2, *parts, part(M.PERSONA, persona("public")))
    cleared = packed(D2, *parts, part(M.PERSONA, persona("restricted")))
    unknown = packed(D2, *parts)
    assert public.semantic
    assert cleared.semantic
    assert unknown.semantic
    assert [c.id for c in public.semantic.knowledge_chunks] == ["c2"]
    assert {c.id for c in cleared.semantic.knowledge_chunks} == {"c1", "c2"}
    assert [c.id for c in unknown.semantic.knowledge_chunks] == ["c2"]
    assert {d.reason for d in public.dropped} == {"access"}


@pytest.mark.covers("S0-62")
def test_what_the_pack_before_carried_is_named_and_not_repeated():
    parts = complete(
        D2,
        part(M.SEMANTIC, chunk("c1", "texto um"), chunk("c2", "texto dois")),
        part(M.WORKING_SET, message("m1", "oi")),
    )
    pack = packed(D2, *parts, previous={"c1": "pack-before", "m1": "pack-before"})
    assert pack.semantic
    assert [c.id for c in pack.semantic.knowledge_chunks] == ["c2"]
    assert [(r.id, r.pack_id) for r in pack.already_in_context] == [("c1", "pack-before")]
    assert [m.id for m in pack.working_set.recent_messages] == ["m1"]


def test_a_past_message_that_is_in_the_working_set_is_not_shown_twice():
    pack = packed(D2, *complete(D2, part(M.WORKING_SET, message("m1", "oi")), part(M.EPISODIC, time_point("m1", "oi"))))
    assert pack.episodic is not None
    assert pack.episodic.relevant_events == ()
    assert [d.reason for d in pack.dropped] == ["in_working_set"]


@pytest.mark.covers("CF-75", "S0-03")
@pytest.mark.parametrize("status", [PartStatus.ERROR, PartStatus.TIMEOUT])
def test_a_class_that_failed_is_named_and_the_pack_marked_degraded(status: PartStatus):
    pack = packed(D2, *complete(D2, part(M.SEMANTIC, status=status, error="index is unavailable")))
    assert pack.degraded
    assert pack.missing_sections == ("semantic",)
    assert pack.semantic is not None
    assert pack.semantic.knowledge_chunks == ()
    assert "não foi possível consultar a tempo: documentos." in pack.llm_instructions[-1].lower()
    [failed] = [p for p in pack.parts if p.status == status.value]
    assert failed.error == "index is unavailable"


@pytest.mark.covers("CF-75")
def test_a_pack_without_any_part_still_has_its_mandatory_sections():
    pack = packed(D1)
    assert pack.degraded
    assert set(pack.missing_sections) == {"working_set", "persona_context", "episodic", "semantic"}
    assert pack.evidence is None, "what did not answer is no finding"
    assert pack.working_set.recent_messages == ()
    assert (pack.persona_context.user_role, pack.persona_context.access_level) == ("unknown", "public")
    assert pack.query == "O que é a política de férias?"


def test_an_empty_class_is_no_degradation():
    pack = packed(D2, *complete(D2))
    assert not pack.degraded
    assert pack.missing_sections == ()


@pytest.mark.covers("CF-15", "S0-55", "S0-67")
def test_a_contestation_names_both_sides_for_reconciliation():
    old = claim("k1", "O prazo é dia 15", scores={ORIGINAL: 1.0}, status="contested")
    new = claim("k2", "o prazo mudou para dia 20", author="user", value="dia 20")
    conflict = item(
        Contradiction, "x1", claim_id="k2", contradicts="k1", kind="correction", status="pending_reconciliation",
        current="k2", explanation="prazo: dia 15 / dia 20",
    )  # fmt: skip
    pack = packed(D3, *complete(D3, part(M.CLAIMS, old, conflict, new)))
    assert pack.claims
    assert [c.text for c in pack.claims.system_claims] == ["O prazo é dia 15"]
    assert [c.value for c in pack.claims.user_claims] == ["dia 20"]
    assert pack.claims.contradictions[0].status == "pending_reconciliation"
    assert pack.reconciliation
    assert set(pack.reconciliation.claim_ids) == {"k1", "k2"}
    assert pack.reconciliation.original_claim_id == "k1"


@pytest.mark.covers("S0-56")
def test_steps_come_in_order_and_leave_with_their_process():
    process = item(Process, "p1", name="Reembolso")
    steps = [item(Step, f"s{n}", process_id="p1", process_name="Reembolso", order=n, text=WORDS) for n in (2, 1, 3)]
    pack = packed(D2, *complete(D2, part(M.PROCEDURAL, process, *steps)), how_to=True)
    assert pack.procedural
    assert [s.order for s in pack.procedural.playbook_steps] == [1, 2, 3]
    likelier = chunk("c1", f"{WORDS} {WORDS}", score=0.9)
    parts = complete(D2, part(M.PROCEDURAL, process, *steps), part(M.SEMANTIC, likelier))
    tight = packed(D2, *parts, how_to=True, max_tokens=120)
    assert tight.procedural
    assert {each.id for each in tight.dropped} == {"p1", "s1", "s2", "s3"}
    assert not tight.procedural.relevant_processes
    assert not tight.procedural.playbook_steps


@pytest.mark.covers("CF-16")
def test_objectives_are_present_for_a_new_frame_even_when_there_are_none():
    goal = item(Objective, "o1", title="Fechar Q1", status="active")
    assert packed(D4, *complete(D4, part(M.PERSONA, persona()))).persona_context.current_objectives == ()
    with_goal = packed(D4, *complete(D4, part(M.PERSONA, persona(), goal)))
    assert [o.title for o in with_goal.persona_context.current_objectives or ()] == ["Fechar Q1"]


@pytest.mark.covers("CF-43", "AC-04")
def test_instructions_follow_the_language_of_the_message():
    pt, en = packed(D3, *complete(D3)), packed(D3, *complete(D3), lang="en")
    assert "Não insista na resposta anterior" in pt.llm_instructions
    assert "Do not insist on the earlier answer" in en.llm_instructions
    assert en.special_instructions == pt.special_instructions


def test_the_same_parts_in_any_order_give_the_same_bytes():
    parts = complete(
        D2,
        part(M.SEMANTIC, *(chunk(f"c{n}", f"{n} {WORDS * 8}", score=0.5) for n in range(12))),
        part(M.EPISODIC, item(Knowledge, "q", title="t", text="x"), summary("s1", WORDS)),
    )
    forward, backward = packed(D2, *parts), packed(D2, *reversed(parts))
    assert forward.model_dump_json() == backward.model_dump_json()
