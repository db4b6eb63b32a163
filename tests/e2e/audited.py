"""Messages that are decided on, and `fathom audit` of what was decided."""

import httpx

from tests.e2e.calls import until_stored
from tests.e2e.processes import fathom

SAID = ("The deadline of the Aurora project is 15 May.", "=cmd|' /C calc'!A0 is no formula. How do I file a refund?")


def decide(calls: httpx.Client) -> None:
    """Have some messages decided on, with claims among them, until all of it is stored."""
    for number, text in enumerate(SAID):
        body = {"content": text, "role": "user", "conversation_id": f"c{number}", "client_id": "default"}
        pack = calls.post("/messages?wait=pack", json=body, headers={"fathom-user": "ana"}).json()
        until_stored(calls, pack["message_id"])


def audit(broker: str, *arguments: str, code: int = 0) -> str:
    """What the command prints, or says on stderr where it fails, with this exit code."""
    done = fathom("audit", *arguments, "--broker", broker)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code in (0, 5) else done.stderr
