"""`fathom ingest` returns when what it sent can be found, sends only what changed, and says what was refused."""

import json
from pathlib import Path

from streams.broker.process import BrokerProcess
from tests.builders.pdf import pdf
from tests.e2e.calls import client
from tests.e2e.conftest import Tenant
from tests.e2e.processes import fathom

WIDE = ("--tenant", "_public")


def ingest(tenant: Tenant, *arguments: str) -> list[dict[str, object]]:
    ended = client(tenant.bootstrap, "ingest", *arguments, "--json", "--tenant", tenant.name)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def insurance(tenant: Tenant, conversation: str) -> list[str]:
    asked = ("ask", "Explica em detalhes o seguro de viagem?", "--json", "--tenant", tenant.name)
    pack = json.loads(client(tenant.bootstrap, *asked, "--conversation", conversation).stdout)
    return [each["text"] for each in pack["semantic"]["knowledge_chunks"]]


def test_a_folder_is_found_when_the_command_returns_and_again_only_what_changed_is_sent(tenant: Tenant, tmp_path: Path):
    pages = [[(18, "Seguro de viagem"), (0, ""), (11, "O seguro de viagem cobre malas perdidas.")]]
    (tmp_path / "seguro.pdf").write_bytes(pdf(pages))
    (tmp_path / "ferias.html").write_text("<!doctype html><h1>Férias</h1><p>Trinta dias por ano.</p>")
    (tmp_path / "vazio.md").write_text("")
    first = ingest(tenant, str(tmp_path))
    assert (first[-1]["documents"], first[-1]["skipped"], first[-1]["visible"]) == (2, 1, True)
    assert {line["topic"] for line in first if "topic" in line} == {"documents.in"}
    assert any("malas perdidas" in text for text in insurance(tenant, "c1"))

    (tmp_path / "seguro.pdf").write_bytes(pdf([[*pages[0], (11, "O seguro de viagem paga o hospital.")]]))
    second = ingest(tenant, str(tmp_path))
    assert (second[-1]["documents"], second[-1]["unchanged"]) == (1, 1)
    assert any("hospital" in text for text in insurance(tenant, "c2"))
    assert [ingest(tenant, str(tmp_path), *more)[-1]["documents"] for more in ((), ("--all",))] == [0, 2]


def test_a_document_that_ingestion_refuses_is_named_with_the_reason(tenant: Tenant, tmp_path: Path):
    (tmp_path / "a.md").write_text("# Para todos\n\nUm texto.")
    for _ in range(2):  # what was refused is not known as sent
        ended = client(tenant.bootstrap, "ingest", str(tmp_path / "a.md"), *WIDE)
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
