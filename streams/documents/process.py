"""PDF and HTML are read in a child process with limits on memory and time.

A hostile document may hang, exhaust or kill its parser: then the child ends, never the worker. The child is started for
the first document and reads the following ones; a killed one is replaced.
"""

import asyncio
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import orjson

from agents.core.documents.kinds import DocumentKind
from agents.errors import Rejected, Unavailable

SECONDS, MEGABYTES = 20.0, 1_024
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


class DocumentProcess:
    """`DocumentReader` in a child process; `seconds` and `megabytes` are the limits of one document."""

    def __init__(self, seconds: float = SECONDS, megabytes: int = MEGABYTES) -> None:
        self._seconds = seconds
        self._megabytes = megabytes
        self._child: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()
        self._finalizer: Any = None

    async def read(self, kind: DocumentKind, data: bytes) -> str:
        """The text as Markdown, each page of a PDF ended by a form feed.

        Raises `Rejected` (document_…) for what cannot be read, `Unavailable` when no process can be started.
        """
        return await asyncio.to_thread(self._read, kind, data)

    def close(self) -> None:
        """End the child."""
        if self._finalizer is not None:
            self._finalizer()
        self._child = None

    def _read(self, kind: DocumentKind, data: bytes) -> str:
        with self._one_at_a_time:
            # One death may have another cause; the document is to blame when a second child dies.
            answer = self._ask(kind, data) or self._ask(kind, data)
        if answer is None:
            raise Rejected("document_unreadable", f"whatever reads this {kind} dies of it; send its text instead")
        if "code" in answer:
            raise Rejected(answer["code"], answer["detail"])
        return answer["text"]

    def _ask(self, kind: DocumentKind, data: bytes) -> dict[str, str] | None:
        """The child's answer; None when the child died."""
        child = self._running()
        late = threading.Event()

        def end() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(self._seconds, end)
        timer.daemon = True
        timer.start()
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(orjson.dumps({"kind": kind, "size": len(data)}) + b"\n")
            child.stdin.write(data)
            child.stdin.flush()
            line = child.stdout.readline()
        except OSError:
            line = b""
        finally:
            timer.cancel()
        if line.endswith(b"\n") and not late.is_set():
            answer: dict[str, str] = orjson.loads(line)
            if answer.get("code") == "document_bomb":
                self.close()  # the child does not return the memory
            return answer
        self.close()
        if late.is_set():
            raise Rejected(
                "document_timeout", f"the {kind} was not read within {self._seconds:g} s; split it, or send its text"
            )
        return None

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._child is not None and self._child.poll() is None:
            return self._child
        command = [sys.executable, "-m", "streams.documents.server"]
        command += ["--seconds", str(max(1, round(self._seconds))), "--megabytes", str(self._megabytes)]
        try:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # A hostile file decides what its parser prints.
                stderr=subprocess.DEVNULL,
                cwd=PACKAGE_ROOT,
                start_new_session=True,
            )
        except OSError as error:
            raise Unavailable("document reader", str(error)) from error
        self._finalizer = weakref.finalize(self, _end, self._child, os.getpid())
        return self._child


def _end(child: "subprocess.Popen[bytes]", owner: int) -> None:
    if os.getpid() != owner:
        return  # in a fork of the owner, whose child it is not
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue  # unwritten bytes are lost with the child
    child.wait()
