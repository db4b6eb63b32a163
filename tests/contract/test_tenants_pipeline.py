"""Sixty tenants talk at once through the whole pipeline: what each gets, what is logged, counted and refused."""

import logging
from collections.abc import Iterator

import orjson
import pytest

from schemas.base import PUBLIC_TENANT
from schemas.topics import CONTEXT_PACKS, DOCUMENTS_IN, MESSAGES_IN
from streams.telemetry import metrics
from streams.testing.pipeline import Pipeline
from tests.tenants.canaries import REFUSED, canaries, foreign, tenants
from tests.tenants.talks import SAYINGS, hand_in, refusals, shown, talk

EVERYONE = tenants(60)
# What is remembered, and a question that is answered from a document.
SAID = (SAYINGS[0], ("user", "Como pedir o reembolso {mark} da empresa, passo a passo?"))


@pytest.fixture(scope="module")
def spoken() -> Iterator[tuple[Pipeline, list[str]]]:
    """All that sixty tenants said, and every line that was logged meanwhile."""
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(f"{self.format(record)} {getattr(record, 'fields', '')}")

    kept, root = Kept(), logging.getLogger()
    before = root.level, logging.getLogger("fathom").level
    root.addHandler(kept)
    for logger in (root, logging.getLogger("fathom")):
        logger.setLevel(logging.DEBUG)
    try:
        with Pipeline(partitions=3) as fathom:
            for tenant in EVERYONE:
                hand_in(fathom, tenant)
            for tenant in EVERYONE:
                talk(fathom, tenant, SAID)
            yield fathom, lines
    finally:
        root.removeHandler(kept)
        root.setLevel(before[0])
        logging.getLogger("fathom").setLevel(before[1])


@pytest.mark.covers("AC-36", "B19", "S1-05")
def test_nothing_on_any_topic_is_anothers(spoken: tuple[Pipeline, list[str]]) -> None:
    events = shown(spoken[0])
    assert events.keys() == {tenant.name for tenant in EVERYONE}
    for tenant in EVERYONE:
        texts = [text for _, _, text in events[tenant.name]]
        assert foreign(tenant, *texts) == set()
        packs = [text for topic, _, text in events[tenant.name] if topic == CONTEXT_PACKS.name]
        assert len(packs) == 2
        # What was said and what was handed in: the pack of the second holds both.
        assert f"O prazo do reembolso {tenant.canary}" in packs[1]
        assert f"Junte os recibos {tenant.canary}" in packs[1]


@pytest.mark.covers("AC-36", "B19")
def test_no_log_line_and_no_metric_holds_what_anybody_said(spoken: tuple[Pipeline, list[str]]) -> None:
    _, lines = spoken
    assert any("record.processed" in line for line in lines), "nothing was logged: the test would see nothing"
    assert canaries(*lines) == set()
    page = metrics.metrics_page().decode()
    assert canaries(page) == set()
    labels = {value for line in page.splitlines() for value in line.split('"')[1::2]}
    assert not labels & {tenant.name for tenant in EVERYONE if tenant.name not in ("", "1", "1.0", "true")}
    assert PUBLIC_TENANT not in labels


@pytest.mark.covers("AC-36", "B19")
def test_a_tenant_that_is_none_is_refused_at_the_door_and_leaves_nothing_but_its_dead_letter() -> None:
    with Pipeline(partitions=1, dlq_max_consecutive=10_000) as fathom:
        names = [name.encode(errors="surrogatepass") for name in (*REFUSED, PUBLIC_TENANT)]
        for number, name in enumerate(names):
            mark = f"cnry{number:06d}x"
            turn = {"role": "user", "content": mark, "conversation_id": "c1", "client_id": "web", "message_id": mark}
            document = {"document_id": "d1", "title": mark, "text": f"# {mark}\n\nO prazo é {mark}.\n"}
            for topic, value in ((MESSAGES_IN, turn), (DOCUMENTS_IN, document)):
                fathom.log.append(topic.name, b"k", orjson.dumps(value), [("tenant", name)])
        fathom.settle()
        letters = refusals(fathom)
        assert len(letters) == 2 * len(names)
        for number, name in enumerate(names):
            own = [letter for letter in letters if dict(letter.headers)["tenant"] == name]
            assert len(own) == 2
            # Documents of `_public` are no nonsense: an administrator's workers would take them.
            shared = {b"public_tenant_read_only"} if name == PUBLIC_TENANT.encode() else set()
            assert {dict(letter.headers)["fathom_reason"] for letter in own} == {b"bad_envelope"} | shared
            said = {mark for letter in own for mark in canaries((letter.value or b"").decode(), repr(letter.headers))}
            assert said == {f"cnry{number:06d}x"}
        written = {tp.topic for tp, records in fathom.log.records.items() if records}
        assert {topic for topic in written if "dead" not in topic} == {MESSAGES_IN.name, DOCUMENTS_IN.name}
        assert ([*fathom.graph.engine._tables.all_nodes()], fathom.index._indexed, fathom.working_sets._kept) == (
            [],
            {},
            {},
        )
