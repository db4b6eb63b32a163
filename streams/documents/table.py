"""The text of a CSV file as a table in Markdown; its first row is the head."""

import csv
import io

from agents.core.documents import kinds
from agents.core.documents.table_cells import as_markdown
from agents.errors import Rejected

SNIFFED_CHARS = 8_192
DELIMITERS = ",;\t|"


def text_of(data: bytes) -> str:
    """The rows; raises `Rejected`."""
    text = _decoded(data)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:SNIFFED_CHARS], DELIMITERS)
    except csv.Error:
        dialect = csv.excel  # one column, or too few rows to tell
    try:
        rows = [[" ".join(cell.split()) for cell in row] for row in csv.reader(io.StringIO(text, newline=""), dialect)]
    except csv.Error as error:
        raise Rejected("document_unreadable", f"it is no CSV ({error}); save it again, or send its text") from None
    table = "\n".join(as_markdown(rows))
    if not any(map(str.isalnum, table)):
        raise Rejected("document_empty", "the table has no words; send one with rows")
    return table


def _decoded(data: bytes) -> str:
    """The text; what is no UTF-8 as spreadsheets of western Windows write it."""
    try:
        return kinds.decoded(data)
    except Rejected:
        return kinds.checked(data.decode("cp1252", errors="replace"))
