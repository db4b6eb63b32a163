"""The one `fathom up` of all tests that only use it; each file or test takes a tenant of its own."""

import json
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.four_servers import site  # noqa: F401
from tests.e2e.processes import UNHURRIED, Process, fathom, running

TENANTS = 80
# That of commands that name none.
DEFAULT_TENANT = "default"
# Of each tenant: a token of nobody's in particular, one that speaks for one user, and two that speak for a user of one
# application.
ANYBODY, OTHER_USER, WEB_ANA, WEB_EVA = "all", "eva", "web-ana", "web-eva"
SPEAKERS = {
    ANYBODY: {},
    OTHER_USER: {"user": "eva"},
    WEB_ANA: {"client": "web", "user": "ana"},
    WEB_EVA: {"client": "web", "user": "eva"},
}
COGNITION = {"RAG_ENABLE_COGRAG": "on", "RAG_COGRAG_VERIFICATION_ENABLED": "on", "RAG_COGRAG_MEMORY_ENABLED": "on"}
SETTINGS = {
    **UNHURRIED,
    **COGNITION,
    "FATHOM_ASK_TIMEOUT_MS": "60000",
    "FATHOM_ASK_DEEP_TIMEOUT_MS": "120000",
    "FATHOM_CANARY_EVERY_S": "5",
}


def _token(tenant: str, speaker: str) -> str:
    return f"{tenant}-{speaker}-0123456789abcdef"


@dataclass(frozen=True)
class Tenant:
    """A tenant of the shared `fathom up` that nobody else uses."""

    name: str
    url: str
    bootstrap: str
    _clients: ExitStack

    def client(self, speaker: str = ANYBODY, **options: Any) -> httpx.Client:
        """A client of the HTTP interface with the tenant's token; of another of `SPEAKERS`, with that one's."""
        headers = {**self.bearer(speaker), **options.pop("headers", {})}
        # It speaks no TLS: the certificates take 20 ms to read.
        made = httpx.Client(base_url=self.url, headers=headers, timeout=120, verify=False, **options)
        return self._clients.enter_context(made)

    def token(self, speaker: str = ANYBODY) -> str:
        return _token(self.name, speaker)

    def bearer(self, speaker: str = ANYBODY) -> dict[str, str]:
        """The header that says who calls."""
        return {"authorization": f"Bearer {self.token(speaker)}"}

    def fathom(self, *arguments: str, **environment: str) -> Any:
        """An ended command on the broker of the shared `fathom up`, of this tenant where the command takes one."""
        return fathom(*arguments, "--tenant", self.name, "--broker", self.bootstrap, **environment)


@dataclass(frozen=True)
class Up:
    """The shared `fathom up`: where it answers, and its data directory."""

    process: Process
    data: Path
    url: str
    bootstrap: str
    _names: Iterator[str]
    _clients: ExitStack

    @property
    def operator(self) -> str:
        """The operator's token, of tenant `default`."""
        return (self.data / "token").read_text().strip()

    def tenant(self) -> Tenant:
        """One that nobody had before."""
        return self._of(next(self._names))

    def default(self) -> Tenant:
        """The one of commands that name none; several tests use it."""
        return self._of(DEFAULT_TENANT)

    def _of(self, name: str) -> Tenant:
        return Tenant(name, self.url, self.bootstrap, self._clients)


@pytest.fixture(scope="session")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """The shared `fathom up`; at its end it has shut down in order and logged no traceback and no token."""
    place = tmp_path_factory.mktemp("up")
    data, tokens, errors = place / "data", place / "tokens.json", place / "err"
    names = [f"tenant-{number:02}" for number in range(TENANTS)]
    grants = {
        _token(name, speaker): {"tenant": name, **whom}
        for name in (*names, DEFAULT_TENANT)
        for speaker, whom in SPEAKERS.items()
    }
    tokens.write_text(json.dumps(grants))
    settings = {**SETTINGS, "FATHOM_ASK_TOKENS_FILE": str(tokens)}
    with (
        running("up", "--data", str(data), "--port", "0", stderr=errors, **settings) as process,
        ExitStack() as clients,
    ):
        ready = process.ready()
        assert stat.S_IMODE((data / "token").stat().st_mode) == 0o600
        shared = Up(process, data, f"http://{ready['http']}", ready["bootstrap"], iter(names), clients)
        yield shared
        clients.close()
        assert process.end()[0] == 0
        said = errors.read_text()
        assert "Traceback" not in said
        assert not [token for token in (*grants, shared.operator) if token in said]


@pytest.fixture(scope="module")
def tenant(up: Up) -> Tenant:
    """A tenant that only the tests of one file use."""
    return up.tenant()


@pytest.fixture(scope="module")
def stranger(up: Up) -> Tenant:
    """A second one, who may know nothing of the first."""
    return up.tenant()
