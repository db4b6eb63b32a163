"""The two demos: the short one on one screen, and the long one with every decision and pack."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from streams import policies
from streams.edges.cli.demo import deep_part
from streams.edges.cli.demo.play import Player, StepOutcome
from streams.edges.cli.demo.rival import ComparedQuestion, Rival, equal_answers
from streams.edges.cli.demo.script import load
from streams.edges.cli.demo.short_screen import ShortScreen
from streams.edges.cli.demo.short_script import load_short, screen_texts
from streams.edges.cli.demo.show import as_dict, show_step, show_sum, summed
from streams.edges.cli.progress import StatusLine
from streams.edges.client.standard_output import print_json


class LongDemo:
    """Five conversations of three tenants in two languages, everything about each message, and deep answers."""

    tools: Path | None = policies.CUSTOMS
    settings: Mapping[str, Any] = deep_part.SETTINGS

    def starting(self, directory: str) -> str:
        return f"starting broker, stores and all stages in {directory}"

    async def play(self, bootstrap: str, status: StatusLine, *, fresh: bool, pause: float, as_json: bool) -> None:
        """Play it on a broker; `fresh` with new ids, `pause` in seconds."""
        script = load(fresh=fresh)
        async with Player.on(bootstrap) as player:
            status.say(f"making {len(script.knowledge)} documents and profiles searchable")
            await player.teach(script.knowledge)
            status.say(f"{len(script.turns)} turns follow")
            status.clear()
            outcomes: list[StepOutcome] = []
            for step in script.steps:
                outcome = await player.play(step)
                if not step.by_assistant:
                    outcomes.append(outcome)
                    show_step(outcome, sum(each.step.is_turn for each in outcomes), as_json=as_json)
                    await asyncio.sleep(pause)
            summary = summed(script, outcomes, await player.recorded())
            await deep_part.play(bootstrap, player, fresh=fresh, as_json=as_json)
            show_sum(summary, as_json=as_json)


class ShortDemo:
    """One conversation in one language, and an example of each thing a pack does; its tools are the default ones."""

    tools: Path | None = None
    settings: Mapping[str, Any] = {}

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._texts = screen_texts(lang)

    def starting(self, directory: str) -> str:
        return str(self._texts["starting"]).format(directory=directory)

    async def play(self, bootstrap: str, status: StatusLine, *, fresh: bool, pause: float, as_json: bool) -> None:
        """Play it on a broker; `fresh` with new ids, `pause` in seconds behind each part of the screen."""
        script = load_short(self._lang, fresh=fresh)
        screen, rival = ShortScreen(script), Rival(script)
        counts = {"documents": len(script.documents), "messages": len(script.turns)}
        async with Player.on(bootstrap) as player:
            self._say(status, "reading", **counts)
            await player.teach(script.knowledge)
            self._say(status, "playing", **counts)
            if not as_json:
                status.clear()
                screen.opening()
            outcomes: list[StepOutcome] = []
            compared: list[ComparedQuestion] = []
            number = 0
            for step in script.steps:
                number += step.is_turn
                status.tick(self._texts["message"].format(number=number, **counts))
                outcome = await player.play(step)
                if step.by_assistant:
                    continue
                outcomes.append(outcome)
                if comparison := rival.compared(outcome):
                    compared.append(comparison)
                if as_json:
                    print_json(_as_dict(outcome, comparison))
                elif step.shows:
                    status.clear()
                    screen.example(outcome)
                    await asyncio.sleep(pause)
            status.clear()
            if as_json:
                summary = summed(script, outcomes, await player.recorded())
                print_json({"event": "summary", **summary, "equal_answers": equal_answers(compared)})
            else:
                screen.closing(compared)

    def _say(self, status: StatusLine, key: str, **values: int) -> None:
        status.say(str(self._texts[key]).format(**values))


def _as_dict(outcome: StepOutcome, comparison: ComparedQuestion | None) -> dict[str, Any]:
    """A step as one object, with both sides of its comparison."""
    compared = None if comparison is None else asdict(comparison)
    return {**as_dict(outcome), "comparison": compared} if outcome.step.is_turn else as_dict(outcome)
