"""The HTTP interface as a page at `/docs`, made from its OpenAPI document: text only, nothing runs in it."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

Schema = Mapping[str, Any]

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>Fathom: the HTTP interface</title>
<link rel="icon" href="console/icon.svg" />
<link rel="stylesheet" href="console/console.css" />
</head>
<body>
<main>
"""
INTRODUCTION = """
<p>Every call sends <code>Authorization: Bearer TOKEN</code>; for a local <code>fathom up</code> that is the
content of <code>.fathom/token</code>. A refusal is <code>application/problem+json</code> (RFC 9457) with one
sentence that says what to do. For programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1, with the
token). A model behind <code>/v1</code> is called as OpenAI's interface is. To try it in the browser: <a
href="console/">the console</a>.</p>
"""


def page_of(document: Schema) -> str:
    """The page of an OpenAPI document: each call with its parameters, the fields of its body, and its answers."""
    schemas = document.get("components", {}).get("schemas", {})
    parts = [HEAD, f"<h1>Fathom {escape(document['info']['version'])}: the HTTP interface</h1>\n", INTRODUCTION]
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            parts += _call(f"{method.upper()} {path}", call, schemas)
    return "".join([*parts, "</main>\n</body>\n</html>\n"])


def _call(name: str, call: Schema, schemas: Schema) -> Iterator[str]:
    yield f'<section class="block">\n<h2><code>{escape(name)}</code></h2>\n<p>{escape(call["summary"])}.</p>\n'
    for paragraph in filter(None, call.get("description", "").split("\n\n")):
        yield f"<p>{escape(paragraph)}</p>\n"
    yield from _list("Parameters", (_parameter(each) for each in call.get("parameters", ())))
    for kind, content in call.get("requestBody", {}).get("content", {}).items():
        fields = _resolved(content.get("schema", {}), schemas)
        required = fields.get("required", ())
        named = ((name, field, name in required) for name, field in fields.get("properties", {}).items())
        yield from _list(f"Body, {kind}", (_field(*each) for each in named))
    answers = call["responses"].items()
    yield from _list(
        "Answers", (f"<code>{status}</code> {escape(said.get('description', ''))}" for status, said in answers)
    )
    yield "</section>\n"


def _list(title: str, items: Iterator[str]) -> Iterator[str]:
    if found := [f"<li>{item}</li>\n" for item in items]:
        yield f"<h3>{escape(title)}</h3>\n<ul>\n{''.join(found)}</ul>\n"


def _parameter(each: Schema) -> str:
    return f"<code>{escape(each['name'])}</code> in the {each['in']}{_said(each)}"


def _field(name: str, field: Schema, required: bool) -> str:
    kind = field.get("type") or next((each["type"] for each in field.get("anyOf", ()) if "type" in each), "")
    return f"<code>{escape(name)}</code> {kind}{', required' if required else ''}{_said(field)}"


def _said(of: Schema) -> str:
    text = of.get("description", "")
    return f": {escape(text)}" if text else ""


def _resolved(schema: Schema, schemas: Schema) -> Schema:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found: Schema = schemas.get(name, schema)
    return found
