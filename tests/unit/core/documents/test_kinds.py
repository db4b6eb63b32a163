"""What a document is by its first bytes, and text from bytes."""

import pytest

from agents.core.documents.kinds import decoded, kind_of
from agents.errors import Rejected


@pytest.mark.parametrize(
    ("data", "stated", "kind"),
    [
        (b"%PDF-1.7\n...", "markdown", "pdf"),
        (b"\n\n%PDF-1.4", None, "pdf"),
        (b"<!DOCTYPE html><p>x", None, "html"),
        (b"  <!-- made by hand -->\n<html lang=pt>", "text", "html"),
        (b"\xef\xbb\xbf<html>", None, "html"),
        ("<html>".encode("utf-16"), None, "html"),
        (b"<p>x</p>", "html", "html"),
        (b"# Title with <b>html</b>", "markdown", "markdown"),
        (b"plain words", "text", "text"),
        (b"plain words", "pdf", "markdown"),
        ("olá".encode("utf-16"), "text", "text"),
        (b"plain words", None, "markdown"),
    ],
)
def test_a_document_is_what_its_bytes_say(data, stated, kind):
    assert kind_of(data, stated) == kind


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04\x14\x00rest", "zip archive or an Office document.*unpack it"),
        (b"\x89PNG\r\n", "picture.*text recognition"),
        (b"\x1f\x8b\x08", "gzip.*unpack"),
        (b"\xd0\xcf\x11\xe0\xa1", "old Office document.*save it as PDF"),
        (b"abc\x00\x01\x02", "zero bytes"),
    ],
)
def test_what_is_no_document_is_refused_by_its_name_with_what_to_do(data, what):
    with pytest.raises(Rejected, match=what) as refused:
        kind_of(data, "pdf")
    assert refused.value.code == "document_type_unknown"


@pytest.mark.parametrize("data", [b"", b" \n\t", b"\x00" * 50])
def test_nothing_is_refused_as_empty(data):
    with pytest.raises(Rejected) as refused:
        kind_of(data, None)
    assert refused.value.code == "document_empty"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_unicode_with_or_without_its_mark(encoding):
    assert decoded("férias à vista".encode(encoding)) == "férias à vista"


def test_another_encoding_is_refused_with_the_place_and_what_to_do():
    with pytest.raises(Rejected, match=r"byte 1 is no UTF-8; save .* as UTF-8") as refused:
        decoded("férias".encode("latin-1"))
    assert refused.value.code == "document_encoding"


def test_a_text_that_was_decoded_wrongly_before_is_refused():
    with pytest.raises(Rejected, match="3 characters") as refused:
        decoded("f\ufffdrias e sal\ufffdrio s\ufffdo".encode())
    assert refused.value.code == "document_encoding"
    assert decoded(("um texto bom, " * 50 + "\ufffd").encode()).startswith("um texto")
