"""`fathom tool`: what is sent for a call, a result and a confirmation, and how a verdict is shown."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from schemas import codec
from schemas.tools import Injection, Preview, ToolCallResolved
from schemas.topics import TOOLS_CALLS_IN, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN, Topic
from streams.edges.cli import tool
from streams.edges.cli.main import app
from streams.edges.client import ask, send
from streams.edges.client.console_tools import given, shown, verdict_lines
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.records import OutgoingRecord

MARIA = ("--tenant", "despachos", "--client", "painel", "--conversation", "s1", "--user", "maria")
ERRO = 'Nenhum relatório ativo. Gere um relatório primeiro (ex: "o que temos pra hoje?")'


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Callable[..., OutgoingRecord]:
    """The record that a command line of `fathom tool` sends; raises what refuses it."""
    found: list[OutgoingRecord] = []

    async def answer_to(prepared: OutgoingRecord, *_: Any) -> bytes:
        found.append(prepared)
        return codec.dump(resolved())

    async def found_in_the_log(*_: Any, **__: Any) -> None:
        """Nothing: there is no log to look at."""

    monkeypatch.setattr(tool, "_check_waits", found_in_the_log)
    monkeypatch.setattr(ask, "answer_to", answer_to)
    monkeypatch.setattr(send, "send_one", lambda prepared, broker, *, as_json, names=None: found.append(prepared))

    def run(*words: str) -> OutgoingRecord:
        ended = CliRunner().invoke(app, ["tool", *words, "--broker", "127.0.0.1:1"])
        if isinstance(ended.exception, CommandFailed):
            raise ended.exception
        assert ended.exit_code == 0, ended.output
        return found[-1]

    return run


def as_read(topic: Topic, prepared: OutgoingRecord):
    assert prepared.topic == topic.name
    return codec.decode(
        topic, prepared.key, prepared.value, prepared.headers, partition=0, offset=7, timestamp=1_700_000_000_000
    )


def verdict(status: str, **fields: Any) -> ToolCallResolved:
    whose = {"call_id": "c2", "client_id": "painel", "session_id": "s1", "tool_name": "buscar_secao_relatorio_salvo"}
    return ToolCallResolved(**whose, status=status, **fields)


def resolved(*injections: Injection) -> ToolCallResolved:
    return verdict("resolved", resolved_args={"categoria": "DMD", "report_id": "rel_1"}, injections=injections)


def refused() -> ToolCallResolved:
    return verdict("error", error=ERRO, error_code="contexto_ausente", succeeded=False, reply=ERRO)


def to_confirm() -> ToolCallResolved:
    until = datetime(2026, 1, 14, 13, 17, tzinfo=UTC)
    return verdict("confirmation_required", preview=Preview(text="Confirma criar_duimp?", args={}, expires_at=until))


def text_of(made: ToolCallResolved) -> list[str]:
    out = Console(file=io.StringIO(), width=200)
    for renderable in verdict_lines(made):
        out.print(renderable)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


# --- what is sent ---------------------------------------------------------------------------------------------------


def test_a_call_is_read_by_the_gate_as_it_was_meant(sent):
    arguments = ("secao=processos_chegando", "categoria=DMD", "pagina:=2", "nota=a=b")
    prepared = sent("call", "buscar", *arguments, *MARIA, "--call-id", "c2", "--message-id", "m3")
    read = as_read(TOOLS_CALLS_IN, prepared)
    assert read.event.args == {"secao": "processos_chegando", "categoria": "DMD", "pagina": 2, "nota": "a=b"}
    assert (read.event.tool_name, read.event.call_id, read.event.message_id) == ("buscar", "c2", "m3")
    assert (read.envelope.tenant, read.envelope.user_id) == ("despachos", "maria")
    assert (prepared.key, prepared.name) == (b"despachos|painel|s1", "c2")


def test_two_calls_without_an_id_are_two_calls(sent):
    first, second = (sent("call", "buscar").name for _ in range(2))
    assert first != second


def test_a_result_says_what_the_session_shall_keep(sent):
    kept = ("--call-id", "c1", "--report-id", "rel_1", "--process", "DMD.0001/26", "--value", "pedido=PV-8")
    event = as_read(TOOLS_RESULTS_IN, sent("result", "gerar_relatorio", "dia=hoje", *MARIA, *kept)).event
    assert (event.succeeded, event.report_valid, event.report_id) == (True, None, "rel_1")
    assert (event.case_reference, event.values, event.args) == (
        "DMD.0001/26",
        {"pedido": "PV-8"},
        {"dia": "hoje"},
    )


def test_a_result_may_be_a_failure_or_end_a_report(sent):
    event = as_read(TOOLS_RESULTS_IN, sent("result", "x", "--failed", "--invalid")).event
    assert (event.succeeded, event.report_valid) == (False, False)


@pytest.mark.parametrize(
    ("session", "user", "stated"), [(MARIA, "maria", "maria"), (("--client", "painel"), "painel", None)]
)
@pytest.mark.parametrize("approved", [True, False])
def test_a_confirmation_is_by_the_user_whom_the_call_was_by(
    sent, session: tuple[str, ...], user: str, stated: str | None, approved: bool
):
    prepared = sent("confirm", "c4", "--yes" if approved else "--no", *session)
    read = as_read(TOOLS_CONFIRMATIONS_IN, prepared)
    assert (read.event.approved, read.event.user_id, read.envelope.user_id) == (approved, user, stated)
    assert prepared.name == "c4"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("secao",), "'secao' is no argument: write NAME=TEXT"),
        (("=x",), "'=x' is no argument"),
        ((":=1",), "':=1' is no argument"),
        (("a=1", "a:=2"), "the argument a is given twice"),
        (("a:=sim",), "'sim' of the argument a is no JSON; for a text write a=sim"),
    ],
)
def test_what_is_no_argument_is_a_usage_error_that_says_how_to_write_one(sent, arguments: tuple[str, ...], why: str):
    with pytest.raises(CommandFailed) as failed:
        sent("call", "buscar", *arguments)
    assert str(failed.value).startswith(why)
    assert failed.value.code == USAGE


def test_a_call_that_the_gate_would_not_read_is_not_sent(sent):
    with pytest.raises(CommandFailed, match=r"this cannot be sent: .*tool_name: "):
        sent("call", "")


# --- how a verdict is shown -----------------------------------------------------------------------------------------


def test_a_resolved_call_is_shown_with_what_was_injected_from_where_and_how_old():
    session = Injection(arg="report_id", value="rel_1", source="session", evidence="c1", age_seconds=44.04)
    mention = Injection(arg="processo", value="DMD.0001/26", source="mention", evidence="m5")
    default = Injection(arg="documentos", value=True, source="default")
    assert text_of(resolved(session, mention, default)) == [
        "  resolved: categoria=DMD, report_id=rel_1",
        "    report_id=rel_1 from the session, set by call c1, 44.0 s old",
        "    processo=DMD.0001/26 named by the user, in message m5",
        "    documentos=true the default of the tool's contract",
    ]


def test_a_refusal_is_shown_in_the_gates_words_with_its_code():
    assert text_of(refused()) == [f"  refused: {ERRO} (context_missing)"]


def test_a_preview_is_shown_with_its_end():
    assert text_of(to_confirm()) == ["  to be confirmed until 13:17:00Z: Confirma criar_duimp?"]


def test_brackets_of_a_value_are_shown_as_they_are():
    marked = verdict("resolved", resolved_args={"nota": "[bold]x[/bold]", "lista": [1, "a"]})
    assert text_of(marked) == ['  resolved: nota=[bold]x[/bold], lista=[1,"a"]']


def test_no_arguments_and_long_ones_are_shown_in_one_line():
    assert given({}) == "no arguments"
    assert shown("linha\n" * 80).endswith("…")
    assert len(shown("x" * 500)) == 80


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("made", "code"), [(resolved(), 0), (refused(), 5), (to_confirm(), 5)])
@pytest.mark.parametrize(
    ("words", "topic"), [(("call", "buscar"), "tools.calls.in"), (("confirm", "c2", "--no"), "tools.confirmations.in")]
)
def test_only_a_resolved_call_ends_with_0(
    monkeypatch: pytest.MonkeyPatch, made: ToolCallResolved, code: int, words: tuple[str, ...], topic: str
):
    sent: list[OutgoingRecord] = []

    async def answer_to(prepared: OutgoingRecord, awaited: ask.Awaited, *_: Any) -> bytes:
        sent.append(prepared)
        assert awaited.name_of(codec.dump(made)) == "c2"
        return codec.dump(made)

    async def found_in_the_log(*_: Any, **__: Any) -> None:
        """Nothing: there is no log to look at."""

    monkeypatch.setattr(tool, "_check_waits", found_in_the_log)
    monkeypatch.setattr(ask, "answer_to", answer_to)
    asked = ["tool", *words, "--broker", "127.0.0.1:1"]
    ended = CliRunner().invoke(app, asked)
    assert (ended.exit_code, sent[0].topic) == (code, topic)
    assert ended.output.startswith("buscar_secao_relatorio_salvo · call c2\n  ")
    as_json = CliRunner().invoke(app, [*asked, "--json"])
    assert (as_json.exit_code, json.loads(as_json.output)["status"]) == (code, made.status)


def test_the_shipped_tools_are_listed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("FATHOM_TOOL_POLICY", raising=False)
    assert CliRunner().invoke(app, ["tool", "list"]).stdout.splitlines() == [
        "book_appointment  date time [people] [topics]",
        "convert_currency  amount from_currency [to_currency]",
        "get_order  order_id [tracking_number] [include_items]",
        "refund_order  order_id [amount] [reason]  (asks the user first)",
        "send_email  to subject body  (asks the user first)",
        "update_shipping_address  order_id address [delivery]  (asks the user first for delivery=express)",
    ]


def test_what_was_recalled_is_shown_with_where_it_is_from():
    made = [
        Injection(arg="date", value="2026-03-10", source="proposal", evidence="m4", age_seconds=2.0),
        Injection(arg="price", value=12, source="result", evidence="c1", age_seconds=3.0),
        Injection(arg="city", value="Porto", source="call", evidence="c2"),
        Injection(arg="people", value=2, source="reference", evidence="c3"),
    ]
    assert text_of(resolved(*made))[1:] == [
        "    date=2026-03-10 as proposed to the user, in message m4, 2.0 s old",
        "    price=12 as offered to the user, from the result of call c1, 3.0 s old",
        "    city=Porto from the earlier call c2",
        "    people=2 from another task, in c3",
    ]


def test_the_tools_of_the_policy_are_listed(tmp_path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "tools.yaml"
    path.write_text("tools:\n  tools:\n    b: {sensitive: true}\n    a: {arguments: {x: {required: true}, y: {}}}\n")
    monkeypatch.setenv("FATHOM_TOOL_POLICY", str(path))
    listed = CliRunner().invoke(app, ["tool", "list"])
    assert listed.stdout == "a  x [y]\nb  (asks the user first)\n"
    listed = CliRunner().invoke(app, ["tool", "list", "--json"])
    assert listed.stdout.splitlines()[0] == '{"tool":"a","sensitive":false,"arguments":{"x":true,"y":false}}'
