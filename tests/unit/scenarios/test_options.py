"""What a caller may decide about a pack: how deep, whether memory is searched, how many tokens, what it still holds."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.base import Conversation
from schemas.depth import DepthLevel, RequestOptions
from schemas.packs import ContextPack
from schemas.retrieval import MemoryClass
from schemas.topics import DEPTH_CLASSIFIED, DOCUMENTS_IN, MEMORY_DECISIONS, MESSAGES_IN, PACKS_PARTIAL, RETRIEVAL_PLANS
from streams.testing.pipeline import Pipeline
from tests.builders.events import plan
from tests.builders.examples import examples

D0, D1, D2, D3, D4 = DepthLevel
STATE = {MemoryClass.WORKING_SET, MemoryClass.PERSONA}
GUIDE = (
    "# Reembolso de viagem\n\nO reembolso de viagem da Aurora é pago em dez dias depois da aprovação. "
    "O formulário de reembolso fica no portal. A nota fiscal do reembolso é guardada por cinco anos.\n"
)
KETTLE = (
    "# Kettle K2\n\nThe Kettle K2 has a warranty of four years. The warranty of the Kettle K2 covers the heating "
    "element. The Kettle K2 is descaled with vinegar twice a year.\n"
)
ASKED = "Em quantos dias é pago o reembolso de viagem?"
ASKED_EN = "How long is the warranty of the Kettle K2?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        pipeline.document("guia", "Reembolso", GUIDE)
        pipeline.document("kettle", "Kettle K2", KETTLE)
        yield pipeline


def policy(folder: Path, text: str) -> Path:
    path = folder / "packs.yaml"
    path.write_text(text)
    return path


def found(pack: ContextPack) -> set[str]:
    """The passages of documents in a pack."""
    return {each.id for each in pack.semantic.knowledge_chunks} if pack.semantic else set()


def searched(fathom: Pipeline, pack: ContextPack) -> set[MemoryClass]:
    made = fathom.one(RETRIEVAL_PLANS, message_id=pack.message_id)
    return {source.memory_class for source in made.sources if source.skip is None} - STATE


# --- how deep ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [ASKED, ASKED_EN])
def test_a_caller_raises_the_level_and_the_plan_follows(fathom: Pipeline, text: str):
    plain = fathom.ask(text, conversation="plain")
    pack = fathom.ask(text, min_depth="D2")
    assert (plain.depth_level, plain.options) == (D0, None)
    assert (pack.depth_level, pack.max_tokens, pack.strategy) == (D2, 2000, "explain_with_context")
    assert pack.options is not None
    assert pack.options.reason == "caller asked for at least D2; the words say D0"
    assert pack.signals == plain.signals
    classified = fathom.one(DEPTH_CLASSIFIED, message_id=pack.message_id)
    assert (classified.depth_level, classified.raised_from, classified.candidates[0]) == (D2, D0, D2)
    assert found(pack) >= found(plain) != set()


def test_a_level_that_is_deep_enough_stays_and_has_no_reason(fathom: Pipeline):
    pack = fathom.ask("Explica como funciona o reembolso de viagem", min_depth="D1")
    assert pack.depth_level is D2
    assert pack.options is not None
    assert (pack.options.min_depth, pack.options.reason) == (D1, None)


def test_a_caller_caps_the_level(fathom: Pipeline):
    fathom.say("O reembolso é pago em vinte dias.", role="assistant")
    text = "Não, o reembolso é pago em dez dias"
    plain, pack = fathom.ask(text), fathom.ask(text, max_depth="D1")
    assert (plain.depth_level, pack.depth_level, pack.max_tokens) == (D3, D1, 700)
    assert pack.options is not None
    assert pack.options.reason == "caller allowed at most D1; the words say D3"
    assert pack.claims is None


@pytest.mark.parametrize("lang", ["pt", "en"])
def test_a_change_of_subject_that_is_not_allowed_keeps_the_conversation(fathom: Pipeline, lang: str):
    said = {
        "pt": ("Fala do reembolso", "Mudando de assunto: qual a garantia da chaleira?"),
        "en": ("Tell me about the refund", "Changing the subject: what about the warranty of the kettle?"),
    }[lang]
    for conversation in ("plain", "kept"):
        fathom.say(said[0], conversation=conversation)
    plain = fathom.ask(said[1], conversation="plain")
    kept = fathom.ask(said[1], conversation="kept", max_depth="D3")
    assert (plain.depth_level, kept.depth_level) == (D4, D2)
    assert not plain.working_set.recent_messages
    assert kept.working_set.recent_messages


def test_a_caller_announces_a_change_of_subject(fathom: Pipeline):
    before = fathom.ask("Explica como funciona o reembolso de viagem")
    pack = fathom.ask("E a garantia da Kettle K2?", min_depth="D4")
    assert pack.depth_level is D4
    assert pack.frame_id != before.frame_id
    assert not pack.working_set.recent_messages


def test_a_pack_that_a_caller_made_deep_votes_for_no_pattern_of_words(fathom: Pipeline):
    pack = fathom.ask(ASKED, min_depth="D2")
    decision = fathom.one(MEMORY_DECISIONS, message_id=pack.message_id)
    assert decision.detected_signals == tuple(dict.fromkeys(sign.name for sign in pack.signals))
    assert "caller" not in decision.detected_signals


@pytest.mark.covers("CF-46")
@pytest.mark.parametrize("text", [ASKED_EN, "Thanks a lot, bye!"])
def test_the_deep_tier_raises_and_looks_as_the_minimal_one_caps(fathom: Pipeline, text: str):
    deep = fathom.ask(text, headers={"tier": "deep"}, conversation="c1")
    assert (deep.depth_level, deep.evidence is not None) == (D2, True)
    assert deep.options is not None
    assert (deep.options.min_depth, deep.options.look_up) == (D2, "always")
    minimal = fathom.ask(text, headers={"tier": "minimal"}, conversation="c2")
    assert (minimal.depth_level, minimal.options) == (D0, None)


def test_an_option_says_more_than_the_tier(fathom: Pipeline):
    pack = fathom.ask("Thanks a lot, bye!", headers={"tier": "deep"}, max_depth="D1", look_up="auto")
    assert (pack.depth_level, searched(fathom, pack)) == (D1, set())


# --- whether memory is searched, and for how many tokens --------------------------------------------------------------


@pytest.mark.parametrize("text", ["Obrigado, valeu!", "Thanks, bye now"])
def test_always_looks_where_the_words_ask_for_nothing(fathom: Pipeline, text: str):
    assert searched(fathom, fathom.ask(text)) == set()
    assert searched(fathom, fathom.ask(text, look_up="always")) >= {MemoryClass.SEMANTIC}
    assert searched(fathom, fathom.ask(text, look_up="auto")) == set()


@pytest.mark.parametrize("text", [ASKED, ASKED_EN, "Explica como funciona o reembolso de viagem"])
def test_never_looks_nowhere_at_any_level(fathom: Pipeline, text: str):
    pack = fathom.ask(text, look_up="never")
    assert (searched(fathom, pack), found(pack), pack.evidence) == (set(), set(), None)
    assert not pack.degraded


def test_a_budget_of_the_callers_takes_the_levels_place_and_leaves_its_deadline(fathom: Pipeline):
    plain = fathom.one(RETRIEVAL_PLANS, message_id=fathom.say(ASKED, conversation="plain"))
    pack = fathom.ask(ASKED, max_tokens=1200)
    made = fathom.one(RETRIEVAL_PLANS, message_id=pack.message_id)
    assert (pack.depth_level, pack.max_tokens, made.max_tokens) == (D0, 1200, 1200)
    assert made.deadline_at - made.accepted_at == plain.deadline_at - plain.accepted_at
    shares = [(one.max_tokens, other.max_tokens) for one, other in zip(plain.sources, made.sources, strict=True)]
    assert all(own == int(base / 500 * 1200) for base, own in shares)


LONG = [
    "Explica em detalhe como funciona o reembolso de viagem da Aurora " + "com todos os prazos " * 60,
    "Não, o reembolso é pago em vinte dias, não em dez",
    "How do I descale the Kettle K2, step by step?",
    "Changing the subject: what about the warranty of the kettle?",
    "oi",
]
PROFILE = {
    "user_id": "web",
    "user_role": "analista de reembolso de viagens e de contratos",
    "department": "Financeiro e controladoria da unidade de Coimbra",
    "access_level": "internal",
    "objectives": [{"id": f"o{n}", "title": f"Fechar o trimestre {n} com todas as contas pagas"} for n in range(9)],
}


@pytest.fixture(scope="module")
def full() -> Iterator[Pipeline]:
    """A conversation with much to give."""
    with Pipeline() as pipeline:
        pipeline.document("p", "Perfil", tipo="profile", profile=PROFILE)
        for n in range(8):
            pipeline.document(f"guia{n}", f"Reembolso {n}", GUIDE.replace("dez dias", f"{n + 3} dias"))
            pipeline.document(f"kettle{n}", f"Kettle K{n}", KETTLE.replace("four", f"{n}"))
        for n in range(12):
            pipeline.say(f"O reembolso de viagem número {n} é pago em {n + 2} dias. " * 4)
            pipeline.say(f"O reembolso de viagem é pago em {n + 3} dias, pela tesouraria. " * 5, role="assistant")
        yield pipeline


levels = st.sampled_from([None, *DepthLevel])


@given(
    text=st.sampled_from(LONG),
    depths=st.tuples(levels, levels).map(lambda two: two if None in two else tuple(sorted(two))),
    look_up=st.sampled_from([None, "auto", "always", "never"]),
    max_tokens=st.none() | st.integers(1, 20_000),
    tier=st.sampled_from([None, "minimal", "standard", "deep"]),
)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_option_breaks_the_budget_of_a_pack(
    full: Pipeline, text: str, depths: Any, look_up: str | None, max_tokens: int | None, tier: str | None
):
    stated = {"min_depth": depths[0], "max_depth": depths[1], "look_up": look_up, "max_tokens": max_tokens}
    options = {name: value for name, value in stated.items() if value is not None}
    pack = full.ask(text, headers={"tier": tier} if tier else {}, **options)
    least, most = stated["min_depth"] or D0, stated["max_depth"] or D4
    assert least <= pack.depth_level <= most
    assert pack.total_tokens_estimated <= pack.max_tokens
    assert max_tokens is None or pack.max_tokens == min(max(max_tokens, 300), 16_000)


def test_a_template_of_the_callers_words_the_pack_and_an_unknown_one_is_the_default(fathom: Pipeline):
    plain, chosen = fathom.ask(ASKED), fathom.ask(ASKED, template="context")
    assert (plain.template, chosen.template) == ("default", "context")
    assert fathom.ask(ASKED, template="no-such-one").template == "default"


# --- where options come from ------------------------------------------------------------------------------------------


def asked(fathom: Pipeline, headers: dict[str, str], **fields: object) -> ContextPack | None:
    """The pack of a question of four fields; None where it was refused."""
    value = {"question": ASKED, "conversation_id": "c1", "nickname": "Ana", "client_id": "web", **fields}
    key = Conversation(tenant="acme", client_id="web", conversation_id="c1").key()
    before = len(fathom.packs())
    fathom.publish(MESSAGES_IN, value, {"tenant": "acme", **headers}, key.encode())
    return fathom.packs()[-1] if len(fathom.packs()) > before else None


HEADERS = {"min_depth": "D1", "max_depth": "D2", "look_up": "always", "max_tokens": "900", "template": "context"}
EXTENSIONS = {f"ce_{name.replace('_', '')}": text for name, text in HEADERS.items()}


@pytest.mark.parametrize("headers", [HEADERS, EXTENSIONS], ids=["headers", "CloudEvents extensions"])
def test_a_question_of_four_fields_has_its_options_in_headers(fathom: Pipeline, headers: dict[str, str]):
    pack = asked(fathom, {**headers, "have": "p1, p2"})
    assert pack is not None
    assert (pack.depth_level, pack.max_tokens) == (D1, 900)
    assert pack.options is not None
    assert pack.options.stated() == {
        **{"min_depth": D1, "max_depth": D2, "look_up": "always", "max_tokens": 900, "have": ("p1", "p2")},
        "template": "context",
    }


def test_a_field_says_more_than_a_header(fathom: Pipeline):
    pack = fathom.ask(ASKED, headers={"min_depth": "D3", "max_tokens": "900"}, min_depth="D1")
    assert (pack.depth_level, pack.max_tokens) == (D1, 900)


@pytest.mark.parametrize(
    ("fields", "headers", "reason", "says"),
    [
        ({"min_depth": "D3", "max_depth": "D1"}, {}, "schema_invalid", "min_depth D3 is above max_depth D1; lower"),
        ({}, {"min_depth": "D3", "max_depth": "D1"}, "bad_options", "min_depth D3 is above max_depth D1; lower"),
        ({"min_depth": "D3"}, {"max_depth": "D1"}, "bad_options", "fields and headers together: min_depth D3 is above"),
        ({}, {"min_depth": "D7"}, "bad_options", "min_depth: Input should be 'D0', 'D1', 'D2', 'D3' or 'D4'"),
        ({}, {"max_tokens": "many"}, "bad_options", "max_tokens: Input should be a valid integer"),
        ({"max_tokens": 0}, {}, "schema_invalid", "max_tokens: Input should be greater than or equal to 1"),
        ({"look_up": "maybe"}, {}, "schema_invalid", "look_up: Input should be 'auto', 'always' or 'never'"),
        ({"have": ["p"] * 17}, {}, "schema_invalid", "have: Tuple should have at most 16 items"),
    ],
)
def test_options_that_are_none_are_a_dead_letter_with_a_sentence(
    fathom: Pipeline, fields: dict[str, object], headers: dict[str, str], reason: str, says: str
):
    fathom.say(ASKED, headers=headers, **fields)
    assert fathom.packs() == []
    [letter] = fathom.log.of("dead-letters.depth")
    stated = dict(letter.headers)
    assert stated["fathom_reason"] == reason.encode()
    assert says in stated["__streams.errors.message"].decode()


def test_headers_of_the_same_names_mean_nothing_on_other_topics(fathom: Pipeline):
    value = {"document_id": "d9", "title": "Ramal", "text": "O ramal da Ana é 4410.", "tipo": "text"}
    fathom.publish(DOCUMENTS_IN, value, {"tenant": "acme", "template": "\x00", "min_depth": "deep"}, b"d9")
    assert fathom.log.of("dead-letters.ingestion") == []
    assert found(fathom.ask("Qual o ramal da Ana?"))


# --- the operator's bounds --------------------------------------------------------------------------------------------

BOUNDS = """
packs:
  options: {highest_min_depth: D2, lowest_max_depth: D1, smallest_max_tokens: 400, largest_max_tokens: 1000}
  tenants:
    acme: {options: {look_up: [auto, always], largest_max_tokens: 2000}}
