"""The short demo: its scripts, its screen at every width, and its comparison with a plain search."""

import io
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from rich.console import Console

from agents.core.language.messages import LANGUAGES
from schemas.packs import ContextPack
from schemas.tools import ToolCallResolved
from streams.edges.cli.demo.play import NAMES, WATCHED, StepOutcome
from streams.edges.cli.demo.rival import ComparedQuestion, Rival, Side, equal_answers
from streams.edges.cli.demo.short_screen import ShortScreen, excerpt
from streams.edges.cli.demo.short_script import ShortScript, load_short, screen_texts
from streams.edges.client.records import OutgoingRecord
from streams.testing.pipeline import Pipeline

MOST_LINES, WIDTHS = 60, (60, 80, 100)


@cache
def played(lang: str) -> tuple[ShortScript, tuple[StepOutcome, ...]]:
    """The script of a language through all stages, in memory."""
    script = load_short(lang, fresh=False)
    with Pipeline() as fathom:
        for document in script.knowledge:
            append(fathom, document)
        return script, tuple(outcome(fathom, step) for step in script.steps if not said(fathom, step))


def append(fathom: Pipeline, record: OutgoingRecord) -> None:
    fathom.log.append(record.topic, record.key, record.value, record.headers)
    fathom.settle()


def said(fathom: Pipeline, step: Any) -> bool:
    append(fathom, step.record)
    return step.by_assistant


def outcome(fathom: Pipeline, step: Any) -> StepOutcome:
    events = [read.event for topic in WATCHED for read in fathom.events(topic)]
    mine = [each for each in events if step.record.name in (getattr(each, name, None) for name in NAMES)]
    return StepOutcome(step, mine, 0.012)


@cache
def own(lang: str) -> list[ComparedQuestion]:
    return compared(lang)


def compared(lang: str, script: ShortScript | None = None) -> list[ComparedQuestion]:
    shipped, outcomes = played(lang)
    rival = Rival(script or shipped)
    return [found for each in outcomes if (found := rival.compared(each)) is not None]


@cache
def screen(lang: str, columns: int) -> list[str]:
    script, outcomes = played(lang)
    out = Console(file=io.StringIO(), width=columns)
    shown = ShortScreen(script, out, columns)
    shown.opening()
    for each in outcomes:
        if each.step.shows:
            shown.example(each)
    shown.closing(own(lang))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def example(lang: str, shows: str) -> StepOutcome:
    [found] = [each for each in played(lang)[1] if each.step.shows == shows]
    return found


# --- the script


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_question_names_words_of_a_document_or_of_the_conversation(lang: str):
    script = load_short(lang, fresh=False)
    told = "\n".join([text for _, text in script.documents] + [turn.event.content for turn in script.turns])
    questions = [step for step in script.turns if step.event.role == "user"]
    assert len([step for step in questions if step.evidence]) == len(questions) - 1  # one only asks for an act
    assert [phrase for step in questions for phrase in step.evidence if phrase not in told] == []


def test_both_languages_say_the_same_things():
    scripts = [load_short(lang, fresh=False) for lang in LANGUAGES]
    assert len({tuple((step.shows, step.by_assistant, len(step.evidence)) for step in s.steps) for s in scripts}) == 1
    assert len({frozenset(screen_texts(lang)) for lang in LANGUAGES}) == 1


def test_played_again_on_the_same_broker_it_is_another_conversation():
    once, again = load_short("en", fresh=True), load_short("en", fresh=True)
    assert {step.record.name for step in once.steps} & {step.record.name for step in again.steps} == set()
    assert once.steps[0].record.key != again.steps[0].record.key


# --- the screen


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_line_is_wider_than_the_screen_but_a_command_to_be_copied(lang: str, columns: int):
    wide = [line for line in screen(lang, columns) if len(line) > columns]
    assert all("fathom " in line and not line.endswith("…") for line in wide)
    assert columns < WIDTHS[1] or wide == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_screen_has_sixty_lines_at_most(lang: str):
    assert len(screen(lang, 100)) <= MOST_LINES


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_text_of_the_first_pack_is_shown_as_a_prompt_gets_it(lang: str):
    pack = example(lang, "document").answer
    assert isinstance(pack, ContextPack)
    shown = [line.removeprefix("   │ ") for line in screen(lang, 100) if line.startswith("   │ ")]
    assert shown[:4] == (pack.text or "").splitlines()[:4]


@pytest.mark.parametrize("columns", WIDTHS[1:])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_the_follow_up_asks_for_can_be_read(lang: str, columns: int):
    whole = " ".join(line.removeprefix("   │").strip() for line in screen(lang, columns))
    assert [each for each in example(lang, "follow_up").step.evidence if each not in whole] == []


