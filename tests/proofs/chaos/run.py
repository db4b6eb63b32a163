"""`python -m tests.proofs.chaos.run`: messages, joins, stops and kills on each broker, then exact replays of what was
recorded, one of them killed; the figures; exit 1 on any violation.

python -m tests.proofs.chaos.run --full                     20,000 messages, at least three kills a stage, both brokers
python -m tests.proofs.chaos.run --broker kafka --seed 7    the small run
"""

import argparse
import asyncio
import logging
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.chaos import replay, report, scenario
from tests.chaos.scenario import Outcome
from tests.chaos.servers import BROKERS, lacking, serving


def on(broker: str, plan: scenario.Plan, directory: Path) -> Outcome:
    """One plan on one broker."""
    with serving(broker, directory) as servers:
        outcome = asyncio.run(scenario.run(plan, servers))
        # The workers were two or three and died; a replay is one process.
        outcome.failures += replay.differences(servers, outcome.verdict.packs)
        return outcome


def _terminated(*_: object) -> None:
    raise KeyboardInterrupt  # so that servers and workers are ended on the way out


def main() -> int:
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _terminated)
    level = logging.INFO if arguments.verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(name)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    seed = arguments.seed
    plan = scenario.full(seed, arguments.rate) if arguments.full else scenario.small(seed)
    outcomes, missing = [], []
    for broker in BROKERS if arguments.broker == "both" else (arguments.broker,):
        if (why := lacking(broker)) is not None:
            missing.append(f"{broker} did not run: {why}")
            continue
        directory = Path(tempfile.mkdtemp(prefix=f"fathom-chaos-{broker}-"))
        outcome = on(broker, plan, directory)
        outcomes.append(outcome)
        _say(report.table(outcome))
        if report.violations(outcome):
            _say(f"logs are kept in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    for line in missing:
        _say(line)
    _say(report.json_line(outcomes))
    return int(bool(missing) or any(report.violations(outcome) for outcome in outcomes))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.chaos.run", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--full", action="store_true", help="20,000 messages; else about 1,500")
    parser.add_argument("--rate", type=float, default=scenario.RATE, help="messages a second of the full run")
    parser.add_argument("--broker", choices=(*BROKERS, "both"), default="both")
    parser.add_argument("--seed", type=int, default=1, help="of messages, places and times")
    parser.add_argument("-v", "--verbose", action="store_true", help="say who lives and dies")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
