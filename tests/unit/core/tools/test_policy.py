"""Contracts are data: a tool of one's own needs no code, and a mistake in the file stops the worker with its line."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.core.tools.gate import ToolPolicyResolver, UserMessage
from agents.core.tools.session import after_result
from schemas.tool_session import ToolSession
from schemas.tools import ToolResult
from streams import policies
from streams.config import ConfigError
from tests.builders.customs import CUSTOMS
from tests.checkout import ROOT

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def documented(tmp_path: Path) -> Path:
    [text] = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "tools.md").read_text(), re.DOTALL)
    path = tmp_path / "tools.yaml"
    path.write_text(text)
    return path


def test_the_documented_tool_works_as_documented(documented: Path) -> None:
    gate = ToolPolicyResolver(policies.tool_policy(documented), policies.shipped())
    done = ToolResult(
        call_id="c1", client_id="web", session_id="s1", tool_name="open_invoice", succeeded=True,
        values={"invoice_id": "INV-881"},
    )  # fmt: skip
    session = after_result(ToolSession(), done, gate.policy, NOON)
    found = gate.resolve("cancel_invoice", {"reason": "duplicate"}, session, UserMessage(), NOON)
    assert (found.args, found.confirm) == ({"reason": "duplicate", "invoice_id": "INV-881"}, True)
    said = gate.resolve("cancel_invoice", {}, session, UserMessage("cancel invoice INV-102", "m1"), NOON)
    assert said.args == {"invoice_id": "INV-102"}
    assert gate.resolve("get_order", {}, session, UserMessage(), NOON).code == "ferramenta_desconhecida"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("sensitive: true", "sensitve: true"), "line 11: unknown key 'tools.cancel_invoice.sensitve', did you mean"),
        (("required: true", "required: 3"), "line 13: tools.cancel_invoice.arguments.invoice_id.required: "),
        (("session: current_invoice}", "session: invoice}"), "the session has no value 'invoice'"),
        (
            ("reason: {}", "reason: {recal: true}"),
            "unknown key 'tools.cancel_invoice.arguments.reason.recal', did you",
        ),
        (("reason: {}", "reason: {type: array, recall: true}"), "recall is for single values, not for array"),
        (("tools:\n  session", "tools: [\n  session"), "line "),
    ],
)
def test_a_mistake_is_named_with_its_line(documented: Path, wrong: tuple[str, str], says: str) -> None:
    documented.write_text(documented.read_text().replace(*wrong, 1))
    with pytest.raises(ConfigError, match=re.escape(says)) as error:
        policies.tool_policy(documented)
    assert str(error.value).startswith("FATHOM_TOOL_POLICY: ")
    assert "the defaults are used" not in str(error.value)


def test_a_file_that_is_not_there_is_an_error_and_no_open_door(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        policies.tool_policy(tmp_path / "none.yaml")


@pytest.mark.covers("S4-07", "S4-13")
def test_the_customs_contracts_are_the_tools_of_the_seed() -> None:
    tools = CUSTOMS.tools
    by_report = {name for name, contract in tools.items() if "report_id" in contract.arguments}
    by_process = {name for name, contract in tools.items() if "processo_referencia" in contract.arguments}
    assert by_report == {
        "buscar_secao_relatorio_salvo", "filtrar_relatorio", "melhorar_relatorio", "enviar_relatorio_email",
    }  # fmt: skip
    assert by_process == {
        "consultar_status_processo", "consultar_di_processo", "consultar_duimp_processo", "criar_duimp",
    }  # fmt: skip
    assert by_report | by_process == set(tools)
