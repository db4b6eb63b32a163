"""An operator's own engine or narrator: `package.module:factory`, called once at start, without arguments."""

import inspect
from importlib import import_module
from typing import Any

from streams.config import PREFIX, ConfigError

FORM = "package.module:factory"


def loaded(setting: str, named: str, method: str) -> Any:
    """The factory's result, checked for its `async` method; raises `ConfigError` with the remedy."""
    module, _, name = named.partition(":")
    if not module or not name.isidentifier():
        raise _wrong(setting, named, f"write {FORM}")
    factory = getattr(_module(setting, named, module), name, None)
    if factory is None:
        raise _wrong(setting, named, f"module {module} has no {name}; name a function or class of it")
    if not callable(factory):
        kind = type(factory).__name__
        raise _wrong(setting, named, f"{name} is of type {kind}; name a function or class without arguments")
    try:
        made = factory()
    except Exception as error:  # foreign code may raise anything; the error names the setting
        why = f"calling it without arguments failed with {_said(error)}; mend the factory"
        raise _wrong(setting, named, why) from error
    found = getattr(made, method, None)
    if found is None:
        raise _wrong(setting, named, f"it gives a {type(made).__name__} without {method}; give it `async def {method}`")
    if not inspect.iscoroutinefunction(found):
        raise _wrong(setting, named, f"{type(made).__name__}.{method} cannot be awaited; write it as `async def`")
    return made


def _module(setting: str, named: str, module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        where = f"there is no module {error.name}"
        raise _wrong(setting, named, f"{where}; install it in the environment that fathom runs in") from error
    except Exception as error:  # as above
        raise _wrong(setting, named, f"importing {module} failed with {_said(error)}; mend the module") from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _wrong(setting: str, named: str, why: str) -> ConfigError:
    return ConfigError(f"{PREFIX}{setting.upper()}={named!r}: {why}")
