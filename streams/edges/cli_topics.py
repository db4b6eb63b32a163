"""`fathom topics plan` and `apply`: what there should be against what there is."""

from collections.abc import Sequence

import orjson

from streams import config, topics_admin
from streams.edges import cli_clients
from streams.edges.errors import CHECK, OK
from streams.topics_admin import Change


def plan(broker: str | None, *, as_json: bool) -> int:
    """Print what `apply` would do; the exit code says whether a person has to decide something."""
    bootstrap, topics = cli_clients.bootstrap_of(broker), topics_admin.wanted(config.load().partitions)
    changes = topics_admin.plan(cli_clients.run(topics_admin.existing(bootstrap)), topics)
    _show(changes, as_json=as_json)
    return CHECK if any(change.action == "differs" for change in changes) else OK


def apply(broker: str | None, *, as_json: bool) -> int:
    """Create what is missing and print the plan that was carried out."""
    settings = config.load()
    bootstrap, topics = cli_clients.bootstrap_of(broker), topics_admin.wanted(settings.partitions)
    changes = cli_clients.run(topics_admin.apply(bootstrap, topics, settings.replication))
    _show(changes, as_json=as_json)
    return OK


def _show(changes: Sequence[Change], *, as_json: bool) -> None:
    width = max((len(change.topic) for change in changes), default=0)
    for change in changes:
        if as_json:
            print(orjson.dumps(change).decode())
        else:
            print(f"{change.action:<8}{change.topic:<{width}}  {change.detail}")
