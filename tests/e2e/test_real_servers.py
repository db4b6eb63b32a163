"""The same code on Apache Kafka, Redis, Qdrant and Neo4j: two workers, a conversation, a document, and a death."""

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.four_servers import Site, until
from tests.e2e.processes import Process

HANDBOOK = """# Política de reembolso

O reembolso de viagem da Aurora é pago em 10 dias depois da aprovação da diretoria financeira.
"""


@pytest.mark.covers("CD-04", "CD-05")
def test_two_workers_on_four_servers_answer_remember_and_survive_the_death_of_one(site: Site, tmp_path: Path) -> None:
    document = tmp_path / "reembolso.md"
    document.write_text(HANDBOOK)
    first = Process("worker", stderr=tmp_path / "first.err", **site.environment)
    second = Process("worker", stderr=tmp_path / "second.err", **site.environment)
    try:
        for worker in (first, second):
            worker.ready()
        site.fathom("send", "--document", str(document))
        site.whole("Qual é o email da Ana?", "D0")
        site.ask("Qual é o prazo do projeto Aurora?", "c1")
        site.fathom("send", "O prazo do projeto Aurora é dia 15.", "--conversation", "c1", "--role", "assistant")
        until(lambda: site.count("Message", "aurora") >= 3, "all turns should be in Neo4j")
        until(lambda: site.count("Chunk", "aurora") >= 1, "the document should be in Neo4j")

        def is_searched() -> bool:
            # It is in the graph before it is in the index.
            pack = site.whole("Explica melhor como funciona o reembolso de viagem", "D2")
            return any("10 dias" in item["text"] for item in pack["semantic"]["knowledge_chunks"])

        until(is_searched, "the document should be searched")

        second.child.send_signal(signal.SIGKILL)
        second.child.wait()

        def remembers() -> bool:
            # What waited for the partitions to move comes out degraded: its deadline has passed.
            recent = site.ask("E qual é o prazo mesmo?", "c1")["working_set"]["recent_messages"]
            return any("dia 15" in message["content"] for message in recent)

        until(remembers, "the other worker should go on where it ended")
        assert first.end() == (0, "")
        assert site.count("Message", "outra") == 0
    finally:
        for worker in (first, second):
            if worker.child.poll() is None:
                os.kill(worker.child.pid, signal.SIGKILL)
                worker.child.wait()
