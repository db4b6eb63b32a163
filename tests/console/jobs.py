"""Records of progress as the server makes them, for tests of who reads them: one message, and one of many nodes."""

from collections.abc import Iterator
from itertools import count
from typing import Any

Json = dict[str, Any]

HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script> & "quoted"'
QUESTION = "Qual é o prazo para apelação e qual é o prazo para embargos?"
TEXT = (
    "⚖️ Art. 1.003. Excetuados os embargos de declaração, o prazo para interpor os recursos e para responder-lhes é de "
    f"15 (quinze) dias. {HOSTILE}"
)
SPAN = "o prazo para interpor os recursos e para responder-lhes é de 15 (quinze) dias."


class Job:
    """Numbers the records of one job of a message."""

    def __init__(self, stage: str, message: str, question: str = QUESTION) -> None:
        self.stage, self.message, self.question = stage, message, question
        self._last = 0
        self._index = count(1)

    def record(self, kind: str, patch: list[Json], node: str | None = None, step: int | None = None) -> Json:
        """The next record; `step` begins a new step of its numbers."""
        if step is not None:
            self._index = count(step * 1000)
        seq, prev = next(self._index), self._last
        self._last = seq
        return {
            "job_id": f"{self.stage}-{self.message}", "message_id": self.message, "client_id": "console",
            "conversation_id": "c1", "stage": self.stage, "seq": seq, "prev_seq": prev, "type": kind,
            "node_id": node, "ts": "2026-11-24T09:30:00Z", "data": {}, "patch": patch,
        }  # fmt: skip


def put(path: str, value: Any) -> Json:
    return {"op": "add", "path": path, "value": value}


def pack_records(message: str, question: str = QUESTION, level: str = "D3") -> Iterator[Json]:
    """A pack: planned, a part of each class, complete."""
    job = Job("pack", message)
    states = (
        ("working_set", "ok", "", 3, 120), ("persona", "ok", "", 1, 18), ("semantic", "ok", "", 2, 240),
        ("episodic", "empty", "nothing is alike enough", 0, 0), ("claims", "late", "no answer within 80 ms", 0, 0),
        ("procedural", "skipped", "no how-to question", 0, 0),
    )  # fmt: skip
    planned = {name: _class(name, "skipped" if now == "skipped" else "asked", why) for name, now, why, *_ in states}
    budget = {"max_tokens": 2000, "used_tokens": 0, "deadline_ms": 120, "latency_ms": 0}
    yield job.record("PACK_PLANNED", [
        put("/job_id", f"pack-{message}"), put("/message_id", message), put("/status", "running"),
        put("/level", level), put("/question", question), put("/budget", budget), put("/nodes", planned),
        put("/kept", {}), put("/dropped", {}), put("/conflicts", {}),
    ])  # fmt: skip
    for name, now, why, items, tokens in states[:-1]:
        yield job.record("PACK_PART", [put(f"/nodes/{name}", _class(name, now, why, items, tokens, 23.4))], name)
    kept = [
        put(f"/kept/{item}", _kept(item, section, title, at))
        for at, (item, section, title) in enumerate((
            ("t1", "working_set", "user: Qual o prazo?"), ("t2", "working_set", "assistant: 15 dias."),
            ("t3", "working_set", "user: E os embargos?"), ("p1", "persona_context", "advogada · contencioso"),
            ("k1", "semantic", "Código de Processo Civil › Art. 1.003"), ("k2", "semantic", HOSTILE),
        ))
    ]  # fmt: skip
    gone = {"item_id": "k3", "section": "semantic", "reason": "budget", "tokens": 310, "title": "CPC › Art. 1.004"}
    yield job.record("PACK_COMPLETE", [
        *kept, put("/dropped/k3", gone), put("/budget", {**budget, "used_tokens": 378, "latency_ms": 84.2}),
        put("/status", "degraded"),
    ])  # fmt: skip


