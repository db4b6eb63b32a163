"""A server that is no Fathom: it answers as it is told, and keeps what it was asked."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Stub:
    """Its URL, its answers in order (the last again and again), the seconds it takes, and the bodies it was sent."""

    replies: list[Reply]
    takes_s: float = 0.0
    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def answering(*replies: Reply, takes_s: float = 0.0) -> Iterator[Stub]:
    """The server while it runs."""
    stub = Stub(list(replies), takes_s)

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            stub.paths.append(self.path)
            stub.headers.append({name.lower(): text for name, text in self.headers.items()})
            stub.bodies.append(self.rfile.read(int(self.headers.get("content-length", 0))))
            time.sleep(stub.takes_s)
            status, headers, body = stub.replies.pop(0) if len(stub.replies) > 1 else stub.replies[0]
            self.send_response(status)
            for name, text in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815  # the names are http.server's

        def log_message(self, *_: Any) -> None:
            """Nothing is to be read."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        stub.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield stub
        server.shutdown()
