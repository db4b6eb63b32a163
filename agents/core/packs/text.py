"""The text of a pack: what goes into a prompt, in Markdown, made of its sections by a template.

A template is Jinja2 in a sandbox. It sees `t` (headings in the message's language), `lang`, `depth`, and the lists
that `SECTIONS` names: groups of lines under a numbered source, or plain lines. What it does not show costs nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from agents.core.language.messages import catalogue
from agents.core.packs.rendering import entry, persona
from agents.core.packs.sections import Sections
from schemas.items import Contradiction, Item, ItemBase, Knowledge, Process
from schemas.packs import PackSource
from schemas.policy import DEFAULT_PACKS, SHIPPED_TEMPLATES, PackPolicy
from schemas.retrieval import MemoryClass

GROUPED = ("knowledge", "procedures", "said", "earlier", "claims")
PLAIN = ("instructions", "unknown", "persona", "conflicts", "messages")
SECTIONS = (*PLAIN, *GROUPED)
_SECTION_OF = {
    MemoryClass.WORKING_SET: "messages",
    MemoryClass.PERSONA: "persona",
    MemoryClass.EPISODIC: "earlier",
    MemoryClass.SEMANTIC: "knowledge",
    MemoryClass.PROCEDURAL: "procedures",
    MemoryClass.CLAIMS: "claims",
}
_SEEN = frozenset({*SECTIONS, "t", "lang", "depth"})
_PREFIX = "heading."


class TemplateMistake(ValueError):
    """A template that cannot be used; the text says where and why."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of a section: its text, and of an item its score and day."""

    text: str
    score: float | None = None
    date: str | None = None


@dataclass(slots=True)
class SourceGroup:
    """The lines of one source, under its number."""

    number: int
    source: str
    lines: list[TextLine] = field(default_factory=list)
    items: list[ItemBase] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PackText:
    """The text of a pack, the sources it numbers, and the name of its template."""

    text: str
    sources: tuple[PackSource, ...]
    template: str


class TextTemplate:
    """A compiled template; raises `TemplateMistake` for one that does not compile or names what is not there."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        environment = _environment()
        try:
            parsed = environment.parse(source)
            self.shows = frozenset(meta.find_undeclared_variables(parsed))
            self._template = environment.from_string(parsed)
        except TemplateError as error:
            raise TemplateMistake(f"template {name}: {error}") from None
        if unknown := self.shows - _SEEN:
            raise TemplateMistake(
                f"template {name}: {min(unknown)} is not known; a template may use {', '.join(sorted(_SEEN))}"
            )

    def try_out(self) -> None:
        """Render the template once with something in each section, and once with nothing; raises `TemplateMistake`."""
        group = SourceGroup(1, "source", [TextLine("text", 0.5, "2026-01-01")])
        for there in (True, False):
            grouped = dict.fromkeys(GROUPED, [group] if there else [])
            self.render("en", "D2", {**grouped, **dict.fromkeys(PLAIN, group.lines if there else [])})

    def has(self, item: Item, memory: MemoryClass) -> bool:
        """Whether an item of a class of memory is in the text."""
        return ("conflicts" if isinstance(item, Contradiction) else _SECTION_OF[memory]) in self.shows

    def render(self, lang: str, depth: str, sections: Mapping[str, object]) -> str:
        """The text of the sections without outer blanks; raises `TemplateMistake`."""
        try:
            return self._template.render(t=_headings(lang), lang=lang, depth=depth, **sections).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise TemplateMistake(f"template {self.name}: {error}") from None


@cache
def shipped(name: str) -> TextTemplate:
    """A template that is part of Fathom, by its name in `SHIPPED_TEMPLATES`."""
    return TextTemplate(name, files("agents.core.packs").joinpath(f"templates/{name}.md").read_text("utf-8"))


def write(
    template: TextTemplate,
    lang: str,
    depth: str,
    sections: Sections,
    instructions: Sequence[str],
    unknown: Sequence[str],
) -> PackText:
    """The text of a pack's sections by a template."""
    numbered = _Numbered(lang)
    values: dict[str, object] = {
        "instructions": [TextLine(line) for line in instructions],
        "unknown": [TextLine(line) for line in unknown],
    }
    for name, items in _by_section(sections).items():
        if name in template.shows:
            values[name] = numbered.groups(items) if name in GROUPED else numbered.lines(items)
    values["persona"] = [
        *_persona(sections, lang),
        *numbered.lines(sections["persona_context"].current_objectives or ()),
    ]
    text = template.render(lang, depth, {name: values.get(name, ()) for name in SECTIONS})
    return PackText(text, numbered.sources(), template.name)


