"""The type of a document by its first bytes, regardless of the declared one; and decoding of text. Pure.

Raises `Rejected` (document_type_unknown, document_encoding, document_empty) with the type found and a remedy.
"""

import re
from typing import Literal

from agents.errors import Rejected

DocumentKind = Literal["text", "markdown", "html", "pdf", "docx", "csv", "eml"]
# Kinds whose bytes are parsed into text; and those of them that a record holds as bytes, the others as their text.
PARSED: frozenset[DocumentKind] = frozenset(("html", "pdf", "docx", "csv", "eml"))
SENT_AS_BYTES: frozenset[DocumentKind] = frozenset(("html", "pdf"))

LOOKED_AT = 4_096
_PDF_WITHIN = 1_024
# The name of the main part of a Word document, in its archive.
_WORD = b"word/document.xml"
# The first bytes of a file, its type, and a remedy for its owner.
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "a zip archive or an Office document", "unpack it, or save it as Word, PDF or text"),
    (b"PK\x05\x06", "an empty zip archive", "send the files themselves"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", "save it as PDF or text"),
    (b"{\\rtf", "a rich-text document", "save it as PDF or text"),
    (b"\x89PNG", "a picture (PNG)", "run it through text recognition first"),
    (b"\xff\xd8\xff", "a picture (JPEG)", "run it through text recognition first"),
    (b"GIF8", "a picture (GIF)", "run it through text recognition first"),
    (b"II*\x00", "a picture (TIFF)", "run it through text recognition first"),
    (b"MM\x00*", "a picture (TIFF)", "run it through text recognition first"),
    (b"\x1f\x8b", "a gzip archive", "unpack it and send what is in it"),
    (b"BZh", "a bzip2 archive", "unpack it and send what is in it"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it and send what is in it"),
    (b"Rar!", "a rar archive", "unpack it and send what is in it"),
    (b"\x7fELF", "a program", "send documents only"),
    (b"MZ\x90", "a program", "send documents only"),
    (b"SQLite format 3", "a database", "export what is to be remembered as text"),
)
_HTML = re.compile(
    rb"^\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,500}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_BROKEN_SHARE = 0.005


def kind_of(data: bytes, stated: str | None) -> DocumentKind:
    """The type of a document by its bytes; the declared type distinguishes text, Markdown, CSV and e-mail."""
    head = data[:LOOKED_AT]
    if not head.strip(b"\x00 \t\r\n\f\v"):
        raise Rejected("document_empty", "the document has no bytes to read; send its contents")
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return "pdf"
    if head.startswith(b"PK\x03\x04") and _WORD in data:
        return "docx"
    for magic, what, do in _MAGIC:
        if head.startswith(magic):
            raise Rejected("document_type_unknown", f"this is {what}, not text, Markdown, HTML, PDF or Word; {do}")
    marked = any(head.startswith(bom) for bom, _ in _BOMS)
    if b"\x00" in head and not marked:
        raise Rejected(
            "document_type_unknown",
            "this is no text, Markdown, HTML, PDF, Word, CSV or e-mail (it has zero bytes); save it as one",
        )
    if stated == "csv":
        return "csv"
    if stated == "eml":
        return "eml"
    plain = head.decode("utf-16", errors="ignore").encode() if marked and head[:1] in b"\xff\xfe" else head
    if stated == "html" or _HTML.match(plain.removeprefix(b"\xef\xbb\xbf")):
        return "html"
    return "text" if stated == "text" else "markdown"


def decoded(data: bytes) -> str:
    """The text of bytes in UTF-8, or in UTF-16 with a byte order mark."""
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    try:
        return checked(data.decode(encoding))
    except UnicodeDecodeError as error:
        raise Rejected(
            "document_encoding", f"byte {error.start} is no {encoding.upper()}; save the document as UTF-8 text"
        ) from None


def checked(text: str) -> str:
    """The text; raises `Rejected` where it was wrongly decoded before it was submitted."""
    broken = text.count("\ufffd") + text.count("\x00")
    if broken > max(len(text) * _BROKEN_SHARE, 2):
        raise Rejected(
            "document_encoding",
            f"{broken} characters of the text could not be decoded where it was made; read it as it was written "
            "(its own encoding) and send it again",
        )
    return text.replace("\x00", "")
