"""`fathom ingest` returns when what it sent can be found, sends only what changed, and says what was refused."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.first_ask import first_pack
from streams.broker.process import BrokerProcess
from tests.builders.pdf import pdf
from tests.e2e.test_cli import client
from tests.e2e.test_up import ROOT, UNHURRIED, fathom, running

WIDE = ("--tenant", "_public")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("up")
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **UNHURRIED) as process:
        yield process.ready()["bootstrap"]
        assert process.end()[0] == 0


def ingest(broker: str, *arguments: str) -> list[dict[str, object]]:
    ended = client(broker, "ingest", *arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def insurance(broker: str, tenant: str, conversation: str) -> list[str]:
    asked = ("ask", "Explica em detalhes o seguro de viagem?", "--json", "--tenant", tenant)
    pack = json.loads(client(broker, *asked, "--conversation", conversation).stdout)
    return [each["text"] for each in pack["semantic"]["knowledge_chunks"]]


def test_a_folder_is_found_when_the_command_returns_and_again_only_what_changed_is_sent(broker: str, tmp_path: Path):
    pages = [[(18, "Seguro de viagem"), (0, ""), (11, "O seguro de viagem cobre malas perdidas.")]]
    (tmp_path / "seguro.pdf").write_bytes(pdf(pages))
    (tmp_path / "ferias.html").write_text("<!doctype html><h1>Férias</h1><p>Trinta dias por ano.</p>")
    (tmp_path / "vazio.md").write_text("")
    first = ingest(broker, str(tmp_path), "--tenant", "pasta")
    assert (first[-1]["documents"], first[-1]["skipped"], first[-1]["visible"]) == (2, 1, True)
    assert {line["topic"] for line in first if "topic" in line} == {"documents.in"}
    assert any("malas perdidas" in text for text in insurance(broker, "pasta", "c1"))

    (tmp_path / "seguro.pdf").write_bytes(pdf([[*pages[0], (11, "O seguro de viagem paga o hospital.")]]))
    second = ingest(broker, str(tmp_path), "--tenant", "pasta")
    assert (second[-1]["documents"], second[-1]["unchanged"]) == (1, 1)
    assert any("hospital" in text for text in insurance(broker, "pasta", "c2"))
    assert [
        ingest(broker, str(tmp_path), "--tenant", "pasta", *more)[-1]["documents"] for more in ((), ("--all",))
    ] == [0, 2]


def test_a_document_that_ingestion_refuses_is_named_with_the_reason(broker: str, tmp_path: Path):
    (tmp_path / "a.md").write_text("# Para todos\n\nUm texto.")
    for _ in range(2):  # what was refused is not known as sent
        ended = client(broker, "ingest", str(tmp_path / "a.md"), *WIDE)
        assert ended.returncode == 1
        assert f"{tmp_path}/a.md  public_tenant_read_only: _public is written only by an administrator" in ended.stderr


def test_without_a_worker_the_wait_ends_with_a_sentence_and_without_waiting_nothing_is_amiss(tmp_path: Path):
    (tmp_path / "a.md").write_text("# Férias\n\nTrinta dias.")
    process = BrokerProcess()
    alone = process.start(tmp_path / "broker", 0, partitions=2)
    try:
        assert fathom("topics", "apply", "--broker", alone).returncode == 0
        waited = fathom("ingest", str(tmp_path / "a.md"), "--timeout", "1", "--broker", alone)
        assert waited.returncode == 4
        assert "1 documents were sent, but not all can be found yet: there are 1 documents to read" in waited.stderr
        sent = fathom("ingest", str(tmp_path / "a.md"), "--no-wait", "--all", "--broker", alone)
        assert (sent.returncode, sent.stderr) == (0, "")
    finally:
        process.stop()


def test_the_first_question_gets_the_same_pack_in_every_fresh_start():
    one, other = (first_pack(str(ROOT / "bench" / "everyday" / "documents"), "How long is the warranty?") for _ in "12")
    assert one == other
    assert one.degraded == ()
    assert [section for section, _ in one.items if section == "semantic"] != []
