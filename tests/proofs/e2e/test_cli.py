"""The long demo, and commands whose reader ends early or that are interrupted."""

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import customs
from tests.checkout import ROOT
from tests.e2e.calls import ESCAPE, client
from tests.e2e.processes import START_S, UNHURRIED, fathom, running

SECTIONS = ("working set", "persona", "episodic", "semantic", "procedural", "claims", "left out")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("up")
    with running(
        "up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **UNHURRIED, **customs.NAMED
    ) as process:
        yield process.ready()["bootstrap"]
        assert process.end()[0] == 0
        assert "Traceback" not in (place / "err").read_text()


def test_tail_ends_with_its_reader_and_with_130_when_interrupted(broker: str):
    client(broker, "send", "oi")
    tail = shlex.join([sys.executable, "-m", "streams", "tail", "messages.in", "--from-beginning", "--broker", broker])
    piped = subprocess.run(["sh", "-c", f"{tail} | head -1"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert len(piped.stdout.splitlines()) == 1
    assert piped.stderr == ""
    with subprocess.Popen(shlex.split(tail), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert (child.returncode, said) == (130, b"")


@pytest.mark.covers("AC-10")
def test_the_long_demo_needs_nothing_and_shows_every_decision_and_section_as_plain_text():
    # With the vectors that users have: those of the twin say of everything that it is near.
    shown = fathom("demo", "--all", FATHOM_EMBEDDER="use")
    assert shown.returncode == 0, shown.stderr
    assert ESCAPE not in shown.stdout + shown.stderr
    for section in SECTIONS:
        assert f"\n    {section} · " in shown.stdout, section
    for level in ("D0", "D1", "D2", "D3", "D4"):
        assert f"\n  depth {level}, confidence " in shown.stdout, level
    assert "user said: prazo · data = dia 20" in shown.stdout
    assert "system said: prazo · data = dia 15 (contested)" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 120
    assert "38 messages, 38 packs" in shown.stdout
    for said in (
        "  asked with secao=processos_chegando, categoria=DMD\n"
        "  resolved: secao=processos_chegando, categoria=DMD, report_id=rel_20260114_095826\n"
        "    report_id=rel_20260114_095826 from the session, set by call relatorio-do-dia, ",
        "    processo_referencia=DMD.0001/26 named by the user, in message importacao-05\n",
        '  refused: Nenhum relatório ativo. Gere um relatório primeiro (ex: "o que temos pra hoje?")',
        " (context_missing)\n",
        "Z: Confirma criar_duimp com processo_referencia=DMD.0001/26 (da sessão),",
        "  maria says yes\n  resolved: processo_referencia=DMD.0001/26, ambiente=Validacao\n",
        "  “Muito obrigada, era só isso!”\n  greeting: needs no deep context",
        "    do    respond_directly (tier minimal, saves 500 tokens)\n",
        "    do    deep_retrieval (tier deep)\n",
        "4 tool calls: 2 resolved, 1 refused, 1 confirmed by the user first\n",
        "4 assessments: 2 retrievals saved, 1,000 tokens saved\n",
    ):
        assert said in shown.stdout, said
    [directory] = re.findall(r"in (/\S+fathom-demo-\S+)", shown.stderr)
    assert not Path(directory).exists()
    assert ", 0 dead letters" in shown.stdout
    titles = ("a complex question", "a question that nothing answers", "the same, asked again")
    assert [len(re.findall(rf"^deep · {title} ─", shown.stdout, re.MULTILINE)) for title in titles] == [2, 2, 2]
    pt, en = re.split(r"^deep · a complex question ", shown.stdout, flags=re.MULTILINE)[1:]
    for part, sections, nothing in (
        (pt, ("Fundamento Legal", "Análise", "Conclusão"), "Não encontrei evidência suficiente"),
        (en, ("Analysis", "Conclusion"), "I found no sufficient evidence"),
    ):
        assert all(f"\n  {section}\n" in part for section in sections)
        assert "\n  answered, confidence 0." in part
        assert "\n  abstained\n" in part
        assert nothing in part
        assert " corrects it: " in part
    assert "[lei:CLT-art71] CLT: jornada e contrato › Art. 71 · document lei.md" in pt


def test_the_long_demo_as_json_is_one_object_per_message_and_the_sum(broker: str):
    lines = [json.loads(line) for line in client(broker, "demo", "--all", "--json").stdout.splitlines()]
    messages, summary = [line for line in lines if line["event"] == "message"], lines[-1]
    assert len(messages) == 38
    assert summary["event"] == "summary"
    assert summary["packs"] == summary["messages"] == 38
    assert 0 < summary["tokens"] < summary["tokens_everything"]
    assert summary["corrections"] >= 2
    for message in messages:
        assert message["pack"]["message_id"] == message["message_id"] == message["plan"]["message_id"]
        assert len(message["parts"]) == len(message["pack"]["parts"])
    acts = [line for line in lines if line["event"] in ("result", "call", "confirmation", "assessment")]
    # A system where cognition is off gives no deep answers, and says so.
    [note] = [line["text"] for line in lines if line["event"] == "note"]
    assert "RAG_ENABLE_COGRAG" in note
    assert len(acts) == len(lines) - len(messages) - 2
    statuses = [(act["event"], act["made"]["status"]) for act in acts if "status" in (act["made"] or {})]
    assert statuses == [
        ("call", "resolved"),
        ("call", "resolved"),
        ("call", "confirmation_required"),
        ("confirmation", "resolved"),
        ("call", "error"),
    ]
    needed = [act["made"]["needs_deep_context"] for act in acts if act["event"] == "assessment"]
    assert needed == [False, True, False, True]


def test_a_reader_of_packs_and_of_a_log_may_end_early(broker: str):
    for words in ("ask oi --broker", "tail messages.in --from-beginning --no-follow --broker", "assess oi --available"):
        shell = f"set -o pipefail; {sys.executable} -m streams {words} {broker} | head -1"
        ended = subprocess.run(["bash", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=START_S)
        assert (ended.returncode, ended.stderr, len(ended.stdout.splitlines())) == (0, "", 1)
