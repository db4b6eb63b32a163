"""`python -m tests.proofs.health.run`: what a worker stands on stops a hundred times; 1 if readiness was wrong once.

python -m tests.proofs.health.run                               every kind that this machine can run, side by side
python -m tests.proofs.health.run --trials 5 --only broker loop
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests import counters
from tests.proofs.health.loaded import Load, loaded
from tests.proofs.health.site import KINDS
from tests.proofs.health.trials import AWAY_S, Trial, table, trials
from tests.servers.install import lacking

TRIALS = 100
# Workers of one kind, side by side: they wait nearly all the time.
WORKERS = 4
# Under load: seconds, and messages a second.
LOADED_S, RATE = 300.0, 100.0
ALONE = "FATHOM_TEST_ALONE"
# Kinds on a server, which may be lacking here.
SERVERS = {"kafka": "kafka", "redis": "redis", "qdrant": "qdrant", "neo4j": "neo4j", "keys": "redis"}


def run(
    kinds: Sequence[str], count: int, directory: Path, *, away_s: Sequence[float] = AWAY_S, workers: int = 1
) -> list[Trial]:
    """So many trials of each kind, the kinds side by side, each on so many workers."""

    def some(kind: str, worker: int) -> list[Trial]:
        share = len(range(worker, count, workers))
        done: list[Trial] = []
        for each in trials(kind, share, directory / f"{kind}-{worker}", away_s=away_s):
            done.append(each)
            if not each.passed:
                _say(str(each))
        _say(f"{kind}: {len(done)} trials, {sum(each.passed for each in done)} passed")
        return done

    with ThreadPoolExecutor(len(kinds) * workers) as pool:
        running = [pool.submit(some, kind, worker) for kind in kinds for worker in range(min(workers, count))]
        return [each for one in running for each in one.result()]


def record(done: Sequence[Trial], load: Load) -> None:
    """Hand on what was counted: kinds apart, for each is tried as often."""
    for kind in dict.fromkeys(each.kind for each in done):
        own = [each for each in done if each.kind == kind]
        took = [each.noticed_s for each in own if each.noticed_s is not None]
        failed = sum(not each.passed for each in own)
        counters.record(
            "B18", f"stopped: {kind}", {"trials": len(own)}, {"failed": failed}, {"noticed s": max(took, default=0.0)}
        )
    if load.asked:
        ran = {"asked": load.asked, "messages": load.sent, "seconds": round(load.seconds)}
        counters.record("", "a slow broker and a slow loop", ran, {"false alarm": len(load.denied)})


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.health.run", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--only", nargs="*", metavar="KIND", choices=[*KINDS], help=f"of {', '.join(KINDS)}")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--away", nargs="*", type=float, default=AWAY_S, metavar="S", help="after it was noticed")
    parser.add_argument("--loaded", type=float, default=LOADED_S, metavar="S", help="how long it is ready under load")
    given = parser.parse_args()
    if os.environ.get(ALONE) is None:
        # The full disk is one of our own, mounted where only this process and its children see it.
        alone = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
        os.execvpe(
            alone[0],
            [*alone, sys.executable, "-m", "tests.proofs.health.run", *sys.argv[1:]],
            {**os.environ, ALONE: "1"},
        )
    left_out = {kind: why for kind, name in SERVERS.items() if (why := lacking(name)) is not None}
    kinds = [kind for kind in given.only or KINDS if kind not in left_out]
    for why in left_out.values():
        _say(f"left out: {why}")
    directory = Path(tempfile.mkdtemp(prefix="fathom-health-"))
    done = run(kinds, given.trials, directory, away_s=given.away, workers=given.workers)
    _say(table(done))
    load = loaded(given.loaded, RATE, directory / "loaded")
    record(done, load)
    _say("\n".join([str(load), *map(str, load.denied)]))
    _say(f"logs: {directory}")
    return int(not all(each.passed for each in done) or bool(load.denied))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
