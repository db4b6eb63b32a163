"""Run the collected tests in several forks of this process, so that test files are imported and collected once.

`pytest -p tests.forked --processes 2 tests/unit`. A fork takes whole files, one after the other, from a counter that
all forks share. Reports travel to the parent, which prints and counts them as if it had run the tests itself.
"""

import gc
import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from ctypes import c_int
from itertools import groupby
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="forks that share the collected tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Share the tests among forks; with one process pytest's own loop runs them."""
    number: int = session.config.getoption("processes")
    if number < 2 or session.config.option.collectonly or session.testsfailed:
        return None
    if (alive := threading.active_count()) > 1:
        raise pytest.UsageError(f"{alive - 1} threads run after the collection: a fork would lose them")
    Forks(session, number).run()
    return True


class Forks:
    """The forks of one session, and the counter from which they take files."""

    def __init__(self, session: pytest.Session, number: int) -> None:
        self._session = session
        self._number = number
        self._files = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
        self._next = multiprocessing.Value(c_int, 0)
        self._running: dict[Connection, tuple[int, str]] = {}

    def run(self) -> None:
        """Return when every file has run; raises what pytest raises when it is told to stop."""
        # Made here: each fork would make one of its own, and leave it behind.
        self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        gc.collect()
        gc.freeze()
        sys.stdout.flush()
        try:
            for _ in range(self._number):
                self._fork()
            while self._running:
                for connection in wait(list(self._running)):
                    assert isinstance(connection, Connection)
                    self._take(connection)
        finally:
            self._stop()

    def _fork(self) -> None:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        pid = os.fork()
        if pid:
            theirs.close()
            self._running[ours] = (pid, "its first test")
            return
        status = 1
        try:
            ours.close()
            _run_child(self._session, self._taken(), theirs)
            status = 0
        finally:
            os._exit(status)

    def _taken(self) -> Iterator[pytest.Item]:
        """In a fork: the tests of the files that it takes, until none is left."""
        while True:
            with self._next.get_lock():
                index = self._next.value
                self._next.value = index + 1
            if index >= len(self._files):
                return
            yield from self._files[index]

    def _take(self, connection: Connection) -> None:
        """One message of a fork: the reports of a test, and which it begins; at the end how it ended."""
        pid, test = self._running[connection]
        hook = self._session.config.hook
        try:
            test, reports = pickle.loads(connection.recv_bytes())
        except EOFError:
            del self._running[connection]
            connection.close()
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if code:
                hook.pytest_runtest_logreport(report=_ended(test, f"its process ended with {code}"))
            return
        self._running[connection] = (pid, test)
        for data in reports:
            report = hook.pytest_report_from_serializable(config=self._session.config, data=data)
            hook.pytest_runtest_logreport(report=report)
        if self._session.shouldfail or self._session.shouldstop:
            self._stop()
            raise self._session.Failed(str(self._session.shouldfail or self._session.shouldstop))

    def _stop(self) -> None:
        for connection, (pid, _) in self._running.items():
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            connection.close()
        self._running.clear()


def _ended(test: str, why: str) -> pytest.TestReport:
    return pytest.TestReport(test, (test, None, ""), {}, "failed", f"{test}: {why}", "call")


def _run_child(session: pytest.Session, items: Iterator[pytest.Item], connection: Connection) -> None:
    """Run a fork's tests and send their reports."""
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    reporter = _Reporter(session.config, connection)
    plugins.register(reporter)
    # Forks share the position in the parent's capture files: each needs files of its own.
    capture: Any = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    item = next(items, None)
    while item is not None:
        reporter.begin(item.nodeid)
        following = next(items, None)
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        item = following
    reporter.begin("no test")
    capture.stop_global_capturing()


class _Reporter:
    """Sends a fork's reports to the parent, those of one test together."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection
        self._reports: list[Any] = []

    def begin(self, test: str) -> None:
        """Send what there is, and the test that comes next: a fork that dies leaves its name."""
        self._connection.send_bytes(pickle.dumps((test, self._reports)))
        self._reports = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))