@dataclass(frozen=True, slots=True)
class Templates:
    """The compiled templates of a policy."""

    policy: PackPolicy = DEFAULT_PACKS
    _compiled: Mapping[str, TextTemplate] = field(init=False)

    def __post_init__(self) -> None:
        compiled = {name: TextTemplate(name, source) for name, source in self.policy.templates.items()}
        object.__setattr__(self, "_compiled", {**{name: shipped(name) for name in SHIPPED_TEMPLATES}, **compiled})

    def of(self, tenant: str, asked: str | None) -> TextTemplate:
        """The template that a caller asks for where there is such a one, else the tenant's."""
        return self._compiled.get(asked or "") or self._compiled[self.policy.template_of(tenant)]


def _by_section(sections: Sections) -> dict[str, list[Item]]:
    """The items of each section of the text, in the order of the pack."""
    semantic, procedural, episodic = sections["semantic"], sections["procedural"], sections["episodic"]
    claims, session = sections["claims"], sections["working_set"]
    summary = session.session_summary_item
    steps = procedural.playbook_steps if procedural else ()
    best_first: list[Item] = []
    if semantic:
        best_first = [*semantic.knowledge_chunks, *semantic.definitions, *semantic.concepts]
        best_first.sort(key=lambda item: -item.score)
    said: list[Item] = [item for item in best_first if isinstance(item, Knowledge) and item.said_by]
    processes: list[Item] = []
    for process in procedural.relevant_processes if procedural else ():
        processes += [process, *(step for step in steps if step.process_id == process.id)]
    processes += [step for step in steps if step not in processes]
    return {
        "knowledge": [item for item in best_first if item not in said],
        "said": said,
        "procedures": processes,
        # A summary of nothing but this pack's messages costs nothing, for it is not told.
        "earlier": [
            *(each for each in episodic.conversation_summaries if each.tokens),
            *episodic.relevant_events,
        ]
        if episodic
        else [],
        "claims": [*claims.user_claims, *claims.system_claims] if claims else [],
        "conflicts": [*claims.contradictions] if claims else [],
        "messages": [*([summary] if summary else []), *session.recent_messages],
    }


def _persona(sections: Sections, lang: str) -> list[TextLine]:
    who = sections["persona_context"]
    said = persona(who.user_role, who.department, lang)
    return [TextLine(said)] if said else []


class _Numbered:
    """Lines under their sources, numbered from 1 over all sections of a text."""

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._groups: dict[str, SourceGroup] = {}

    def lines(self, items: Iterable[Item]) -> list[TextLine]:
        return [_line(item, entry(item, self._lang).text) for item in items]

    def groups(self, items: Iterable[Item]) -> list[SourceGroup]:
        """The sources of a section, the one of the first item first; a source keeps its number in every section."""
        here: dict[str, SourceGroup] = {}
        for item in items:
            said = entry(item, self._lang)
            everywhere = self._groups.setdefault(said.source, SourceGroup(len(self._groups) + 1, said.source))
            everywhere.items.append(item)
            group = here.setdefault(said.source, SourceGroup(everywhere.number, said.source))
            if not isinstance(item, Process):
                group.lines.append(_line(item, said.text))
        return list(here.values())

    def sources(self) -> tuple[PackSource, ...]:
        return tuple(
            PackSource(number=group.number, name=group.source, items=tuple(item.id for item in group.items))
            for group in self._groups.values()
        )


def _line(item: Item, text: str) -> TextLine:
    return TextLine(text, item.score, f"{item.recorded_at:%Y-%m-%d}")


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
    )


@cache
def _headings(lang: str) -> Mapping[str, object]:
    return {key.removeprefix(_PREFIX): text for key, text in catalogue(lang).items() if key.startswith(_PREFIX)}
