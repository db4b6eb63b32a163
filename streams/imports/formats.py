"""The exports that are known, and which of them a value is of."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from streams.imports import json_lines, langchain, mem0, openai, zep
from streams.imports.turns import ExportPlace, Found, JsonValue


class ExportFormat(NamedTuple):
    """How to tell and to read one kind of export."""

    name: str
    fits: Callable[[JsonValue], bool]
    turns: Callable[[JsonValue, ExportPlace], Found]


FORMATS: Mapping[str, ExportFormat] = {
    module.FORMAT: ExportFormat(module.FORMAT, module.fits, module.turns)
    for module in (openai, json_lines, langchain, mem0, zep)
}


def format_of(value: JsonValue) -> ExportFormat | None:
    """The format that a value is of; None for no known one."""
    return next((each for each in FORMATS.values() if each.fits(value)), None)
