"""The harder own sets: enough of every kind, in two halves that share nothing, and each item is what its kind says."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from agents.core.language.sentences import sentences
from agents.core.language.text import content_words
from bench.evaluation import questions
from bench.evaluation.questions import CHANGED, WITHOUT_EVIDENCE, Asking, PackQuestion
from bench.evaluation.words import spelled_all
from bench.long_talks.__main__ import written
from streams.edges.cli.demo.plain_search import spelled
from tests.checkout import ROOT

HARDER, LONG, BELIEFS, SMALL = (
    ROOT / "bench" / name for name in ("everyday_harder", "long_talks", "single_beliefs", "small_memories")
)
SETS = (HARDER, LONG, BELIEFS)
LANGUAGES = ("en", "pt")


@cache
def read(folder: Path) -> Asking:
    return questions.of_everyday(folder)


def asked_in(folder: Path, *kinds: str) -> list[PackQuestion]:
    return [each for each in read(folder)[1] if not kinds or each.kind in kinds]


def stems(texts: Iterable[str]) -> set[str]:
    return {stem for text in texts for lang in LANGUAGES for stem in content_words(text, lang)}


def answering(question: PackQuestion, asking: Asking) -> list[str]:
    """The sentences with the evidence of a question; a row of a table is one."""
    [material] = [each for each in asking[0] if each.tenant == question.tenant]
    texts = [*(text for _, text in material.documents), *material.said()]
    said = [sentence for text in texts for sentence in sentences(text, material.lang or question.lang)]
    return [each for each in said if any(spelled(right.text) in spelled(each) for right in question.evidence)]


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_the_halves_share_no_corpus_and_both_have_every_kind_in_both_languages(folder: Path) -> None:
    asked = asked_in(folder)
    halves = {f"{folder.name} ({half})" for half in ("fit", "report")}
    assert {each.dataset for each in asked} == halves
    corpora = [{each.tenant for each in asked if each.dataset == half} for half in sorted(halves)]
    assert corpora[0].isdisjoint(corpora[1])
    for half in halves:
        own = [each for each in asked if each.dataset == half]
        assert {each.lang for each in own} == {"en", "pt"}
        if folder != LONG:
            other = [each for each in asked if each.dataset != half]
            assert {(each.kind, each.lang) for each in own} == {(each.kind, each.lang) for each in other}


def test_there_is_enough_of_every_harder_kind() -> None:
    asked = asked_in(HARDER)
    kinds = Counter(each.kind for each in asked)
    assert kinds["paraphrase"] >= 60
    assert kinds["other_language"] >= 30
    assert kinds["ended"] + kinds["repaired"] + kinds["taken_back"] >= 40
    unanswerable = Counter(each.id.rstrip("-0123456789") for each in asked if each.kind == "unanswerable")
    assert unanswerable.total() >= 60
    assert min(unanswerable["other-thing"], unanswerable["other-attribute"]) >= 30


def test_paraphrases_share_no_content_word_with_the_sentence_that_answers_them() -> None:
    asking = read(HARDER)
    for each in asked_in(HARDER, "paraphrase"):
        right = answering(each, asking)
        assert right, each.id
        assert stems([each.text]).isdisjoint(stems(right)), each.text


def test_evidence_stands_once_or_twice_and_what_nothing_answers_has_none() -> None:
    for folder in (HARDER, BELIEFS):
        for each in asked_in(folder):
            assert bool(each.evidence) != (each.kind in WITHOUT_EVIDENCE), each.id
            materials = read(folder)[0]
            [material] = [one for one in materials if one.tenant == each.tenant]
            whole = spelled_all([*(text for _, text in material.documents), *material.said()])
            for right in each.evidence:
                assert 1 <= whole.count(spelled(right.text)) <= 2, (each.id, right.text)


def test_a_question_in_the_other_language_is_put_to_documents_of_the_first() -> None:
    asking = read(HARDER)
    own = {each.tenant: each.lang for each in asking[1] if each.kind == "paraphrase"}
    for each in asked_in(HARDER, "other_language"):
        assert own[each.tenant] != each.lang, each.id


def test_what_changed_is_told_after_what_it_changes() -> None:
    for folder in SETS:
        materials = {each.tenant: each.said() for each in read(folder)[0]}
        for each in asked_in(folder, *CHANGED):
            assert each.holds
            assert each.was
            said = list(map(spelled, materials[each.tenant]))
            older = [at for at, turn in enumerate(said) if spelled(each.was) in turn]
            newer = [at for at, turn in enumerate(said) if spelled(each.holds) in turn]
            assert min(older) <= min(newer), each.id


def test_six_things_are_asked_at_once_and_each_has_its_evidence() -> None:
    for folder, kind in ((HARDER, "several"), (BELIEFS, "several"), (BELIEFS, "letter")):
        several = asked_in(folder, kind)
        assert len(several) >= 20
        for each in several:
            assert len({right.text for right in each.evidence}) >= 6, each.id


def test_long_talks_are_long_and_as_their_templates_make_them() -> None:
    materials, asked = read(LONG)
    assert len(materials) >= 20
    assert Counter(material.lang for material in materials) == {"en": 10, "pt": 10}
    for material in materials:
        [(_, turns)] = material.talks
        assert len(turns) >= 60
        assert sum(each.tenant == material.tenant for each in asked) >= 8
    assert {name: (LONG / name).read_text(encoding="utf-8") for name in ("talks.jsonl", "items.jsonl")} == written()


def test_the_halves_of_long_talks_ask_other_questions() -> None:
    first, second = (
        {" ".join(filter(str.islower, each.text.split())) for each in asked_in(LONG) if each.dataset.endswith(half)}
        for half in ("(fit)", "(report)")
    )
    assert first.isdisjoint(second)


def test_there_are_enough_single_beliefs_and_messages_that_need_none() -> None:
    asked = asked_in(BELIEFS)
    kinds = Counter(each.kind for each in asked)
    assert len(asked) >= 80
    assert kinds["unanswerable"] + kinds["nothing"] >= 30
    assert min(kinds["updated"], kinds["scope"], kinds["fact"]) >= 15


def test_a_belief_is_told_by_one_turn_of_its_user() -> None:
    materials, asked = read(BELIEFS)
    for material in materials:
        known = {phrase for each in asked if each.tenant == material.tenant for phrase in each.beliefs}
        assert len(known) >= 20
        for phrase in known:
            [turn] = [turn for _, turns in material.talks for turn in turns if spelled(phrase) in spelled(turn.text)]
            assert turn.role == "user"


def test_only_single_beliefs_have_beliefs() -> None:
    assert all(each.beliefs for each in asked_in(BELIEFS))
    assert not any(each.beliefs for folder in (HARDER, LONG) for each in asked_in(folder))


def test_a_small_memory_answers_half_of_what_it_is_asked() -> None:
    materials, asked = read(SMALL)
    assert len(materials) >= 6
    for material in materials:
        own = [each for each in asked if each.tenant == material.tenant]
        assert len(own) >= 10
        assert 2 * sum(bool(each.evidence) for each in own) == len(own)
        assert len(material.units) <= 40
    halves = Counter((each.dataset, each.lang, bool(each.evidence)) for each in asked)
    assert len(halves) == 8
    assert len(set(halves.values())) == 1
