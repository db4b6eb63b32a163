"""The text of a Word document as Markdown: what it shows, without pictures, comments and what was struck."""

import io
import zipfile

import mammoth

from agents.errors import Rejected
from streams.documents import html

# Unpacked: a page of words has a few thousand bytes.
MAX_UNPACKED = 200_000_000
PAGE = '<!doctype html><meta charset="utf-8">'


def text_of(data: bytes) -> str:
    """The text of a document; raises `Rejected`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
    except zipfile.BadZipFile:
        raise _unreadable() from None
    if unpacked > MAX_UNPACKED:
        raise Rejected("document_bomb", f"it unpacks to {unpacked:,} bytes, {MAX_UNPACKED:,} are read; split it")
    try:
        page = mammoth.convert_to_html(io.BytesIO(data), convert_image=_no_picture).value
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  (whatever a hostile document makes of its parser)
        raise _unreadable() from None
    return html.text_of(f"{PAGE}{page}".encode())


def _no_picture(_: object) -> list[object]:
    return []


def _unreadable() -> Rejected:
    return Rejected("document_unreadable", "it is no Word document, or a damaged one; save it again, or send its text")
