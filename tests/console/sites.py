"""Fathom as a browser meets it, on each broker: `fathom up`, and a worker beside `fathom serve` on Apache Kafka."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.e2e.calls import reachable
from tests.e2e.processes import IN_MEMORY, UNHURRIED, Process, running
from tests.servers import install
from tests.servers.kafka import KafkaServer
from tests.servers.neo4j import Neo4jServer

# With Apache Kafka comes Neo4j: `fathom serve` reads decisions of no other worker's memory.
SITES = {"up": (), "kafka": ("kafka", "neo4j")}
TOKEN = "console-ana-0123456789"
PARTITIONS = 4
PATIENCE_S = 60.0
SETTINGS = {
    **UNHURRIED,
    **IN_MEMORY,
    "RAG_ENABLE_COGRAG": "on",
    "RAG_COGRAG_VERIFICATION_ENABLED": "on",
    "RAG_COGRAG_EVIDENCE_REFINEMENT_ENABLED": "on",
    "FATHOM_PARTITIONS": str(PARTITIONS),
    "FATHOM_LOG_LEVEL": "error",
    "FATHOM_ASK_CALLS_PER_MINUTE": "6000",
}
DOCUMENTS = {
    "Refunds": "# Refunds\n\nThe team lead approves refunds. A refund is paid within five days.",
    "CLT": "# CLT: artigos\n\n## Art. 71\nEm qualquer trabalho contínuo de mais de seis horas é obrigatório um "
    "intervalo para almoço de no mínimo uma hora.\n",
    "Julgados": "# Julgados\n\n## Processo 0000111-45.2023.5.02.0001\nO adicional de insalubridade é devido ao "
    "empregado do frigorífico.\n\n## Processo 0000222-45.2023.5.15.0002\nO adicional de insalubridade não é devido ao "
    "empregado do frigorífico.\n",
}


@dataclass(frozen=True, slots=True)
class Site:
    """Where the page is served, who may use it, and the broker that all goes through."""

    name: str
    url: str
    token: str
    bootstrap: str

    def environment(self) -> dict[str, str]:
        """What a script in Node is told."""
        return {"CONSOLE_URL": self.url, "CONSOLE_TOKEN": self.token}

    def remember(self, title: str, text: str) -> None:
        """Ingest a document; it is found from then on."""
        headers = {"authorization": f"Bearer {self.token}"}
        body = {"title": title, "text": text}
        answer = httpx.post(f"{self.url}/documents?wait=visible", json=body, headers=headers, timeout=PATIENCE_S)
        assert answer.status_code == 200, answer.text


def lacking(name: str) -> str | None:
    """Why a site cannot be had on this machine; None when it can."""
    return next((why for server in SITES[name] if (why := install.lacking(server)) is not None), None)


@contextmanager
def serving(name: str, place: Path) -> Iterator[Site]:
    """A site that remembers some documents and answers in depth; at its end each process has ended in order."""
    with _on_kafka(place) if name == "kafka" else _up(place) as site:
        for title, text in DOCUMENTS.items():
            site.remember(title, text)
        yield site


@contextmanager
def _up(place: Path) -> Iterator[Site]:
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **SETTINGS) as process:
        ready = process.ready()
        token = (place / "data" / "token").read_text().strip()
        yield Site("up", ready["console"].removesuffix("/console"), token, ready["bootstrap"])
        _ended(process, token)


@contextmanager
def _on_kafka(place: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        kafka, neo4j = KafkaServer(place / "kafka"), Neo4jServer(place / "neo4j")
        for server in (kafka, neo4j):
            stack.callback(server.stop)
            server.launch()  # beside each other
        kafka.wait()
        neo4j.wait()
        environment = {**SETTINGS, **_places(place, kafka, neo4j)}
        worker = stack.enter_context(running("worker", stderr=place / "worker.err", **environment))
        serve = stack.enter_context(running("serve", "--port", "0", stderr=place / "serve.err", **environment))
        assert worker.ready()["bootstrap"] == kafka.bootstrap
        yield Site("kafka", reachable(serve).removesuffix("/ask"), TOKEN, kafka.bootstrap)
        for process in (serve, worker):
            _ended(process, TOKEN)


def _places(place: Path, kafka: KafkaServer, neo4j: Neo4jServer) -> dict[str, str]:
    password, tokens = place / "password", place / "tokens.json"
    password.write_text(neo4j.password)
    tokens.write_text(json.dumps({TOKEN: {"tenant": "default"}}))
    return {
        "FATHOM_BROKER": kafka.bootstrap,
        "FATHOM_HTTP_PORT": "0",
        "FATHOM_NEO4J_URL": neo4j.url,
        "FATHOM_NEO4J_USER": neo4j.user,
        "FATHOM_NEO4J_PASSWORD_FILE": str(password),
        "FATHOM_ASK_TOKENS_FILE": str(tokens),
    }


def _ended(process: Process, token: str) -> None:
    assert process.end() == (0, "")
    assert token not in process.said()
