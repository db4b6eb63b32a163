"""`fathom up` on a disk of a few MB that fills up, in a mount namespace of its own: `full_disk.py FOLDER`.

Prints what was seen, as JSON, for `test_full_disk.py`; the namespace and its disk end with this process.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

FATHOM = (sys.executable, "-m", "streams")
WAIT_S = 90


def ended(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([*FATHOM, *arguments], capture_output=True, text=True, timeout=WAIT_S)
    return done.returncode, done.stdout + done.stderr


def said(url: str, body: dict[str, str] | None = None, token: str = "") -> tuple[int, dict[str, object]]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        with urlopen(Request(url, data, headers), timeout=WAIT_S) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


def until(page: Callable[[], tuple[int, dict[str, object]]], status: int) -> dict[str, object]:
    end = time.monotonic() + WAIT_S
    while (found := page())[0] != status:
        assert time.monotonic() < end, found
        time.sleep(0.2)
    return found[1]


def main(folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120m", "fathom-test", str(folder)], check=True)
    ballast, data = folder / "ballast", folder / "data"
    ballast.write_bytes(bytes(80_000_000))
    seen: dict[str, object] = {"start": ended("up", "--data", str(data), "--port", "0")}
    ballast.unlink()
    log = (folder.parent / "up.log").open("wb")
    up = subprocess.Popen([*FATHOM, "up", "--data", str(data), "--port", "0"], stdout=subprocess.PIPE, stderr=log)
    try:
        assert up.stdout is not None
        base = f"http://{json.loads(up.stdout.readline())['http']}"
        token = (data / "token").read_text().strip()
        at, question = f"embedded://{data / 'broker'}", {"question": "Hello!", "conversation_id": "c", "client_id": "w"}
        seen["before"] = said(f"{base}/ask", question, token)[0]
        free = os.statvfs(folder)
        ballast.write_bytes(bytes(free.f_bavail * free.f_frsize - 5_000_000))
        seen["not_ready"] = until(lambda: said(f"{base}/health/ready"), 503)
        seen["live"] = said(f"{base}/health/live")[0]
        seen["http"] = said(f"{base}/ask", {**question, "question": "Thanks!"}, token)
        (folder.parent / "note.md").write_text("# Note\n\nThe door code is 4711.\n")
        seen["ingest"] = ended("ingest", str(folder.parent / "note.md"), "--broker", at)
        seen["tail"] = ended("tail", "messages.in", "--from-beginning", "--limit", "1", "--broker", at)
        # Now to the last byte, while a message is on its way that nobody could hold back.
        with ballast.open("ab", buffering=0) as file:
            try:
                while file.write(bytes(65_536)):
                    pass
            except OSError:
                pass
        address = json.loads((data / "up.json").read_text())["bootstrap"]
        sending = subprocess.Popen(
            [*FATHOM, "send", "Kept until there is room. " * 1000, "--broker", address], stdout=subprocess.DEVNULL
        )
        time.sleep(6)
        assert sending.poll() is None
        ballast.unlink()
        seen["sent"] = sending.wait(WAIT_S)
        seen["ready_again"] = until(lambda: said(f"{base}/health/ready"), 200)
        seen["messages"] = ended("tail", "messages.in", "--from-beginning", "--limit", "2", "--broker", at)
        seen["after"] = said(f"{base}/ask", {**question, "question": "Are you there?"}, token)[0]
    finally:
        up.terminate()
        seen["ended"] = up.wait(WAIT_S)
    seen["log"] = (folder.parent / "up.log").read_text()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
