"""`fathom schema`: the JSON Schemas of all events, what changed in them, values against them, and a schema registry."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from typing_extensions import TypedDict

from agents.errors import Unavailable
from schemas import codec
from schemas.codec import Undecodable
from schemas.topics import BY_NAME, Topic
from streams.edges.cli.arguments import Json
from streams.edges.client.errors import CHECK, DOWN, OK, USAGE, CommandFailed, nearest
from streams.edges.client.standard_output import print_json
from streams.registry import published
from streams.registry.compatibility import Breaks
from streams.registry.published import BY_TYPE, PUBLISHED, PublishedSchema
from streams.registry.schema_registry import RegistryRefused, SchemaRegistry

STDIN = "-"
app = typer.Typer(no_args_is_help=True)


class EventListed(TypedDict):
    """An event with its topic, its subject in a registry, and the rule its changes keep to."""

    event: str
    topic: str
    subject: str
    rule: str


class SchemasWritten(TypedDict):
    """How many schemas were written, and where."""

    schemas: int
    folder: str


class ValueRefused(TypedDict):
    """A line whose value would not be read, and why."""

    line: int
    code: str
    detail: str


class EventChange(TypedDict):
    """A change of an event, whom it breaks, and whether its topic's rule allows that."""

    event: str
    path: str
    change: str
    breaks: str
    allowed: bool


class SubjectPublished(TypedDict):
    """What became of an event's schema at the registry."""

    subject: str
    outcome: str


@app.command(name="list")
def listed(as_json: Json = False) -> None:
    """Every event with its topic and the rule its changes keep to."""
    for each in PUBLISHED:
        if as_json:
            print_json(EventListed(event=each.name, topic=each.topic.name, subject=each.subject, rule=each.rule))
        else:
            print(f"{each.name:<36}{each.topic.name:<26}{each.rule}")


@app.command()
def show(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="Its type, as `schema list` says it.")],
    as_json: Json = False,
) -> None:
    """The JSON Schema (2020-12) of an event; with --json in one line."""
    content = _event(event).content()
    print(json.dumps(content, indent=None if as_json else 2, ensure_ascii=False))


@app.command()
def output(
    verb: Annotated[list[str] | None, typer.Argument(metavar="[VERB]...", help="Its words, as list users.")] = None,
    as_json: Json = False,
) -> None:
    """The JSON Schema (2020-12) of what a verb prints with --json; without one, the verbs that have it."""
    # Here: it knows every verb.
    from streams.edges.cli.outputs import OUTPUTS, schema_of

    name = " ".join(verb or ())
    if not name:
        if as_json:
            print_json(list(OUTPUTS))
        else:
            print("\n".join(OUTPUTS))
        return
    if name not in OUTPUTS:
        raise CommandFailed(f"no verb {name} prints JSON{nearest(name, OUTPUTS)}", USAGE)
    print(json.dumps(schema_of(name), indent=None if as_json else 2, ensure_ascii=False))


@app.command()
def gen(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write to; made where it is missing.")
    ],
    as_json: Json = False,
) -> None:
    """Write the schema of every event into a folder, a file each."""
    out.mkdir(parents=True, exist_ok=True)
    for each in PUBLISHED:
        text = json.dumps(each.content(), indent=2, ensure_ascii=False)
        (out / each.file).write_text(text + "\n", encoding="utf-8")
    if as_json:
        print_json(SchemasWritten(schemas=len(PUBLISHED), folder=str(out)))
    else:
        print(f"{len(PUBLISHED)} schemas are in {out}")


@app.command()
def check(
    topic: Annotated[str, typer.Option("--topic", metavar="TOPIC", help="Whose reader is asked.")],
    file: Annotated[str, typer.Argument(metavar="F.jsonl", help="One value a line; - is stdin.")] = STDIN,
    as_json: Json = False,
) -> None:
    """Whether values would be read from a topic, by the code that reads it; each that is not, with the reason.

    Exits with 5 where one is not.
    """
    where, refused, number = _topic(topic), 0, 0
    for number, line in enumerate(_lines(file), 1):
        try:
            codec.decode(where, None, line, (), partition=0, offset=0, timestamp=0)
        except Undecodable as error:
            refused += 1
            if as_json:
                print_json(ValueRefused(line=number, code=error.code, detail=error.detail))
            else:
                print(f"line {number}: {error}")
    if not as_json:
        print(f"{number - refused} of {number} values are right for {topic}")
    raise typer.Exit(CHECK if refused else OK)


