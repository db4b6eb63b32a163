"""Word documents of a few paragraphs, for tests."""

import io
import zipfile
from collections.abc import Sequence
from html import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = (
    f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>'
)
RELATIONS = (
    f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def word(paragraphs: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]] = (), extra: str = "") -> bytes:
    """A document of paragraphs by style ("" or "Heading1"), then a table.

    `extra` is XML before it, whose entity `j` stands at each `@`.
    """
    body = "".join(_paragraph(style, text) for style, text in paragraphs)
    if rows:
        cells = "".join(f"<w:tr>{''.join(map(_cell, row))}</w:tr>" for row in rows)
        body += f"<w:tbl>{cells}</w:tbl>"
    body = body.replace("@", "&j;") if extra else body
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS)
        archive.writestr("word/document.xml", f'{extra}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>')
    return made.getvalue()


def _paragraph(style: str, text: str) -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def _cell(text: str) -> str:
    return f"<w:tc>{_paragraph('', text)}</w:tc>"
