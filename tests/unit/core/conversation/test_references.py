"""What messages name, by the kinds of a policy file, and what was named last."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from agents.core.conversation import references
from agents.core.conversation.memory import Session
from schemas.depth import Reference
from schemas.policy import NO_KINDS, KindPolicy, ReferencePolicy
from streams import policies
from streams.stores.sessions.turn_codec import decode_session, encode_session

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def found(text: str, role: str = "user", policy: ReferencePolicy | None = None) -> list[tuple[str, str]]:
    said = references.named(text, role, policy or policies.shipped(), "m1", AT)
    return [(each.kind, each.value) for each in said]


def reference(kind: str, value: str, number: int = 1) -> Reference:
    return Reference(kind=kind, value=value, message_id=f"m{number}", at=AT + timedelta(seconds=number))


@pytest.mark.covers("S1-L9")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Qual o preço de PETR4?", [("ticker", "PETR4")]),
        ("qual o preço da petr4?", [("ticker", "PETR4")]),
        ("TAEE11 e SANB3 no mesmo dia", [("ticker", "TAEE11"), ("ticker", "SANB3")]),
        ("O item4 da fase3 custou 70 mil", []),
        ("abra o rel_20260114_095826", [("report", "rel_20260114_095826")]),
        ("status do DMD.0001/26", [("process", "DMD.0001/26")]),
        ("autos 0001234-56.2024.8.26.0100", [("process", "0001234-56.2024.8.26.0100")]),
        ("a reunião de 12/03/2026", [("date", "12/03/2026")]),
        ("vence em 2026-03-12", [("date", "2026-03-12")]),
        ("até 1º de março de 2026", [("date", "1º de março de 2026")]),
        ("due on March 12, 2026", [("date", "March 12, 2026")]),
        ("o SKU: ab-1203", [("product-code", "AB-1203")]),
        ("segundo o contrato nº 45/2023.", [("document", "45/2023")]),
        ("veja invoice #INV-0042 e proposta_v2.pdf", [("document", "INV-0042"), ("document", "proposta_v2.pdf")]),
        ("fale com a Dra. Ana de Souza hoje", [("person", "Ana de Souza")]),
        ("ask Mr. O'Neil about it", [("person", "O'Neil")]),
        ("chegou ao porto de Santos", [("place", "Santos")]),
        ("the port of Rotterdam is closed", [("place", "Rotterdam")]),
        ("e o dividendo?", []),
        ("", []),
    ],
)  # fmt: skip
def test_the_shipped_kinds_are_recognised_in_the_order_of_the_message(text, named):
    assert found(text) == named


def test_a_kind_counts_in_the_words_of_those_it_names():
    said = "Gerei o rel_7 sobre PETR4."
    assert found(said, "assistant") == [("report", "rel_7")]
    assert found(said, "user") == [("report", "rel_7"), ("ticker", "PETR4")]
    assert found(said, "system") == []


def test_of_two_kinds_that_match_the_same_words_the_first_wins_and_values_are_named_once():
    first = ReferencePolicy({"code": KindPolicy(("[A-Z]+[0-9]",)), "any": KindPolicy((r"\w+",), written="lower")})
    assert found("AB1 und AB1 UND", policy=first) == [("code", "AB1"), ("any", "und")]
    assert found("AB1", policy=NO_KINDS) == []


def test_what_is_kept_of_a_message_is_bounded():
    assert len(found(" ".join(f"rel_{n}" for n in range(400)))) == 16
    assert found("rel_" + "x" * 200) == []
    assert found("PETR4 " + "x" * 100_000 + " VALE3")[0] == ("ticker", "PETR4")


@pytest.mark.covers("S1-L7", "S1-L9")
def test_the_last_of_each_kind_is_kept_the_newest_at_the_end():
    known = references.newest((), (reference("ticker", "PETR4"), reference("date", "12/03/2026")))
    known = references.newest(known, (reference("ticker", "VALE3", 2),))
    assert [(each.kind, each.value) for each in known] == [("date", "12/03/2026"), ("ticker", "VALE3")]
    assert references.last(known) == reference("ticker", "VALE3", 2)
    assert references.last(known, "date") == reference("date", "12/03/2026")
    assert references.last(known, "report") is references.last(()) is None


@pytest.mark.covers("S1-L7", "S1-L9")
def test_of_two_named_together_neither_is_the_last():
    together = [reference("ticker", "PETR4"), reference("ticker", "VALE3").model_copy(update={"message_id": "m1"})]
    known = references.newest((reference("ticker", "ITUB4", 0),), together)
    assert [each.value for each in known] == ["PETR4", "VALE3"]
    assert references.last(known, "ticker") is None
    later = references.newest(known, (reference("ticker", "PETR4", 5),))
    assert [each.value for each in later] == ["PETR4"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "references:\n  kinds:\n    ticker:\n      patterns: ['[A-Z']\n",
            "line 4: kinds.ticker.patterns: '[A-Z' is no regular expression",
        ),
        (
            "kinds:\n  ticker:\n    pattern: ['x']\n",
            "line 3: unknown key 'kinds.ticker.pattern', did you mean 'patterns'?",
        ),
        ("kinds:\n  ticker:\n    written: upper\n", "line 2: kinds.ticker.patterns: Field required"),
        ("kind:\n  ticker: x\n", "line 1: unknown key 'kind', did you mean 'kinds'?"),
        (
            "kinds:\n  ticker:\n    patterns: [x]\n    roles: [client]\n",
            "line 4: kinds.ticker.roles.0: Input should",
        ),
    ],
    ids=["no-regex", "misspelled", "lacking", "misspelled-top", "no-role"],
)
def test_a_policy_that_cannot_be_used_is_said_with_its_line_and_the_shipped_one_is_used(tmp_path, text, said):
    path = tmp_path / "references.yaml"
    path.write_text(text)
    policy, warning = policies.reference_policy(path)
    assert policy == policies.shipped()
    assert warning is not None
    assert said in warning


def test_a_policy_of_ones_own_replaces_the_shipped_one(tmp_path: Path):
    path = tmp_path / "references.yaml"
    path.write_text("references:\n  kinds:\n    ticket: {patterns: ['#(?P<value>[0-9]+)'], roles: [assistant]}\n")
    policy, warning = policies.reference_policy(path)
    assert warning is None
    assert found("see #42 and PETR4", "assistant", policy) == [("ticket", "42")]
    assert policies.reference_policy(None) == (policies.shipped(), None)
    assert set(policies.shipped().kinds) == {
        "report", "process", "order", "date", "product-code", "document", "ticker", "person", "place",
    }  # fmt: skip


def test_a_session_of_the_version_before_is_read_and_that_version_reads_ours():
    session = Session(frame_id="f1", references=(reference("date", "12/03/2026"), reference("ticker", "PETR4", 2)))
    kept = orjson.loads(encode_session(session))
    assert decode_session(orjson.dumps(kept)) == session
    assert (kept["last_reference"]["kind"], kept["last_reference"]["value"]) == ("ticker", "PETR4")
    del kept["references"]
    assert decode_session(orjson.dumps(kept)) == Session(frame_id="f1")
