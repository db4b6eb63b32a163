"""Health and metrics at a real socket."""

import json
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.types import ASGIApp

from streams.config import ConfigError
from streams.listening import listening
from streams.runtime import health_server
from streams.runtime.health import LOOP_STALL_S, Health
from streams.runtime.health_server import HealthServer
from streams.version import version


@contextmanager
def served(health: Health, api: Any = None) -> Iterator[httpx.Client]:
    with listening("127.0.0.1", 0, "FATHOM_HTTP_HOST", "FATHOM_HTTP_PORT") as listener:
        server = HealthServer(health, listener)
        server.start(api)
        try:
            with httpx.Client(base_url=f"http://{server.address}", timeout=5) as client:
                yield client
        finally:
            server.stop()


def test_the_metrics_name_the_running_version():
    with served(Health(lambda: {"groups": {}})) as client:
        answer = client.get("/metrics")
        assert f'fathom_build_info{{version="{version()}"}} 1.0' in answer.text.splitlines()
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        head = client.head("/metrics")
        assert (head.status_code, head.content) == (200, b"")


def test_a_loop_that_stands_still_is_said_by_the_servers_own():
    """Nothing in this test turns an event loop but the server's."""
    health = Health(lambda: {"groups": {"depth": {"healthy": True, "partitions": 12}}})
    with served(health) as client:
        assert client.get("/health/startup").status_code == 503
        assert client.get("/health/ready").status_code == 503
        health.started = True
        ready = client.get("/health/ready")
        assert (ready.status_code, ready.json()["groups"]) == (200, {"depth": {"healthy": True, "partitions": 12}})
        health._beat -= LOOP_STALL_S
        live = client.get("/health/live")
        assert (live.status_code, live.json()["live"]) == (503, False)
        assert client.get("/health/ready").status_code == 503


def test_an_unknown_path_names_the_known_ones():
    with served(Health(lambda: {"groups": {}})) as client:
        answer = client.get("/ask")
        assert answer.status_code == 404
        assert json.loads(answer.text)["error"] == (
            "known paths: /health/live, /health/ready, /health/startup, /metrics"
        )


def test_a_taken_port_is_said_with_its_owner_and_the_setting_that_chooses_another():
    with listening("127.0.0.1", 0, "FATHOM_HTTP_HOST", "FATHOM_HTTP_PORT") as taken:
        port = taken.getsockname()[1]
        owner = f"by process {os.getpid()} \\(.*pytest.*\\)"
        with (
            pytest.raises(ConfigError, match=f"127.0.0.1:{port}: Address already in use {owner}; .*FATHOM_HTTP_PORT"),
            listening("127.0.0.1", port, "FATHOM_HTTP_HOST", "FATHOM_HTTP_PORT"),
        ):
            pass


def test_a_head_that_does_not_come_to_its_end_is_given_up_and_a_kept_connection_is_not(monkeypatch):
    monkeypatch.setattr(health_server, "HEAD_S", 0.4)
    health = Health(lambda: {"groups": {}})
    with served(health) as client:
        host, port = client.base_url.host, client.base_url.port or 0
        with socket.create_connection((host, port), timeout=5) as slow:
            began = time.monotonic()
            slow.sendall(b"GET /metrics HTTP/1.1\r\nhost: x\r\n")
            assert slow.recv(1) == b""
            assert 0.3 < time.monotonic() - began < 3
        with socket.create_connection((host, port), timeout=5) as kept:
            for _ in range(3):
                kept.sendall(b"HEAD /metrics HTTP/1.1\r\nhost: x\r\n\r\n")
                assert kept.recv(4096).startswith(b"HTTP/1.1 200")
                time.sleep(0.3)


class Api:
    """An interface of no paths."""

    @asynccontextmanager
    async def running(self, _: str) -> AsyncIterator[ASGIApp]:
        yield Starlette()

    def stop(self) -> None:
        """Nobody waits."""


def test_beside_an_interface_a_busy_loop_leaves_the_interpreter_soon_and_alone_as_ever():
    before = sys.getswitchinterval()
    try:
        with served(Health(lambda: {"groups": {}})):
            assert sys.getswitchinterval() == before
        with served(Health(lambda: {"groups": {}}), Api()):
            assert sys.getswitchinterval() == pytest.approx(health_server.SWITCH_S)
    finally:
        sys.setswitchinterval(before)
