"""`fathom doctor` beside a running `fathom up`: everything is fine, then each thing that is broken is named."""

import asyncio
import json
import signal
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient

from tests.e2e.test_up import fathom, running

FINE = {"ok", "skipped"}


def checks(*arguments: str, code: int, **environment: str) -> dict[str, dict[str, str]]:
    done = fathom("doctor", *arguments, "--json", **environment)
    assert done.returncode == code, done.stdout + done.stderr
    return {each["id"]: each for each in json.loads(done.stdout)["checks"]}


async def without(bootstrap: str, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.delete_topics([topic])
    finally:
        await admin.close()


def test_all_is_fine_then_each_thing_that_is_broken_is_named(tmp_path: Path):
    data = tmp_path / "data"
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err") as up:
        bootstrap = up.ready()["bootstrap"]
        broker = f"embedded://{data}"
        fine = checks("--broker", broker, "--canary", code=0)
        assert {name: each for name, each in fine.items() if each["state"] not in FINE} == {}
        assert len(fine) >= 20
        assert fine["canary"]["state"] == "ok"

        asyncio.run(without(bootstrap, "dead-letters.assessor"))
        broken = checks("--broker", broker, code=5)
        assert broken["topics"]["state"] == "wrong"
        assert "dead-letters.assessor" in broken["topics"]["seen"]
        assert broken["topics"]["fix"] == "fathom topics apply"
        up.end(signal.SIGTERM)
