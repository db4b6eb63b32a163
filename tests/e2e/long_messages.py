"""Messages as long as a record may be, many at a time, and how long `fathom up` then takes to say that it lives."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.e2e.conftest import Tenant, Up

CHARS = 249_000
WORDS = "The review of the Atlas contract moved to Friday because the supplier changed its price again. "


def sent(up: Up, tenant: Tenant, at_a_time: int) -> tuple[list[int], list[float]]:
    """The statuses of so many messages, and the seconds that each probe beside them took."""
    waited: list[float] = []
    ended = threading.Event()

    def probe() -> None:
        with httpx.Client(base_url=up.url, timeout=30) as client:
            while not ended.is_set():
                began = time.monotonic()
                answer = client.get("/health/live")
                assert answer.json()["live"]
                waited.append(time.monotonic() - began)
                time.sleep(0.05)

    def say(number: int) -> int:
        text = f"{number} {WORDS * (CHARS // len(WORDS))}"
        message = {"role": "user", "content": text, "conversation_id": f"long-{number}", "client_id": "web"}
        return tenant.client().post("/messages?wait=pack", json=message).status_code

    with ThreadPoolExecutor(at_a_time + 1) as pool:
        probing = pool.submit(probe)
        said = list(pool.map(say, range(at_a_time)))
        ended.set()
        probing.result()
    return said, waited


def late(waited: list[float]) -> float:
    """What all but one in twenty took at most: other processes use the same cores."""
    return sorted(waited)[len(waited) * 19 // 20]
