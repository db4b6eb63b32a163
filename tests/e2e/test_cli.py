"""The clients against one running `fathom up`: send, ask, tail, topics, demo."""

import asyncio
import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from streams.broker.process import BrokerProcess
from tests.builders import customs
from tests.e2e.test_up import ROOT, START_S, UNHURRIED, fathom, running

ESCAPE = "\x1b"
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


def client(broker: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    patience = ("--timeout", str(START_S / 2)) if arguments[0] == "ask" and "--timeout" not in arguments else ()
    ended = fathom(*arguments, *patience, "--broker", broker)
    assert ESCAPE not in ended.stdout + ended.stderr
    return ended


def produce(broker: str, topic: str, key: bytes, value: bytes) -> None:
    async def send() -> None:
        async with AIOKafkaProducer(bootstrap_servers=broker) as producer:
            await producer.send_and_wait(topic, value, key=key)

    asyncio.run(send())


def test_what_is_sent_is_asked_about_and_tailed(broker: str):
    about = ("--tenant", "acme", "--client", "web", "--conversation", "c1", "--user", "ana")
    sent = json.loads(client(broker, "send", "O prazo é dia 15.", "--message-id", "m1", "--json", *about).stdout)
    assert (sent["topic"], sent["message_id"]) == ("messages.in", "m1")

    pack = json.loads(client(broker, "ask", "Então explica melhor o prazo?", "--json", *about).stdout)
    assert (pack["conversation_id"], pack["user_id"]) == ("c1", "ana")
    assert "O prazo é dia 15." in [item["content"] for item in pack["working_set"]["recent_messages"]]

    tailed = client(broker, "tail", "context-packs.out", "--from-beginning", "--no-follow", "--json")
    records = [json.loads(line) for line in tailed.stdout.splitlines()]
    [mine] = [record for record in records if record["value"]["pack_id"] == pack["pack_id"]]
    assert mine["value"] == pack
    assert mine["key"] == "acme|web|c1"
    assert mine["type"] == mine["headers"]["ce_type"] == "context.pack-assembled.v1"


def test_a_pack_is_shown_with_its_depth_sections_and_sources(broker: str):
    client(broker, "send", "O orçamento é de R$ 40 mil.", "--conversation", "shown")
    shown = client(broker, "ask", "Explica melhor o orçamento.", "--conversation", "shown")
    assert shown.returncode == 0
    for expected in ("Explica melhor o orçamento.", "depth D2, confidence", "explanation “Explica", "working set"):
        assert expected in shown.stdout
    assert "- user: O orçamento é de R$ 40 mil." in shown.stdout
    assert "messages.in[" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 120


def test_a_document_is_found_once_it_was_sent(broker: str, tmp_path: Path):
    note = tmp_path / "estorno.md"
    note.write_text(
        "# Estorno de pagamento\n\nO estorno de pagamento demora cinco dias úteis para aparecer na fatura.\n"
    )
    assert client(broker, "send", "--document", str(note), "--tenant", "docs").returncode == 0
    for attempt in range(20):
        about = ("--tenant", "docs", "--conversation", f"d{attempt}")
        asked = client(broker, "ask", "Explica como funciona o estorno de pagamento?", "--json", *about)
        chunks = (json.loads(asked.stdout).get("semantic") or {}).get("knowledge_chunks", [])
        if any("cinco dias úteis" in chunk["text"] for chunk in chunks):
            return
    pytest.fail("the document did not come back in twenty packs")


def test_a_profile_is_set_and_shown_a_pack_is_rated_and_a_claim_corrected(broker: str):
    about = ("--tenant", "users", "--conversation", "c1", "--user", "ana")
    unknown = client(broker, "profile", "show", "ana", "--tenant", "users")
    assert unknown.returncode == 1
    assert "fathom profile set ana" in unknown.stderr
    as_users = ("--tenant", "users")
    assert client(broker, "profile", "set", "ana", "--role", "analista", *as_users).returncode == 0
    assert client(broker, "profile", "set", "ana", "--objective", "Vender mais", *as_users).returncode == 0
    shown = json.loads(client(broker, "profile", "show", "ana", "--json", *as_users).stdout)
    assert (shown["user_role"], [each["title"] for each in shown["objectives"]]) == ("analista", ["Vender mais"])

    client(broker, "send", "O prazo é dia 15", "--role", "assistant", *about)
    pack = json.loads(client(broker, "ask", "Não, o prazo mudou para dia 20", "--json", *about).stdout)
    rated = client(broker, "feedback", pack["message_id"], "--rating", "4", "--expected", "D3", "--json", *about)
    assert json.loads(rated.stdout)["message_id"] == pack["pack_id"]
    [wrong] = pack["claims"]["system_claims"]
    by = ("--user", "ana", "--tenant", "users")
    corrected = client(broker, "correct", "É dia 20.", "--claim", wrong["claim_id"], "--value", "dia 20", *by)
    assert corrected.returncode == 0
    assert client(broker, "correct", "É dia 20.", *by).returncode == 2
    for _ in range(20):
        topics = ("memory.decisions", "memory.corrections", "dead-letters.correction")
        tailed = [client(broker, "tail", topic, "--from-beginning", "--no-follow", "--json") for topic in topics]
        values = [json.loads(line)["value"] for ended in tailed for line in ended.stdout.splitlines()]
        if any(each["texto"] == "É dia 20." for each in values if "texto" in each):
            break
    assert pack["pack_id"] in [each["subject_id"] for each in values if each.get("kind") == "weights"]
    assert wrong["claim_id"] in [each["target_id"] for each in values if each.get("new_value") == "dia 20"]


def test_a_bad_line_stops_the_file_there_and_says_how_many_were_sent(broker: str, tmp_path: Path):
    lines = tmp_path / "turns.jsonl"
    good = '{"question": "oi", "conversation_id": "bad-line", "client_id": "web"}'
    lines.write_text(f'{good}\n\n{good}\n{{"question": "oi", "history": []}}\n{good}\n')
    ended = client(broker, "send", "--file", str(lines), "--json")
    assert ended.returncode == 1
    assert len(ended.stdout.splitlines()) == 2
    assert f"{lines}:4: " in ended.stderr
    assert f"2 lines of {lines} were sent: go on with --from-line 4" in ended.stderr
    lines.write_text(lines.read_text().replace(', "history": []', ', "conversation_id": "c", "client_id": "web"'))
    went_on = client(broker, "send", "--file", str(lines), "--from-line", "4", "--json")
    assert (went_on.returncode, len(went_on.stdout.splitlines())) == (0, 2)


def test_a_file_of_turns_is_sent_in_its_order(broker: str, tmp_path: Path):
    lines = tmp_path / "many.jsonl"
    ids = [f"many-{number}" for number in range(300)]
    turn = {"role": "assistant", "content": "…", "conversation_id": "many", "client_id": "web"}
    lines.write_text("".join(json.dumps({**turn, "message_id": name}) + "\n" for name in ids))
    sent = [json.loads(line) for line in client(broker, "send", "--file", str(lines), "--json").stdout.splitlines()]
    assert [each["message_id"] for each in sent] == ids
    assert [each["offset"] for each in sent] == sorted(each["offset"] for each in sent)


def test_a_dead_letter_is_tailed_with_its_reason_and_where_it_came_from(broker: str):
    produce(broker, "messages.in", b"acme|web|poison", b'{"broken"')
    ended = client(broker, "tail", "dead-letters.depth", "--from-beginning", "--limit", "1", "--json")
    letter = json.loads(ended.stdout)
    assert letter["value"] == '{"broken"'
    assert letter["dead_letter"]["reason"] == "not_json"
    assert (letter["dead_letter"]["topic"], letter["dead_letter"]["stage"]) == ("messages.in", "depth")
    assert letter["key"] == "acme|web|poison"
    shown = client(broker, "tail", "dead-letters.depth", "--from-beginning", "--limit", "1").stdout
    place = letter["dead_letter"]
    assert f"depth could not process messages.in[{place['partition']}]@{place['offset']}" in shown
    assert "not_json" in shown


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


def test_an_unknown_topic_is_a_usage_error_with_the_nearest(broker: str):
    ended = client(broker, "tail", "context-pack.out")
    assert ended.returncode == 2
    assert "did you mean context-packs.out?" in ended.stderr


def test_topics_are_as_planned(broker: str):
    planned = client(broker, "topics", "plan", "--json")
    assert planned.returncode == 0
    changes = [json.loads(line) for line in planned.stdout.splitlines()]
    assert {change["action"] for change in changes} == {"keep"}
    assert {"messages.in", "dead-letters.assembler"} <= {change["topic"] for change in changes}
    differing = fathom("topics", "plan", "--broker", broker, FATHOM_PARTITIONS="3")
    assert differing.returncode == 5
    assert "set FATHOM_PARTITIONS=2" in differing.stdout
    torn = fathom("topics", "apply", "--broker", broker, FATHOM_PARTITIONS="3")
    assert torn.returncode == 5
    assert "set FATHOM_PARTITIONS=2" in torn.stderr


def test_without_a_worker_topics_are_made_once_and_a_question_says_where_to_look(tmp_path: Path):
    with BrokerProcess() as server:
        address = server.start(tmp_path / "broker")
        assert client(address, "ask", "Olá!").returncode == 3  # no topics yet
        for action in ("create", "keep"):
            applied = client(address, "topics", "apply", "--json")
            assert {json.loads(line)["action"] for line in applied.stdout.splitlines()} == {action}
        ended = client(address, "ask", "Olá!", "--timeout", "0.5")
    assert ended.returncode == 4
    assert "no pack came within 0.5 s for message " in ended.stderr
    assert "fathom tail dead-letters.depth --from-beginning" in ended.stderr


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("feedback", "nosuch", "--rating", "2"), "no user's message 'nosuch' is in conversation 'default'"),
        (("correct", "no", "--claim", "nope", "--user", "ana"), "there is no claim 'nope'; take the id of a claim"),
        (("correct", "no", "--consultation", "nope", "--user", "ana"), "there is no consultation 'nope'"),
        (("send", "Sim.", "--role", "assistant", "--answers", "nope"), "no user's message 'nope' is in conversation"),
        (
            ("tool", "confirm", "nosuch"),
            "no call 'nosuch' waits for a yes in conversation 'default' of client 'default'",
        ),
        (("tail", "dead-letter.depth"), "did you mean dead-letters.depth or "),
    ],
)
def test_an_id_of_nothing_is_said_at_once(broker: str, words: tuple[str, ...], said: str):
    ended = client(broker, *words)
    assert ended.returncode == (2 if words[0] == "tail" else 1)
    assert said in ended.stderr
    assert len(ended.stderr) < 400
    assert ended.stdout == ""


def test_a_reader_of_packs_and_of_a_log_may_end_early(broker: str):
    for words in ("ask oi --broker", "tail messages.in --from-beginning --no-follow --broker", "assess oi --available"):
        shell = f"set -o pipefail; {sys.executable} -m streams {words} {broker} | head -1"
        ended = subprocess.run(["bash", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=START_S)
        assert (ended.returncode, ended.stderr, len(ended.stdout.splitlines())) == (0, "", 1)
