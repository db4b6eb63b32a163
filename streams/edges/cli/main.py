"""The `fathom` command: its verbs by name. A verb's module is imported when that verb is called or its help shown.

stdout carries data, stderr everything else. Exit codes: 0 ok, 1 failure, 2 usage, 3 configuration, 4 something we need
is down, 5 a check failed, 130 interrupted.
"""

import difflib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from streams.edges.cli.progress import be_quiet
from streams.edges.client.errors import OK, USAGE, CommandFailed, exit_codes, interrupted_later
from streams.edges.client.standard_output import piped_output
from streams.version import version

EPILOG = (
    "Exit codes: 0 ok, 1 failure, 2 usage, 3 configuration, 4 something needed is down, 5 a check failed, "
    "130 interrupted. Settings are FATHOM_… variables: `fathom config show` lists them."
)
# Of two options that differ in one letter, or in two of a long name.
NEAR = 0.75
Table = tuple[tuple[str, Any, str], ...]
# Name, module and function (or group of functions), and the line in `fathom --help`: for a function the first
# paragraph of its docstring.
EVAL = (
    ("predict", "evaluation.command:predict",
     "Write one prediction for each line of a file, in its order; only input fields are read."),
    ("report", "evaluation.command:report",
     "Score predictions task by task and data set by data set, each figure beside what a trivial rule gets."),
    ("packs", "evaluation.command:packs",
     "Whether the pack of a question holds its evidence, end to end, beside plain search in as many tokens."),
    ("answers", "evaluation.command:answers",
     "Whether answers by cognition are right, end to end, beside plain sentences of the same length."),
)  # fmt: skip
AUDIT = (
    ("show", "audit.show:show", "Decisions, claims and corrections of a conversation, a user or a stretch of time."),
    ("export", "audit.show:export", "The same as CSV, JSON lines or Parquet, into a file."),
    ("seal", "audit.chain:seal",
     "Seal the audit topics: write a head over what came since the last one; --every keeps doing it."),
    ("head", "audit.chain:head", "The newest head, to be kept elsewhere."),
    ("verify", "audit.chain:verify",
     "Whether the audit topics are as they were sealed; with --head also against a head kept elsewhere."),
)  # fmt: skip
VERBS = (
    ("feedback", "feedback:feedback",
     "Rate a pack. If three people say it was too shallow, similar messages get deeper packs."),
    ("correct", "feedback:correct", "Contest a claim or the answer of a consultation."),
    ("assess", "assess:assess",
     "Whether a query needs deep context, which tools to call for it, and what skipping them saves."),
    ("mcp", "serve:mcp",
     "Tools for agents, over MCP: assess a query, search context, explain a pack, edit memories."),
    ("serve", "serve:serve",
     "The HTTP interface, for assistants that do not speak Kafka; needs tokens."),
    ("up", "up:up", "All stages with a broker and stores of their own, in one directory; no server needed."),
    ("worker", "up:worker",
     "Some stages, or all, on the broker of FATHOM_BROKER; start as many as there are partitions."),
    ("send", "send:send", "Send a turn, a file of turns, or a document."),
    ("ingest", "ingest.run:ingest",
     "Remember documents: text, Markdown, HTML, PDF, Word, CSV, e-mail, and .json(l) with all fields."),
    ("import", "ingest.past:import_chats",
     "Bring in chats from elsewhere: ChatGPT's export, LangChain, mem0, Zep, JSON lines."),
    ("forget", "forget:forget",
     "Forget a document, or erase a conversation or all of a user's: nothing of it is offered from now on."),
    ("memory", "memory.command:app",
     "The facts that are remembered of a user: list, search, add, correct, confirm, delete."),
    ("list", "lists.command:app", "The conversations, users and documents there are, and the packs with a document."),
    ("quarantine", "quarantine.command:app",
     "Keep a document, a feed, a conversation, a user or a claim out of all packs, list what used it, bring it back."),
    ("erase", "erase:erase",
     "Erase a person: every conversation, the profile, the votes, and what the log keeps, by destroying its key."),
    ("ask", "ask:ask", "Send a question, wait for its context pack, show it; with --deep show the answer."),
    ("search", "search.command:search",
     "Search memory without saying anything: what a pack of the same question would have."),
    ("tail", "tail:tail", "Show the records of a topic as they come, decoded."),
    ("explain", "audit.explain:explain",
     "What was decided on a message, why, from what sources, and what was contested since, on one page."),
    ("audit", AUDIT, "What was decided, claimed and corrected, and whether the log of it is as it was."),
    ("replay", "replay.command:app",
     "Read the log again: packs to a topic of their own, or memory into its stores. Workers are not touched."),
    ("lag", "lag:lag",
     "Whether each consumer group keeps up with the log, and why not: OK, WARN, or ERROR for STOP, STALL, REWIND."),
    ("layout", "cluster.layout:layout",
     "Whether one task answers a message (chained), or each stage has consumers of its own (split); or switch."),
    ("dlq", "dlq.commands:app", "Dead letters: list them, show one, send them again, discard them."),
    ("doctor", "doctor.command:doctor",
     "Check that every dependency is reachable and configured correctly; with --reconcile, the stores against the "
     "log."),
    ("bench", "doctor.bench:bench",
     "Time questions one by one to their packs, in a tenant of its own, and erase them again."),
    ("demo", "demo.run:demo",
     "Play a conversation through everything, and show what goes into the prompts and what that saves."),
    ("topics", "cluster.topics:app", "Topics as they should be against topics as they are."),
    ("schema", "schema:app",
     "The JSON Schemas of all events and of each --json; changes judged, values checked, schemas registered."),
    ("config", "config:app", "Settings."),
    ("docs", "pages.command:docs", "The pages of this version: listed, or one of them printed as Markdown."),
    ("profile", "profile:app", "Who a user is: role, department, access, objectives."),
    ("eval", EVAL, "Run the production classifier on evaluation data, and score packs and answers."),
    ("tool", "tool:app", "Tool calls: their verdicts, results and confirmations."),
)  # fmt: skip


