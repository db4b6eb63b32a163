"""The short demo on one screen: an example of each thing a pack does, what it saves, and what to try next."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.text import Text

from schemas.packs import ContextPack
from schemas.tools import ToolCallResolved
from streams.edges.cli.demo.play import StepOutcome
from streams.edges.cli.demo.rival import LAST_MESSAGES, TOP_PASSAGES, ComparedQuestion, equal_answers
from streams.edges.cli.demo.short_script import ShortScript, screen_texts
from streams.edges.client.console_output import console, shortened, width
from streams.edges.client.console_tools import given
from streams.edges.client.shell import fathom_command, from_here

WIDEST = 100
MARGIN, BAR = "   ", "   │ "
PARTS = ("document", "follow_up", "correction", "refused", "saved")
# Of a pack's text: the first lines, and the lines with evidence, at most; the rows of one of these.
FIRST_LINES = {"document": 7, "follow_up": 0, "correction": 0}
EVIDENCE_LINES = {"document": 1, "follow_up": 1, "correction": 4}
ROWS = 2
HEADING, SOURCE = "## ", "["


class ShortScreen:
    """Prints the parts of the screen, one by one."""

    def __init__(self, script: ShortScript, to: Console | None = None, columns: int | None = None) -> None:
        self._script = script
        self._texts: Mapping[str, Any] = screen_texts(script.lang)
        self._out = to or console()
        self._width = columns or min(width(), WIDEST)

    def opening(self) -> None:
        """Print what is about to be played."""
        counts = {"documents": len(self._script.documents), "messages": len(self._script.turns)}
        self._line(self._says("opening", title=_upper_first(self._script.title), **counts), margin="")

    def example(self, outcome: StepOutcome) -> None:
        """Print the part that a step is the example of."""
        shows = outcome.step.shows or ""
        self._heading(shows)
        if isinstance(outcome.answer, ToolCallResolved):
            self._call(outcome, outcome.answer)
        elif isinstance(outcome.answer, ContextPack):
            self._pack(outcome, outcome.answer, shows)

    def closing(self, compared: Sequence[ComparedQuestion]) -> None:
        """Print what was saved, what either side lacked, and the commands to try next."""
        found = equal_answers(compared)
        self._heading("saved", messages=LAST_MESSAGES, passages=TOP_PASSAGES)
        counts = {name: found[name] for name in ("questions", "both")}
        self._line(self._says("held", ours=found["held"], rival=found["held_by_rival"], **counts))
        lacking = {
            "not_in_pack": [each.question for each in compared if not each.pack.holds],
            "not_in_rival": [each.question for each in compared if not each.rival.holds],
        }
        for key, questions in lacking.items():
            if questions:
                self._row(self._says(key, questions=" · ".join(questions)), "dim")
        ours, rival = found["tokens"], found["tokens_of_rival"]
        key = "never" if not rival else "less" if ours <= rival else "more_tokens"
        share = f"{abs(1 - ours / rival):.0%}" if rival else ""
        figures = {"tokens": self._number(ours), "rival": self._number(rival), "share": share}
        self._line(self._says(key, **figures, **counts), "green")
        self._next()

    def _next(self) -> None:
        """The commands; a command is printed whole, to be copied."""
        self._print("")
        self._print(self._texts["next"], "bold")
        known = {"documents": from_here(self._script.place), "question": self._script.turns[0].event.content}
        for command, why in self._texts["commands"]:
            row = f"{fathom_command()} {command.format(**known)}"
            beside = f"{MARGIN}{row}   {why}"
            if len(beside) <= self._width:
                self._print(beside)
            else:
                self._line(f"{why}:")
                self._print(f"{MARGIN}{row}")

    def _call(self, outcome: StepOutcome, verdict: ToolCallResolved) -> None:
        turns = self._script.turns
        [message] = [turn for turn in turns if turn.record.name == outcome.step.event.message_id]
        self._asked(message.user, message.event.content)
        values = given(outcome.step.event.args) if outcome.step.event.args else self._texts["no_values"]
        self._line(self._says("call", tool=verdict.tool_name, given=values), "dim")
        refused = verdict.error is not None
        self._line(
            self._says("refusal", error=verdict.error) if refused else self._says("passed", status=verdict.status)
        )

    def _pack(self, outcome: StepOutcome, pack: ContextPack, shows: str) -> None:
        self._asked(outcome.step.user, outcome.step.event.content)
        limits = {"first": FIRST_LINES[shows], "most": EVIDENCE_LINES[shows]}
        kept = excerpt((pack.text or "").splitlines(), outcome.step.evidence, **limits)
        facts = {"tokens": self._number(pack.total_tokens_estimated), "ms": round(outcome.seconds * 1000)}
        source = next((text.partition("] ")[2] for _, text in kept if text.startswith(SOURCE)), self._texts["nowhere"])
        taken = self._texts[pack.depth_level.value]
        self._row(self._says("pack", taken=taken, source=source, **facts), "dim")
        for (at, text), (after, _) in pairwise([*kept, (len((pack.text or "").splitlines()), "")]):
            for row in self._rows(text, outcome.step.evidence):
                self._print(f"{BAR}{row}", "cyan" if text.startswith(HEADING) else "")
            if after > at + 1:
                self._print(f"{BAR}{self._says('more', lines=after - at - 1)}", "dim")

    def _rows(self, text: str, evidence: Sequence[str]) -> list[str]:
        """A line of a pack in one row; in up to `ROWS` where it has evidence, from its start or else around that."""
        folded = text.casefold()
        phrases = [phrase for each in evidence if (phrase := each.casefold()) in folded]
        if not phrases:
            return self._cut(text, 1)
        rows = self._cut(text, ROWS)
        if all(phrase in " ".join(row.strip() for row in rows).casefold() for phrase in phrases):
            return rows
        before = min(map(folded.find, phrases)) - self._width // 4
        return self._cut(f"- … {text[max(0, before) :].partition(' ')[2]}", ROWS)

    def _cut(self, text: str, most: int) -> list[str]:
        """At most so many rows of a text, an ellipsis for the rest."""
        room = self._width - len(BAR)
        rows = wrap(text, room, subsequent_indent="  ")
        if len(rows) <= most:
            return rows
        rest = shortened(" ".join(row.strip() for row in rows[most - 1 :]), room - 2)
        return [*rows[: most - 1], rest if most == 1 else f"  {rest}"]

    def _asked(self, user: str, text: str) -> None:
        self._line(self._says("asked", user=user, text=text), "bold")

    def _heading(self, name: str, **values: object) -> None:
        self._print("")
        self._line(f"{PARTS.index(name) + 1}  {self._says(name, **values)}", "bold green", margin="")

    def _number(self, count: int) -> str:
        return f"{count:,}".replace(",", self._texts["thousands"])

    def _says(self, key: str, **values: object) -> str:
        return str(self._texts[key]).format(**values)

    def _row(self, text: str, style: str = "") -> None:
        self._print(f"{MARGIN}{shortened(text, self._width - len(MARGIN))}", style)

    def _line(self, text: str, style: str = "", margin: str = MARGIN) -> None:
        for row in wrap(text, self._width - len(margin)):
            self._print(f"{margin}{row}", style)

    def _print(self, text: str, style: str = "") -> None:
        self._out.print(Text(text, style=style), soft_wrap=True)


def excerpt(lines: Sequence[str], evidence: Sequence[str], *, first: int, most: int) -> list[tuple[int, str]]:
    """The `first` lines, and at most so many with evidence under their heading and source, with their places."""
    kept = set(range(min(first, len(lines))))
    heading = source = None
    found = 0
    for at, text in enumerate(lines):
        if text.startswith(HEADING):
            heading, source = at, None
        elif text.startswith(SOURCE):
            source = at
        elif found < most and any(phrase.casefold() in text.casefold() for phrase in evidence):
            found += 1
            kept |= {place for place in (heading, source, at) if place is not None}
    return [(at, lines[at]) for at in sorted(kept)]


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]
