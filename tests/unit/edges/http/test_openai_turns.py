"""Which requests of a chat are one message: retries and tool calls are, tomorrow's greeting is not."""

from types import SimpleNamespace
from typing import Any

from starlette.requests import Request

from streams.edges.http.gate import GRANT
from streams.edges.http.openai.caller import RETRY_S, ChatTurns
from streams.edges.http.openai.chat_request import chat_of
from streams.edges.http.tokens import Grant

MORNING = {"role": "user", "content": "Good morning"}
CALLED = ({"role": "assistant", "content": None, "tool_calls": []}, {"role": "tool", "content": "{}"})
NINE = 9 * RETRY_S


class Server:
    """One of several servers, at a time of day."""

    def __init__(self) -> None:
        self.now = NINE
        self._turns = ChatTurns("X-OpenWebUI-User-Id", lambda: self.now)

    def message(self, *messages: dict[str, Any], tenant: str = "acme") -> str:
        scope = {"type": "http", "headers": [], GRANT: Grant(tenant=tenant)}
        request = Request(scope)
        request.scope["state"] = vars(SimpleNamespace(request_id="r", traceparent="t"))
        chat = chat_of({"messages": list(messages)})
        assert chat is not None
        return self._turns.of(request, chat).message_id


def test_a_retry_is_the_same_message_within_the_hour_and_to_another_server():
    one, other = Server(), Server()
    first = one.message(MORNING)
    one.now = NINE + RETRY_S - 1
    assert (one.message(MORNING), other.message(MORNING)) == (first, first)
    # 9:00 --- first --- 9:59 retry --- 10:00 retry
    other.now = NINE + RETRY_S - 1
    late = Server()
    late.now = NINE + RETRY_S - 1
    begun = late.message(MORNING)
    late.now += 2
    assert late.message(MORNING) == begun


def test_the_same_words_another_day_are_a_new_message():
    server = Server()
    first = server.message(MORNING)
    server.now += 24 * RETRY_S
    assert server.message(MORNING) != first


def test_what_follows_the_models_tools_is_the_message_however_long_they_take():
    server = Server()
    first = server.message(MORNING)
    server.now += 5 * RETRY_S
    assert server.message(MORNING, *CALLED) == first


def test_instructions_do_not_make_a_message_and_tenants_do():
    server = Server()
    first = server.message({"role": "system", "content": "It is 9:00."}, MORNING)
    assert server.message({"role": "developer", "content": "It is 9:01."}, MORNING) == first
    assert server.message(MORNING, tenant="beta") != first


def test_a_packs_deadline_is_what_the_front_waits_unless_the_caller_says_otherwise():
    def options(*headers: tuple[bytes, bytes]) -> Any:
        request = Request({"type": "http", "headers": list(headers), GRANT: Grant(tenant="acme")})
        request.scope["state"] = vars(SimpleNamespace(request_id="r", traceparent="t"))
        chat = chat_of({"messages": [MORNING]})
        assert chat is not None
        return ChatTurns("X-OpenWebUI-User-Id", wait_ms=3_000).of(request, chat).envelope.options

    assert options().wait_ms == 2_900
    assert options((b"fathom-wait-ms", b"400")).wait_ms == 400
