"""`fathom doctor` beside a running `fathom up`: everything is fine, then each thing that is broken is named."""

import asyncio
import json
import shutil
import signal
import subprocess
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient

from streams.broker.process import BrokerProcess
from tests.e2e.processes import IN_MEMORY, fathom, running
from tests.servers.process import free_port

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


def test_a_group_that_nobody_runs_and_a_redis_that_evicts_are_wrong(tmp_path: Path):
    server = shutil.which("redis-server")
    broker = BrokerProcess()
    bootstrap = broker.start(tmp_path / "broker", partitions=2)
    port = str(free_port())
    redis: subprocess.Popen[bytes] | None = None
    settings = dict(IN_MEMORY)
    try:
        if server is not None:
            options = ("--port", port, "--save", "", "--maxmemory-policy", "allkeys-lru", "--bind", "127.0.0.1")
            redis = subprocess.Popen([server, *options], cwd=tmp_path, stdout=subprocess.DEVNULL)
            settings["FATHOM_REDIS_URL"] = f"redis://127.0.0.1:{port}"
        assert fathom("topics", "apply", "--broker", bootstrap).returncode == 0
        assert fathom("send", "Is anybody there?", "--broker", bootstrap).returncode == 0
        found = checks("--broker", bootstrap, code=5, **settings)
        assert found["group.depth"]["state"] == "wrong"
        assert "no member reads them" in found["group.depth"]["seen"]
        assert found["unread-topics"]["state"] == "warn"
        if redis is not None:
            assert found["redis"]["state"] == "ok"
            assert found["redis-policy"]["state"] == "wrong"
            assert found["redis-policy"]["fix"] == "redis-cli config set maxmemory-policy noeviction"
    finally:
        broker.stop()
        if redis is not None:
            redis.terminate()
            redis.wait()
