"""A model over HTTP, an operator's own engine and narrator: every failure is one error, every setting is checked."""

import asyncio
import gzip
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from agents.errors import Unavailable
from schemas.assessment import AssessmentMade
from schemas.topics import ANSWERS_OUT, ASSESSMENTS_IN, ASSESSMENTS_OUT
from streams import config
from streams.models.asking import FAILURES, Asking
from streams.models.chat_completions import MAX_BYTES, ChatCompletions
from streams.models.open import Models, chat_completions, open_models, roles
from streams.telemetry import metrics
from streams.testing.pipeline import Pipeline
from streams.topology import STAGES

KEY = "sk-very-secret-0451"
TIERS: Any = {"fast": "small", "standard": "middle", "advanced": "large"}
NAMES = {stage.name for stage in STAGES}


def sent_back(body: Any, status: int = 200, **headers: str) -> httpx.Response:
    """A response that has yet to be read, as from a network."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return httpx.Response(status, headers=headers, stream=httpx.ByteStream(raw))


def reply(content: Any) -> httpx.Response:
    return sent_back({"choices": [{"message": {"role": "assistant", "content": content}}]})


class Endpoint:
    """What is at the other end of the wire, with what it was sent."""

    def __init__(self, answer: Callable[[httpx.Request], Any]) -> None:
        self._answer = answer
        self.sent: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        found = self._answer(request)
        return found if isinstance(found, httpx.Response) else await found


def completed(endpoint: Endpoint, *, prompt: str = "Oi", key: str | None = KEY, timeout: float = 5.0) -> str:
    async def one() -> str:
        model = ChatCompletions(
            "http://model.test/v1/", TIERS, key=key, timeout=timeout, transport=httpx.MockTransport(endpoint)
        )
        try:
            return await model.complete(prompt, tier="standard", max_tokens=50, temperature=0.1)
        finally:
            await model.close()

    return asyncio.run(one())


def test_a_prompt_is_posted_as_chat_completions_are():
    endpoint = Endpoint(lambda _: reply("Olá"))
    assert completed(endpoint) == "Olá"
    [request] = endpoint.sent
    assert (request.method, str(request.url)) == ("POST", "http://model.test/v1/chat/completions")
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert orjson.loads(request.content) == {
        "model": "middle",
        "messages": [{"role": "user", "content": "Oi"}],
        "max_tokens": 50,
        "temperature": 0.1,
    }


def test_without_a_key_none_is_sent():
    endpoint = Endpoint(lambda _: reply("Olá"))
    completed(endpoint, key=None)
    assert "authorization" not in endpoint.sent[0].headers


def raising(error: Exception) -> Callable[[httpx.Request], Any]:
    def answer(_: httpx.Request) -> Any:
        raise error

    return answer


async def hanging() -> httpx.Response:
    await asyncio.sleep(3600)
    raise AssertionError


class Dripping(httpx.AsyncByteStream):
    """Some bytes, and then one now and then."""

    def __init__(self, first: bytes, seconds: float, times: int) -> None:
        self._first, self._seconds, self._times = first, seconds, times
        self.given = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(self._times):
            self.given += len(self._first)
            yield self._first
            await asyncio.sleep(self._seconds)


ECHO = f"Bearer {KEY} Oi"
NO_TEXT = "no text at choices"
FAILING: dict[str, tuple[Callable[[httpx.Request], Any], str]] = {
    "refused": (raising(httpx.ConnectError(ECHO)), "ConnectError"),
    "reset": (raising(httpx.ReadError(ECHO)), "ReadError"),
    "no-protocol": (raising(httpx.RemoteProtocolError(ECHO)), "RemoteProtocolError"),
    "os-error": (raising(OSError(ECHO)), "OSError"),
    "closed": (raising(RuntimeError("unable to perform operation; the handler is closed")), "connection is closed"),
    "hangs": (lambda _: hanging(), "no answer in 0.2 s"),
    "drips": (lambda _: httpx.Response(200, stream=Dripping(b" ", 0.01, 100_000)), "no answer in 0.2 s"),
    "wrong-auth": (lambda _: sent_back(ECHO, 401), "FATHOM_LLM_API_KEY_FILE"),
    "busy": (lambda _: sent_back(ECHO, 429), "it answers 429"),
    "broken": (lambda _: sent_back(ECHO, 500), "it answers 500"),
    "moved": (lambda _: sent_back(b"", 307, location=f"http://other.test/?{KEY}"), "it answers 307"),
    "zipped": (lambda _: sent_back(gzip.compress(b" " * 10_000_000), **{"content-encoding": "gzip"}), NO_TEXT),
    "no-json": (lambda _: sent_back(ECHO.encode()), NO_TEXT),
    "deep-json": (lambda _: sent_back(b"[" * 100_000), NO_TEXT),
    "other-json": (lambda _: sent_back({"error": ECHO}), NO_TEXT),
    "no-choices": (lambda _: sent_back({"choices": []}), NO_TEXT),
    "no-text": (lambda _: reply(None), NO_TEXT),
    "number": (lambda _: reply(7), NO_TEXT),
}


@pytest.mark.covers("B7")
@pytest.mark.parametrize(("answer", "says"), FAILING.values(), ids=FAILING.keys())
def test_whatever_goes_wrong_is_one_error_that_quotes_nothing(
    answer: Callable[[httpx.Request], Any], says: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    endpoint = Endpoint(answer)
    with pytest.raises(Unavailable) as raised:
        completed(endpoint, timeout=0.2)
    assert len(endpoint.sent) == 1
    assert raised.value.what == "model"
    assert says in raised.value.detail
    said = f"{raised.value!r} {raised.value} {raised.value.__cause__!r}"
    assert KEY not in said
    assert KEY not in caplog.text


def test_a_bug_of_ours_is_none_of_the_models():
    with pytest.raises(RuntimeError, match="ours"):
        completed(Endpoint(raising(RuntimeError("ours"))))


def test_a_huge_answer_is_not_read_to_its_end():
    stream = Dripping(b" " * 65_536, 0, 100_000)
    with pytest.raises(Unavailable, match="more than"):
        completed(Endpoint(lambda _: httpx.Response(200, stream=stream)))
    assert stream.given <= MAX_BYTES + 65_536


def test_a_prompt_that_cannot_be_sent_is_no_crash():
    endpoint = Endpoint(lambda _: reply("Olá"))
    with pytest.raises(Unavailable):
        completed(endpoint, prompt="\ud800")
    assert endpoint.sent == []


# --- calls of one purpose


class Model:
    """Fails as long as it is told to; counts."""

    def __init__(self) -> None:
        self.wrong: Exception | None = Unavailable("model", "gone")
        self.seconds = 0.0
        self.calls = 0

    async def complete(self, prompt: str, **how: Any) -> str:
        self.calls += 1
        await asyncio.sleep(self.seconds)
        if self.wrong:
            raise self.wrong
        return prompt


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def outcomes(purpose: str) -> dict[str, float]:
    found = {}
    for outcome in ("answered", "failed", "late", "skipped"):
        found[outcome] = metrics.REGISTRY.get_sample_value(
            "fathom_llm_calls_total", {"purpose": purpose, "outcome": outcome}
        )
    return {outcome: count for outcome, count in found.items() if count}


async def ask(asking: Asking, seconds: float = 5.0) -> str:
    try:
        async with asyncio.timeout(seconds):
            return await asking.complete("Oi", tier="fast", max_tokens=1, temperature=0)
    except Unavailable as unavailable:
        return unavailable.detail
    except TimeoutError:
        return "late"


@pytest.mark.covers("B7")
def test_a_broken_model_is_asked_once_in_a_while():
    # 3 failures, then:  |5 s nothing| probe |5 s nothing| probe answers | as ever
    async def go() -> None:
        model, clock = Model(), Clock()
        asking = Asking(model, "test-broken", clock=clock, pause=5)
        for _ in range(100):
            await ask(asking)
        assert model.calls == FAILURES
        for asked in (1, 2):
            clock.now += 5
            for _ in range(100):
                await ask(asking)
            assert model.calls == FAILURES + asked
        model.wrong = None
        clock.now += 5
        assert [await ask(asking) for _ in range(100)] == ["Oi"] * 100
        model.wrong = Unavailable("model", "late again")
        assert await ask(asking) == "late again"
        model.wrong = None
        assert await ask(asking) == "Oi"

    asyncio.run(go())
    assert outcomes("test-broken") == {"answered": 101, "failed": FAILURES + 3, "skipped": 100 - FAILURES + 2 * 99}


def test_why_a_model_is_unavailable_is_logged(caplog: pytest.LogCaptureFixture):
    async def go() -> None:
        model = Model()
        asking = Asking(model, "test-logged")
        for wrong in (Unavailable("model", "it answers 401"), None):
            model.wrong = wrong
            await ask(asking)

    with caplog.at_level(logging.INFO):
        asyncio.run(go())
    told = [(each.levelname, each.getMessage(), vars(each)["fields"]) for each in caplog.records]
    assert told == [
        ("WARNING", "model.failed", {"purpose": "test-logged", "error": "model is unavailable: it answers 401"})
    ]


@pytest.mark.covers("B7")
def test_a_model_that_nobody_waits_for_any_more_is_asked_once_in_a_while_and_by_one():
    async def go() -> None:
        model, clock = Model(), Clock()
        model.seconds = 3600
        asking = Asking(model, "test-late", clock=clock, pause=5)
        for _ in range(10):
            await ask(asking, 0.001)
        assert model.calls == FAILURES
        clock.now += 5
        await asyncio.gather(*(ask(asking, 0.01) for _ in range(50)))
        assert model.calls == FAILURES + 1
        other = Asking(model, "test-other", clock=clock)
        await ask(other, 0.001)
        assert model.calls == FAILURES + 2, "purposes have their own pauses"

    asyncio.run(go())
    assert outcomes("test-late") == {"late": FAILURES + 1, "skipped": 10 - FAILURES + 49}


# --- settings


def key_file(folder: Path, text: str) -> Path:
    path = folder / "key"
    path.write_text(text)
    return path


ENDPOINT = {"FATHOM_LLM_URL": "https://model.test/v1", "FATHOM_LLM_MODEL_FAST": "small"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"FATHOM_LLM_MODEL_FAST": "small"}, "FATHOM_LLM_MODEL_FAST has no use without FATHOM_LLM_URL"),
        ({"FATHOM_LLM_API_KEY_FILE": "k"}, "FATHOM_LLM_API_KEY_FILE has no use without FATHOM_LLM_URL"),
        ({"RAG_COGRAG_MODEL_TIER": "advanced"}, "RAG_COGRAG_MODEL_TIER has no use without FATHOM_LLM_URL"),
        ({"FATHOM_LLM_URL": "https://model.test/v1"}, "needs FATHOM_LLM_MODEL_FAST"),
        ({**ENDPOINT, "FATHOM_LLM_URL": "model.test"}, "write https://HOST/v1"),
        ({**ENDPOINT, "FATHOM_LLM_URL": "ftp://model.test"}, "write https://HOST/v1"),
        ({**ENDPOINT, "FATHOM_LLM_URL": "http://h:99999/"}, "write https://HOST/v1"),
        ({**ENDPOINT, "FATHOM_LLM_URL": f"https://u:{KEY}@model.test/v1"}, "without user, password"),
        ({**ENDPOINT, "FATHOM_LLM_URL": f"https://model.test/v1?key={KEY}"}, "FATHOM_LLM_API_KEY_FILE"),
        ({**ENDPOINT, "FATHOM_LLM_API_KEY_FILE": "/nowhere/key"}, "No such file"),
    ],
)
def test_an_endpoint_that_cannot_be_used_is_named_with_what_to_write(given: dict[str, str], says: str):
    with pytest.raises(config.ConfigError) as error:
        chat_completions(config.load(given))
    assert says in str(error.value)
    assert KEY not in str(error.value)


@pytest.mark.parametrize("text", [f"{KEY} and more", f"{KEY}\n{KEY}", f"{KEY}é", "", f"\t{KEY}"])
def test_a_file_that_holds_no_key_is_named_and_not_shown(tmp_path: Path, text: str):
    settings = config.load({**ENDPOINT, "FATHOM_LLM_API_KEY_FILE": str(key_file(tmp_path, text))})
    with pytest.raises(config.ConfigError) as error:
        chat_completions(settings)
    assert "FATHOM_LLM_API_KEY_FILE" in str(error.value)
    assert KEY not in str(error.value)


def test_a_tier_without_a_model_takes_the_one_before_it(tmp_path: Path):
    path = str(key_file(tmp_path, f"{KEY}\n"))
    settings = config.load({**ENDPOINT, "FATHOM_LLM_MODEL_STANDARD": "middle", "FATHOM_LLM_API_KEY_FILE": path})
    client = chat_completions(settings)
    assert client is not None
    assert client._models == {"fast": "small", "standard": "middle", "advanced": "middle"}
    assert client._client.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(vars(client)) + repr(settings)
    asyncio.run(client.close())


@pytest.mark.covers("S2-35", "S2-50", "S2-58", "S2-97", "S2-148")
def test_cognition_has_models_of_its_own_on_the_same_endpoint():
    settings = config.load({**ENDPOINT, "RAG_COGRAG_RESPONSE_MODEL": "big", "RAG_COGRAG_MODEL_TIER": "standard"})
    assert settings.rag_cograg_decomposer_model == settings.rag_cograg_verification_model == "gemini-2.0-flash"
    assert settings.cognition().limits.max_llm_calls == 20
    assert config.load({"MAX_LLM_CALLS_PER_REQUEST": "6"}).cognition().limits.max_llm_calls == 6
    assert config.load({"RAG_COGRAG_MODEL_TIER": "advanced"}).name_models()
    assert not config.load({}).name_models()
    endpoint = Endpoint(lambda _: reply("ok"))

    async def each() -> list[str]:
        client = ChatCompletions("http://model.test/v1", TIERS, transport=httpx.MockTransport(endpoint))
        models = roles(client, settings)
        for purpose in ("decomposition", "response", "verification", "depth"):
            await models(purpose).complete("x", tier="fast", max_tokens=1, temperature=0)
        await client.close()
        return [orjson.loads(request.content)["model"] for request in endpoint.sent]

    assert asyncio.run(each()) == ["gemini-2.0-flash", "big", "gemini-2.0-flash", "small"]


def test_without_settings_there_is_no_model_and_nothing_is_loaded():
    settings = config.load({})
    assert (open_models(settings, NAMES), settings.name_models()) == (Models(), False)


PLUGIN = """
class Engine:
    async def check_if_expansion_needed(self, statement, context):
        return True, "it says so"

