"""The tool gate's decisions: what is filled from where, what is refused and how it is said (S4)."""

import itertools
import random
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.core.tools.gate import Resolution, ToolPolicyResolver, UserMessage, blank, preview
from agents.core.tools.session import after_result
from agents.stages.tool_gate_service import ToolGateService
from schemas.tool_session import Kept, ToolSession
from schemas.tools import ToolResult
from streams import policies
from streams.runtime.tool_gates import get_tool_gate_service
from tests.builders.customs import CUSTOMS
from tests.builders.examples import few

NOON = datetime(2026, 1, 14, 12, tzinfo=UTC)
GATE = ToolPolicyResolver(CUSTOMS, policies.shipped())
NO_REPORT = 'Nenhum relatório ativo. Gere um relatório primeiro (ex: "o que temos pra hoje?")'
NO_PROCESS = 'Nenhum processo mencionado. Especifique o processo (ex: "DMD.0001/26")'
REPORT_TOOLS = ("buscar_secao_relatorio_salvo", "filtrar_relatorio", "melhorar_relatorio", "enviar_relatorio_email")
PROCESS_TOOLS = ("consultar_status_processo", "consultar_di_processo", "consultar_duimp_processo", "criar_duimp")


def kept(minutes: float = 5, **values: str) -> ToolSession:
    at = NOON - timedelta(minutes=minutes)
    return ToolSession(values={name: Kept(value=value, at=at, call_id="c0") for name, value in values.items()})


BOTH = kept(active_report_id="rel_123", processo_atual="DMD.0001/26")


def resolve(
    tool: str, args: Mapping[str, Any], session: ToolSession = BOTH, said: str = "", now: datetime = NOON
) -> Resolution:
    return GATE.resolve(tool, args, session, UserMessage(said, "m1"), now)


def sources(found: Resolution) -> dict[str, str]:
    return {each.arg: each.source for each in found.injections}


@pytest.mark.covers("S4-01", "S4-02", "S4-22", "S4-09", "AC-47")
def test_the_active_report_is_put_into_a_call_that_left_it_out() -> None:
    session = kept(active_report_id="rel_20260114_095826")
    args = {"secao": "processos_chegando", "categoria": "DMD"}
    found = resolve("buscar_secao_relatorio_salvo", args, session, "filtre só os DMD")
    assert found.args == {**args, "report_id": "rel_20260114_095826"}
    assert found.error is None
    assert found.notes == ("✅ report_id injetado: rel_20260114_095826",)
    [injection] = found.injections
    assert (injection.source, injection.evidence, injection.age_seconds) == ("session", "c0", 300.0)


@pytest.mark.covers("S4-23", "S4-15", "S4-20", "AC-48")
def test_the_current_process_and_a_default_are_put_in() -> None:
    found = resolve("consultar_status_processo", {})
    assert found.args == {"processo_referencia": "DMD.0001/26", "incluir_documentos": True}
    assert sources(found) == {"processo_referencia": "session", "incluir_documentos": "default"}
    assert found.notes == ("✅ processo_referencia injetado: DMD.0001/26",)


@pytest.mark.covers("S4-07", "S4-08", "S4-10", "S4-11", "S4-24", "S4-30", "AC-50")
@pytest.mark.parametrize("tool", REPORT_TOOLS)
@pytest.mark.parametrize("empty", [{}, {"report_id": None}, {"report_id": " "}])
def test_without_a_report_every_report_tool_says_what_to_do(tool: str, empty: dict[str, Any]) -> None:
    found = resolve(tool, empty, ToolSession())
    assert (found.error, found.code) == (NO_REPORT, "contexto_ausente")
    assert "não encontrado" not in NO_REPORT
    assert resolve(tool, empty).args["report_id"] == "rel_123"


@pytest.mark.covers("S4-13", "S4-14", "S4-16", "S4-17", "S4-18", "AC-51")
@pytest.mark.parametrize("tool", PROCESS_TOOLS)
@pytest.mark.parametrize("empty", [{}, {"processo_referencia": None}, {"processo_referencia": ""}])
def test_without_a_process_every_process_tool_says_what_to_do(tool: str, empty: dict[str, Any]) -> None:
    found = resolve(tool, empty, ToolSession())
    assert (found.error, found.code) == (NO_PROCESS, "contexto_ausente")
    assert resolve(tool, empty).args["processo_referencia"] == "DMD.0001/26"


