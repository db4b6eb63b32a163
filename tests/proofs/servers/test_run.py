"""`make servers`: it says where the servers are, and ends them all."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from streams.config import load
from tests.servers import run
from tests.servers.install import lacking
from tests.servers.kafka import new_cluster_id

SERVE = """
import sys
from pathlib import Path
from tests.servers import run
run.DATA = Path(sys.argv[1])
sys.exit(run.main(sys.argv[2:]))
"""


@contextmanager
def serving(directory: Path, *names: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    for name in names:
        if (why := lacking(name)) is not None:
            pytest.skip(why)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(directory), *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline().strip() for _ in names]
            yield process, dict(line.split("=", 1) for line in lines if line)
        finally:
            process.terminate()
            process.wait(60)


def pids_of(directory: Path) -> list[int]:
    """Processes that work in a directory."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(entry / "cwd")).is_relative_to(directory):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_the_addresses_are_a_workers_settings_until_it_is_asked_to_end(tmp_path: Path, sent: signal.Signals) -> None:
    with serving(tmp_path, "redis", "qdrant") as (process, settings):
        assert set(settings) == {"FATHOM_REDIS_URL", "FATHOM_QDRANT_URL"}
        assert load(settings).redis_url == settings["FATHOM_REDIS_URL"]
        with redis.Redis.from_url(settings["FATHOM_REDIS_URL"]) as client:
            assert client.ping()
        file = tmp_path / run.SETTINGS
        assert dict(line.split("=", 1) for line in file.read_text().splitlines()) == settings
        assert len(pids_of(tmp_path)) >= 2
        process.send_signal(sent)
        assert process.wait(30) == 0
        assert not file.exists()
        assert pids_of(tmp_path) == []


def test_what_the_servers_keep_is_there_at_the_next_start(tmp_path: Path) -> None:
    for number in (1, 2):
        with serving(tmp_path, "redis") as (_, settings), redis.Redis.from_url(settings["FATHOM_REDIS_URL"]) as client:
            assert client.incr("starts") == number


def test_a_server_that_ends_by_itself_ends_the_others_and_is_named(tmp_path: Path) -> None:
    with serving(tmp_path, "redis", "qdrant") as (process, _):
        # The others there are the shell and the `cat` of its guardian.
        [pid] = [each for each in pids_of(tmp_path / "redis") if "redis-server" in command_line(each).split()[0]]
        os.kill(pid, signal.SIGKILL)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 1
        assert f"Redis has ended, see {tmp_path}" in said
        assert pids_of(tmp_path) == []


def test_a_second_one_in_the_same_place_is_refused_and_leaves_the_first_alone(tmp_path: Path) -> None:
    with serving(tmp_path, "redis") as (first, settings):
        second = subprocess.run(
            [sys.executable, "-c", SERVE, str(tmp_path), "redis"], capture_output=True, text=True, check=False
        )
        assert second.returncode == 1
        assert f"is served by pid {first.pid} already" in second.stderr
        with redis.Redis.from_url(settings["FATHOM_REDIS_URL"]) as client:
            assert client.ping()


def test_an_unknown_server_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["redis", "rediss"]) == 2
    assert "rediss is none of kafka, redis, qdrant, neo4j" in capsys.readouterr().err


def test_a_neo4j_password_is_made_once_and_read_by_its_owner_only(tmp_path: Path) -> None:
    if (why := lacking("neo4j")) is not None:
        pytest.skip(why)
    server, settings = run.neo4j(tmp_path)
    again, _ = run.neo4j(tmp_path)
    file = Path(settings["FATHOM_NEO4J_PASSWORD_FILE"])
    assert file.stat().st_mode & 0o077 == 0
    assert server.password == again.password == file.read_text()  # type: ignore[attr-defined]
    assert len(file.read_text()) > 16


def test_nothing_is_started_while_a_server_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(run, "DATA", tmp_path / "data")
    assert run.main(["redis"]) == 1
    assert "apt-get install redis-server" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_no_id_of_a_cluster_is_taken_for_an_option() -> None:
    ids = {new_cluster_id() for _ in range(2_000)}
    assert len(ids) == 2_000
    assert {len(each) for each in ids} == {22}
    assert not [each for each in ids if each.startswith("-")]
