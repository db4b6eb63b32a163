"""`fathom config show` and `check`: every setting, its value and its origin, without secrets; what is wrong."""

import sys
from io import StringIO
from pathlib import Path
from typing import Literal

import typer
from dotenv import dotenv_values
from dotenv.parser import parse_stream
from typing_extensions import TypedDict

from streams import config
from streams.config import Settings, environment_name, load
from streams.edges.cli.arguments import Json
from streams.edges.client.errors import CONFIG, OK, USAGE, CommandFailed, nearest
from streams.edges.client.standard_output import print_json
from streams.redaction import redacted

app = typer.Typer(no_args_is_help=True)

SettingShown = TypedDict(
    "SettingShown", {"setting": str, "value": object, "from": Literal["environment", "default"], "about": str}
)

SettingsShown = list[SettingShown]


class SettingsChecked(TypedDict):
    """Whether the settings can be used, and what is wrong with them, in sentences."""

    ok: bool
    wrong: list[str]


def settings_of(path: Path, option: str) -> dict[str, str]:
    """The settings of a file of NAME=VALUE lines, as the option names it; raises `CommandFailed`."""
    if not path.is_file():
        raise CommandFailed(f"{option} {path}: no such file; write a file of FATHOM_…=VALUE lines", USAGE)
    try:
        said = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise CommandFailed(f"{option} {path}: it is no UTF-8 text; write FATHOM_…=VALUE lines", USAGE) from None
    if wrong := next((each.original for each in parse_stream(StringIO(said)) if each.error), None):
        line = f"line {wrong.line}, {wrong.string.strip()[:60]!r}"
        raise CommandFailed(f"{option} {path}: {line} is no NAME=VALUE; close its quotes", USAGE)
    found = dotenv_values(stream=StringIO(said), interpolate=False)
    for name, value in found.items():
        if value is None:
            raise CommandFailed(f"{option} {path}: {name} has no value; write {name}=VALUE", USAGE)
    return {name: value for name, value in found.items() if value is not None}


def apply_file(path: Path) -> None:
    """Set the settings of a file where the environment does not: this process and those that it starts have them."""
    found = settings_of(path, "--settings")
    known = {environment_name(name) for name in Settings.model_fields}
    if strangers := sorted(found.keys() - known):
        raise CommandFailed(f"--settings {path}: {strangers[0]} is no setting{nearest(strangers[0], known)}", CONFIG)
    config.add_to_environment(found)


@app.command()
def show(as_json: Json = False) -> None:
    """Every setting, its value and where it comes from; secrets are not shown."""
    found = rows(load())
    if as_json:
        print_json(found)
        return
    width = max(len(str(row["setting"])) for row in found)
    for row in found:
        print(f"{row['setting']:<{width}}  {row['value']}  ({row['from']})")


@app.command()
def check(as_json: Json = False) -> None:
    """Whether a worker could start with these settings: values, files, policies, URLs. Exits with 3 where not."""
    from streams.runtime import preflight

    wrong = config.faults() or [str(fault) for fault in preflight.faults(load())]
    if as_json:
        print_json(SettingsChecked(ok=not wrong, wrong=wrong))
    else:
        for each in wrong:
            sys.stderr.write(f"{each}\n")
        print(f"{len(wrong)} wrong" if wrong else "all settings can be used")
    raise typer.Exit(CONFIG if wrong else OK)


def rows(settings: Settings) -> list[SettingShown]:
    """One row per setting: its name as a variable, its value, `environment` or `default`."""
    values = settings.model_dump(mode="json")
    return [
        {
            "setting": environment_name(name),
            "value": redacted(value),
            "from": "environment" if name in settings.model_fields_set else "default",
            "about": Settings.model_fields[name].description or "",
        }
        for name, value in values.items()
    ]