@pytest.mark.covers("S4-28", "S4-29", "S4-38", "CF-50", "CF-52", "AC-52", "AC-53")
def test_what_the_call_has_wins_over_the_message_the_message_over_the_session() -> None:
    explicit = resolve("filtrar_relatorio", {"report_id": "rel_456"}, BOTH, "filtre rel_789")
    assert (explicit.args, explicit.injections) == ({"report_id": "rel_456"}, ())
    said = resolve("filtrar_relatorio", {}, BOTH, "filtre rel_456")
    assert said.args == {"report_id": "rel_456"}
    [injection] = said.injections
    assert (injection.source, injection.evidence) == ("mention", "m1")
    other = resolve("consultar_status_processo", {}, BOTH, "qual o status do ALH.0002/26?")
    assert other.args["processo_referencia"] == "ALH.0002/26"
    # A value that is given does not keep the defaults from coming.
    known = resolve("consultar_status_processo", {"processo_referencia": "ALH.0002/26"})
    assert known.args == {"processo_referencia": "ALH.0002/26", "incluir_documentos": True}


@pytest.mark.covers("CF-52", "S4-43")
def test_two_in_one_message_are_asked_about_by_name() -> None:
    found = resolve("consultar_di_processo", {}, BOTH, "compare ALH.0002/26 com DMD.0003/26")
    assert found.code == "valor_ambiguo"
    assert found.error == "Mais de um processo mencionado (ALH.0002/26, DMD.0003/26). Diga qual deles."
    same = resolve("consultar_di_processo", {}, BOTH, "ALH.0002/26! É o ALH.0002/26 mesmo.")
    assert same.args["processo_referencia"] == "ALH.0002/26"


@pytest.mark.covers("S4-12", "CF-51")
@pytest.mark.parametrize("other", ["relatorio", "nome_relatorio", "data"])
def test_an_email_of_another_report_does_not_get_the_active_one(other: str) -> None:
    found = resolve("enviar_relatorio_email", {other: "ontem"})
    assert found.args == {other: "ontem"}
    assert resolve("enviar_relatorio_email", {other: ""}).args["report_id"] == "rel_123"


@pytest.mark.covers("S4-19", "S4-21", "CF-56", "AC-54")
def test_a_default_is_for_what_is_absent_or_none_and_false_stays_false() -> None:
    assert resolve("consultar_status_processo", {"incluir_documentos": False}).args["incluir_documentos"] is False
    assert resolve("consultar_status_processo", {"incluir_documentos": None}).args["incluir_documentos"] is True
    for args in ({}, {"ambiente": None}):
        found = resolve("criar_duimp", args)
        assert found.args["ambiente"] == "Validacao"
        assert found.confirm


@pytest.mark.covers("CF-56")
def test_the_arguments_that_were_given_are_not_changed() -> None:
    args: dict[str, Any] = {"processo_referencia": "", "incluir_documentos": None}
    resolve("consultar_status_processo", args)
    assert args == {"processo_referencia": "", "incluir_documentos": None}


@pytest.mark.covers("S4-45", "CF-54", "AC-55", "CF-52", "S4-43")
def test_what_is_an_hour_old_or_was_called_invalid_is_none_with_the_same_words() -> None:
    old = kept(61, active_report_id="rel_1", processo_atual="DMD.0001/26")
    assert (resolve("filtrar_relatorio", {}, old).error, resolve("filtrar_relatorio", {}, old).code) == (
        NO_REPORT, "contexto_expirado",
    )  # fmt: skip
    assert resolve("consultar_di_processo", {}, old).code == "contexto_expirado"
    assert resolve("filtrar_relatorio", {}, kept(60, active_report_id="rel_1")).error is None
    gone = result(report_id="rel_123", report_valid=False)
    found = resolve("filtrar_relatorio", {}, after_result(BOTH, gone, GATE.policy, NOON))
    assert (found.error, found.code) == (NO_REPORT, "contexto_expirado")
    others = result(report_id="rel_9", report_valid=False)
    assert resolve("filtrar_relatorio", {}, after_result(BOTH, others, GATE.policy, NOON)).error is None


def result(**fields: Any) -> ToolResult:
    base: dict[str, Any] = {
        "call_id": "c1", "client_id": "web", "session_id": "s1", "tool_name": "gerar_relatorio", "succeeded": True,
    }  # fmt: skip
    return ToolResult.model_validate({**base, **fields})


@pytest.mark.covers("S4-33", "S4-34")
def test_a_report_that_was_made_and_a_process_that_was_asked_about_are_kept() -> None:
    made = after_result(ToolSession(), result(report_id="rel_7"), GATE.policy, NOON)
    assert made.values["active_report_id"].value == "rel_7"
    asked = result(tool_name="consultar_status_processo", args={"processo_referencia": "DMD.0001/26"})
    seen = after_result(made, asked, GATE.policy, NOON)
    assert {name: each.value for name, each in seen.values.items()} == {
        "active_report_id": "rel_7", "processo_atual": "DMD.0001/26",
    }  # fmt: skip
    told = after_result(seen, result(case_reference="ALH.0002/26"), GATE.policy, NOON)
    assert told.values["processo_atual"].value == "ALH.0002/26"
    failed = result(report_id="rel_8", succeeded=False)
    assert after_result(seen, failed, GATE.policy, NOON) == seen


