"""A schema registry with Confluent's interface (Confluent, Karapace, Apicurio in its compatibility mode).

Its user is read from the netrc file, as of any HTTP client: no secret on a command line.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from agents.errors import Unavailable
from streams.registry.published import PublishedSchema

WHAT = "schema-registry"
TIMEOUT_S = 10.0
MEDIA = "application/vnd.schemaregistry.v1+json"


class RegistryRefused(Exception):
    """What a registry answered instead of what was asked."""


class SchemaRegistry:
    """Reads and registers schemas; every call raises `Unavailable` where the registry does not answer."""

    def __init__(self, url: str) -> None:
        file = Path.home() / ".netrc"
        auth = httpx.NetRCAuth(str(file)) if file.exists() else None
        self._client = httpx.Client(base_url=url, auth=auth, timeout=TIMEOUT_S, headers={"content-type": MEDIA})

    def close(self) -> None:
        self._client.close()

    def latest(self, subject: str) -> Mapping[str, Any] | None:
        """The newest schema of a subject; None where it has none."""
        answer = self._called("GET", f"/subjects/{quote(subject, safe='')}/versions/latest")
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        found: Mapping[str, Any] = json.loads(self._good(answer)["schema"])
        return found

    def accepts(self, schema: PublishedSchema) -> bool:
        """Whether the registry finds it compatible with what is there."""
        place = f"/compatibility/subjects/{quote(schema.subject, safe='')}/versions/latest"
        answer = self._called("POST", place, _body(schema))
        return answer.status_code == HTTPStatus.NOT_FOUND or bool(self._good(answer)["is_compatible"])

    def register(self, schema: PublishedSchema) -> int:
        """Set the subject's rule and register the schema; its id. Raises `RegistryRefused`."""
        subject = quote(schema.subject, safe="")
        self._good(self._called("PUT", f"/config/{subject}", {"compatibility": schema.rule}))
        return int(self._good(self._called("POST", f"/subjects/{subject}/versions", _body(schema)))["id"])

    def _called(self, method: str, place: str, body: Mapping[str, Any] | None = None) -> httpx.Response:
        try:
            return self._client.request(method, place, json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(WHAT, f"{self._client.base_url}: {str(error) or type(error).__name__}") from error

    def _good(self, answer: httpx.Response) -> Mapping[str, Any]:
        try:
            found = answer.json()
        except ValueError:
            found = None
        if answer.is_success and isinstance(found, dict):
            return found
        said = found.get("message", "") if isinstance(found, dict) else "no JSON: is this the address of a registry?"
        raise RegistryRefused(f"{answer.request.url} answered {answer.status_code}: {said}")


def _body(schema: PublishedSchema) -> dict[str, str]:
    return {"schemaType": "JSON", "schema": json.dumps(schema.content(), sort_keys=True)}
