"""`fathom topics plan` and `apply`: what there should be against what there is."""

from collections.abc import Collection, Sequence

import orjson

from streams import config
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, OK, USAGE, CommandFailed, nearest
from streams.kafka import topics_admin, topics_apply
from streams.kafka.topics_plan import TopicChange

Refused = Collection[TopicChange]


def plan(broker: str | None, *, as_json: bool) -> int:
    """Print what `apply` would do; the exit code says whether anything."""
    bootstrap, topics = clients.bootstrap_of(broker), _wanted()
    planned = clients.run(topics_apply.plan(bootstrap, topics, clients.security_for(bootstrap)))
    _show(planned, as_json=as_json)
    return CHECK if any(step.pending for step in planned) else OK


def apply(broker: str | None, allowed: Sequence[str], *, as_json: bool) -> int:
    """Carry the plan out as far as it loses nothing that was not allowed, and print it."""
    bootstrap, topics = clients.bootstrap_of(broker), _wanted()
    names = [topic.name for topic in topics]
    for name in allowed:
        if name not in names:
            raise CommandFailed(f"--allow-destructive {name}: no topic of ours{nearest(name, names)}", USAGE)
    security = clients.security_for(bootstrap)
    planned, refused = clients.run(topics_apply.apply(bootstrap, topics, security, allowed))
    _show(planned, as_json=as_json, refused=refused)
    undone = any(step.action == "by hand" for step in planned)
    return CHECK if refused or undone else OK


def _wanted() -> tuple[topics_admin.TopicSpec, ...]:
    settings = config.load()
    return topics_admin.wanted(settings.partitions, settings.replication)


def _show(planned: Sequence[TopicChange], *, as_json: bool, refused: Refused = ()) -> None:
    width = max((len(step.topic) for step in planned), default=0)
    for step in planned:
        if as_json:
            print(orjson.dumps({**_row(step), "refused": step in refused}).decode())
        else:
            print(f"{step.action:<9}{step.topic:<{width}}  {_text(step, step in refused)}".rstrip())


def _row(step: TopicChange) -> dict[str, object]:
    return {name: getattr(step, name) for name in step.__slots__}


def _text(step: TopicChange, refused: bool) -> str:
    if not step.pending:
        return step.detail
    change = step.wanted if step.action == "create" else f"{step.setting} {step.now} -> {step.wanted}"
    parts = [change, step.detail, f"would lose {step.loses}" if step.loses else ""]
    if refused:
        parts.append(f"refused: say --allow-destructive {step.topic} to do it all the same")
    return "; ".join(part for part in parts if part)