def _class(name: str, state: str, why: str, items: int = 0, tokens: int = 0, latency: float | None = None) -> Json:
    return {
        "node_id": name, "label": "look_up", "state": state, "why": why or None, "items": items, "tokens": tokens,
        "latency_ms": latency,
    }  # fmt: skip


def _kept(item: str, section: str, title: str, at: int) -> Json:
    source = {"topic": "documents.in", "partition": 3, "offset": 40 + at}
    return {
        "item_id": item, "section": section, "title": title, "tokens": 40 + at, "score": 0.91 - at / 10,
        "reason": "names what is asked", "source": source,
    }  # fmt: skip


CHECKS = (
    (1, "evidence_present", "pass", "", ""),
    (2, "citation_known", "pass", "lei:CPC-art1003", "lei:CPC-art1003"),
    (3, "span_proved", "pass", "", ""),
    (6, "amounts_known", "pass", "15 dias", "15 dias"),
    (7, "case_numbers_known", "unverified", "", ""),
)


def cognition_records(message: str, question: str = QUESTION) -> Iterator[Json]:
    """A deep answer: taken apart, searched, refined, verified, with a failed node that is tried again, and a gap."""
    job = Job("cognition", message, question)
    leaves = {"1.1": "Qual é o prazo para apelação?", "1.2": f"Qual é o prazo para embargos? {HOSTILE}"}
    nodes = {"1": node("1", question, "decomposing", None, list(leaves))}
    budget = {"steps": 1, "max_steps": 15, "searches": 0, "llm_calls": 0, "max_llm_calls": 20, "rethinks": 0}
    yield job.record("COGRAG_DECOMPOSE_START", [
        put("/job_id", f"cognition-{message}"), put("/message_id", message), put("/status", "decomposing"),
        put("/question", question), put("/conditions", []), put("/nodes", nodes), put("/passages", {}),
        put("/themes", ["recursos"]), put("/conflicts", {}), put("/budget", budget), put("/sections", []),
        put("/citations", []), put("/missing", []),
    ], step=1)  # fmt: skip
    for name, asked in leaves.items():
        yield job.record("COGRAG_DECOMPOSE_NODE", [put(f"/nodes/{name}", node(name, asked, "pending", "1"))], name)
    yield job.record("COGRAG_DECOMPOSE_COMPLETE", [put("/nodes/1", node("1", question, "pending", None, list(leaves)))])
    yield job.record("COGRAG_RETRIEVAL_START", [put("/status", "retrieving")], step=2)
    for name, asked in leaves.items():
        searched = node(name, asked, "pending", "1", evidence=3 if name == "1.1" else 1)
        yield job.record("COGRAG_RETRIEVAL_NODE", [put(f"/nodes/{name}", searched)], name)
    yield job.record("COGRAG_RETRIEVAL_COMPLETE", [put("/budget/searches", 2)])
    yield job.record("COGRAG_REFINE_START", [put("/status", "refining")], step=3)
    clash = {
        "node_id": "1.1", "a": "u1", "b": "u2", "type": "number", "resolution": "open", "spans": [[0, 11], [0, 5]],
        "motivo": "entendimento não pacificado",
    }  # fmt: skip
    yield job.record("COGRAG_REFINE_COMPLETE", [put("/conflicts/x1", clash)])
    corrections = {
        "consultations": ["c-1"], "passages": {"u1": {"cite": "lei:CPC-art1003", "title": HOSTILE, "factor": 0.5}}
    }  # fmt: skip
    yield job.record("COGRAG_CORRECTION", [put("/corrections", corrections)])
    yield from _verified(job, question, leaves)
    sections = [
        {"title": "Fundamento Legal", "text": f"{SPAN} [lei:CPC-art1003]"},
        {"title": "Conclusão", "text": "O prazo para apelação é de 15 dias."},
        {"title": "Limitações", "text": "Não encontrei evidência suficiente. Necessário: prazo dos embargos."},
    ]
    yield job.record("COGRAG_COMPLETE", [
        put("/sections", sections), put("/citations", ["lei:CPC-art1003"]), put("/answer_status", "partial"),
        put("/missing", ["prazo dos embargos"]), put("/status", "complete"),
    ], step=6)  # fmt: skip


