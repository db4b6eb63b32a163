"""The commands of a user against a running `fathom up`: send, ask, tail, profiles, ratings, corrections, topics."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from streams.broker.process import BrokerProcess
from tests.e2e.calls import client, produce, records, until
from tests.e2e.conftest import Tenant
from tests.e2e.processes import fathom


def typed(tenant: Tenant, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of the tenant's."""
    return client(tenant.bootstrap, *arguments, "--tenant", tenant.name)


def test_what_is_sent_is_asked_about_and_tailed(tenant: Tenant):
    about = ("--client", "web", "--conversation", "c1", "--user", "ana")
    sent = json.loads(typed(tenant, "send", "O prazo é dia 15.", "--message-id", "m1", "--json", *about).stdout)
    assert (sent["topic"], sent["message_id"]) == ("messages.in", "m1")

    pack = json.loads(typed(tenant, "ask", "Então explica melhor o prazo?", "--json", *about).stdout)
    assert (pack["conversation_id"], pack["user_id"]) == ("c1", "ana")
    assert "O prazo é dia 15." in [item["content"] for item in pack["working_set"]["recent_messages"]]

    tailed = records(tenant.bootstrap, "context-packs.out")
    [mine] = [record for record in tailed if record["value"]["pack_id"] == pack["pack_id"]]
    assert mine["value"] == pack
    assert mine["key"] == f"{tenant.name}|web|c1"
    assert mine["type"] == mine["headers"]["ce_type"] == "context.pack-assembled.v1"


def test_a_pack_is_shown_with_its_depth_sections_and_sources(tenant: Tenant):
    typed(tenant, "send", "O orçamento é de R$ 40 mil.", "--conversation", "shown")
    shown = typed(tenant, "ask", "Explica melhor o orçamento.", "--conversation", "shown")
    assert shown.returncode == 0
    for expected in ("Explica melhor o orçamento.", "depth D2, confidence", "explanation “Explica", "working set"):
        assert expected in shown.stdout
    assert "- user: O orçamento é de R$ 40 mil." in shown.stdout
    assert "messages.in[" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 120


def test_a_document_is_found_once_it_was_sent(tenant: Tenant, tmp_path: Path):
    note = tmp_path / "estorno.md"
    note.write_text(
        "# Estorno de pagamento\n\nO estorno de pagamento demora cinco dias úteis para aparecer na fatura.\n"
    )
    assert typed(tenant, "send", "--document", str(note)).returncode == 0
    for attempt in range(20):
        about = ("--conversation", f"d{attempt}")
        asked = typed(tenant, "ask", "Explica como funciona o estorno de pagamento?", "--json", *about)
        chunks = (json.loads(asked.stdout).get("semantic") or {}).get("knowledge_chunks", [])
        if any("cinco dias úteis" in chunk["text"] for chunk in chunks):
            return
    pytest.fail("the document did not come back in twenty packs")


def test_a_profile_is_set_and_shown_a_pack_is_rated_and_a_claim_corrected(tenant: Tenant):
    about = ("--conversation", "c1", "--user", "ana")
    unknown = typed(tenant, "profile", "show", "ana")
    assert unknown.returncode == 1
    assert "No profile for user 'ana'. Create one: fathom profile set ana --role …" in unknown.stderr
    assert typed(tenant, "profile", "set", "ana", "--role", "analista").returncode == 0
    assert typed(tenant, "profile", "set", "ana", "--objective", "Vender mais").returncode == 0
    shown = json.loads(typed(tenant, "profile", "show", "ana", "--json").stdout)
    assert (shown["user_role"], [each["title"] for each in shown["objectives"]]) == ("analista", ["Vender mais"])

    typed(tenant, "send", "O prazo é dia 15", "--role", "assistant", *about)
    pack = json.loads(typed(tenant, "ask", "Não, o prazo mudou para dia 20", "--json", *about).stdout)
    rated = typed(tenant, "feedback", pack["message_id"], "--rating", "4", "--expected", "D3", "--json", *about)
    assert json.loads(rated.stdout)["message_id"] == pack["pack_id"]
    [wrong] = pack["claims"]["system_claims"]
    by = ("--user", "ana")
    corrected = typed(tenant, "correct", "É dia 20.", "--claim", wrong["claim_id"], "--value", "dia 20", *by)
    assert corrected.returncode == 0
    assert typed(tenant, "correct", "É dia 20.", *by).returncode == 2
    for _ in range(20):
        topics = ("memory.decisions", "memory.corrections", "dead-letters.correction")
        values = [each["value"] for topic in topics for each in records(tenant.bootstrap, topic)]
        if any(each["texto"] == "É dia 20." for each in values if "texto" in each):
            break
    assert pack["pack_id"] in [each["subject_id"] for each in values if each.get("kind") == "weights"]
    assert wrong["claim_id"] in [each["target_id"] for each in values if each.get("new_value") == "dia 20"]


