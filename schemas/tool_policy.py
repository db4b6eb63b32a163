"""Contracts of tools in an operator's policy: adding a tool needs no code."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

_EXACT = ConfigDict(extra="forbid", strict=True)

ArgumentType = Literal["string", "integer", "number", "boolean", "array", "object"]


@dataclass(frozen=True, config=_EXACT)
class Texts:
    """A text in each language; in a language that has none the other is used."""

    pt: str | None = None
    en: str | None = None

    def of(self, lang: str) -> str:
        """The text for a language."""
        own, other = (self.en, self.pt) if lang == "en" else (self.pt, self.en)
        return own if own is not None else other or ""

    @model_validator(mode="after")
    def _says_something(self) -> "Texts":
        if self.pt is None and self.en is None:
            raise ValueError("a text is needed in pt or in en")
        return self


Said = Annotated[Texts, BeforeValidator(lambda given: Texts(given) if isinstance(given, str) else given)]


@dataclass(frozen=True, config=_EXACT)
class SessionValue:
    """A session value of one kind of reference; `result` is the field of a result that sets it.

    `missing` is the text for no value, `several` for a message with several, `unclear` for a message with none for
    certain: one text, or one per language (`pt`, `en`). `{value}` in `log` is the value that was filled in.
    """

    kind: str
    missing: Said
    several: Said
    log: str
    unclear: Said | None = None
    result: str | None = None
    ttl_seconds: int = Field(default=3600, ge=0)


@dataclass(frozen=True, config=_EXACT)
class Argument:
    """One argument; `session` names the session's value that fills it, `unless` the arguments that make it unnecessary.

    An argument with a session value is filled from the user's message, then from the session. One with `recall` is
    filled from the dialogue where neither has it.
    """

    type: ArgumentType = "string"
    required: bool = False
    session: str | None = None
    unless: tuple[str, ...] = ()
    default: object = None
    choices: tuple[str, ...] | None = None
    recall: bool = False


@dataclass(frozen=True, config=_EXACT)
class Contract:
    """The arguments of a tool; a `sensitive` tool needs confirmation, any other for the values in `confirm_values`."""

    arguments: Mapping[str, Argument] = Field(default_factory=dict)
    sensitive: bool = False
    confirm_values: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    closed: bool = False

    @property
    def recalls(self) -> bool:
        """Whether any argument may be filled from the dialogue."""
        return any(rule.recall for rule in self.arguments.values())


@dataclass(frozen=True, config=_EXACT)
class ToolPolicy:
    """The callable tools. `confirmation_seconds` is the time a preview waits for its answer.

    `recall_seconds` is the maximum age of a turn or call whose values may be recalled; `lang` is the language of texts
    where neither the conversation nor the call tells one.
    """

    session: Mapping[str, SessionValue] = Field(default_factory=dict)
    tools: Mapping[str, Contract] = Field(default_factory=dict)
    confirmation_seconds: int = Field(default=900, ge=1)
    recall_seconds: int = Field(default=3600, ge=0)
    lang: Literal["pt", "en"] = "en"

    @property
    def recalls(self) -> bool:
        """Whether any argument may be filled from the dialogue."""
        return any(contract.recalls for contract in self.tools.values())

    @model_validator(mode="after")
    def _name_what_is_there(self) -> "ToolPolicy":
        for name, contract in self.tools.items():
            for argument, rule in contract.arguments.items():
                if rule.session is not None and rule.session not in self.session:
                    raise ValueError(f"{name}.{argument}: the session has no value {rule.session!r}")
                if rule.recall and rule.type in ("array", "object"):
                    raise ValueError(f"{name}.{argument}: recall is for single values, not for {rule.type}")
            for argument in contract.confirm_values:
                if argument not in contract.arguments:
                    raise ValueError(f"{name}: confirm_values names {argument!r}, which is no argument")
        return self
