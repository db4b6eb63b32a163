"""Values that the dialogue has settled, in the gate: where they stand, whose word they are, what is asked about."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.core.conversation.memory import ConversationTurn
from agents.core.tools.dialogue import fitting
from agents.core.tools.gate import Resolution, ToolPolicyResolver, UserMessage, preview
from agents.core.tools.session import DONE_BYTES, MAX_DONE, after_result
from schemas.tool_policy import Argument, Contract, SessionValue, ToolPolicy
from schemas.tool_session import Done, Kept, ToolSession, Waiting
from schemas.tools import ToolResult
from streams import policies
from tests.builders.customs import CUSTOMS
from tests.builders.examples import examples

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ORDER = SessionValue(kind="process", missing="Qual processo?", several="Qual? {values}", log="{value}", result="ref")
BOOK = Contract(
    arguments={
        "ferry_name": Argument(required=True, recall=True),
        "passengers": Argument(type="integer", recall=True, default=1),
        "harbour": Argument(recall=True),
        "cabin": Argument(default="standard", recall=True, choices=("standard", "suite")),
        "note": Argument(),
    },
    confirm_values={"cabin": ("suite",)},
)
PAY = Contract(
    arguments={"ferry_name": Argument(required=True, recall=True), "amount": Argument(type="number", recall=True)},
    sensitive=True,
)
TRACK = Contract(arguments={"ref": Argument(required=True, session="order", recall=True)})
POLICY = ToolPolicy(
    session={"order": ORDER},
    tools={"Ferry.Book": BOOK, "Ferry.Pay": PAY, "Track.Show": TRACK, "Ferry.Find": Contract()},
    lang="pt",
)
GATE = ToolPolicyResolver(POLICY, policies.shipped())
ROWS = (
    {"ferry_name": "Tejo Azul", "price": 14, "amount": "28"},
    {"ferry_name": "Mare Alta", "price": 12, "amount": "24.50"},
)


def at(minutes: float) -> datetime:
    return NOON - timedelta(minutes=minutes)


def found(minutes: float = 5, call_id: str = "c1", rows: Sequence[Any] = ROWS, **args: Any) -> Done:
    return Done(call_id=call_id, tool_name="Ferry.Find", args=args, succeeded=True, rows=tuple(rows), at=at(minutes))


def turn(role: str, text: str, minutes: float = 2, message_id: str = "m1") -> ConversationTurn:
    return ConversationTurn(role, text, at(minutes), message_id)


TOLD = turn("assistant", "O Mare Alta tem lugar.", 4, "a1")


def resolve(
    tool: str = "Ferry.Book",
    args: Mapping[str, Any] | None = None,
    calls: Sequence[Done] = (),
    turns: Sequence[ConversationTurn] = (),
    **kept: Any,
) -> Resolution:
    session = ToolSession(calls=tuple(calls), **kept)
    last = next((each for each in reversed(turns) if each.role == "user"), turn("user", ""))
    return GATE.resolve(tool, args or {}, session, UserMessage(last.content, last.message_id, turns), NOON)


def taken(resolution: Resolution) -> dict[str, tuple[Any, str]]:
    return {each.arg: (each.value, each.source) for each in resolution.injections}


@pytest.mark.covers("S4-42", "S4-43")
def test_a_row_that_was_offered_an_earlier_call_and_a_proposal_each_say_where_they_are_from() -> None:
    proposed = turn("assistant", "Confirma: 4 pessoas?", 1, "a2")
    resolution = resolve(calls=[found(harbour="Belém")], turns=[TOLD, turn("user", "ok"), proposed])
    assert resolution.args == {"ferry_name": "Mare Alta", "passengers": 4, "harbour": "Belém", "cabin": "standard"}
    assert {each.arg: (each.source, each.evidence, each.age_seconds) for each in resolution.injections} == {
        "ferry_name": ("result", "c1", 300.0),
        "passengers": ("proposal", "a2", 60.0),
        "harbour": ("call", "c1", 300.0),
        "cabin": ("default", None, None),
    }
    assert "✅ ferry_name injetado: Mare Alta" in resolution.notes
    shown = preview("Ferry.Book", resolution, "pt")
    assert "ferry_name=Mare Alta (de um resultado)" in shown
    assert "passengers=4 (do que foi proposto), harbour=Belém (de uma chamada anterior)" in shown


def test_another_task_s_people_go_along() -> None:
    other = Done(call_id="h1", tool_name="Hotel.Find", args={"guests": "3"}, succeeded=True, at=at(9))
    said = [turn("user", "a boat for us too, please")]
    resolution = resolve(args={"ferry_name": "Tejo Azul"}, calls=[other], turns=said)
    [people] = [each for each in resolution.injections if each.arg == "passengers"]
    assert (people.value, people.source, people.evidence) == (3, "reference", "h1")


def test_the_call_and_the_session_come_before_the_dialogue_and_the_default_after_it() -> None:
    given = resolve(args={"ferry_name": "Sado", "passengers": 2}, calls=[found(passengers="3")], turns=[TOLD])
    assert (given.args["ferry_name"], given.args["passengers"]) == ("Sado", 2)
    assert resolve(calls=[found(passengers="3")], turns=[TOLD]).args["passengers"] == 3
    tracked = Done(call_id="t1", tool_name="Track.List", args={"ref": "ALH.0002/26"}, succeeded=True, at=at(9))
    kept = {"order": Kept(value="DMD.0001/26", at=at(50), call_id="k1")}
    assert taken(resolve("Track.Show", calls=[tracked], values=kept)) == {"ref": ("DMD.0001/26", "session")}
    said = [turn("user", "mostre BND.0003/26")]
    assert taken(resolve("Track.Show", calls=[tracked], turns=said)) == {"ref": ("BND.0003/26", "mention")}
    assert taken(resolve("Track.Show", calls=[tracked])) == {"ref": ("ALH.0002/26", "call")}


def test_what_the_session_calls_over_is_not_brought_back() -> None:
    tracked = Done(call_id="t1", tool_name="Track.List", args={"ref": "ALH.0002/26"}, succeeded=True, at=at(9))
    for kept in (
        Kept(value="ALH.0002/26", at=at(9), call_id="t1", valid=False),
        Kept(value="ALH.0002/26", at=at(61), call_id="t1"),
    ):
        over = resolve("Track.Show", calls=[tracked], values={"order": kept})
        assert (over.code, over.error, over.args) == ("contexto_expirado", "Qual processo?", {})
    lax = ToolPolicy(
        session={"order": ORDER}, tools={"Track.Show": Contract({"ref": Argument(session="order", recall=True)})}
    )
    gone = ToolSession(
        calls=(tracked,), values={"order": Kept(value="ALH.0002/26", at=at(9), call_id="t", valid=False)}
    )
    assert ToolPolicyResolver(lax, GATE.kinds).resolve("Track.Show", {}, gone, UserMessage(), NOON).args == {}
    empty = resolve("Track.Show")
    assert (empty.code, empty.error, empty.retryable) == ("contexto_ausente", "Qual processo?", True)
    # Of another sort than the argument's: no value.
    wrong = Done(call_id="t1", tool_name="Track.List", args={"ref": "rel_1"}, succeeded=True, at=at(9))
    assert resolve("Track.Show", calls=[wrong]).code == "contexto_ausente"


def test_a_recalled_number_is_none_of_a_kind_that_is_written_with_letters() -> None:
    numbered = Contract(arguments={"ref": Argument(type="integer", session="order", recall=True)})
    gate = ToolPolicyResolver(ToolPolicy(session={"order": ORDER}, tools={"Track.Show": numbered}), GATE.kinds)
    made = Done(call_id="t1", tool_name="Track.List", args={"ref": 26}, succeeded=True, at=at(9))
    assert gate.resolve("Track.Show", {}, ToolSession(calls=(made,)), UserMessage(), NOON).args == {}


def test_several_are_asked_about_by_name() -> None:
    resolution = resolve(calls=[found()])
    assert resolution.code == "valor_ambiguo"
    assert resolution.error == "Mais de um valor possível para ferry_name (Tejo Azul, Mare Alta). Diga qual deles."
    assert resolution.args == {}
    same = [{"ferry_name": "Sado", "price": 1}, {"ferry_name": "Sado", "price": 2}]
    assert resolve(calls=[found(rows=same)]).args["ferry_name"] == "Sado"
    both = found(rows=[], travelers="2", seats="3", ferry_name="Sado")
    assert resolve(calls=[both]).error == "Mais de um valor possível para passengers (2, 3). Diga qual deles."


def test_only_where_the_contract_says_so_and_only_of_its_tool() -> None:
    resolution = resolve(args={"ferry_name": "Sado"}, calls=[found(note="janela", rows=[])])
    assert "note" not in resolution.args
    assert resolve("Ferry.Find", calls=[found(ferry_name="Sado")]).args == {}
    missing = resolve(args={}, calls=[])
    assert (missing.code, missing.retryable) == ("argumento_ausente", True)
    assert missing.error == "Falta ferry_name. Informe ferry_name na chamada."


def test_what_is_too_old_is_not_recalled() -> None:
    assert resolve(calls=[found(60, rows=[], harbour="Belém", ferry_name="Sado")]).args["harbour"] == "Belém"
    assert resolve(calls=[found(61, rows=[], harbour="Belém", ferry_name="Sado")]).code == "argumento_ausente"
    old = turn("assistant", "Confirma: 4 pessoas?", 61)
    assert resolve(args={"ferry_name": "Sado"}, turns=[old]).args["passengers"] == 1


@pytest.mark.parametrize("done", [ROWS, ()])
def test_what_was_carried_out_is_over_with_rows_or_without(done: Sequence[Any]) -> None:
    booked = Done(
        call_id="b1", tool_name="Ferry.Book", args={"ferry_name": "Sado"}, succeeded=True, rows=tuple(done), at=at(3)
    )
    assert resolve(calls=[booked]).code == "argumento_ausente"
    assert resolve(calls=[booked.model_copy(update={"succeeded": False, "rows": ()})]).args["ferry_name"] == "Sado"


@pytest.mark.covers("B21")
@pytest.mark.parametrize("attack", ["a row", "an answer", "an earlier call", "a call not confirmed", "a late yes"])
def test_into_a_sensitive_call_goes_nothing_that_the_user_did_not_say_or_confirm(attack: str) -> None:
    row = found(rows=[{"ferry_name": "Evil", "amount": "666"}])
    asked = Waiting(tool_name="Ferry.Pay", args={"ferry_name": "Evil", "amount": 666}, injections=(), asked_at=at(5))
    calls: dict[str, Any] = {
        "a row": {"calls": [row]},
        "an answer": {"turns": [turn("assistant", "Confirm: ferry named Evil, pay $666, right?", 1, "a1")]},
        "an earlier call": {"calls": [found(rows=[], ferry_name="Evil", amount="666")]},
        "a call not confirmed": {"calls": [row], "waiting": {"p0": asked.model_copy(update={"taken": "no"})}},
        "a late yes": {"calls": [row], "waiting": {"p0": asked.model_copy(update={"taken": "y", "approved": False})}},
    }
    resolution = resolve("Ferry.Pay", **calls[attack])
    assert (resolution.code, resolution.injections) == ("argumento_ausente", ())
    # The same would be taken where a mistake costs little.
    assert attack == "an answer" or resolve("Ferry.Book", **calls[attack]).args["ferry_name"] == "Evil"


@pytest.mark.covers("B21")
def test_what_the_user_said_or_confirmed_may_go_into_a_sensitive_call() -> None:
    said = resolve("Ferry.Pay", calls=[found()], turns=[TOLD, turn("user", "pague a Mare Alta!")])
    assert taken(said) == {"ferry_name": ("Mare Alta", "result")}
    assert said.confirm
    # Of several the one he said.
    assert taken(resolve("Ferry.Pay", calls=[found()], turns=[turn("user", "Tejo Azul, por favor")])) == {
        "ferry_name": ("Tejo Azul", "result")
    }
    assert resolve("Ferry.Pay", calls=[found()], turns=[turn("user", "Mare")]).code == "argumento_ausente"
    asked = Waiting(
        tool_name="Ferry.Pay", args={"ferry_name": "Mare Alta", "amount": 24.5}, injections=(), asked_at=at(5),
        taken="yes", approved=True,
    )  # fmt: skip
    assert taken(resolve("Ferry.Pay", calls=[found()], turns=[TOLD], waiting={"p0": asked})) == {
        "ferry_name": ("Mare Alta", "result"), "amount": (24.5, "result"),
    }  # fmt: skip
    # A value that was confirmed for something else is not.
    other = asked.model_copy(update={"args": {"note": "Mare Alta"}})
    assert resolve("Ferry.Pay", calls=[found()], turns=[TOLD], waiting={"p0": other}).code == "argumento_ausente"


@pytest.mark.covers("B21", "S4-03", "S4-33")
def test_a_value_that_has_to_be_confirmed_is_recalled_as_into_a_sensitive_call() -> None:
    calls = [found(rows=[], ferry_name="Sado", cabin="suite")]
    assert taken(resolve(calls=calls))["cabin"] == ("standard", "default")
    said = resolve(calls=calls, turns=[turn("user", "numa suite")])
    assert (taken(said)["cabin"], said.confirm) == (("suite", "call"), True)


@pytest.mark.parametrize(
    ("rule", "value", "wanted"),
    [
        (Argument(), "x", "x"), (Argument(), 7, "7"), (Argument(), True, None), (Argument(), " ", None),
        (Argument(), "x" * 501, None), (Argument(), ["x"], None), (Argument(), {"a": 1}, None),
        (Argument(), None, None),
        (Argument(type="integer"), "4", 4), (Argument(type="integer"), 4, 4), (Argument(type="integer"), "4.5", None),
        (Argument(type="integer"), True, None), (Argument(type="integer"), "quatro", None),
        (Argument(type="number"), "4.5", 4.5), (Argument(type="number"), "4", 4),
        (Argument(type="number"), "nan", None),
        (Argument(type="boolean"), "True", True), (Argument(type="boolean"), False, False),
        (Argument(type="boolean"), "sim", None),
        (Argument(choices=("Validacao", "Producao")), "validacao", "Validacao"),
        (Argument(choices=("Validacao", "Producao")), "teste", None),
    ],
)  # fmt: skip
def test_a_value_is_taken_as_its_argument_s_type_or_not_at_all(rule: Argument, value: Any, wanted: Any) -> None:
    got = fitting(rule, value)
    assert (got, type(got)) == (wanted, type(wanted))


def told(number: int, rows: Sequence[Any] | None = None, **fields: Any) -> ToolResult:
    return ToolResult.model_validate(
        {
            "call_id": f"c{number}", "client_id": "web", "session_id": "s1", "nome_tool": "Ferry.Find", "sucesso": True,
            "linhas": rows, **fields,
        },
        by_alias=True, by_name=False,
    )  # fmt: skip


def test_a_session_keeps_its_last_calls_in_order_and_not_too_much_of_them() -> None:
    session = ToolSession()
    results = [told(number, [{"n": number}], args={"harbour": f"h{number}"}) for number in range(40)]
    for number in random.Random(1).sample(range(40), 40):
        session = after_result(session, results[number], POLICY, at(40 - number))
    assert [each.call_id for each in session.calls] == [f"c{number}" for number in range(40 - MAX_DONE, 40)]
    assert after_result(session, results[39], POLICY, at(1)) == session
    [*_, last] = session.calls
    assert (last.args, last.rows) == ({"harbour": "h39"}, ({"n": 39},))
    wide = [{"text": "x" * 1000}] * 4
    for number in range(50, 60):
        session = after_result(session, told(number, wide), POLICY, at(0))
    assert 0 < sum(len(each.model_dump_json()) for each in session.calls) <= DONE_BYTES
    assert {each.call_id for each in session.calls} <= {f"c{number}" for number in range(50, 60)}
    huge = after_result(session, told(70, wide * 5, args={"harbour": "h"}), POLICY, at(-1)).calls
    assert [(each.call_id, each.args, each.rows) for each in huge] == [("c70", {"harbour": "h"}, ())]
    failed = after_result(ToolSession(), told(1, ROWS, sucesso=False), POLICY, NOON).calls
    assert [(each.succeeded, each.rows) for each in failed] == [(False, ())]


def test_nothing_is_kept_where_nothing_is_recalled() -> None:
    assert after_result(ToolSession(), told(1, ROWS), CUSTOMS, NOON).calls == ()


@pytest.mark.parametrize(
    "rows", [[{"a": 1}] * 51, [{"a": "x" * 1001}], [{f"f{n}": 1 for n in range(33)}], [{"a": {"b": 1}}], ["x"], "x"]
)
def test_rows_are_bounded(rows: Any) -> None:
    with pytest.raises(ValueError, match="linhas"):
        told(1, rows)


# --- an independent reading of what is recalled, over many generated calls

FERRIES = ("Tejo Azul", "Mare Alta", "Sado")


def reference(tool: str, args: dict[str, Any], done: list[dict[str, Any]], said: dict[str, Any]) -> Any:
    """The documented rules once more, for dialogues of the shapes generated below; written without the gate."""
    over = max((n for n, d in enumerate(done) if d["tool"] == tool and tool != "Ferry.Find" and d["ok"]), default=-1)
    own = [d for n, d in enumerate(done) if n > over and d["tool"].startswith("Ferry")]
    out = {name: value for name, value in args.items() if value is not None}
    names = ["ferry_name", "passengers", "harbour"] if tool == "Ferry.Book" else ["ferry_name", "amount"]
    people = ("passengers", "travelers", "guests")
    for name in names:
        if out.get(name) not in (None, ""):
            continue
        options: list[Any] = []
        rows = next((d["rows"] for d in reversed(own) if any(name in row for row in d["rows"])), [])
        if name == "passengers" and said["proposal"]:
            options = [said["proposal"]]
        elif rows and (name != "passengers" or any(name in d["args"] for d in own)):
            rows = [row for row in rows if name in row]
            named = [row for row in rows if row.get("ferry_name") == said["told"]]
            options = [row[name] for row in named or rows]
        elif same := [d["args"][name] for d in reversed(own) if name in d["args"]]:
            options = same[:1]
        elif name == "passengers":
            pairs = [[d["args"][n] for n in people if n in d["args"]] for d in reversed(own)]
            single = [pair[0] for pair in pairs if len(pair) == 1]
            options = single[:1] or next((pair for pair in pairs if pair), [])
            if not own and "us" in said["user"].split():
                options = [d["args"][n] for d in done for n in people if n in d["args"]]
        if name == "passengers":
            options = [int(each) for each in options if str(each).isdigit()]
        if name == "amount":
            options = [float(each) for each in options if str(each).replace(".", "").isdigit()]
        options = list(dict.fromkeys(options))
        if tool == "Ferry.Pay":
            spoken = " ".join(f" {said['user']} ".replace(".", " ").split())
            yes = [d["args"] for d in done if d["yes"]]
            options = [
                each
                for each in options
                if f" {_text(each)} " in f" {spoken} " or any(_text(a.get(name, "")) == _text(each) for a in yes)
            ]
        if len(options) > 1:
            return "several"
        if options:
            out[name] = options[0]
    if not out.get("ferry_name"):
        return "missing"
    if tool == "Ferry.Book":
        out.setdefault("passengers", 1)
        out["cabin"] = "standard"
    return out


def _text(value: Any) -> str:
    return f"{value:g}".replace(".", " ") if isinstance(value, int | float) else str(value).replace(".", " ")


@pytest.mark.covers("B22", "B21")
def test_generated_dialogues_get_the_verdict_of_an_independent_reading() -> None:
    choose = random.Random(21)
    disagreements, seen, sources = [], set(), set()
    for _ in range(examples(10_000)):
        done = [_call(choose) for _ in range(choose.choice((0, 1, 1, 2, 3)))]
        said = {
            "told": choose.choice(("", *FERRIES)),
            "proposal": choose.choice((None, None, 4)),
            "user": choose.choice(("ok", "for us", "Sado", "o Mare Alta", "pay 24.5 of it", "Tejo")),
        }
        tool = choose.choice(("Ferry.Book", "Ferry.Pay"))
        args: dict[str, Any] = {}
        if choose.random() < 0.3:
            args["ferry_name"] = choose.choice(("Sado", None, ""))
        calls = [
            Done(
                call_id=f"c{n}", tool_name=d["tool"], args=d["args"], succeeded=d["ok"], rows=tuple(d["rows"]),
                at=at(30 - n),
            )
            for n, d in enumerate(done)
        ]  # fmt: skip
        waiting = {
            f"c{n}": Waiting(
                tool_name=d["tool"], args=d["args"], injections=(), asked_at=at(30), taken="y", approved=d["yes"]
            )
            for n, d in enumerate(done)
        }
        turns = [turn("assistant", f"O {said['told']} sai logo.", 3, "a1")] if said["told"] else []
        turns += [turn("user", said["user"], 2, "m1")]
        turns += [turn("assistant", "Confirma: 4 pessoas?", 1, "a2")] if said["proposal"] else []
        resolution = resolve(tool, args, calls, turns, waiting=waiting)
        got: Any = resolution.args
        if resolution.error is not None:
            got = {"valor_ambiguo": "several", "argumento_ausente": "missing"}[str(resolution.code)]
        wanted = reference(tool, args, done, said)
        seen.add(wanted if isinstance(wanted, str) else tool)
        sources |= {each.source for each in resolution.injections}
        if got != wanted:
            disagreements.append((tool, args, done, said, got, wanted))
    assert disagreements == []
    assert seen == {"several", "missing", "Ferry.Book", "Ferry.Pay"}
    assert sources == {"result", "call", "proposal", "reference", "default"}


def _call(choose: random.Random) -> dict[str, Any]:
    tool = choose.choice(("Ferry.Find", "Ferry.Find", "Hotel.Find", "Ferry.Book", "Ferry.Pay"))
    made: dict[str, Any] = {
        name: choose.choice(values)
        for name, values in {
            "ferry_name": FERRIES,
            "harbour": ("Belem", "Seixal"),
            "passengers": ("3", "5", "x"),
            "travelers": ("2", "6"),
            "amount": ("24.5", 28),
        }.items()
        if choose.random() < 0.3
    }
    if tool == "Hotel.Find":
        made = {"guests": choose.choice(("3", "5"))}
    rows = [
        {name: value for name, value in each.items() if choose.random() < 0.8}
        for each in choose.sample(
            [{"ferry_name": ferry, "amount": choose.choice(("24.5", 28, "y"))} for ferry in FERRIES],
            choose.choice((0, 0, 1, 2, 3)),
        )
    ]
    ok = choose.random() < 0.7
    return {"tool": tool, "args": made, "rows": rows if ok else [], "ok": ok, "yes": choose.random() < 0.2}