def test_a_bad_line_stops_the_file_there_and_says_how_many_were_sent(tenant: Tenant, tmp_path: Path):
    lines = tmp_path / "turns.jsonl"
    good = '{"question": "oi", "conversation_id": "bad-line", "client_id": "web"}'
    lines.write_text(f'{good}\n\n{good}\n{{"question": "oi", "history": []}}\n{good}\n')
    ended = typed(tenant, "send", "--file", str(lines), "--json")
    assert ended.returncode == 1
    assert len(ended.stdout.splitlines()) == 2
    assert f"{lines}:4: " in ended.stderr
    assert f"2 lines of {lines} were sent: go on with --from-line 4" in ended.stderr
    lines.write_text(lines.read_text().replace(', "history": []', ', "conversation_id": "c", "client_id": "web"'))
    went_on = typed(tenant, "send", "--file", str(lines), "--from-line", "4", "--json")
    assert (went_on.returncode, len(went_on.stdout.splitlines())) == (0, 2)


def test_where_nothing_was_sent_yet_a_bad_line_is_said_to_have_stopped_all(tenant: Tenant, tmp_path: Path):
    lines = tmp_path / "turns.jsonl"
    lines.write_text('{"question": "oi", "history": []}\n')
    ended = typed(tenant, "send", "--file", str(lines), "--json")
    assert ended.returncode == 1
    assert "; nothing was sent: correct the line and send the file again" in ended.stderr


def test_a_file_of_turns_is_sent_in_its_order(tenant: Tenant, tmp_path: Path):
    lines = tmp_path / "many.jsonl"
    ids = [f"many-{number}" for number in range(300)]
    turn = {"role": "assistant", "content": "…", "conversation_id": "many", "client_id": "web"}
    lines.write_text("".join(json.dumps({**turn, "message_id": name}) + "\n" for name in ids))
    sent = [json.loads(line) for line in typed(tenant, "send", "--file", str(lines), "--json").stdout.splitlines()]
    assert [each["message_id"] for each in sent] == ids
    assert [each["offset"] for each in sent] == sorted(each["offset"] for each in sent)


def test_a_dead_letter_is_tailed_with_its_reason_and_where_it_came_from(tenant: Tenant):
    key = f"{tenant.name}|web|poison"
    produce(tenant.bootstrap, "messages.in", key.encode(), b'{"broken"')
    mine = until(lambda: [each for each in records(tenant.bootstrap, "dead-letters.depth") if each["key"] == key])
    [letter] = mine
    assert letter["value"] == '{"broken"'
    assert letter["dead_letter"]["reason"] == "not_json"
    assert (letter["dead_letter"]["topic"], letter["dead_letter"]["stage"]) == ("messages.in", "depth")
    shown = client(tenant.bootstrap, "tail", "dead-letters.depth", "--from-beginning", "--no-follow").stdout
    place = letter["dead_letter"]
    said = f"depth could not process messages.in[{place['partition']}]@{place['offset']}"
    [line] = [line for line in shown.splitlines() if said in line]
    assert "not_json" in line


def test_an_unknown_topic_is_a_usage_error_with_the_nearest(tenant: Tenant):
    ended = client(tenant.bootstrap, "tail", "context-pack.out")
    assert ended.returncode == 2
    assert "did you mean context-packs.out?" in ended.stderr


def test_topics_are_as_planned(tenant: Tenant):
    planned = client(tenant.bootstrap, "topics", "plan", "--json")
    assert planned.returncode == 0
    changes = [json.loads(line) for line in planned.stdout.splitlines()]
    assert {change["action"] for change in changes} == {"keep"}
    assert {"messages.in", "dead-letters.assembler"} <= {change["topic"] for change in changes}
    # Where there is a conversation, another number of partitions would tear it: nothing is changed.
    assert typed(tenant, "send", "oi").returncode == 0
    differing = fathom("topics", "plan", "--broker", tenant.bootstrap, FATHOM_PARTITIONS="3")
    assert differing.returncode == 5
    assert "set FATHOM_PARTITIONS=2" in differing.stdout
    torn = fathom("topics", "apply", "--broker", tenant.bootstrap, FATHOM_PARTITIONS="3")
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
def test_an_id_of_nothing_is_said_at_once(tenant: Tenant, words: tuple[str, ...], said: str):
    ended = client(tenant.bootstrap, *words) if words[0] == "tail" else typed(tenant, *words)
    assert ended.returncode == (2 if words[0] == "tail" else 1)
    assert said in ended.stderr
    assert len(ended.stderr) < 400
    assert ended.stdout == ""


def canaries(bootstrap: str) -> list[dict[str, Any]]:
    """What was asked of this system in order to time or to examine it."""
    said = records(bootstrap, "messages.in")
    return [each["value"] for each in said if each["headers"].get("tenant") == "_canary"]


def test_packs_are_timed_and_nothing_of_the_questions_stays(tenant: Tenant):
    before = {each["conversation_id"] for each in canaries(tenant.bootstrap)}
    told = json.loads(client(tenant.bootstrap, "bench", "--questions", "6", "--json").stdout)
    assert told["packs"] == 6
    assert 0 < told["p50_ms"] <= told["p95_ms"]
    # Other tests have left canaries of theirs.
    asked = [each for each in canaries(tenant.bootstrap) if each["conversation_id"] not in before]
    assert len({each["conversation_id"] for each in asked}) == 1
    assert len(asked) == 1 + 4 + 6
    assert asked[-1]["forgotten"] is True
    shown = client(tenant.bootstrap, "bench", "--questions", "1")
    assert shown.stdout.startswith("1 packs, one at a time: p50 ")
