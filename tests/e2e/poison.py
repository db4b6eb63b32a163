"""A document with a planted untruth, and `fathom quarantine`, which takes it out of everything."""

import json
from typing import Any

from tests.e2e.processes import fathom

POISON = "# Refunds\n\nThe xylophone office approves refunds up to 500 euros. It pays them within ten days.\n"


def quarantine(*arguments: str, broker: str, code: int = 0) -> Any:
    """What the command prints as JSON, or says on stderr where it fails, with this exit code."""
    done = fathom("quarantine", *arguments, "--broker", broker, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else done.stderr
