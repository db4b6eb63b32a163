"""Trials: something is taken away and given back, and readiness must say so, each time within the limit."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.proofs.health.site import KINDS, Site, running, until

LIMIT_S = 30.0
GIVE_UP_S = 120.0
# How long it stays away after it was noticed: shorter and longer than sessions, requests and connections live.
AWAY_S = (0.0, 3.0, 12.0, 45.0)
STEADY_S = 2.0


@dataclass(frozen=True)
class Trial:
    """Seconds until it was noticed and until it was forgotten; None for never; and whatever else was wrong."""

    kind: str
    away_s: float
    noticed_s: float | None
    well_s: float | None
    wrong: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether both came in time, and nothing else was wrong."""
        return not self.wrong and all(took is not None and took <= LIMIT_S for took in (self.noticed_s, self.well_s))


def trials(kind: str, count: int, directory: Path, *, away_s: Sequence[float] = AWAY_S) -> Iterator[Trial]:
    """So many trials of a kind on one worker."""
    phases = random.Random(kind)
    with running(KINDS[kind], directory) as site:
        for number in range(count):
            # At another moment of whatever the worker does every few seconds.
            time.sleep(phases.uniform(0, 3))
            trial = _trial(site, away_s[number % len(away_s)])
            if number == count - 1 and not site.answers():
                trial = replace(trial, wrong=(*trial.wrong, "ready, and a question gets no pack"))
            yield trial


def _trial(site: Site, away_s: float) -> Trial:
    wrong: list[str] = []
    # After a long absence every group joins again.
    until(site.settled, GIVE_UP_S)
    site.take()
    noticed = until(lambda: site.asked("ready")[0] == 503, GIVE_UP_S)
    time.sleep(away_s)
    status, said = site.asked("ready")
    if status != 503 or not any(site.kind.told in why for why in said["why"]):
        wrong.append(f"while it was away readiness was {status} and said {said}")
    if site.metric("fathom_ready") != 0:
        wrong.append("the metric says that it is ready")
    live = site.asked("live")[0]
    if live != (503 if site.kind.loop else 200):
        wrong.append(f"live with {live}")
    site.give()
    well = until(lambda: site.asked("ready")[0] == 200, GIVE_UP_S)
    if wavering := flaws(site, STEADY_S):
        wrong.append(f"ready, and then not: {wavering[0]}")
    return Trial(site.kind.name, away_s, noticed, well, tuple(wrong))


def flaws(site: Site, seconds: float, meanwhile: Callable[[], object] = lambda: time.sleep(0.1)) -> list[object]:
    """What readiness said when it was not 200, in so many seconds."""
    found: list[object] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        meanwhile()
        status, said = site.asked("ready")
        if status != 200:
            found.append((status, said))
    return found


def table(done: Sequence[Trial]) -> str:
    """What was measured, a line per kind, and a line for each trial that failed."""
    lines = [f"{'kind':<8} {'passed':>9} {'noticed after s':>22} {'ready again after s':>22}"]
    for kind in dict.fromkeys(each.kind for each in done):
        own = [each for each in done if each.kind == kind]
        passed = f"{sum(each.passed for each in own)}/{len(own)}"
        noticed, well = _spread([each.noticed_s for each in own]), _spread([each.well_s for each in own])
        lines.append(f"{kind:<8} {passed:>9} {noticed:>22} {well:>22}")
    return "\n".join([*lines, *(str(each) for each in done if not each.passed)])


def _spread(took: Sequence[float | None]) -> str:
    known = sorted(each for each in took if each is not None)
    never = f", {len(took) - len(known)} never" if len(known) < len(took) else ""
    return (f"{known[0]:.1f} – {known[len(known) // 2]:.1f} – {known[-1]:.1f}" if known else "–") + never