class LazyVerb(TyperCommand):
    """A verb by its name and help line; its module is loaded on use."""

    def __init__(self, name: str, place: str, line: str) -> None:
        super().__init__(name, help=line)
        self._module, _, self._attribute = place.partition(":")

    def loaded(self) -> Any:
        """The command itself; imports its module."""
        with interrupted_later():
            found = getattr(import_module(f"streams.edges.cli.{self._module}"), self._attribute)
        parent = typer.Typer(rich_markup_mode=None)
        if isinstance(found, typer.Typer):
            parent.add_typer(found, name=self.name, help=self.help)
        else:
            parent.command(self.name)(found)
        return typer.main.get_group(parent).commands[str(self.name)]

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """The context of the command itself, which is then invoked."""
        return self.loaded().make_context(*arguments, **named)


class LazyGroup(TyperGroup):
    """A group of verbs, none of them imported."""

    def __init__(self, *, verbs: Table = VERBS, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: lazy(name, place, line) for name, place, line in verbs}

    def invoke(self, ctx: Any) -> Any:
        """The verb's result; a refusal is worded as ours are, and suggests only what is nearly the same."""
        try:
            return super().invoke(ctx)
        except TyperException as error:
            if possible := getattr(error, "possibilities", None):
                error.possibilities = [each for each in possible if _is_near(error.option_name, each)]  # type: ignore[attr-defined]
            error.message = str(getattr(error, "message", "")).removeprefix("Value error, ")
            raise


def lazy(name: str, place: "str | Table", line: str) -> LazyVerb | LazyGroup:
    """A verb, or a group of verbs."""
    if isinstance(place, str):
        return LazyVerb(name, place, line)
    return LazyGroup(verbs=place, name=name, help=line, no_args_is_help=True, rich_markup_mode=None)


app = typer.Typer(
    cls=LazyGroup,
    name="fathom",
    help="Decide how much context a chat assistant needs, and deliver exactly that.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; ends the process with the command's exit code if it is not 0."""
    with exit_codes(), piped_output():
        check(arguments)
        app(args=list(arguments), prog_name="fathom")
    return OK


def check(arguments: Sequence[str]) -> None:
    """Refuse arguments that nobody means: bytes that are no text, and an empty value, as of a variable not set."""
    before = ""
    for argument in arguments:
        if any("\ud800" <= char <= "\udfff" for char in argument):
            raise CommandFailed(f"the argument after {before or 'fathom'} is no UTF-8 text; write it in UTF-8", USAGE)
        option = before if argument == "" else argument.removesuffix("=")
        if option.startswith("-") and option.strip("-") and option != argument:
            raise CommandFailed(f"the value of {option} is empty; give one, or leave {option} out", USAGE)
        before = argument


def _is_near(typed: str, option: str) -> bool:
    """Whether an option may have been meant: --timeout was no --limit, for which the parser takes it."""
    return option.startswith(typed) or difflib.SequenceMatcher(None, typed, option).ratio() > NEAR


def _say_version(value: bool) -> None:
    if value:
        typer.echo(f"fathom {version()}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version and exit.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors only, no progress.")] = False,
    settings: Annotated[
        Path | None,
        typer.Option(
            "--settings", metavar="FILE", envvar="FATHOM_SETTINGS",
            help="A file of FATHOM_…=VALUE lines; the environment goes before it.",
        ),
    ] = None,
) -> None:  # fmt: skip
    be_quiet(quiet)
    if settings is not None:
        from streams.edges.cli.config import apply_file

        apply_file(settings)
