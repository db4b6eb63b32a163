"""An explanation as text for a terminal, as Markdown, and as one self-contained HTML page; pure."""

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from textwrap import fill

import orjson

from streams.explanations.blocks import PageBlock, blocks, title
from streams.explanations.explanation import Explanation

# What Markdown reads as markup, within a line; and HTML, which many renderers pass on.
MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin-top:2rem;"
    "border-bottom:1px solid #ccc}table{border-collapse:collapse;display:block;overflow-x:auto}"
    "th,td{border-bottom:1px solid #ddd;padding:.25rem .7rem;text-align:left;vertical-align:top;"
    "overflow-wrap:anywhere}p{margin:.3rem 0}"
    "@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th,td,h2{border-color:#444}}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_text(of: Explanation) -> str:
    """For a terminal: without the control characters that a message may have."""
    lines = [title(of)]
    for block in blocks(of):
        lines += ["", block.title.upper()]
        lines += [fill(said, 120, initial_indent="  ", subsequent_indent="  ") for said in block.sentences]
        for row in block.rows:
            named = [f"{name} {said}" for name, said in zip(block.columns[1:], row[1:], strict=True) if said != "–"]
            lines.append(fill(f"{row[0]}: {' · '.join(named)}", 120, initial_indent="  - ", subsequent_indent="    "))
        if _is_empty(block):
            lines.append("  none")
    return CONTROLS.sub("�", "\n".join(lines)) + "\n"


def as_markdown(of: Explanation) -> str:
    """CommonMark with tables."""
    lines = [f"# {_plain(title(of))}"]
    for block in blocks(of):
        lines += ["", f"## {_plain(block.title)}", ""]
        lines += [f"- {_plain(said)}" for said in block.sentences]
        if block.rows:
            lines += ["", _cells(block.columns), _cells(["---"] * len(block.columns), str)]
            lines += [_cells(row) for row in block.rows]
        if _is_empty(block):
            lines.append("none")
    return "\n".join(lines) + "\n"


def as_html(of: Explanation) -> str:
    """One page that loads nothing: no scripts, no resources."""
    parts = [f"<h1>{_html(title(of))}</h1>"]
    for block in blocks(of):
        parts.append(f"<h2>{_html(block.title)}</h2>")
        parts += [f"<p>{_html(said)}</p>" for said in block.sentences]
        if block.rows:
            head = "".join(f"<th>{_html(name)}</th>" for name in block.columns)
            body = "".join("<tr>" + "".join(f"<td>{_html(said)}</td>" for said in row) + "</tr>" for row in block.rows)
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if _is_empty(block):
            parts.append("<p>none</p>")
    meta = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    )
    head = f"<head>{meta}<title>{_html(title(of))}</title><style>{STYLE}</style></head>"
    return f'<!doctype html><html lang="en">{head}<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def as_json(of: Explanation) -> str:
    """One JSON object, in one line."""
    return orjson.dumps(of.as_json()).decode() + "\n"


FORMATS: Mapping[str, Callable[[Explanation], str]] = {
    "text": as_text,
    "md": as_markdown,
    "json": as_json,
    "html": as_html,
}


def _is_empty(block: PageBlock) -> bool:
    return not block.rows and not block.sentences


def _plain(said: str) -> str:
    return MARKUP.sub(r"\\\1", CONTROLS.sub("�", " ".join(said.split())))


def _cells(row: Iterable[str], write: Callable[[str], str] = _plain) -> str:
    return f"| {' | '.join(map(write, row))} |"


def _html(said: str) -> str:
    return escape(CONTROLS.sub("�", said))
