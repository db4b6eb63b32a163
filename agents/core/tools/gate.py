"""Completion of a tool's arguments from the conversation, or the reason for refusal: a pure function of its inputs.

Precedence for each missing argument: named in the user's message > stored in the session > settled in the dialogue,
where the contract permits it > the default. Given arguments are never changed.
"""

import copy
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches

from agents.core.conversation.memory import ConversationTurn
from agents.core.language.messages import message
from agents.core.language.quotes import escape_invisible
from agents.core.tools.dialogue import DialogueState
from agents.core.tools.mentions import Mentions, mentions
from agents.core.tools.session import needs_yes
from schemas.policy import ReferencePolicy
from schemas.tool_policy import Argument, Contract, SessionValue, Texts, ToolPolicy
from schemas.tool_session import ToolSession
from schemas.tools import ErrorCode, Injection

MISSING: frozenset[ErrorCode] = frozenset({"contexto_ausente", "contexto_expirado"})
MAX_SHOWN = 80
MAX_NAMED = 10
IN_WORDS = "(?P<value>"


@dataclass(frozen=True, slots=True)
class UserMessage:
    """The user's message that a call belongs to, and the conversation before it; `lang` None where nothing tells it."""

    text: str = ""
    message_id: str = ""
    turns: Sequence[ConversationTurn] = ()
    lang: str | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """The completed arguments, or the reason for refusal; `notes` are lines for the log.

    `retryable`: a result that is still to come may supply the missing value.
    """

    args: Mapping[str, object]
    injections: tuple[Injection, ...] = ()
    error: str | None = None
    code: ErrorCode | None = None
    confirm: bool = False
    notes: tuple[str, ...] = ()
    retryable: bool = False


class _Refused(Exception):
    """The reason for refusing a call: a code, and a text of the catalogue or the operator's policy with its values."""

    def __init__(self, code: ErrorCode, text: str | Texts, **values: str | Callable[[str], str]) -> None:
        super().__init__(code)
        self.code = code
        self._text, self._values = text, values

    def said(self, lang: str) -> str:
        """The reason in a language; values that are functions are called with the language."""
        values = {name: value(lang) if callable(value) else value for name, value in self._values.items()}
        if isinstance(self._text, Texts):
            return self._text.of(lang).replace("{values}", values.get("values", ""))
        return message(lang, self._text, **values)


