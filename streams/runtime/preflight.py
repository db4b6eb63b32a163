"""What is wrong with the settings of a process, before anything of it starts."""

from collections.abc import Callable, Iterator
from functools import partial

from agents.errors import FathomError
from streams import policies
from streams.config import ConfigError, Settings, secret
from streams.kafka.security import security_of
from streams.models.open import chat_completions
from streams.runtime import data_dir
from streams.stores import word_lists
from streams.stores.settings import StoreSettings

SECRETS = ("qdrant_api_key_file", "neo4j_password_file", "mcp_tokens_file", "ask_tokens_file")


def faults(settings: Settings) -> Iterator[Exception]:
    """Each setting that cannot be used: unreadable files, policies that do not load, URLs of no store, security."""
    checks: list[Callable[[], object]] = [
        partial(security_of, settings),
        partial(chat_completions, settings),
        partial(word_lists.extend, settings.lexicons),
        *(partial(secret, name, getattr(settings, name)) for name in SECRETS),
    ]
    for check in checks:
        try:
            check()
        except (ConfigError, FathomError) as wrong:
            yield wrong
    yield from policies.check(settings)
    yield from StoreSettings(
        data_dir=data_dir.DEFAULT,
        redis_url=settings.redis_url,
        qdrant_url=settings.qdrant_url,
        neo4j_url=settings.neo4j_url,
    ).unsupported()


def check(settings: Settings) -> None:
    """Raise the first fault."""
    for fault in faults(settings):
        raise fault