class Narrator:
    async def narrate(self, meta):
        return "In other words."

class Still:
    def narrate(self, meta):
        return "In other words."

class Needs:
    def __init__(self, url):
        pass

def fails():
    raise ValueError("no licence")

narrator = Narrator()
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "house_models.py").write_text(PLUGIN)
    (tmp_path / "house_broken.py").write_text("import no_such_driver")
    (tmp_path / "house_wrong.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "house_models"
    for name in ("house_models", "house_broken", "house_wrong"):
        sys.modules.pop(name, None)


@pytest.mark.covers("CF-49", "REQ-017.4")
def test_an_engine_and_a_narrator_of_the_operators_are_asked_by_their_stages(plugin: str):
    settings = {"expansion_engine": f"{plugin}:Engine", "narrator": f"{plugin}:Narrator"}
    models = open_models(config.load({}, **settings), NAMES)
    with Pipeline(replace={"models": models}) as fathom:
        fathom.publish(ASSESSMENTS_IN, {"request_id": "r1", "query": "Hello!"}, {"tenant": "acme"}, b"acme|r1")
        [made] = [received.event for received in fathom.events(ASSESSMENTS_OUT)]
        question = fathom.say("Qual o preço de PETR4?")
        fathom.say("", role="assistant", answers=question, legacy_answer="38,12", results=[38.12])
        [given] = [received.event for received in fathom.events(ANSWERS_OUT)]
    assert isinstance(made, AssessmentMade)
    assert (made.classifier, made.reason, given.answer) == ("engine", "it says so", "In other words.")


def test_what_no_stage_of_this_worker_asks_is_not_loaded():
    settings = config.load({}, expansion_engine="no_such:thing", narrator="no_such:thing")
    assert open_models(settings, NAMES - {"assessor", "presenter"}) == Models()


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("house_models", "write package.module:factory"),
        (":Narrator", "write package.module:factory"),
        ("house_models:", "write package.module:factory"),
        ("house_models:a b", "write package.module:factory"),
        ("house_modles:Narrator", "there is no module house_modles; install it"),
        ("house_broken:Narrator", "there is no module no_such_driver; install it"),
        ("house_wrong:Narrator", "importing house_wrong failed with ZeroDivisionError"),
        ("house_models:Narator", "module house_models has no Narator"),
        ("house_models:narrator", "narrator is of type Narrator; name a function or class"),
        ("house_models:Needs", "failed with TypeError"),
        ("house_models:fails", "failed with ValueError: no licence"),
        ("house_models:Engine", "a Engine without narrate"),
        ("house_models:Still", "Still.narrate cannot be awaited; write it as `async def`"),
    ],
)
def test_a_narrator_that_cannot_be_used_is_named_with_what_to_mend(plugin: str, named: str, says: str):
    with pytest.raises(config.ConfigError) as error:
        open_models(config.load({"FATHOM_NARRATOR": named}), NAMES)
    assert str(error.value).startswith(f"FATHOM_NARRATOR={named!r}: ")
    assert says in str(error.value)
