"""The text of Word documents, tables and e-mail; and what is refused, by name."""

import io
import zipfile
from email.message import EmailMessage
from types import ModuleType

import pytest

from agents.core.documents import kinds
from agents.errors import Rejected
from streams.documents import mail, table, word
from streams.documents.server import READERS
from tests.builders.word import word as made

BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(9)
)


def refusal(of: ModuleType, data: bytes) -> Rejected:
    with pytest.raises(Rejected) as refused:
        of.text_of(data)
    return refused.value


def letter(said: str, subtype: str = "plain") -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Contrato da Atlas", "Ana <ana@example.org>", "eva@example.org"
    message["Date"] = "Wed, 01 May 2024 10:00:00 +0000"
    message.set_content(said, subtype=subtype)
    return message


def test_a_word_document_is_its_headings_paragraphs_and_tables():
    data = made([("Heading1", "Férias"), ("", "São 30 dias por ano, <b>sempre</b>.")], [("mês", "dias"), ("maio", "2")])
    assert kinds.kind_of(data, None) == kinds.kind_of(data, "markdown") == "docx"
    text = word.text_of(data)
    assert text.startswith("# Férias\n\nSão 30 dias por ano, <b>sempre</b>.")
    assert "| mês | dias |" in text
    assert "| maio | 2 |" in text


def test_what_is_no_word_document_is_refused(monkeypatch: pytest.MonkeyPatch):
    assert refusal(word, b"PK\x03\x04 word/document.xml").code == "document_unreadable"
    assert refusal(word, made([("", "@")], extra=f"{BOMB}]>")).code == "document_unreadable"
    assert refusal(word, made([])).code == "document_empty"
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("word/document.xml", "<no")
    assert refusal(word, other.getvalue()).code == "document_unreadable"
    monkeypatch.setattr(word, "MAX_UNPACKED", 100)
    assert refusal(word, made([("", "x" * 200)])).code == "document_bomb"


@pytest.mark.parametrize(
    "data",
    [
        "mês,dias\nmaio,2\njunho,3\n".encode(),
        "mês;dias\r\nmaio;2\r\njunho;3\r\n".encode(),
        "mês\tdias\nmaio\t2\njunho\t3\n".encode(),
        "mês;dias\nmaio;2\njunho;3\n".encode("cp1252"),
        "\ufeffmês,dias\nmaio,2\njunho,3\n".encode(),
    ],
)
def test_a_csv_file_is_a_table_whatever_separates_its_cells(data: bytes):
    assert table.text_of(data) == "| mês | dias |\n|---|---|\n| maio | 2 |\n| junho | 3 |"


def test_cells_with_line_ends_and_bars_stay_in_their_row_and_no_table_is_refused():
    assert (
        table.text_of(b'name,note\n"Ana","one\ntwo | three"\n')
        == "| name | note |\n|---|---|\n| Ana | one two / three |"
    )
    assert refusal(table, b",,,\n,,,\n").code == "document_empty"
    assert refusal(table, b'a,b\n"' + b"x" * 200_000 + b'",c\n').code == "document_unreadable"


def test_an_email_is_its_subject_fields_and_words_and_names_what_is_attached():
    message = letter("O contrato termina em 31 de março.\n")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="contrato.pdf")
    text = mail.text_of(message.as_bytes())
    assert text.startswith(
        "# Contrato da Atlas\n\n- From: Ana <ana@example.org>\n- To: eva@example.org\n- Date: Wed, 01 May 2024"
    )
    assert "- Attached, not read: contrato.pdf" in text
    assert text.endswith("O contrato termina em 31 de março.")
    page = "<script>run()</script><p>O contrato <b>termina</b>.</p>"
    assert mail.text_of(letter(page, "html").as_bytes()).endswith("O contrato **termina**.")


@pytest.mark.parametrize(
    "data", [b"no mail at all", b"\n\n", b"From: a\nContent-Type: text/plain; charset=klingon\n\nx"]
)
def test_what_is_no_email_is_refused(data: bytes):
    assert refusal(mail, data).code in ("document_empty", "document_unreadable")


def test_each_kind_is_one_that_the_parser_process_reads():
    assert set(READERS) == kinds.PARSED