"""


def test_what_is_beyond_the_bounds_is_limited_and_recorded(tmp_path: Path):
    with Pipeline(pack_policy=policy(tmp_path, BOUNDS)) as fathom:
        fathom.document("guia", "Reembolso", GUIDE)
        pack = fathom.ask(ASKED, min_depth="D3", look_up="never", max_tokens=9000)
        within = fathom.ask(ASKED, min_depth="D1", max_tokens=700)
        other = fathom.ask(ASKED, max_depth="D0", max_tokens=9000, look_up="never", tenant="beta")
        assert (pack.depth_level, pack.max_tokens, pack.evidence) == (D2, 2000, "found")
        assert pack.options is not None
        assert pack.options.clamped == ("min_depth", "look_up", "max_tokens")
        assert within.options is not None
        assert (within.depth_level, within.max_tokens, within.options.clamped) == (D1, 700, ())
        assert other.options is not None
        assert (other.max_tokens, other.options.max_depth, other.options.clamped) == (
            1000,
            D1,
            ("max_depth", "max_tokens"),
        )
        for topic in (DEPTH_CLASSIFIED, RETRIEVAL_PLANS, MEMORY_DECISIONS):
            assert fathom.one(topic, message_id=pack.message_id).options == pack.options
        opened = [r.event.terms for r in fathom.events(PACKS_PARTIAL)]
        assert opened[0].options == pack.options
        node = next(node for node in fathom.nodes("CDCDecision") if node["pack_id"] == pack.pack_id)
        assert node["clamped_options"] == ["min_depth", "look_up", "max_tokens"]
        assert json.loads(str(node["options"]))["max_tokens"] == 2000


# --- what the caller still holds --------------------------------------------------------------------------------------


def test_items_of_the_packs_that_a_caller_holds_are_named_and_not_given_again(fathom: Pipeline):
    first = fathom.ask(ASKED)
    again = fathom.ask(ASKED)
    assert found(first)
    assert found(again) >= found(first), "nothing is withheld from who names no pack"
    assert again.already_in_context == ()
    held = fathom.ask(ASKED, have=[first.pack_id])
    assert not found(held) & found(first)
    assert {(each.id, each.pack_id) for each in held.already_in_context} >= {
        (each, first.pack_id) for each in found(first)
    }
    assert held.evidence == "found", "what the caller holds is evidence, too"


def test_several_packs_may_be_held(fathom: Pipeline):
    one, two = fathom.ask(ASKED), fathom.ask(ASKED_EN)
    assert found(one)
    assert found(two)
    both = [one.pack_id, two.pack_id]
    again = [fathom.ask(text, have=both, min_depth="D2") for text in (ASKED, ASKED_EN)]
    named = {(each.id, each.pack_id) for pack in again for each in pack.already_in_context}
    assert named >= {(each, one.pack_id) for each in found(one)} | {(each, two.pack_id) for each in found(two)}


def test_a_pack_that_is_unknown_old_or_of_another_conversation_withholds_nothing(fathom: Pipeline):
    first = fathom.ask(ASKED)
    assert not fathom.ask(ASKED, have=["no-such-pack"]).already_in_context
    assert not fathom.ask(ASKED, have=[first.pack_id], conversation="c2").already_in_context
    assert not fathom.ask(ASKED, have=[first.pack_id], tenant="beta").already_in_context
    fathom.wait(200)
    assert not fathom.ask(ASKED, have=[first.pack_id]).already_in_context


def test_a_restart_withholds_the_same(fathom: Pipeline):
    one, two = fathom.ask(ASKED), fathom.ask(ASKED_EN)
    before = fathom.ask(ASKED, have=[one.pack_id, two.pack_id])
    fathom.crash("depth")
    after = fathom.ask(ASKED, have=[one.pack_id, two.pack_id])
    assert before.already_in_context
    assert set(after.already_in_context) == set(before.already_in_context)


# --- the value itself -------------------------------------------------------------------------------------------------


def test_options_are_on_the_wire_as_they_were_stated():
    stated = {"min_depth": "D1", "have": ["p1"], "max_tokens": 700}
    options = RequestOptions.model_validate_json(orjson.dumps(stated))
    assert orjson.loads(options.model_dump_json()) == stated


def test_a_plan_without_options_is_as_it_was():
    assert "options" not in plan(D2).model_dump(mode="json")


TEMPLATES = """packs:
  templates:
    brief: "{{ depth }}{% for one in knowledge %} {{ one.number }}={{ one.source }}{% endfor %}"
  tenants:
    acme: {template: brief}
"""


def test_a_tenants_template_lays_out_its_packs_and_its_callers_may_choose_it(tmp_path):
    about = {"conversation": "c1", "headers": {"user_id": "ana"}}
    with Pipeline(pack_policy=policy(tmp_path, TEMPLATES)) as fathom:
        for tenant in ("acme", "globex"):
            fathom.document("kettle", "Kettle K2", KETTLE, tenant=tenant)
        own = fathom.ask(ASKED_EN, tenant="acme", **about)
        assert (own.template, own.text) == ("brief", f"{own.depth_level.value} 1=Kettle K2")
        context = fathom.ask(ASKED_EN, tenant="acme", template="context", **about)
        assert context.template == "context"
        assert context.text is not None
        assert "four years" in context.text
        assert "How to answer" not in context.text
        foreign = fathom.ask(ASKED_EN, tenant="globex", template="brief", **about)
        assert foreign.template == "default"
        assert foreign.options is not None
        assert foreign.options.clamped == ("template",)