def _verified(job: Job, question: str, leaves: Json) -> Iterator[Json]:
    yield job.record("COGRAG_VERIFY_START", [put("/status", "verifying")], step=4)
    start = TEXT.index(SPAN)
    checks = [dict(zip(("number", "name", "verdict", "expected", "found"), check, strict=True)) for check in CHECKS]
    claim = {
        "text": SPAN, "cite": "lei:CPC-art1003", "chunk_uid": "u1", "start": start, "end": start + len(SPAN),
        "support": 0.93, "checks": checks[:-1],
    }  # fmt: skip
    bad = {
        **claim, "text": "O prazo é de 10 dias.", "support": 0,
        "checks": [{"number": 6, "name": "amounts_known", "verdict": "fail", "expected": "10 dias", "found": HOSTILE}],
    }  # fmt: skip
    passage = {
        "chunk_uid": "u1", "title": "Código de Processo Civil", "cite": "lei:CPC-art1003", "text": TEXT,
        "document_id": "cpc",
    }  # fmt: skip
    good = node("1.1", leaves["1.1"], "verified", "1", evidence=3, claims=[claim], conflict=True, reused=True)
    yield job.record("COGRAG_VERIFY_NODE", [put("/passages/u1", passage), put("/nodes/1.1", good)], "1.1")
    failed = node("1.2", leaves["1.2"], "failed", "1", evidence=1, claims=[bad])
    yield job.record("COGRAG_VERIFY_NODE", [put("/nodes/1.2", failed)], "1.2")
    yield job.record("COGRAG_VERIFY_COMPLETE", [put("/budget/rethinks", 1)])
    silent = {**failed, "state": "abstain", "rethinks": 1, "missing": ["prazo dos embargos"]}
    yield job.record("COGRAG_VERIFY_NODE", [put("/nodes/1.2", silent)], "1.2", step=5)
    whole = node("1", question, "verified", None, list(leaves), evidence=4)
    yield job.record("COGRAG_VERIFY_COMPLETE", [put("/nodes/1", whole)])


def node(
    name: str, question: str, state: str, parent: str | None, children: list[str] | None = None, **known: Any
) -> Json:
    """A sub-question."""
    return {
        "node_id": name, "question": question, "parent_id": parent, "children": children or [], "level": 1,
        "kind": "list" if children else "single", "state": state, "evidence": 0,
        "sources": {"lexical": {"status": "ok", "found": 3}, "vector": {"status": "timeout", "found": 0}},
        "conflict": False, "reused": False, "rethinks": 0, "searches": 1, "answer": None, "missing": [],
        "claims": [], **known,
    }  # fmt: skip


def reduced(records: list[Json]) -> Json | None:
    """What the records come to: their patches only set keys."""
    if not records:
        return None
    state: Json = {}
    for record in records:
        for operation in record["patch"]:
            *way, last = operation["path"].split("/")[1:]
            place = state
            for key in way:
                place = place[key]
            place[last] = operation["value"]
    return state


def many_nodes(message: str, number: int) -> Json:
    """A finished decomposition of so many nodes, on five levels."""
    nodes: Json = {"1": node("1", QUESTION, "pending", None)}
    level = ["1"]
    while len(nodes) < number:
        below = []
        for parent in level:
            for at in range(1, 10):
                if len(nodes) < number:
                    name = f"{parent}.{at}"
                    nodes[name] = node(name, f"Sub-question {name} of a tree of {number} nodes", "pending", parent)
                    below.append(name)
        level = below
    return {
        "job_id": f"cognition-{message}", "message_id": message, "status": "verifying", "question": QUESTION,
        "nodes": nodes, "passages": {}, "conflicts": {}, "sections": [], "budget": {"steps": 4, "max_steps": 15},
    }  # fmt: skip
