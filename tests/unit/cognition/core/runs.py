"""Runs of cognition without stages or stores: the nodes as the router orders them, over passages given by a test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from agents.cognition.core import dual_retriever, evidence_refiner, integrator, planner, query_rewriter, reasoner
from agents.cognition.core import verifier as rules
from agents.cognition.core.dual_retriever import LeafFound, LeafSearch
from agents.cognition.core.passages import sentences_of
from agents.cognition.core.route import step_after
from agents.core.language import text
from schemas.cognition import (
    CognitionFlags,
    CognitionLimits,
    CognitionStep,
    CognitiveState,
    EvidencePassage,
    LeafEvidence,
    Node,
    SourceAnswer,
)

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
FLAGS = CognitionFlags(refinement=True, verification=True, hallucination_loop=True)
Verify = Callable[[CognitiveState, datetime], CognitiveState]
# Two questions, and a passage for each.
QUESTION = "Quantas horas extras por dia são permitidas e quanto dura o intervalo de almoço?"
LAW = {
    "lei:CLT-art59": "A duração do trabalho poderá ser acrescida de horas extras, em número não excedente de duas.",
    "lei:CLT-art71": "O intervalo de almoço é de no mínimo sessenta minutos.",
}


def passage(cite: str, said: str, *, title: str = "", lang: str = "pt", uid: str = "") -> EvidencePassage:
    return EvidencePassage(
        chunk_uid=uid or cite, text=said, title=title, document_id="d", cite=cite, lang=lang, recorded_at=NOON
    )


def opened(
    question: str = QUESTION,
    lang: str = "pt",
    flags: CognitionFlags = FLAGS,
    limits: CognitionLimits | None = None,
    tenant: str = "acme",
) -> CognitiveState:
    """The state of a run that nothing has been done for."""
    same = dict.fromkeys(("client_id", "conversation_id", "message_id", "pack_id", "frame_id", "user_id"), "x")
    return CognitiveState(
        query=question,
        lang=lang,
        tenant_id=tenant,
        scope="tenant",
        job_id="job",
        as_of=NOON,
        deadline_at=NOON + timedelta(seconds=120),
        flags=flags,
        limits=limits or CognitionLimits(),
        **same,
    )


@dataclass
class Run:
    """A run: the passages that its searches find by the words they share, its verifier, the time of each step."""

    law: Mapping[str, str] = field(default_factory=lambda: LAW)
    verify: Verify = rules.verified
    clock: Callable[[int], datetime] = lambda _: NOON
    searched: list[LeafSearch] = field(default_factory=list)
    dead: bool = False

    def of(self, state: CognitiveState, asked: bool = True) -> list[CognitionStep]:
        """The steps of a run to its end; raises `Rejected` past the bound."""
        made = [step_after(planner.planned(state, asked=asked), Node.PLANNER, 1, self.clock(1))]
        while made[-1].next is not Node.END:
            last, now = made[-1], self.clock(len(made) + 1)
            made.append(step_after(self._done(last.next, last.state, now), last.next, last.step + 1, now))
        return made

    def wave(self, state: CognitiveState) -> tuple[tuple[str, ...], CognitiveState]:
        """The leaves that can be searched now, and the state with what was found for them."""
        wanted = dual_retriever.searches(state)
        self.searched += wanted
        found = [self._found(state, each) for each in wanted]
        return tuple(each.node_id for each in wanted), dual_retriever.merged(state, found)

    def _done(self, node: Node, state: CognitiveState, now: datetime) -> CognitiveState:
        if node is Node.DUAL_RETRIEVER:
            return self._retrieved(state)
        if node is Node.VERIFIER:
            return self.verify(state, now)
        rule = {
            Node.EVIDENCE_REFINER: evidence_refiner.refined,
            Node.REASONER: reasoner.reasoned,
            Node.QUERY_REWRITER: query_rewriter.rewritten,
            Node.INTEGRATOR: integrator.integrated,
        }.get(node)
        return rule(state) if rule else state

    def _retrieved(self, state: CognitiveState) -> CognitiveState:
        wanted: Sequence[str] = (".",)
        while wanted:
            wanted, state = self.wave(state)
        return state

    def _found(self, state: CognitiveState, search: LeafSearch) -> LeafFound:
        asked = text.content_set(search.query, state.lang)
        hits = [] if self.dead else [(p, s) for p in self._passages(state) if (s := _share(asked, p))]
        hits.sort(key=lambda hit: -hit[1])
        evidence = [
            (p, LeafEvidence(chunk_uid=p.chunk_uid, score=s, sources=("lexical",), similar=_similar(asked, p)))
            for p, s in hits
        ]
        status = "error" if self.dead else "ok" if hits else "empty"
        told = SourceAnswer(
            node_id=search.node_id,
            source="lexical",
            query=search.query,
            status=status,
            found=len(hits),
            attempt=search.attempt,
        )
        return LeafFound(search, 0.9 if hits else 0.0, evidence, (told,))

    def _passages(self, state: CognitiveState) -> Sequence[EvidencePassage]:
        return [passage(cite, said, lang=state.lang) for cite, said in self.law.items()]


def _share(asked: frozenset[str], found: EvidencePassage) -> float:
    return len(asked & text.content_set(found.text, found.lang)) / (len(asked) or 1)


def _similar(asked: frozenset[str], found: EvidencePassage) -> tuple[float, ...]:
    return tuple(
        len(asked & text.content_set(each.text, found.lang)) / (len(asked) or 1) for each in sentences_of(found)
    )
