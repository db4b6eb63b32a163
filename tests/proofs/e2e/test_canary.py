"""Canaries of a `fathom up`: each is timed, and nothing of it stays in what users' questions are answered from."""

import time
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from streams.runtime.admission.fairness import CANARY
from tests.e2e.processes import running

WAIT_S = 120.0


def values(address: str) -> dict[str, float]:
    """The samples without labels of a page of metrics."""
    page = httpx.get(f"http://{address}/metrics", timeout=10).text
    samples = [sample for family in text_string_to_metric_families(page) for sample in family.samples]
    return {sample.name: sample.value for sample in samples if not sample.labels}


def test_canaries_are_timed_erased_and_the_lost_ones_counted(tmp_path: Path):
    data = tmp_path / "data"
    settings = {"FATHOM_CANARY_EVERY_S": "1", "FATHOM_EMBEDDER": "hashing"}
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err", **settings) as up:
        address = up.ready()["http"]
        deadline = time.monotonic() + WAIT_S
        while (seen := values(address))["fathom_canary_roundtrip_seconds_count"] < 3:
            assert time.monotonic() < deadline, seen
            time.sleep(0.5)
        assert (seen["fathom_canary_lost_total"], seen["fathom_canary_left_total"]) == (0, 0)
        assert 0 < seen["fathom_canary_roundtrip_seconds_sum"] < 20 * seen["fathom_canary_roundtrip_seconds_count"]
        with Redis.from_url(f"unix://{data / 'valkey' / 'valkey.sock'}") as redis:
            # One may be on its way.
            kept = [name for name in redis.scan_iter("*") if CANARY.encode() in name and b":turns" in name]
        assert len({name.split(b":turns")[0] for name in kept}) <= 1
        assert up.end()[0] == 0


@pytest.mark.timeout(120)
def test_none_is_sent_unless_it_is_wanted(tmp_path: Path):
    with running("up", "--data", str(tmp_path / "data"), "--port", "0", stderr=tmp_path / "err") as up:
        address = up.ready()["http"]
        time.sleep(3)
        assert values(address)["fathom_canary_roundtrip_seconds_count"] == 0