@app.command()
def diff(
    old: Annotated[str | None, typer.Argument(metavar="[VERSION|DIR]", help="Default: the last release.")] = None,
    as_json: Json = False,
) -> None:
    """What changed in the schemas since a release, or since those of a folder, and whom it breaks.

    Exits with 5 where a change breaks a topic's rule, or an event is gone.
    """
    place = old or published.released()[-1]
    try:
        before = published.read(place)
    except (OSError, ValueError) as error:
        raise CommandFailed(f"these schemas cannot be read: {error}", USAGE) from None
    broken = 0
    for name, found in published.since(before).items():
        for change in found:
            is_breaking = BY_TYPE[name].breaking(change)
            broken += is_breaking
            _tell(EventChange(event=name, path=change.path, change=change.what, breaks=_said(change.breaks),
                               allowed=not is_breaking), as_json=as_json)  # fmt: skip
    gone = sorted(before.keys() - BY_TYPE.keys())
    for name in gone:
        _tell(
            EventChange(event=name, path="", change="event removed", breaks="backward", allowed=False),
            as_json=as_json,
        )
    if not as_json:
        print(f"{broken + len(gone)} changes since {place} break a rule")
    raise typer.Exit(CHECK if broken or gone else OK)


@app.command()
def publish(
    registry: Annotated[
        str, typer.Option("--registry", metavar="URL", help="With Confluent's interface; user: netrc.")
    ],
    topic: Annotated[list[str] | None, typer.Option("--topic", help="Only of this topic. Repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be registered.")] = False,
    as_json: Json = False,
) -> None:
    """Register the schemas that a registry has not got, with the rule their changes keep to.

    Exits with 5 where the registry refuses one; the others are registered all the same.
    """
    wanted = {_topic(name).name for name in topic or ()} or set(BY_NAME)
    refused = 0
    with _registry(registry) as there:
        for each in PUBLISHED:
            if each.topic.name in wanted:
                outcome = _published(there, each, dry_run=dry_run)
                refused += outcome.startswith("refused")
                if as_json:
                    print_json(SubjectPublished(subject=each.subject, outcome=outcome))
                else:
                    print(f"{each.subject:<64}{outcome}")
    raise typer.Exit(CHECK if refused else OK)


def _published(there: SchemaRegistry, schema: PublishedSchema, *, dry_run: bool) -> str:
    if there.latest(schema.subject) == schema.content():
        return "unchanged"
    if not there.accepts(schema):
        return "refused: incompatible with the registry's newest version; `fathom schema diff` says what changed"
    if dry_run:
        return "would be registered"
    return f"registered as {there.register(schema)}"


@contextmanager
def _registry(url: str) -> Iterator[SchemaRegistry]:
    if not url.startswith(("http://", "https://")):
        raise CommandFailed(f"--registry={url!r}: write the registry's URL, as http://localhost:8081", USAGE)
    there = SchemaRegistry(url)
    try:
        yield there
    except RegistryRefused as error:
        raise CommandFailed(f"the registry refused: {error}", CHECK) from None
    except Unavailable as error:
        raise CommandFailed(f"the registry does not answer: {error.detail}; check --registry", DOWN) from None
    finally:
        there.close()


def _event(name: str) -> PublishedSchema:
    if name not in BY_TYPE:
        raise CommandFailed(f"there is no event {name}{nearest(name, BY_TYPE)}", USAGE)
    return BY_TYPE[name]


def _topic(name: str) -> Topic:
    if name not in BY_NAME:
        raise CommandFailed(f"there is no topic {name}{nearest(name, BY_NAME)}", USAGE)
    return BY_NAME[name]


def _lines(file: str) -> Iterator[bytes]:
    if file == STDIN:
        yield from (line.rstrip(b"\r\n") for line in sys.stdin.buffer if line.strip())
        return
    with Path(file).open("rb") as opened:
        yield from (line.rstrip(b"\r\n") for line in opened if line.strip())


def _tell(found: EventChange, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    broken = "" if found["allowed"] else "  BREAKS THE RULE"
    place = f"{found['event']} {found['path']}".rstrip()
    print(f"{place:<56}{found['change']:<34}{found['breaks']}{broken}".rstrip())


def _said(breaks: Breaks) -> str:
    return {Breaks.NOBODY: "", Breaks.BACKWARD: "backward", Breaks.FORWARD: "forward"}.get(breaks, "both")