@pytest.mark.covers("S4-33")
def test_results_in_any_order_and_twice_leave_the_newest() -> None:
    made = [(result(call_id=f"c{n}", report_id=f"rel_{n}"), NOON + timedelta(seconds=n)) for n in range(4)]
    for order in itertools.permutations(made):
        session = ToolSession()
        for each, at in (*order, *order):
            session = after_result(session, each, GATE.policy, at)
        assert session.values["active_report_id"].value == "rel_3"


def test_a_value_of_another_sort_under_the_same_name_is_never_filled() -> None:
    wrong = kept(active_report_id="DMD.0001/26", processo_atual="rel_123")
    assert resolve("filtrar_relatorio", {}, wrong).code == "contexto_ausente"
    assert resolve("consultar_di_processo", {}, wrong).code == "contexto_ausente"


@pytest.mark.covers("S4-03", "S4-05")
@pytest.mark.parametrize(
    ("tool", "args", "codigo", "says"),
    [
        ("filtrar_relatorios", {}, "ferramenta_desconhecida", "filtrar_relatorio?"),
        ("apagar_tudo", {}, "ferramenta_desconhecida", "apagar_tudo."),
        ("consultar_status_processo", {"incluir_documentos": "sim"}, "tipo_invalido", "true ou false, não sim"),
        ("filtrar_relatorio", {"report_id": 7}, "tipo_invalido", "deve ser texto, não 7"),
        ("criar_duimp", {"ambiente": "Producão"}, "tipo_invalido", "Você quis dizer Producao?"),
        ("filtrar_relatorio", {"reportid": "rel_1"}, "argumento_desconhecido", "Você quis dizer report_id?"),
    ],
)
def test_a_call_that_its_contract_does_not_know_is_refused_with_the_nearest(
    tool: str, args: dict[str, Any], codigo: str, says: str
) -> None:
    found = resolve(tool, args)
    assert found.code == codigo
    assert says in str(found.error)
    assert GATE.wrong(tool, args) == found.error


@pytest.mark.covers("CF-53", "S4-03")
def test_sensitive_calls_are_shown_before_they_are_made() -> None:
    found = resolve("criar_duimp", {}, BOTH, "registre a DUIMP")
    assert found.confirm
    shown = preview("criar_duimp", found, "pt")
    assert shown == "Confirma criar_duimp com processo_referencia=DMD.0001/26 (da sessão), ambiente=Validacao (padrão)?"
    assert resolve("enviar_relatorio_email", {}).confirm
    assert resolve("criar_duimp", {"ambiente": "Producao"}).confirm
    assert not resolve("consultar_status_processo", {}).confirm


@pytest.mark.covers("S4-04", "S4-06", "S4-31", "S4-32", "CF-55")
def test_the_function_of_the_seed_answers_as_the_seed_says(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="fathom.tools")
    now = datetime.now(UTC)
    fresh = ToolSession(values={"processo_atual": Kept(value="DMD.0001/26", at=now, call_id="c0")})
    service = get_tool_gate_service({"session_123": fresh, "empty": ToolSession()}.__getitem__, tools=CUSTOMS)
    assert isinstance(service, ToolGateService)
    assert service.resolver_contexto_tool("consultar_status_processo", {}, "session_123") == {
        "args_resolvidos": {"processo_referencia": "DMD.0001/26", "incluir_documentos": True}
    }
    assert service.resolver_contexto_tool("filtrar_relatorio", {}, "empty") == {"erro": NO_REPORT}
    assert service.validar_contrato_tool("filtrar_relatorio", {"report_id": 1}) is not None
    said = [record.getMessage() for record in caplog.records]
    resolved = {"processo_referencia": "DMD.0001/26", "incluir_documentos": True}
    assert said == [
        "✅ processo_referencia injetado: DMD.0001/26",
        f"✅ Contexto resolvido para consultar_status_processo: {resolved}",
        f"⚠️ Não foi possível resolver contexto para filtrar_relatorio: {NO_REPORT}",
    ]


@pytest.mark.covers("CF-56")
def test_in_a_process_of_its_own_an_unknown_tool_passes_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    service = get_tool_gate_service(lambda _: ToolSession())
    assert service.resolver_contexto_tool("somar", {"a": 1}, "s") == {"args_resolvidos": {"a": 1}}
    assert "no contract for the tool somar" in caplog.text


# --- an independent reading of the rules, over many generated calls

