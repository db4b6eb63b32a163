"""The optional language model, engine and narrator of the settings; without settings there are none."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agents.ports.models import MODEL_USES, ExpansionEngine, LanguageModel, Narrator
from schemas.assessment import ModelTier
from streams.config import LLM, PREFIX, ConfigError, Settings, listed, secret
from streams.models.asking import Asking
from streams.models.plugins import loaded

if TYPE_CHECKING:
    from streams.models.chat_completions import ChatCompletions

URL = f"{PREFIX}LLM_URL"


@dataclass(frozen=True, slots=True)
class Models:
    """The optional supplements of the rules; `model` takes a purpose, since each has a circuit breaker of its own."""

    model: Callable[[str], LanguageModel] | None = None
    engine: ExpansionEngine | None = None
    narrator: Narrator | None = None
    close: Callable[[], Awaitable[None]] | None = None


NONE = Models()


def open_models(settings: Settings, stages: Collection[str]) -> Models:
    """The models named in the settings and needed by these stages; connects to nothing yet. Raises `ConfigError`."""
    engine: ExpansionEngine | None = None
    narrator: Narrator | None = None
    client = chat_completions(settings)
    if settings.expansion_engine and "assessor" in stages:
        engine = loaded("expansion_engine", settings.expansion_engine, "check_if_expansion_needed")
    if settings.narrator and "presenter" in stages:
        narrator = loaded("narrator", settings.narrator, "narrate")
    if client is None:
        return Models(engine=engine, narrator=narrator)
    return Models(roles(client, settings), engine, narrator, client.close)


def roles(client: "ChatCompletions", settings: Settings) -> Callable[[str], LanguageModel]:
    """The models of an endpoint by purpose: those with a name of their own in the settings, and those by tier."""
    named: Mapping[str, str | None] = {
        "decomposition": settings.rag_cograg_decomposer_model,
        "response": settings.rag_cograg_response_model,
        "verification": settings.rag_cograg_verification_model,
    }

    def of(purpose: str) -> LanguageModel:
        name = named.get(purpose)
        return Asking(client.named(name) if name else client, purpose)

    return of


def chat_completions(settings: Settings) -> "ChatCompletions | None":
    """The endpoint of the settings; None if not set. Raises `ConfigError`, which never shows the key."""
    unused = [name for name in LLM[1:] if getattr(settings, name) is not None]
    if settings.llm_url is None:
        if unused:
            raise ConfigError(f"{PREFIX}{unused[0].upper()} has no use without {URL}; set {URL} too")
        if settings.rag_cograg_model_tier != "fast":
            raise ConfigError(f"RAG_COGRAG_MODEL_TIER has no use without {URL}; set {URL} too, or write fast")
        return None
    if unknown := {*listed(settings.llm_uses or "")} - {*MODEL_USES}:
        uses = ", ".join(MODEL_USES)
        raise ConfigError(f"{PREFIX}LLM_USES is a list of {uses}, not {min(unknown)!r}")
    # Imported here: most workers have no model.
    from streams.models.chat_completions import ChatCompletions

    return ChatCompletions(_url(settings.llm_url), _by_tier(settings), key=_key(settings))


def _url(url: str) -> str:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    if not fits or "@" in parts.netloc or parts.query or parts.fragment:
        # Not quoted: it may hold a password.
        raise ConfigError(
            f"{URL}: write https://HOST/v1 or http://HOST:PORT/v1, without user, password or query; "
            f"the key is in the file of {PREFIX}LLM_API_KEY_FILE"
        )
    return url


def _by_tier(settings: Settings) -> dict[ModelTier, str]:
    fast = settings.llm_model_fast
    if not fast:
        raise ConfigError(f"{URL} needs {PREFIX}LLM_MODEL_FAST, the name of the endpoint's fast model")
    standard = settings.llm_model_standard or fast
    return {"fast": fast, "standard": standard, "advanced": settings.llm_model_advanced or standard}


def _key(settings: Settings) -> str | None:
    key = secret("llm_api_key_file", settings.llm_api_key_file)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigError(
            f"{PREFIX}LLM_API_KEY_FILE={str(settings.llm_api_key_file)!r}: a key is one line of ASCII without spaces; "
            "write it alone into the file"
        )
    return key
