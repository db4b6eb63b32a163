"""The shipped policy, the help desk of a shop: what each of its rules does, in English and in Portuguese."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.core.conversation.memory import ConversationTurn
from agents.core.tools.gate import Resolution, ToolPolicyResolver, UserMessage, preview
from agents.core.tools.session import after_result
from schemas.tool_session import ToolSession
from schemas.tools import ToolResult
from streams import config, policies
from streams.config import ConfigError
from tests.checkout import ROOT

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
GATE = ToolPolicyResolver(policies.shipped_tools(), policies.shipped())
ADDRESS = {"street": "1 High Street", "city": "Porto"}


def resolve(
    tool: str,
    said: str = "",
    args: Mapping[str, Any] | None = None,
    lang: str | None = None,
    session: ToolSession | None = None,
    turns: tuple[ConversationTurn, ...] = (),
) -> Resolution:
    return GATE.resolve(tool, args or {}, session or ToolSession(), UserMessage(said, "m1", turns, lang), NOON)


def turn(role: str, text: str, minutes: float) -> ConversationTurn:
    return ConversationTurn(role, text, NOON - timedelta(minutes=minutes), f"m-{minutes}")


def test_its_tools_show_every_rule_of_the_format() -> None:
    tools = policies.shipped_tools().tools
    assert set(tools) == {
        "get_order", "convert_currency", "update_shipping_address", "book_appointment", "refund_order", "send_email",
    }  # fmt: skip
    rules = [rule for contract in tools.values() for rule in contract.arguments.values()]
    assert {rule.type for rule in rules} == {"string", "integer", "number", "boolean", "array", "object"}
    for shown in ("required", "session", "unless", "default", "choices", "recall"):
        assert any(getattr(rule, shown) for rule in rules), shown
    for shown in ("sensitive", "confirm_values", "closed"):
        assert any(getattr(contract, shown) for contract in tools.values()), shown


@pytest.mark.covers("S4-03", "S4-05")
@pytest.mark.parametrize(
    ("tool", "name", "right", "wrong"),
    [
        ("book_appointment", "people", 2, (True, 2.5, "2")),
        ("convert_currency", "amount", 2.5, (True, "2.5")),
        ("get_order", "include_items", False, (0, "false")),
        ("book_appointment", "topics", ["tax"], ("tax", {"a": 1})),
        ("update_shipping_address", "address", ADDRESS, ("1 High Street", [ADDRESS])),
        ("get_order", "tracking_number", "XY1", (7, True)),
    ],
)
def test_an_argument_takes_a_value_of_its_type_and_of_no_other(
    tool: str, name: str, right: object, wrong: tuple[object, ...]
) -> None:
    assert GATE.wrong(tool, {name: right}) is None
    assert {resolve(tool, args={name: value}).code for value in wrong} == {"tipo_invalido"}


@pytest.mark.parametrize("said", ["Where is ORD-1042?", "Onde está o pedido ORD-1042?"])
def test_the_order_is_taken_from_the_message(said: str) -> None:
    assert resolve("get_order", said).args == {"order_id": "ORD-1042", "include_items": True}


def test_the_order_of_a_result_is_kept_for_the_next_call() -> None:
    done = ToolResult(
        call_id="c1", client_id="web", session_id="s1", tool_name="create_order", succeeded=True,
        values={"order_id": "ORD-7"},
    )  # fmt: skip
    session = after_result(ToolSession(), done, GATE.policy, NOON)
    assert resolve("get_order", "And where is it now?", session=session).args["order_id"] == "ORD-7"
    assert resolve("get_order", args={"tracking_number": "XY1"}).args == {
        "tracking_number": "XY1", "include_items": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "lang", "answer"),
    [
        ("Where is it?", "en", 'No order is mentioned. Say which order (for example "ORD-1042")'),
        ("Onde está?", "pt", 'Nenhum pedido mencionado. Diga qual pedido (ex: "ORD-1042")'),
        ("ORD-1 or ORD-2?", "en", "More than one order is mentioned (ORD-1, ORD-2). Say which one."),
        ("ORD-1 ou ORD-2?", "pt", "Mais de um pedido mencionado (ORD-1, ORD-2). Diga qual deles."),
        ("Where is order 1042?", "en", "It is not clear which order (order 1042). Write the whole number"),
        ("Where is #1042?", "en", "It is not clear which order (#1042). Write the whole number"),
        ("And the other order?", "en", "It is not clear which order (other order). Write the whole number"),
        ("E o outro pedido?", "pt", "Não está claro qual pedido (outro pedido). Escreva o número inteiro"),
        ("not the order ORD-1042", "en", "It is not clear which order (ORD-1042). Write the whole number"),
    ],
)
def test_what_is_not_said_for_certain_is_asked_in_the_language_of_the_conversation(
    said: str, lang: str, answer: str
) -> None:
    assert str(resolve("get_order", said, lang=lang).error).startswith(answer)


def test_money_is_asked_about_and_an_address_only_where_it_costs() -> None:
    asked = resolve("refund_order", "Refund ORD-1042", {"reason": "late"})
    assert asked.confirm
    assert preview("refund_order", asked, "en") == (
        "Confirm refund_order with reason=late, order_id=ORD-1042 (from the message)?"
    )
    assert not resolve("update_shipping_address", "ORD-1042", {"address": ADDRESS}).confirm
    assert resolve("update_shipping_address", "ORD-1042", {"address": ADDRESS, "delivery": "express"}).confirm
    assert resolve(
        "send_email", args={"to": "a@b.example", "subject": "Your order", "body": "It is on its way."}
    ).confirm


@pytest.mark.parametrize(
    ("tool", "args", "answer"),
    [
        ("refund_order", {"reason": "dammaged"}, "Did you mean damaged?"),
        ("refund_order", {"bank_account": "1"}, "Unknown argument: bank_account."),
        ("refund_order", {"amount": "12"}, "amount must be a number, not 12."),
        ("convert_currency", {"amount": 20}, "from_currency is missing. Give from_currency with the call."),
    ],
)
def test_a_call_against_its_contract_is_refused(tool: str, args: dict[str, Any], answer: str) -> None:
    assert answer in str(resolve(tool, "ORD-1042", args).error)


@pytest.mark.parametrize(
    ("proposed", "date"),
    [
        ("You would like an appointment on 2026-03-10 at 10:30, is that correct?", "2026-03-10"),
        ("Você quer agendar para 2026-03-10 às 10:30, certo?", "2026-03-10"),
    ],
)
def test_an_appointment_is_made_as_it_was_proposed(proposed: str, date: str) -> None:
    turns = turn("user", "I'd like to come by", 3), turn("assistant", proposed, 2), turn("user", "yes", 1)
    found = resolve("book_appointment", "yes", turns=turns)
    assert found.args == {"date": date, "time": "10:30", "people": 1}
    assert {each.source for each in found.injections} == {"proposal", "default"}


# --- where nothing tells the language, and which tools there are ----------------------------------------------------


def test_an_unknown_tool_is_answered_in_english_with_the_nearest_or_with_all() -> None:
    assert resolve("refund_ordr").error == "Unknown tool: refund_ordr. Did you mean refund_order?"
    assert resolve("nosuchtool").error == (
        "Unknown tool: nosuchtool. There are: book_appointment, convert_currency, get_order, refund_order, send_email, "
        "update_shipping_address."
    )
    assert str(resolve("nosuchtool", lang="pt").error).startswith("Ferramenta desconhecida: nosuchtool. Há: book_app")


def test_of_many_tools_ten_are_named(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text("tools:\n  lang: pt\n  tools:\n" + "".join(f"    t{number}: {{}}\n" for number in range(12)))
    gate = ToolPolicyResolver(policies.tool_policy(path), policies.shipped())
    said = gate.wrong("nosuchtool", {})
    assert said == "Ferramenta desconhecida: nosuchtool. Há: t0, t1, t10, t11, t2, t3, t4, t5, t6, t7, …."


def test_one_text_serves_both_languages_and_none_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    value = "    v: {{kind: order, several: s, log: l, missing: {}}}\n"
    rest = "  tools: {t: {arguments: {x: {required: true, session: v}}}}\n"
    path.write_text("tools:\n  session:\n" + value.format("{en: none}") + rest)
    gate = ToolPolicyResolver(policies.tool_policy(path), policies.shipped())
    assert [gate.resolve("t", {}, ToolSession(), UserMessage(lang=lang), NOON).error for lang in ("pt", "en")] == [
        "none", "none",
    ]  # fmt: skip
    path.write_text("tools:\n  session:\n" + value.format("{}") + rest)
    with pytest.raises(ConfigError, match="a text is needed in pt or in en"):
        policies.tool_policy(path)


# --- the second policy ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [ROOT, Path("/")])
def test_the_customs_policy_has_one_name_in_the_checkout_and_outside(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    named = config.load({"FATHOM_TOOL_POLICY": "deploy/policies/tools-customs.yaml"})
    found = policies.tool_policy(named.tool_policy)
    assert "criar_duimp" in found.tools
    assert found.lang == "pt"
    with pytest.raises(ConfigError, match="No such file"):
        policies.tool_policy(Path("deploy/policies/tools-other.yaml"))
