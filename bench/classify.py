"""Time of one classification, after a history of ten turns, and of one assessment: messages of every kind, one process.

make bench-classify
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from agents.core.assessment.context_needs import assess
from agents.core.conversation.memory import turn_of
from agents.core.depth.levels import classify
from bench.measure import finish, percentile

MESSAGES = (
    ("pt", "Qual o email do João Silva?"),
    ("pt", "e o orçamento?"),
    ("pt", "por quê?"),
    ("pt", "Não, o prazo mudou para dia 20"),
    ("pt", "Quais são as políticas de férias?"),
    ("pt", "Qual a diferença entre o projeto X e o projeto Y quando o prazo muda no meio do trimestre?"),
    ("pt", "Bom dia! Como solicitar reembolso de viagem internacional com adiantamento?"),
    ("en", "What did we decide in the last meeting about the data retention policy?"),
    ("en", "Actually, it's the 20th"),
    ("en", "and the budget?"),
    ("en", "Explain how the incident runbook works and who approves the rollback"),
    ("en", "thanks!"),
)
ROUNDS = 400


def main() -> None:
    start = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    history = [
        turn_of(
            "assistant" if n % 2 else "user",
            f"O projeto X está na fase {n}, com orçamento aprovado e três pessoas na equipe de entrega.",
            start + timedelta(seconds=n),
            {"message_id": f"m{n}", "seq": n},
        )
        for n in range(10)
    ]
    classified = timed(lambda lang, text: classify(text, history, lang=lang))
    assessed = timed(lambda _, text: assess(text, "Falamos do projeto X, do prazo e do orçamento"))
    finish(
        "classify",
        "make bench-classify",
        {**spread(classified), **{f"assessment_{name}": value for name, value in spread(assessed).items()}},
    )


def timed(once: Callable[[str, str], object]) -> list[float]:
    """How long each message takes, ms."""
    for lang, text in MESSAGES:
        once(lang, text)
    times: list[float] = []
    for _ in range(ROUNDS):
        for lang, text in MESSAGES:
            began = time.perf_counter()
            once(lang, text)
            times.append((time.perf_counter() - began) * 1000)
    return times


def spread(times: list[float]) -> dict[str, float]:
    return {
        "messages": len(times),
        "p50_ms": round(percentile(times, 0.5), 4),
        "p95_ms": round(percentile(times, 0.95), 4),
        "p99_ms": round(percentile(times, 0.99), 4),
        "max_ms": round(max(times), 3),
    }


if __name__ == "__main__":
    main()
