"""Documents parsed in a child process with limited memory and time.

A document that makes a parser hang, run out of memory or crash costs that child, not the worker. The child is started
for the first document and kept for the next; one that was killed is replaced.
"""

import asyncio
import subprocess
import threading
import weakref

import orjson

from agents.core.documents.kinds import DocumentKind
from agents.errors import Rejected, Unavailable
from streams.child_process import ChildProcess

SECONDS, MEGABYTES = 20.0, 1_024


class DocumentProcess:
    """A `DocumentReader` in a child process; `seconds` and `megabytes` are the limits for one document."""

    def __init__(self, seconds: float = SECONDS, megabytes: int = MEGABYTES) -> None:
        self._seconds = seconds
        self._megabytes = megabytes
        self._child = ChildProcess()
        self._one_at_a_time = threading.Lock()
        weakref.finalize(self, self._child.end)

    async def read(self, kind: DocumentKind, data: bytes) -> str:
        """The text as Markdown, each page of a PDF ended by a form feed.

        Raises `Rejected` (document_…) for what cannot be read, `Unavailable` when no process can be started.
        """
        return await asyncio.to_thread(self._read, kind, data)

    def close(self) -> None:
        """End the child."""
        self._child.end()

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
        self._start()
        try:
            line = self._child.ask(self._seconds, orjson.dumps({"kind": kind, "size": len(data)}) + b"\n", data)
        except TimeoutError:
            self.close()
            raise Rejected(
                "document_timeout", f"the {kind} was not read within {self._seconds:g} s; split it, or send its text"
            ) from None
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            self.close()
            return None
        answer: dict[str, str] = orjson.loads(line)
        if answer.get("code") == "document_bomb":
            self.close()  # the child does not return the memory
        return answer

    def _start(self) -> None:
        if self._child.running:
            return
        limits = ["--seconds", str(max(1, round(self._seconds))), "--megabytes", str(self._megabytes)]
        try:
            # A hostile file decides what its parser prints.
            self._child.start_module("streams.documents.server", *limits, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise Unavailable("document reader", str(error)) from error
