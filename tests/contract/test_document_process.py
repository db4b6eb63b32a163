"""The process that reads documents: it answers, ends what hangs, is replaced when it dies, and leaves nobody behind."""

import asyncio
import os
import signal
import threading

import pytest

from agents.errors import Rejected
from streams.documents.process import DocumentProcess
from tests.builders.pdf import pdf
from tests.builders.word import word

PAGE = b"<h1>Titulo</h1><p>Texto.</p>"


@pytest.fixture
def reader():
    made = DocumentProcess()
    yield made
    made.close()


def read(reader: DocumentProcess, kind="html", data=PAGE) -> str:
    return asyncio.run(reader.read(kind, data))


def pid_of(reader: DocumentProcess) -> int:
    assert reader._child is not None
    return reader._child.pid


def test_one_process_reads_one_document_after_the_other(reader):
    assert read(reader) == "# Titulo\n\nTexto."
    first = pid_of(reader)
    assert read(reader, "pdf", pdf([[(11, "Um texto.")]])) == "Um texto.\f"
    assert pid_of(reader) == first


def test_a_refusal_comes_with_its_code_and_the_next_document_is_read(reader):
    with pytest.raises(Rejected) as refused:
        read(reader, "pdf", b"%PDF-1.4 and nothing else")
    assert refused.value.code == "document_unreadable"
    assert read(reader) == "# Titulo\n\nTexto."


def test_a_process_that_was_killed_is_replaced_and_the_document_is_read(reader):
    read(reader)
    os.kill(pid_of(reader), signal.SIGKILL)
    assert read(reader) == "# Titulo\n\nTexto."


def test_what_takes_too_long_is_ended_and_refused_while_the_loop_goes_on(reader):
    async def story() -> int:
        await reader.read("html", PAGE)
        reader._seconds = 0.2
        os.kill(pid_of(reader), signal.SIGSTOP)  # as a parser that hangs
        turns = 0
        reading = asyncio.create_task(reader.read("html", PAGE))
        while not reading.done():
            await asyncio.sleep(0.01)
            turns += 1
        with pytest.raises(Rejected) as refused:
            await reading
        assert refused.value.code == "document_timeout"
        return turns

    assert asyncio.run(story()) > 3
    reader._seconds = 20
    assert read(reader) == "# Titulo\n\nTexto."


def test_what_needs_more_memory_than_allowed_is_refused_and_the_next_is_read():
    reader = DocumentProcess(megabytes=128)
    try:
        with pytest.raises(Rejected) as refused:
            read(reader, "html", b"<p>" + b"x" * 60_000_000)
        assert refused.value.code in ("document_bomb", "document_unreadable")
        assert read(reader) == "# Titulo\n\nTexto."
    finally:
        reader.close()


def test_several_at_once_each_get_their_own(reader):
    async def story() -> list[str]:
        pages = [b"<p>pagina %d</p>" % number for number in range(8)]
        return await asyncio.gather(*(reader.read("html", page) for page in pages))

    assert asyncio.run(story()) == [f"pagina {number}" for number in range(8)]


def test_closing_leaves_no_process():
    reader = DocumentProcess()
    read(reader)
    child = pid_of(reader)
    reader.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


def test_word_documents_tables_and_email_are_read_there(reader):
    assert read(reader, "docx", word([("Heading1", "Férias"), ("", "São 30 dias.")])) == "# Férias\n\nSão 30 dias."
    assert read(reader, "csv", b"mes,dias\nmaio,2\n").endswith("| maio | 2 |")
    assert read(reader, "eml", b"From: ana@example.org\n\nO contrato termina.").endswith("O contrato termina.")