@pytest.mark.parametrize(("lang", "sides"), [("en", ("31 March", "30 June")), ("pt", ("31 de março", "30 de junho"))])
def test_both_sides_of_the_correction_are_shown_with_who_said_them(lang: str, sides: tuple[str, str]):
    whole = screen(lang, 100)
    at = [number for number, line in enumerate(whole) if line.startswith(("3  ", "4  "))]
    part = whole[at[0] : at[1]]
    who = {"en": ("assistant", "user"), "pt": ("assistente", "usuário")}[lang]
    for side, author in zip(sides, who, strict=True):
        assert any(line.startswith(f"   │ - {author}: ") and side in line for line in part), (side, part)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_refusal_is_shown_with_the_sentence_of_the_gate(lang: str):
    verdict = example(lang, "refused").answer
    assert isinstance(verdict, ToolCallResolved)
    assert verdict.status == "error"
    assert verdict.error_code == "contexto_ausente"
    assert verdict.error is not None
    assert verdict.error in " ".join(line.strip() for line in screen(lang, 100))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_internal_is_on_the_screen(lang: str):
    script, outcomes = played(lang)
    text = "\n".join(screen(lang, 100))
    ids = {step.record.name for step in script.steps}
    ids |= {each.answer.pack_id for each in outcomes if isinstance(each.answer, ContextPack)}
    assert [each for each in ids if str(each) in text] == []
    assert not any(name in text for name in ("graph:", "working_set", "semantic", "D0", "|desk|"))


def test_of_a_pack_the_first_lines_and_those_with_evidence_are_shown_under_their_source():
    lines = ["## A", "- a", "## B", "[1] one", "- no", "[2] two", "- the evidence", "- b"]
    assert excerpt(lines, ("EVIDENCE",), first=1, most=2) == [
        (0, "## A"), (2, "## B"), (5, "[2] two"), (6, "- the evidence"),
    ]  # fmt: skip


# --- the rival


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_rival_gets_the_messages_before_and_passages_of_the_same_documents(lang: str):
    script, _ = played(lang)
    *_, last = own(lang)
    before = [turn.event.content for turn in script.turns[:-1]]
    assert [each for each in before[-20:] if each not in last.rival.text] == []
    assert [each for each in before[:-20] if each in last.rival.text] == []
    passages = [line for line in last.rival.text.splitlines() if line.startswith("- ")]
    assert len(passages) == 20 + 5
    assert all(line[2:60] in script.documents[n][1] for n, line in found_in(script, passages[:5]))


def found_in(script: ShortScript, passages: list[str]) -> list[tuple[int, str]]:
    return [(next(n for n, (_, text) in enumerate(script.documents) if line[2:60] in text), line) for line in passages]


def test_other_documents_give_the_rival_other_figures():
    script, _ = played("en")
    shorter = replace(script, documents=tuple((title, text[: len(text) // 3]) for title, text in script.documents))
    whole, cut = equal_answers(own("en")), equal_answers(compared("en", shorter))
    assert cut["held_by_rival"] < whole["held_by_rival"]
    assert cut["tokens_of_rival"] != whole["tokens_of_rival"]


def side(tokens: int, holds: bool) -> Side:
    return Side("", tokens, holds)


COMPARED = (
    ComparedQuestion("Both?", ("a",), side(100, True), side(150, True)),
    ComparedQuestion("Rival only?", ("a",), side(900, False), side(1, True)),
    ComparedQuestion("Pack only?", ("a",), side(1, True), side(900, False)),
)


def closing(*what: ComparedQuestion) -> str:
    out = Console(file=io.StringIO(), width=100)
    ShortScreen(load_short("en", fresh=False), out, 100).closing(what)
    assert isinstance(out.file, io.StringIO)
    return " ".join(out.file.getvalue().split())


def test_tokens_are_compared_only_where_both_have_the_evidence():
    assert equal_answers(COMPARED) == {
        "questions": 3, "held": 2, "held_by_rival": 2, "both": 1, "tokens": 100, "tokens_of_rival": 150,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (COMPARED, "(1 questions): 100 tokens instead of 150, 33% less"),
        (COMPARED, "not in the pack: Rival only?"),
        (COMPARED, "not in such a prompt: Pack only?"),
        ((ComparedQuestion("More?", ("a",), side(150, True), side(100, True)),), "150 tokens instead of 100, 50% more"),
        (COMPARED[1:], "there is no question for which both have them"),
    ],
)
def test_the_closing_says_who_lacks_what_and_who_needs_fewer(what: tuple[ComparedQuestion, ...], said: str):
    assert said in closing(*what)
