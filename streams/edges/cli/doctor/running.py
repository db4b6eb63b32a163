"""Checks over HTTP: what a running `fathom up` says of itself, and whether the language model's endpoint answers."""

from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import orjson

from streams.edges.cli.doctor.findings import DOWN, OK, SKIPPED, Finding, found, some

HEALTH_S = 5.0

Ready = Mapping[str, Any]


def asked(http: str) -> Ready | None:
    """What `/health/ready` says; None without an answer."""
    try:
        with urlopen(f"http://{http}/health/ready", timeout=HEALTH_S) as answer:
            said: Ready = orjson.loads(answer.read())
    except HTTPError as error:
        said = orjson.loads(error.read())  # it answers but is not ready; the body says why
    except (OSError, orjson.JSONDecodeError):
        return None
    return said


def readiness(said: Ready | None, http: str) -> Finding:
    """Whether a process does all that packs, memory and answers need."""
    fix = f"curl http://{http}/health/ready"
    if said is None:
        return found("ready", DOWN, f"http://{http} does not answer", fix=fix)
    if not said.get("ready"):
        return found("ready", DOWN, some(map(str, said.get("why", ()))), fix=fix)
    return found("ready", OK, f"http://{http}, {len(said.get('groups', ()))} groups")


def stores_of(said: Ready | None) -> dict[str, str] | None:
    """What a process says of each of its stores: `ok`, or what is wrong."""
    return None if said is None else {str(name): str(state) for name, state in said.get("stores", {}).items()}


def model(url: str | None) -> Finding:
    """Whether the endpoint of the language model answers, whatever it says: its key is not sent."""
    if url is None:
        return found("model", SKIPPED, "no FATHOM_LLM_URL is set")
    try:
        with urlopen(f"{url.rstrip('/')}/models", timeout=HEALTH_S) as answer:
            said = answer.status
    except HTTPError as error:
        said = error.code
    except (URLError, OSError, ValueError) as error:
        return found("model", DOWN, f"{getattr(error, 'reason', error)}")
    return found("model", DOWN if said >= 500 else OK, f"it answers with {said}")
