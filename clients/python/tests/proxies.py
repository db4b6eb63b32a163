"""A TCP proxy that cuts the first connections, once the server has answered and before its answer is passed on."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Cutting:
    """What the proxy did."""

    def __init__(self, cuts: int) -> None:
        self.left = cuts
        self.requests = 0


@contextmanager
def cutting(host: str, port: int, cuts: int) -> Iterator[tuple[str, Cutting]]:
    """The address of the proxy, and its counts."""
    counts = Cutting(cuts)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_serve, args=(listening, (host, port), counts), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", counts


def _serve(listening: socket.socket, target: tuple[str, int], counts: Cutting) -> None:
    with suppress(OSError):
        while True:
            caller, _ = listening.accept()
            threading.Thread(target=_pass_on, args=(caller, target, counts), daemon=True).start()


def _pass_on(caller: socket.socket, target: tuple[str, int], counts: Cutting) -> None:
    with caller, socket.create_connection(target) as server, suppress(OSError):
        threading.Thread(target=_copy, args=(caller, server), daemon=True).start()
        while answer := server.recv(65_536):
            counts.requests += 1
            if counts.left > 0:
                counts.left -= 1
                caller.shutdown(socket.SHUT_RDWR)
                return
            caller.sendall(answer)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65_536):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)
