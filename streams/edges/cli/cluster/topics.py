"""`fathom topics plan` and `apply`: the wanted topics against the existing ones."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from streams import config
from streams.edges.cli.arguments import Broker, Json
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, OK, USAGE, CommandFailed, nearest
from streams.edges.client.standard_output import print_json
from streams.kafka import topics_admin, topics_plan
from streams.kafka.topics_plan import TopicChange, TopicError

app = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class TopicStep(TopicChange):
    """A change, and whether it was refused for what it loses."""

    refused: bool = False


@app.command()
def plan(broker: Broker = None, as_json: Json = False) -> None:
    """What `apply` would do, setting by setting. Exits with 5 when there is anything to do."""
    bootstrap, topics = clients.bootstrap_of(broker), _wanted()
    planned = clients.run(topics_admin.plan(bootstrap, topics, clients.security_for(bootstrap)))
    _show(planned, as_json=as_json)
    raise typer.Exit(CHECK if any(step.pending for step in planned) else OK)


@app.command()
def apply(
    broker: Broker = None,
    allow_destructive: Annotated[
        list[str] | None,
        typer.Option("--allow-destructive", metavar="TOPIC", help="Do to this topic also what loses something."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create and change topics as planned; what would lose records or their order is refused, with exit code 5."""
    bootstrap, topics = clients.bootstrap_of(broker), _wanted()
    names, allowed = [topic.name for topic in topics], allow_destructive or []
    for name in allowed:
        if name not in names:
            raise CommandFailed(f"--allow-destructive {name}: no topic of ours{nearest(name, names)}", USAGE)
    security = clients.security_for(bootstrap)
    try:
        planned, refused = clients.run(topics_admin.apply(bootstrap, topics, security, allowed))
    except TopicError as error:
        # At a start this is a wrong setting; here it is what was asked to be checked.
        raise CommandFailed(str(error), CHECK) from None
    _show(planned, as_json=as_json, refused=refused)
    raise typer.Exit(CHECK if refused or any(step.action == "by hand" for step in planned) else OK)


def _wanted() -> tuple[topics_plan.TopicSpec, ...]:
    settings = config.load()
    return topics_plan.wanted(settings.partitions, settings.replication)


def _show(planned: Sequence[TopicChange], *, as_json: bool, refused: Collection[TopicChange] = ()) -> None:
    width = max((len(step.topic) for step in planned), default=0)
    for step in planned:
        if as_json:
            print_json(TopicStep(**asdict(step), refused=step in refused))
        else:
            print(f"{step.action:<9}{step.topic:<{width}}  {_text(step, step in refused)}".rstrip())


def _text(step: TopicChange, refused: bool) -> str:
    if not step.pending:
        return step.detail
    change = step.wanted if step.action == "create" else f"{step.setting} {step.now} -> {step.wanted}"
    parts = [change, step.detail, f"would lose {step.loses}" if step.loses else ""]
    if refused:
        parts.append(f"refused: say --allow-destructive {step.topic} to do it all the same")
    return "; ".join(part for part in parts if part)
