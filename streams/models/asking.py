"""A circuit breaker around a language model, one per purpose; calls are counted."""

import asyncio
import logging
import time
from collections.abc import Callable

from agents.errors import Unavailable
from agents.ports.models import LanguageModel
from schemas.assessment import ModelTier
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.models")
# More than one: a model is late now and then.
FAILURES = 3
PAUSE_S = 5.0


class Asking:
    """A model for one purpose. After three failures in a row one call per five seconds is made, until one succeeds.

    A cancelled call counts as a failure. Purposes have separate breakers, since their time limits differ. Why a
    model is unavailable is logged: its callers go on without it.
    """

    def __init__(
        self,
        model: LanguageModel,
        purpose: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: float = PAUSE_S,
    ) -> None:
        self._model = model
        self._purpose = purpose
        self._clock = clock
        self._pause = pause
        self._failures = 0
        self._not_before = 0.0

    async def complete(self, prompt: str, *, tier: ModelTier, max_tokens: int, temperature: float) -> str:
        """The model's answer; raises `Unavailable`, at once while the breaker is open."""
        if self._failures >= FAILURES:
            if self._clock() < self._not_before:
                self._count("skipped")
                raise Unavailable("model", f"it failed {self._failures} times in a row; it is asked again soon")
            self._not_before = self._clock() + self._pause  # this call is the probe, the others fail at once
        began, outcome = self._clock(), "failed"
        try:
            found = await self._model.complete(prompt, tier=tier, max_tokens=max_tokens, temperature=temperature)
            outcome = "answered"
        except asyncio.CancelledError:
            outcome = "late"
            raise
        except Unavailable as unavailable:
            metrics.log(LOGGER, logging.WARNING, "model.failed", purpose=self._purpose, error=str(unavailable))
            raise
        finally:
            self._settle(outcome)
            metrics.LLM_SECONDS.labels(self._purpose).observe(self._clock() - began)
        return found

    def _settle(self, outcome: str) -> None:
        self._count(outcome)
        if outcome == "answered":
            self._failures = 0
            return
        self._failures += 1
        self._not_before = self._clock() + self._pause

    def _count(self, outcome: str) -> None:
        metrics.LLM_CALLS.labels(self._purpose, outcome).inc()
