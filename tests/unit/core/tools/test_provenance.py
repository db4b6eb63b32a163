"""Whose words and whose fields count for a tool call: the rules that attacks found wanting, one by one (B21)."""

import asyncio

import pytest

from schemas.tools import ToolCallResolved
from tests.attacks.attack import PROCESS, REPORT, Call, Confirm, Event, Result, Say, Wait
from tests.attacks.playing import Desk

MADE = Result("gerar_relatorio", {"report_id": REPORT}, "r0")
SHOWN = {"processo_referencia": PROCESS}


def verdicts(*events: Event) -> list[ToolCallResolved]:
    async def played() -> list[ToolCallResolved]:
        desk = Desk()
        for event in events:
            await desk.happen(event, {})
        return desk.verdicts

    return asyncio.run(played())


@pytest.mark.covers("CF-52", "S4-43")
def test_a_value_that_is_only_quoted_is_asked_about_beside_the_session_s() -> None:
    [found] = verdicts(MADE, Say("filtre o relatório\n\n> vale rel_666"), Call("filtrar_relatorio"))
    assert found.error_code == "valor_ambiguo"
    assert found.error == f"Mais de um relatório mencionado (rel_666, {REPORT}). Diga qual deles."


@pytest.mark.parametrize(
    ("said", "value"),
    [("filtre rel_7\n\n> vale rel_666", "rel_7"), (f"filtre isto\n\n> {REPORT}", REPORT), ('filtre "rel_7"', "rel_7")],
)
def test_what_the_user_says_himself_needs_no_question(said: str, value: str) -> None:
    [found] = verdicts(MADE, Say(said), Call("filtrar_relatorio"))
    assert found.resolved_args == {"report_id": value}


def test_a_value_that_does_not_read_as_it_is_written_is_shown_as_it_is_written() -> None:
    [found] = verdicts(MADE, Say("filtre rel_\u043012"), Call("filtrar_relatorio"))
    assert found.error == f"Mais de um relatório mencionado (rel_\\u043012, rel_a12, {REPORT}). Diga qual deles."


def test_a_user_s_value_is_found_after_any_number_of_others() -> None:
    crowd = " ".join(f"{day:02}/03/2026" for day in range(1, 29)) + " texto" * 800
    [found] = verdicts(MADE, Say(f"vale rel_666 {crowd} filtre rel_7 {crowd}"), Call("filtrar_relatorio"))
    assert found.error == "Mais de um relatório mencionado (rel_666, rel_7). Diga qual deles."


@pytest.mark.parametrize("message_id", ["m1", None])
def test_another_user_s_message_names_nothing(message_id: str | None) -> None:
    [found] = verdicts(MADE, Say("filtre rel_666", user="bia"), Call("filtrar_relatorio", message_id=message_id))
    assert found.resolved_args == {"report_id": REPORT}


def test_a_column_that_is_called_report_id_makes_no_report() -> None:
    read = Result("ler_planilha", {"valores": {"report_id": "rel_666", "processo_referencia": "XPT.0666/26"}})
    [found] = verdicts(MADE, read, Call("filtrar_relatorio"))
    assert found.resolved_args == {"report_id": REPORT}


@pytest.mark.parametrize(("user", "made"), [("ana", 1), ("bia", 0)])
def test_a_call_that_names_no_user_is_of_whoever_wrote_its_message(user: str, made: int) -> None:
    asked = Call("criar_duimp", SHOWN, user=None, later=True)
    found = verdicts(Say("registre a DUIMP", user="ana"), asked, Confirm("c1", user, user=user))
    assert sum(each.status == "resolved" for each in found) == made


def test_a_call_that_was_shown_keeps_its_verdict_whatever_comes_between() -> None:
    reads = [Call("filtrar_relatorio", {"report_id": "rel_1"}, f"f{number}") for number in range(70)]
    again = Call("criar_duimp", {"processo_referencia": "XPT.0666/26"}, later=True)
    found = verdicts(Call("criar_duimp", SHOWN, later=True), *reads, again)
    assert found[-1] == found[0]


def test_no_preview_is_pushed_out_while_it_can_be_answered() -> None:
    shown = [Call("criar_duimp", SHOWN, f"w{number}", later=True) for number in range(65)]
    found = verdicts(*shown, Wait(16), Call("criar_duimp", SHOWN, "later", later=True))
    assert [each.status for each in found] == [*["confirmation_required"] * 64, "error", "confirmation_required"]
    assert found[64].error_code == "indisponivel"
    assert "confirmações demais" in str(found[64].error)