PATTERN = {"report": re.compile(r"rel_\w+"), "process": re.compile(r"[A-Z]{2,6}\.\d{4}/\d{2}")}


def reference(tool: str, args: dict[str, Any], state: dict[str, tuple[str, float, bool]], said: str) -> Any:
    """The seed's three rules, in the order CF-50 to CF-56 settle, written without the gate."""
    out = dict(args)
    slot, kind, place, error = (
        ("report_id", "report", "active_report_id", NO_REPORT)
        if tool in REPORT_TOOLS
        else ("processo_referencia", "process", "processo_atual", NO_PROCESS)
    )
    for name, value in args.items():
        boolean = name == "incluir_documentos" and tool == "consultar_status_processo"
        if value is not None and not isinstance(value, bool if boolean else str):
            return "refused"
    if tool == "criar_duimp" and args.get("ambiente") not in (None, "Validacao", "Producao"):
        return "refused"
    selector = tool == "enviar_relatorio_email" and any((args.get(n) or "").strip() for n in ("relatorio", "data"))
    if not (out.get(slot) or "").strip() and not selector:
        names = list(dict.fromkeys(PATTERN[kind].findall(said)))
        if len(names) > 1 or (kind == "process" and "DMD.1/26" in said):
            return "refused"
        if names:
            out[slot] = names[0]
        else:
            value, age, valid = state.get(place, ("", 0.0, False))
            if not PATTERN[kind].fullmatch(value) or not valid or age > 3600:
                return error
            out[slot] = value
    if tool == "criar_duimp" and out.get("ambiente") is None:
        out["ambiente"] = "Validacao"
    if tool == "consultar_status_processo" and out.get("incluir_documentos") is None:
        out["incluir_documentos"] = True
    return out, tool in ("criar_duimp", "enviar_relatorio_email")


@pytest.mark.covers("B22", "S4-42")
def test_generated_calls_get_the_verdict_of_an_independent_reading() -> None:
    choose = random.Random(4)
    values: list[Any] = [None, "", " ", "rel_5", "DMD.0009/26", "x", 7, True, False]
    texts = (
        "",
        "filtre só os DMD",
        "e a DI?",
        "filtre rel_456",
        "rel_1 ou rel_2?",
        "status do ALH.0002/26",
        "DMD.1/26",
    )
    disagreements, seen = [], set()
    for _ in range(few(10_000, 1_500)):
        tool = choose.choice((*REPORT_TOOLS, *PROCESS_TOOLS))
        own = list(GATE.policy.tools[tool].arguments)
        names = [n for n in own if n != "nome_relatorio" and choose.random() < 0.5]
        args = {n: choose.choice((*values, "Validacao", "Producao") if n == "ambiente" else values) for n in names}
        state = {
            place: (
                choose.choice(("rel_123", "DMD.0001/26")),
                choose.choice((0.0, 3600.0, 3601.0)),
                choose.random() < 0.8,
            )
            for place in ("active_report_id", "processo_atual")
            if choose.random() < 0.7
        }
        session = ToolSession(
            values={
                place: Kept(value=value, at=NOON - timedelta(seconds=age), call_id="c0", valid=valid)
                for place, (value, age, valid) in state.items()
            }
        )
        said = choose.choice(texts)
        found = resolve(tool, args, session, said)
        if found.error is None:
            got: Any = (found.args, found.confirm)
        else:
            got = found.error if found.code in ("contexto_ausente", "contexto_expirado") else "refused"
        wanted = reference(tool, args, state, said)
        seen.add(type(wanted).__name__ if not isinstance(wanted, str) else wanted)
        if got != wanted:
            disagreements.append((tool, args, state, said, got, wanted))
    assert disagreements == []
    assert seen == {"tuple", "refused", NO_REPORT, NO_PROCESS}


@pytest.mark.covers("S4-40", "AC-56")
def test_of_a_hundred_calls_as_agents_make_them_few_fail_for_lack_of_context() -> None:
    """The seed's omissions, 35 of 100; one session in twelve has neither a report nor a process yet."""
    choose = random.Random(26)
    without = with_gate = 0
    omitted = set(choose.sample(range(100), 35))
    for number in range(100):
        tool = choose.choice((*REPORT_TOOLS, *PROCESS_TOOLS))
        name = "report_id" if tool in REPORT_TOOLS else "processo_referencia"
        value = f"rel_{number}" if name == "report_id" else f"DMD.{number:04}/26"
        args = {} if number in omitted else {name: value}
        session = ToolSession() if number % 12 == 0 else BOTH
        without += blank(args.get(name))
        with_gate += resolve(tool, args, session).error is not None
    assert without == 35
    assert 0 < with_gate <= 10