@dataclass(slots=True)
class _Filling:
    args: dict[str, object]
    injections: list[Injection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    over: set[str] = field(default_factory=set)

    def put(self, injection: Injection, note: str | None = None) -> None:
        self.args[injection.arg] = injection.value
        self.injections.append(injection)
        if note is not None:
            self.notes.append(note)


@dataclass(frozen=True, slots=True)
class ToolPolicyResolver:
    """The policy of tools over the kinds of references."""

    policy: ToolPolicy
    kinds: ReferencePolicy

    def resolve(
        self, tool: str, args: Mapping[str, object], session: ToolSession, said: UserMessage, now: datetime
    ) -> Resolution:
        """The completed or refused call, as of a time; the given arguments are not changed. Never raises."""
        contract = self.policy.tools.get(tool)
        lang = said.lang or self.policy.lang
        if contract is None:
            return Resolution(args, error=self.wrong(tool, args, lang), code="ferramenta_desconhecida")
        filling = _Filling(copy.deepcopy(dict(args)))
        try:
            _check(contract, filling.args)
            for name, rule in contract.arguments.items():
                if rule.session is not None and blank(filling.args.get(name)):
                    self._fill(filling, name, rule, rule.session, session, said, now)
            self._recall(filling, tool, contract, session, said, now)
            for name, rule in contract.arguments.items():
                if rule.default is not None and filling.args.get(name) is None:
                    filling.put(Injection(arg=name, value=copy.deepcopy(rule.default), source="default"))
            self._check_complete(contract, filling.args)
        except _Refused as refused:
            retryable = refused.code in MISSING or (refused.code == "argumento_ausente" and contract.recalls)
            return Resolution(args, error=refused.said(lang), code=refused.code, retryable=retryable)
        confirm = needs_yes(contract, filling.args)
        return Resolution(filling.args, tuple(filling.injections), confirm=confirm, notes=tuple(filling.notes))

    def _fill(
        self,
        filling: _Filling,
        name: str,
        rule: Argument,
        place: str,
        session: ToolSession,
        said: UserMessage,
        now: datetime,
    ) -> None:
        if any(not blank(filling.args.get(other)) for other in rule.unless):
            return
        wanted = self.policy.session[place]
        mentioned = self.mentioned(said.text, wanted.kind)
        if mentioned.unclear:
            unclear = dict.fromkeys((*mentioned.named, *mentioned.unclear))
            raise _Refused("valor_ambiguo", wanted.unclear or "tool.unclear", values=_listed(unclear))
        if len(mentioned.named) > 1:
            raise _Refused("valor_ambiguo", wanted.several, values=_listed(mentioned.named))
        if mentioned.named:
            [value] = mentioned.named
            injection = Injection(arg=name, value=value, source="mention", evidence=said.message_id or None)
            filling.put(injection, _logged(wanted, value))
            return
        kept = session.values.get(place)
        if kept is None or not self._is_one(kept.value, wanted.kind):
            if rule.required and not rule.recall:
                raise _Refused("contexto_ausente", wanted.missing)
            return
        age = max((now - kept.at).total_seconds(), 0.0)
        if not kept.valid or age > wanted.ttl_seconds:
            if rule.required:
                raise _Refused("contexto_expirado", wanted.missing)
            # A value expired in the session must not be recalled from the dialogue it came from.
            filling.over.add(name)
            return
        if set(mentioned.shown) - {kept.value}:
            several = dict.fromkeys((*mentioned.shown, kept.value))
            raise _Refused("valor_ambiguo", wanted.several, values=_listed(several))
        injection = Injection(arg=name, value=kept.value, source="session", evidence=kept.call_id, age_seconds=age)
        filling.put(injection, _logged(wanted, kept.value))

    def _recall(
        self, filling: _Filling, tool: str, contract: Contract, session: ToolSession, said: UserMessage, now: datetime
    ) -> None:
        missing = [
            name
            for name, rule in contract.arguments.items()
            if rule.recall and name not in filling.over and _is_missing(name, rule, filling.args)
        ]
        if not missing:
            return
        heard = heard_of(session, said).since(now, self.policy.recall_seconds)
        for name, found in heard.values(tool, contract, missing, filling.args).items():
            place = contract.arguments[name].session
            kind = None if place is None else self.policy.session[place].kind
            values = [value for value in found.values if kind is None or self._is_one(value, kind)]
            if len(values) > 1:
                shown = ", ".join(map(_shown, values))
                raise _Refused("valor_ambiguo", "tool.several", name=name, values=shown)
            if values:
                [value] = values
                age = max((now - found.at).total_seconds(), 0.0)
                recalled = Injection(
                    arg=name, value=value, source=found.source, evidence=found.evidence or None, age_seconds=age
                )
                filling.put(recalled, f"✅ {name} injetado: {_shown(value)}")

    def _check_complete(self, contract: Contract, args: Mapping[str, object]) -> None:
        for name, rule in contract.arguments.items():
            if rule.required and _is_missing(name, rule, args):
                if rule.session is not None:
                    raise _Refused("contexto_ausente", self.policy.session[rule.session].missing)
                raise _Refused("argumento_ausente", "tool.missing", name=name)

    def wrong(self, tool: str, args: Mapping[str, object], lang: str | None = None) -> str | None:
        """The fault of the given arguments by the contract alone; None if there is none."""
        contract, lang = self.policy.tools.get(tool), lang or self.policy.lang
        if contract is None:
            near = _nearest(tool, self.policy.tools)(lang) or self._known(lang)
            return message(lang, "tool.unknown_tool", tool=_shown(tool), near=near)
        try:
            _check(contract, args)
        except _Refused as refused:
            return refused.said(lang)
        return None

    def _known(self, lang: str) -> str:
        names = sorted(self.policy.tools)
        shown = [*names[:MAX_NAMED], *("…" for _ in names[MAX_NAMED : MAX_NAMED + 1])]
        return message(lang, "tool.known_tools", tools=", ".join(shown)) if names else ""

    def listens(self, tool: str, args: Mapping[str, object]) -> bool:
        """Whether a message could name a value for a missing argument."""
        contract = self.policy.tools.get(tool)
        if contract is None or self.wrong(tool, args) is not None:
            return False
        return contract.recalls or any(
            rule.session is not None and blank(args.get(name)) for name, rule in contract.arguments.items()
        )

    def mentioned(self, text: str, kind: str) -> Mentions:
        """The values of one kind named in a user's message, certain and uncertain ones."""
        return mentions(text, kind, self.kinds)

    def _is_one(self, value: object, kind: str) -> bool:
        """Whether a value belongs to the kind, whatever the field it came in."""
        rule = self.kinds.kinds.get(kind)
        if rule is None or blank(value):
            return False
        # A pattern with words around its value cannot check the value alone.
        return any(IN_WORDS in pattern or re.fullmatch(pattern, str(value)) for pattern in rule.patterns)


def blank(value: object) -> bool:
    """Whether a value is missing: absent, None, or blank text; False and 0 are values."""
    return value is None or (isinstance(value, str) and not value.strip())


def heard_of(session: ToolSession, said: UserMessage) -> DialogueState:
    """The dialogue that values may be recalled from."""
    return DialogueState(said.turns, session.calls, [each for each in session.waiting.values() if each.approved])


def preview(tool: str, resolution: Resolution, lang: str) -> str:
    """The text that asks the user for permission, with the origin of each value that the user did not give."""
    source = {each.arg: f" ({message(lang, f'tool.origin_{each.source}')})" for each in resolution.injections}
    given = ", ".join(f"{name}={_shown(value)}{source.get(name, '')}" for name, value in resolution.args.items())
    return (
        message(lang, "tool.confirm_with", tool=tool, given=given)
        if given
        else message(lang, "tool.confirm", tool=tool)
    )


def _check(contract: Contract, args: Mapping[str, object]) -> None:
    for name, value in args.items():
        rule = contract.arguments.get(name)
        if rule is None:
            near = _nearest(name, contract.arguments)
            if contract.closed or near is not _nothing:
                raise _Refused("argumento_desconhecido", "tool.unknown_argument", name=_shown(name), near=near)
        elif value is not None:
            _check_value(name, rule, value)


def _check_value(name: str, rule: Argument, value: object) -> None:
    if not _is_a(rule.type, value):
        wanted = rule.type
        raise _Refused(
            "tipo_invalido",
            "tool.wrong_type",
            name=name,
            type=lambda lang: message(lang, f"tool.{wanted}"),
            value=_shown(value),
        )
    # A blank text counts as missing where another source may fill it; otherwise it must be one of the choices.
    fillable = rule.session is not None or rule.recall
    if rule.choices is not None and value not in rule.choices and not (fillable and blank(value)):
        near = _nearest(str(value), rule.choices)
        allowed = ", ".join(rule.choices)
        raise _Refused("tipo_invalido", "tool.not_one_of", name=name, allowed=allowed, value=_shown(value), near=near)


def _is_missing(name: str, rule: Argument, args: Mapping[str, object]) -> bool:
    return blank(args.get(name)) and not any(not blank(args.get(other)) for other in rule.unless)


def _is_a(wanted: str, value: object) -> bool:
    match wanted:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list | tuple)
        case _:
            return isinstance(value, Mapping)


def _nothing(_lang: str) -> str:
    return ""


def _nearest(name: str, known: Iterable[str]) -> Callable[[str], str]:
    """The question whether the nearest known name was meant, as a function of the language."""
    near = get_close_matches(name[:200], list(known), n=1)
    return (lambda lang: message(lang, "tool.did_you_mean", near=near[0])) if near else _nothing


def _logged(rule: SessionValue, value: str) -> str:
    return rule.log.replace("{value}", value)


def _listed(values: Iterable[str]) -> str:
    return ", ".join(map(escape_invisible, values))


def _shown(value: object) -> str:
    text = escape_invisible(str(value))
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
