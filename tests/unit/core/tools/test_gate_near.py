"""What only resembles a value, or points at another than the active one, is asked about: never filled (CF-52)."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.core.tools.gate import Resolution, ToolPolicyResolver, UserMessage
from schemas.tool_session import Kept, ToolSession
from streams import policies
from tests.builders.customs import CUSTOMS

NOON = datetime(2026, 1, 14, 12, tzinfo=UTC)
GATE = ToolPolicyResolver(CUSTOMS, policies.shipped())
VALUES = {"active_report_id": "rel_1", "processo_atual": "DMD.0001/26"}
ACTIVE = ToolSession(
    values={name: Kept(value=value, at=NOON - timedelta(minutes=5), call_id="c0") for name, value in VALUES.items()}
)


def resolve(tool: str, said: str, args: Mapping[str, Any] | None = None, session: ToolSession = ACTIVE) -> Resolution:
    return GATE.resolve(tool, args or {}, session, UserMessage(said, "m1"), NOON)


NEAR_PROCESSES = (
    "qual o status do alh.0002/26?",
    "ALH 0002/26",
    "ALH0002/26",
    "qual o status do ALH-0002/26?",
    "e o ALH 2?",
    "e o processo 2?",
    "status do processo nº 0002/26",
    "what is the status of alh.0002/26?",
    "and ALH 3?",
    "how about process 7?",
)
NEAR_REPORTS = ("filtre REL_456", "filtre o rel 456", "filtre o relatório 456", "filter report #456", "open Rel-456")
OTHERS = (
    ("filtrar_relatorio", "filtre o outro relatório"),
    ("filtrar_relatorio", "no relatório de ontem, filtre só os DMD"),
    ("filtrar_relatorio", "filtre o de ontem"),
    ("filtrar_relatorio", "filtre o relatório anterior"),
    ("filtrar_relatorio", "filter the other report"),
    ("filtrar_relatorio", "filter yesterday's report"),
    ("filtrar_relatorio", "filter the previous one"),
    ("filtrar_relatorio", "filtre o outro"),
    ("filtrar_relatorio", "filtre o relatório de segunda-feira"),
    ("filtrar_relatorio", "filtre o relatório da semana passada"),
    ("filtrar_relatorio", "filter last week's report"),
    ("consultar_status_processo", "não é o DMD.0001/26, é o outro"),
    ("consultar_status_processo", "não é o DMD.0001/26"),
    ("consultar_status_processo", "it's not DMD.0001/26, it's the other one"),
    ("consultar_status_processo", "qual o status do outro processo?"),
    ("consultar_status_processo", "e a situação do outro?"),
)


@pytest.mark.covers("CF-52", "S4-17")
@pytest.mark.parametrize("said", NEAR_PROCESSES)
@pytest.mark.parametrize("session", [ACTIVE, ToolSession()], ids=["active", "empty"])
def test_what_resembles_a_process_is_asked_about(said: str, session: ToolSession) -> None:
    found = resolve("consultar_status_processo", said, session=session)
    assert (found.code, found.injections, found.retryable) == ("valor_ambiguo", (), False)
    assert found.error is not None
    assert "DMD.0001/26" in found.error


@pytest.mark.covers("CF-52")
@pytest.mark.parametrize("said", NEAR_REPORTS)
def test_what_resembles_a_report_is_asked_about(said: str) -> None:
    assert resolve("filtrar_relatorio", said).code == "valor_ambiguo"


@pytest.mark.covers("CF-52")
@pytest.mark.parametrize(("tool", "said"), OTHERS)
def test_another_than_the_active_one_is_asked_about(tool: str, said: str) -> None:
    found = resolve(tool, said)
    assert (found.code, found.injections) == ("valor_ambiguo", ())


def test_the_question_names_what_was_read() -> None:
    assert "alh.0002/26" in str(resolve("consultar_status_processo", "qual o status do alh.0002/26?").error)
    assert "outro relatório" in str(resolve("filtrar_relatorio", "filtre o outro relatório").error)


def test_a_right_mention_beside_one_that_resembles_is_asked_about() -> None:
    assert resolve("consultar_status_processo", "compare ALH.0002/26 com dmd.0003/26").code == "valor_ambiguo"


@pytest.mark.parametrize(
    ("tool", "said", "value"),
    [
        ("consultar_status_processo", "qual o status?", "DMD.0001/26"),
        ("consultar_status_processo", "outra coisa: qual o status dele?", "DMD.0001/26"),
        ("consultar_status_processo", "e o status no dia 12/03?", "DMD.0001/26"),
        ("consultar_status_processo", "em 12/03/2026 como estava o processo?", "DMD.0001/26"),
        ("consultar_status_processo", "another question: what is its status?", "DMD.0001/26"),
        ("consultar_status_processo", "tem outro documento nele?", "DMD.0001/26"),
        ("consultar_status_processo", "o NCM 8471 está nesse processo?", "DMD.0001/26"),
        ("consultar_status_processo", "não sei o status do DMD.0001/26", "DMD.0001/26"),
        ("consultar_status_processo", "qual o status do ALH.0002/26?", "ALH.0002/26"),
        ("filtrar_relatorio", "filtre só os DMD do relatório", "rel_1"),
        ("filtrar_relatorio", "filtre os 3 últimos", "rel_1"),
        ("filtrar_relatorio", "filter the last 10 rows", "rel_1"),
        ("filtrar_relatorio", "filtre o que mudou de ontem para hoje", "rel_1"),
        ("filtrar_relatorio", "filtre por PETR4", "rel_1"),
        ("filtrar_relatorio", "filtre o último relatório", "rel_1"),
        ("filtrar_relatorio", "filter the last report by client", "rel_1"),
        ("filtrar_relatorio", "filtre o relatório de hoje", "rel_1"),
        ("consultar_status_processo", "QUAL O STATUS EM 2026?", "DMD.0001/26"),
        ("consultar_status_processo", "qual era o status em 2025-12?", "DMD.0001/26"),
        ("consultar_status_processo", "o processo de segunda instância já saiu?", "DMD.0001/26"),
        ("consultar_status_processo", "o ICMS 18% entra nesse processo?", "DMD.0001/26"),
        ("consultar_status_processo", "qual a DI dele?", "DMD.0001/26"),
        ("consultar_status_processo", "why is it not showing DMD.0001/26?", "DMD.0001/26"),
        ("consultar_status_processo", "não consigo abrir o DMD.0001/26", "DMD.0001/26"),
    ],
)
def test_a_message_without_such_words_still_goes_on_about_the_active_one(tool: str, said: str, value: str) -> None:
    found = resolve(tool, said)
    assert [each.value for each in found.injections][:1] == [value], found.error


@pytest.mark.parametrize("given", ["", "  "])
def test_an_empty_text_is_no_choice(given: str) -> None:
    found = resolve("criar_duimp", "crie a DUIMP", {"ambiente": given})
    assert (found.code, found.confirm) == ("tipo_invalido", False)
    assert "Validacao, Producao" in str(found.error)
