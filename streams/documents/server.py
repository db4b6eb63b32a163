"""`python -m streams.documents.server`: read documents from standard input, one after the other, until it closes.

Started by `streams.documents.process`. Documents may be hostile, so this process has limits on memory and time, holds
no secrets, and answers in JSON, never pickle.

A request is `{kind, size}` as a line of JSON then `size` bytes; an answer is a line: `{text}` or `{code, detail}`.
"""

import argparse
import resource
import signal
import sys
from importlib import import_module
from typing import BinaryIO

import orjson

from agents.errors import Rejected

READERS = {
    "pdf": "streams.documents.pdf",
    "html": "streams.documents.html",
    "docx": "streams.documents.word",
    "csv": "streams.documents.table",
    "eml": "streams.documents.mail",
}


def serve(questions: BinaryIO, answers: BinaryIO, seconds: int) -> None:
    """Answer requests until the other end closes."""
    while line := questions.readline():
        asked = orjson.loads(line)
        data = questions.read(asked["size"])
        _allow(seconds)
        answer = _answer(asked["kind"], data)
        answers.write(orjson.dumps(answer) + b"\n")
        answers.flush()


def _answer(kind: str, data: bytes) -> dict[str, str]:
    try:
        # On the first document of a kind: it does not wait for the other parsers.
        text: str = import_module(READERS[kind]).text_of(data)
        return {"text": text.encode(errors="replace").decode()}
    except Rejected as refused:
        return {"code": refused.code, "detail": refused.detail}
    except MemoryError:
        return {"code": "document_bomb", "detail": "it needs more memory than a document may; send its text instead"}


def _allow(seconds: int) -> None:
    """Raise the CPU limit by `seconds`; it also ends a child that its worker has left behind."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m streams.documents.server")
    parser.add_argument("--seconds", type=int, required=True, help="processor time for one document")
    parser.add_argument("--megabytes", type=int, required=True, help="memory, all in all")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory = arguments.megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    serve(sys.stdin.buffer, sys.stdout.buffer, arguments.seconds)


if __name__ == "__main__":
    main()
