"""A small PDF, written by hand: lines of text in Helvetica, each with its size; an empty line is a gap."""

from collections.abc import Sequence

Line = tuple[int, str]


def pdf(pages: Sequence[Sequence[Line]], *, streams: Sequence[bytes] | None = None, extra: bytes = b"") -> bytes:
    """A PDF of these pages; `streams` replaces what is drawn, `extra` goes into each stream's dictionary."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        drawn = _drawn(lines) if streams is None else streams[number]
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (5 + 2 * number)
        )
        objects.append(b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(drawn), extra, drawn))
    return _file(objects)


def _drawn(lines: Sequence[Line]) -> bytes:
    height = 780
    out: list[bytes] = []
    for size, text in lines:
        if not text:
            height -= 10
            continue
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("cp1252")
        out.append(b"BT /F1 %d Tf 72 %d Td (%s) Tj ET" % (size, height, escaped))
        height -= int(size * 1.3)
    return b"\n".join(out)


def _file(objects: Sequence[bytes]) -> bytes:
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + head + table + trailer
