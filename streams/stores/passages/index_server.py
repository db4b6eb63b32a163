"""Serve one index on standard input until it closes: `python -m … DIRECTORY` or `--url URL`.

The index is embedded or on a server; this process holds the embedding model in both cases.
`index_process` starts it, it is not a command for users. The death of the parent closes the socket, and ends it.
"""

import argparse
import asyncio
import copyreg
import gc
import os
import signal
import socket
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import uvloop

from agents.errors import FathomError
from agents.ports.models import Embedder
from agents.ports.passages import Hit, Passage
from streams.stores import word_lists
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder, UseEmbedder, one_blas_thread
from streams.stores.pickled_calls import CANCEL, GREETING, framed, received, told

if TYPE_CHECKING:
    from streams.stores.passages.qdrant_server import QdrantServerIndex

OURS = "the index process"
Index: TypeAlias = "QdrantEdgeIndex | QdrantServerIndex"


async def serve(link: socket.socket, settings: argparse.Namespace) -> None:
    """Answer questions, several at a time, until the other end closes."""
    reader, writer = await asyncio.open_connection(sock=link)
    try:
        index = await _opened(settings)
    except FathomError as error:
        writer.write(framed((GREETING, told(error, OURS), None)))
        await writer.drain()
        return
    gc.collect()
    gc.freeze()  # what is loaded stays: a collection of all of it would hold up a search
    writer.write(framed((GREETING, None, None)))
    answering: dict[int, asyncio.Task[None]] = {}
    try:
        while True:
            number, method, arguments, options = await received(reader)
            if method == "close":
                break
            if method == CANCEL:
                if (given_up := answering.get(number)) is not None:
                    given_up.cancel()
                continue
            task = answering[number] = asyncio.create_task(_answer(index, writer, number, method, arguments, options))
            task.add_done_callback(partial(_forget, answering, number))
    except (EOFError, ConnectionError):
        number = None
    if answering:
        await asyncio.wait(answering.values())
    await index.close()
    if number is not None:
        writer.write(framed((number, None, None)))
        await writer.drain()


def _forget(answering: dict[int, asyncio.Task[None]], number: int, _: asyncio.Task[None]) -> None:
    answering.pop(number, None)


async def _answer(
    index: Index,
    writer: asyncio.StreamWriter,
    number: int,
    method: str,
    arguments: tuple[object, ...],
    options: Mapping[str, object],
) -> None:
    error, found = None, None
    try:
        found = await getattr(index, method)(*arguments, **options)
    except Exception as raised:  # noqa: BLE001 - the caller handles it
        error = told(raised, OURS)
    writer.write(framed((number, error, found)))


async def _opened(arguments: argparse.Namespace) -> Index:
    embedder = HashingEmbedder() if arguments.embedder == "hashing" else UseEmbedder()
    # The index before the model: a directory in use or a missing key is reported before the model is loaded.
    index: Index
    if arguments.url is None:
        index = QdrantEdgeIndex(arguments.directory, embedder, admin=arguments.admin, owner=arguments.owner)
    else:
        index = await _on_server(arguments, embedder)
    embedder.warm()
    return index


async def _on_server(arguments: argparse.Namespace, embedder: Embedder) -> "QdrantServerIndex":
    # Its client takes half a second to import, which the embedded index does not need.
    from streams.stores.passages.qdrant_server import QdrantServerIndex

    api_key = None if arguments.api_key_file is None else _key(arguments.api_key_file)
    index = QdrantServerIndex(arguments.url, embedder, api_key=api_key, admin=arguments.admin)
    try:
        await index.open()
    except FathomError:
        await index.close()
        raise
    return index


def _key(path: Path) -> str:
    try:
        key = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise FathomError(f"FATHOM_QDRANT_API_KEY_FILE: {path} cannot be read: {error}") from error
    if not key:
        raise FathomError(f"FATHOM_QDRANT_API_KEY_FILE: {path} is empty; write the server's API key into it")
    return key


def _pickle_hits_fast() -> None:
    """Let hits be rebuilt by a call each: frozen dataclasses are otherwise set field by field, in Python."""
    values = attrgetter(*(field.name for field in fields(Passage)))
    copyreg.pickle(Passage, lambda passage: (Passage, values(passage)))
    copyreg.pickle(Hit, lambda hit: (Hit, (hit.passage, hit.score, dict(hit.scores))))


def _yield_to_the_asker() -> None:
    """Schedule as a batch process: the worker keeps its core when it has asked, and goes on with other packs."""
    if hasattr(os, "SCHED_BATCH"):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m streams.stores.passages.index_server")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("directory", type=Path, nargs="?")
    place.add_argument("--url", help="of a Qdrant server")
    parser.add_argument("--api-key-file", type=Path, help="holds the server's API key")
    parser.add_argument("--embedder", choices=("use", "hashing"), default="use")
    parser.add_argument("--owner", type=int, required=True, help="whose directory it is: the parent's process id")
    parser.add_argument("--admin", action="store_true", help="may write what every tenant reads")
    parser.add_argument("--lexicons", type=Path, help="a folder of word lists that are added to the shipped ones")
    arguments = parser.parse_args()
    word_lists.extend(arguments.lexicons)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _yield_to_the_asker()
    _pickle_hits_fast()
    one_blas_thread()  # a server's client imports numpy before the model does
    uvloop.run(serve(socket.socket(fileno=0), arguments))


if __name__ == "__main__":
    main()
