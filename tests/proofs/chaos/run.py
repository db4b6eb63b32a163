"""`python -m tests.proofs.chaos.run`: messages, joins, stops and kills on each broker, then exact replays of what was
recorded, one of them killed; the figures; exit 1 on any violation.

python -m tests.proofs.chaos.run --full                     20,000 messages, at least three kills a stage, both brokers
python -m tests.proofs.chaos.run --broker kafka --seed 7    the small run
python -m tests.proofs.chaos.run --minutes 30 --seed 7      run after run on Apache Kafka, of seeds 7, 8, 9 …
"""

import argparse
import asyncio
import logging
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests import counters
from tests.chaos import replay, report, scenario
from tests.chaos.scenario import Outcome
from tests.chaos.servers import BROKERS, lacking, serving

WORKLOADS = {"kafka": "Apache Kafka", "embedded": "embedded broker"}
ROWS = "B1 B2 B4 B5 B6"
# What a full run takes on two cores: with less time left it is a small one.
FULL_MINUTES = 25


def on(broker: str, plan: scenario.Plan, directory: Path) -> Outcome:
    """One plan on one broker."""
    with serving(broker, directory) as servers:
        outcome = asyncio.run(scenario.run(plan, servers))
        # Before the replays: those are another property.
        report.record(outcome, ROWS, WORKLOADS[broker], plan.seed)
        # The workers were two or three and died; a replay is one process.
        different = replay.differences(servers, outcome.verdict.packs)
        outcome.failures += different
        ran, workload = {"packs": outcome.verdict.packs}, f"packs replayed from {WORKLOADS[broker]}"
        counters.record("B10", workload, ran, {"different": len(different)}, seeds=[plan.seed])
        return outcome


def plans(arguments: argparse.Namespace) -> Iterator[scenario.Plan]:
    """What is asked for; of minutes as many as begin within them, a small one at least."""
    seed, until = arguments.seed, time.monotonic() + 60 * (arguments.minutes or 0)
    if arguments.minutes is None:
        yield scenario.full(seed, arguments.rate) if arguments.full else scenario.small(seed)
        return
    while seed == arguments.seed or time.monotonic() < until:
        whole = until - time.monotonic() > 60 * FULL_MINUTES
        yield scenario.full(seed, arguments.rate) if whole else scenario.small(seed)
        seed += 1


def _terminated(*_: object) -> None:
    raise KeyboardInterrupt  # so that servers and workers are ended on the way out


def main() -> int:
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _terminated)
    level = logging.INFO if arguments.verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(name)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    violated, missing = False, []
    brokers = BROKERS if arguments.broker == "both" else (arguments.broker,)
    for plan, broker in ((plan, broker) for plan in plans(arguments) for broker in brokers):
        if (why := lacking(broker)) is not None:
            missing.append(f"{broker} did not run: {why}")
            continue
        directory = Path(tempfile.mkdtemp(prefix=f"fathom-chaos-{broker}-"))
        outcome = on(broker, plan, directory)
        _say(f"{report.table(outcome)}\n{report.json_line(outcome)}")
        if report.violations(outcome):
            violated = True
            _say(f"logs are kept in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    for line in missing:
        _say(line)
    return int(bool(missing) or violated)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.chaos.run", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--full", action="store_true", help="20,000 messages; else about 1,500")
    parser.add_argument("--rate", type=float, default=scenario.RATE, help="messages a second of the full run")
    parser.add_argument("--minutes", type=float, help="run after run, each of the next seed, for so long")
    parser.add_argument("--broker", choices=(*BROKERS, "both"), default="both")
    parser.add_argument("--seed", type=int, default=1, help="of messages, places and times")
    parser.add_argument("-v", "--verbose", action="store_true", help="say who lives and dies")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
