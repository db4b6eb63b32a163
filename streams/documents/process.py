"""PDF and HTML read in a process of its own, with little memory and little time.

Parsers meet whatever people send: what hangs, swells or dies there takes a child along, never the worker's loop. The
child is started for the first document and reads those after it; one that was killed is replaced.
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
    """`DocumentReader` in a child; `seconds` and `megabytes` are what one document may take."""

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
            # A child that dies may have been killed by somebody else: the document is to blame if a second one dies.
            answer = self._ask(kind, data) or self._ask(kind, data)
        if answer is None:
            raise Rejected("document_unreadable", f"whatever reads this {kind} dies of it; send its text instead")
        if "code" in answer:
            raise Rejected(answer["code"], answer["detail"])
        return answer["text"]

    def _ask(self, kind: DocumentKind, data: bytes) -> dict[str, str] | None:
        """The child's answer; None when it died of the question."""
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
                self.close()  # what it took it does not give back
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
                # What a hostile file makes a parser say is nobody's.
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
        return  # a fork of ours: the child is not its
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue  # what was not written yet is nobody's now
    child.wait()
