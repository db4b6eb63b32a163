"""Where the tests' servers come from, told by a probe that is none of this machine's; and how a container is run."""

from collections.abc import Callable
from typing import Any

import pytest
from docker.errors import DockerException
from testcontainers.core import container as library

from tests.servers import containers
from tests.servers.containers import FORCED, GIVEN, Image, Source, running, source_of


def installed(_: str) -> None:
    return None


def missing(name: str) -> str:
    return f"{name} is not installed: python -m tests.servers.install {name}"


def engine() -> None:
    return None


def no_engine() -> str:
    return "nobody listens at the socket"


@pytest.mark.parametrize(
    ("environment", "lacking", "probe", "kind", "why"),
    [
        ({}, installed, engine, "container", "redis:"),
        ({}, missing, engine, "container", "redis:"),
        ({}, installed, no_engine, "native", "nobody listens"),
        ({}, missing, no_engine, "none", "python -m tests.servers.install redis"),
        ({FORCED: "native"}, installed, engine, "native", FORCED),
        ({FORCED: "native"}, missing, engine, "none", "tests.servers.install"),
        ({GIVEN["redis"]: "redis://there"}, installed, engine, "given", GIVEN["redis"]),
        ({GIVEN["qdrant"]: "http://there"}, installed, no_engine, "native", "nobody listens"),
    ],
)
def test_the_named_comes_first_then_a_container_then_a_process(
    environment: dict[str, str],
    lacking: Callable[[str], str | None],
    probe: Callable[[], str | None],
    kind: str,
    why: str,
) -> None:
    source = source_of("redis", lacking, probe=probe, environment=environment)
    assert source.kind == kind
    assert why in source.why
    assert str(source).startswith(f"redis: {kind} (")


def test_an_engine_that_cannot_be_asked_is_none_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def __init__(self, *_: object, **__: object) -> None:
            raise DockerException("Error while fetching server API version: refused\nand more")

    monkeypatch.setattr(library, "DockerClient", Refusing)
    assert containers.no_engine.__wrapped__() == "Error while fetching server API version: refused"


class FakeContainer:
    """Records what is asked of it; `answers` turns true at its third question."""

    def __init__(self, image: str) -> None:
        self.image = image
        self.ports: dict[str, tuple[str, int]] = {}
        self.environment: dict[str, str] = {}
        self.command: list[str] | None = None
        self.happened: list[str] = []
        self.asked = 0

    def with_command(self, command: list[str] | None) -> "FakeContainer":
        self.command = command
        return self

    def with_env(self, name: str, value: str) -> None:
        self.environment[name] = value

    def start(self) -> None:
        self.happened.append("start")

    def stop(self) -> None:
        self.happened.append("stop")

    def get_logs(self) -> tuple[bytes, bytes]:
        return b"", b"port is taken"

    def answers(self) -> bool:
        self.asked += 1
        return self.asked >= 3


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[FakeContainer]:
    monkeypatch.setattr(containers, "PAUSE_S", 0.0)
    return []


def maker(made: list[FakeContainer]) -> Callable[[str], Any]:
    def make(image: str) -> FakeContainer:
        made.append(FakeContainer(image))
        return made[-1]

    return make


def test_a_container_is_on_loopback_entered_when_it_answers_and_gone_afterwards(made: list[FakeContainer]) -> None:
    image = Image("redis:1.2.3", {6379: 4711}, {"A": "b"}, ("redis-server",))
    with running(image, lambda: made[0].answers(), make=maker(made)):
        assert made[0].asked == 3
        assert made[0].happened == ["start"]
        assert made[0].ports == {"6379/tcp": ("127.0.0.1", 4711)}
        assert (made[0].environment, made[0].command) == ({"A": "b"}, ["redis-server"])
    assert made[0].happened == ["start", "stop"]


def test_a_container_that_never_answers_is_ended_with_what_it_said(
    made: list[FakeContainer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "START_S", 0.0)
    with (
        pytest.raises(RuntimeError, match=r"redis:1.2.3 did not start: port is taken"),
        running(Image("redis:1.2.3", {}), lambda: False, make=maker(made)),
    ):
        pytest.fail("it was entered")
    assert made[0].happened == ["start", "stop"]


def test_a_native_source_starts_the_process_and_no_container(monkeypatch: pytest.MonkeyPatch) -> None:
    class Process:
        happened: list[str] = []  # noqa: RUF012

        def __enter__(self) -> None:
            self.happened.append("start")

        def __exit__(self, *_: object) -> None:
            self.happened.append("stop")

    def refuse(*_: object) -> Any:
        raise AssertionError("a container was started")

    monkeypatch.setattr(containers, "running", refuse)
    server: Any = Process()
    with containers.started(Source("redis", "native", ""), server, Image("redis:1.2.3", {})):
        assert server.happened == ["start"]
    assert server.happened == ["start", "stop"]


def test_images_are_those_of_compose_and_kafka_sends_its_clients_to_the_port_of_the_host() -> None:
    images = [
        containers.redis(1),
        containers.qdrant(2, 3, "key"),
        containers.neo4j(4, "only-for-tests"),
        containers.kafka(5),
    ]
    assert [image.name.partition(":")[0] for image in images] == ["redis", "qdrant/qdrant", "neo4j", "apache/kafka"]
    assert images[3].environment["KAFKA_ADVERTISED_LISTENERS"] == "PLAINTEXT://127.0.0.1:5"
