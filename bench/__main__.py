"""All benchmarks, one after the other; each is its own process."""

import subprocess
import sys

from bench.measure import say

PARTS = tuple(
    f"bench.{part}" for part in ("classify", "mcp", "ask", "front", "gate", "runtime", "start", "pipeline", "ingest")
)


def main() -> int:
    for part in PARTS:
        say(f"== {part}")
        done = subprocess.run([sys.executable, "-m", part], check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
