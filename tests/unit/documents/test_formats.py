"""The text of PDF and HTML: headings, paragraphs, lists, tables and pages; and what is refused, by name."""

import io
import zlib

import pypdf
import pytest

from agents.core.documents.blocks import blocks
from agents.errors import Rejected
from streams.documents import html, pdf
from tests.builders.pdf import pdf as made

MANUAL = made(
    [
        [(18, "Manual de férias"), (0, ""), (11, "As férias são um período de descanso que o em-"),
         (11, "pregado tem. O pedido é feito no portal"), (8, "Página 1 de 2")],
        [(11, "até o dia vinte. Depois não há como."), (0, ""), (14, "Como pedir férias"), (0, ""),
         (11, "1. Abra o portal."), (11, "2. Escolha as datas."), (8, "Página 2 de 2")],
    ]
)  # fmt: skip


def refusal(data: bytes, of=pdf) -> Rejected:
    with pytest.raises(Rejected) as refused:
        of.text_of(data)
    return refused.value


def test_larger_letters_are_headings_and_hyphens_and_page_numbers_go():
    first, second, _ = pdf.text_of(MANUAL).split("\f")
    assert first.splitlines()[0] == "# Manual de férias"
    assert "descanso que o empregado tem" in first
    assert second == "Depois não há como.\n\n## Como pedir férias\n\n1. Abra o portal.\n2. Escolha as datas."
    assert "Página" not in first + second


def test_a_sentence_over_the_end_of_a_page_stays_whole_on_the_page_it_began_on():
    assert pdf.text_of(MANUAL).split("\f")[0].endswith("O pedido é feito no portal até o dia vinte.")


def test_what_stands_on_every_page_is_left_out():
    pages = [[(9, "Empresa Azul SA"), (0, ""), (11, f"O texto da página {n} é outro."), (9, f"Confidencial {n}")]
             for n in range(1, 6)]  # fmt: skip
    text = pdf.text_of(made(pages))
    assert "Empresa" not in text
    assert "Confidencial" not in text
    assert [f"O texto da página {n} é outro." for n in range(1, 6)] == text.split("\f")[:-1]


def test_blocks_know_their_page():
    found = blocks(pdf.text_of(MANUAL))
    assert [(block.kind, block.page) for block in found] == [("text", 1), ("text", 2), ("list", 2)]
    assert found[-1].path == ("Manual de férias", "Como pedir férias")
    assert [block.page for block in blocks(pdf.text_of(made([[(11, "Uma só.")]])))] == [1]
    assert [block.page for block in blocks("sem páginas")] == [None]


def encrypted(password: str) -> bytes:
    writer = pypdf.PdfWriter(io.BytesIO(MANUAL))
    writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_pdf_with_a_password_is_refused_and_one_with_an_empty_one_is_read():
    refused = refusal(encrypted("segredo"))
    assert (refused.code, "without" in refused.detail) == ("document_encrypted", True)
    writer = pypdf.PdfWriter(io.BytesIO(MANUAL))
    writer.encrypt("", owner_password="dona", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    assert "Manual de férias" in pdf.text_of(out.getvalue())


def test_a_flate_bomb_is_refused_before_it_is_unpacked():
    bomb = zlib.compress(b"0" * 80_000_000, 1)
    assert len(bomb) < 500_000
    refused = refusal(made([[]], streams=[bomb], extra=b"/Filter /FlateDecode"))
    assert refused.code == "document_bomb"


def test_more_pages_than_are_read_are_refused_unread(monkeypatch):
    monkeypatch.setattr(pdf, "MAX_PAGES", 20)
    page = [(11, "x")]
    refused = refusal(made([page] * (pdf.MAX_PAGES + 1)))
    assert refused.code == "document_too_many_pages"
    assert str(pdf.MAX_PAGES + 1) in refused.detail


def test_a_scanned_pdf_is_refused_with_what_to_do():
    refused = refusal(made([[], []]))
    assert (refused.code, "text recognition" in refused.detail) == ("document_empty", True)


@pytest.mark.parametrize("data", [b"%PDF-1.4\n", MANUAL[: len(MANUAL) // 3], b"%PDF-1.4" + b"\xff" * 500])
def test_a_broken_pdf_is_refused(data):
    assert refusal(data).code in ("document_unreadable", "document_empty")


PAGE = """<!doctype html><html><head><title>T</title><style>x{}</style></head><body><nav>menu</nav>
<h1>Férias</h1><p>Olá <b>Ana</b>,<br>tudo   bem?</p><p hidden>escondido</p>
<ul><li>um<ul><li>dentro</li></ul></li><li>dois</li></ul><ol><li>abra</li><li>feche</li></ol>
<table><tr><th>Cargo</th><th>Dias</th></tr><tr><td>Analista</td><td>30</td></tr></table>
<dl><dt>Mora</dt><dd>atraso no pagamento</dd></dl><script>alert(1)</script><pre>a = 1
b</pre><footer>rodapé</footer></body></html>"""


def test_a_page_keeps_what_it_says_and_drops_its_machinery():
    assert html.text_of(PAGE.encode()) == (
        "# Férias\n\nOlá **Ana**,\ntudo bem?\n\n- um\n   - dentro\n- dois\n\n1. abra\n2. feche\n\n"
        "| Cargo | Dias |\n|---|---|\n| Analista | 30 |\n\n**Mora**: atraso no pagamento\n\n```\na = 1\nb\n```"
    )


def test_a_page_is_decoded_as_it_says_or_refused():
    assert html.text_of('<meta charset="iso-8859-1"><p>férias'.encode("latin-1")) == "férias"
    assert refusal("<p>férias".encode("latin-1"), html).code == "document_encoding"
    assert refusal('<meta charset="utf-8"><p>férias'.encode("latin-1"), html).code == "document_encoding"


def test_a_page_of_scripts_alone_is_empty():
    assert refusal(b"<html><script>var x = 1</script></html>", html).code == "document_empty"


def test_a_page_nested_without_end_is_read():
    assert html.text_of(b"<div>" * 2_000 + b"fundo") == "fundo"
    assert "fundo" in html.text_of(b"<ul><li>" * 500 + b"fundo")


def table(inside: str) -> list[str]:
    said = html.text_of(f"<html><body><table>{inside}</table></body></html>".encode())
    return [line for line in said.splitlines() if line and "---" not in line]


def test_a_cell_that_spans_rows_and_columns_has_its_value_in_each() -> None:
    head = "<tr><th>Boat</th><th>Pier</th><th>Fee</th></tr>"
    assert table(
        f"{head}<tr><td>Ida</td><td rowspan=2>4</td><td>9</td></tr><tr><td>Ola</td><td>8</td></tr>"
        "<tr><td>Pia</td><td>5</td><td>7</td></tr>"
    ) == [
        "| Boat | Pier | Fee |",
        "| Ida | 4 | 9 |",
        "| Ola | 4 | 8 |",
        "| Pia | 5 | 7 |",
    ]
    assert table(f"{head}<tr><td>Ida</td><td colspan='2'>free</td></tr><tr><td colspan=3>closed</td></tr>")[1:] == [
        "| Ida | free | free |",
        "| closed | closed | closed |",
    ]
    assert table(f"<caption>Fees of 2031</caption>{head}")[0] == "Fees of 2031"


def test_spans_without_end_make_no_larger_table() -> None:
    cells = "<td rowspan=99999 colspan=99999>x</td>" * 200
    assert len("".join(table(f"<tr>{cells}</tr>" * 50))) < 1_000_000


def test_columns_of_text_are_read_one_after_the_other_and_tables_row_by_row() -> None:
    text = [
        [(40, 700, "The kiln is lit on"), (300, 700, "Glazes are kept in")],
        [(40, 686, "the first of the month"), (300, 686, "the cellar, behind")],
        [(40, 672, "and cools for two days."), (300, 672, "the old door.")],
    ]
    assert "kept in\nthe cellar, behind\nthe old door." in pdf.text_of(placed([cell for row in text for cell in row]))
    sheet = [
        [(40, 700, "Bowl"), (40, 686, "Plate"), (40, 672, "Jug")],
        [(300, 700, "4"), (300, 686, "6"), (300, 672, "9")],
    ]
    assert pdf.text_of(placed([cell for column in sheet for cell in column])).split("\f")[0] == "Bowl 4\nPlate 6\nJug 9"


def test_words_far_apart_in_two_lines_stay_in_the_order_they_are_drawn_in() -> None:
    lines = [(40, 700, "Invoice"), (300, 700, "No. 7"), (40, 686, "Thank you for your order.")]
    assert pdf.text_of(placed(lines)).split("\f")[0] == "Invoice No. 7\nThank you for your order."


def placed(cells: list[tuple[int, int, str]]) -> bytes:
    """A page with each text at its place."""
    page = made([[(11, "x")]])
    begin, end = page.index(b"stream\n") + 7, page.index(b"endstream")
    drawn = "\n".join(f"BT /F1 11 Tf {x} {y} Td ({text}) Tj ET" for x, y, text in cells).encode()
    return page[:begin] + drawn + b"\n" + page[end:]
