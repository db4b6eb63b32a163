"""Write the long talks from their templates, the same ones each time: `python -m bench.long_talks`."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
LANGUAGES = ("en", "pt")
SEED, TALKS, FACTS, UNANSWERABLE = 7, 10, 7, 2
SMALL_TALK = (23, 29)
# Talks of one half tell other facts, in other words, than those of the other.
HALVES = ("fit", "report")
# Where in a talk a fact is told, and where what changes it.
TOLD, CHANGED = (0.0, 0.6), (0.7, 1.0)
FIRST_DAY = datetime(2025, 1, 6, 8, tzinfo=UTC)
SLOT = re.compile(r"\{([a-z]+)\d?\}")
Turn = dict[str, str]


@dataclass(frozen=True, slots=True)
class Fact:
    """Exchanges that tell something, in one or two parts, and a question about it with its expectations."""

    parts: tuple[str, ...]
    kind: str
    question: str
    evidence: str
    was: str | None

    @classmethod
    def of(cls, block: str) -> "Fact":
        said, _, asked = block.rpartition("\n? ")
        kind, question, evidence, *older = asked.split(" | ")
        was = older[0].removeprefix("was=") if older else None
        return cls(tuple(said.split("\n--\n")), kind, question, evidence, was)

    def filled(self, values: "Values") -> "Fact":
        """The same with a value for each of its slots."""
        names = SLOT.finditer("\n".join((*self.parts, self.question, self.evidence)))
        drawn = {match.group(): match.group(1) for match in names}
        chosen = {slot: values.next(name) for slot, name in drawn.items()}

        def fill(text: str) -> str:
            return SLOT.sub(lambda match: chosen[match.group()], text)

        was = fill(self.was) if self.was else None
        return Fact(tuple(map(fill, self.parts)), self.kind, fill(self.question), fill(self.evidence), was)


@dataclass(frozen=True, slots=True)
class Values:
    """Values for slots, none twice."""

    left: dict[str, list[str]]

    def next(self, name: str) -> str:
        return self.left[name].pop()


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a language."""

    values: Mapping[str, tuple[str, ...]]
    facts: tuple[Fact, ...]
    fillers: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> "Templates":
        text = path.read_text(encoding="utf-8")
        _, values, facts, fillers = re.split(r"^\[\w+\]\n", text, flags=re.M)
        named = (line.split(" = ") for line in values.strip().splitlines())
        return cls(
            {name: tuple(each.split(", ")) for name, each in named},
            tuple(map(Fact.of, _blocks(facts))),
            tuple(_blocks(fillers)),
        )


def _blocks(text: str) -> list[str]:
    return text.strip().split("\n\n")


def talks() -> Iterator[tuple[dict[str, object], list[dict[str, object]]]]:
    """Every talk with its questions."""
    chance = random.Random(SEED)
    for lang in LANGUAGES:
        templates = Templates.read(HERE / "templates" / f"{lang}.txt")
        for number in range(TALKS):
            yield _talk(templates, lang, number, chance)


def _talk(
    templates: Templates, lang: str, number: int, chance: random.Random
) -> tuple[dict[str, object], list[dict[str, object]]]:
    corpus = f"long-{lang}-{number + 1:02}"
    values = Values({name: chance.sample(each, len(each)) for name, each in templates.values.items()})
    mine = templates.facts[number % len(HALVES) :: len(HALVES)]
    facts = [each.filled(values) for each in chance.sample(mine, FACTS + UNANSWERABLE)]
    told, untold = facts[:FACTS], facts[FACTS:]
    placed = [
        (chance.uniform(*span), part) for each in told for span, part in zip((TOLD, CHANGED), each.parts, strict=False)
    ]
    small = chance.sample(templates.fillers, chance.randint(*SMALL_TALK))
    placed += [(chance.random(), each) for each in small]
    turns = [turn for _, part in sorted(placed) for turn in _turns(part)]
    at = FIRST_DAY + timedelta(days=number)
    shared: dict[str, object] = {"lang": lang, "corpus": corpus, "half": HALVES[number % len(HALVES)]}
    talk: dict[str, object] = {"corpus": corpus, "lang": lang, "session": corpus, "at": at.isoformat(), "turns": turns}
    asked = [*(_asked(each) for each in told), *(_unanswerable(each) for each in untold)]
    return talk, [{"id": f"{corpus}-{at + 1:02}", **shared, **each} for at, each in enumerate(asked)]


def _turns(part: str) -> Iterator[Turn]:
    for line in part.splitlines():
        role, _, text = line.partition(": ")
        yield {"role": {"U": "user", "A": "assistant"}[role], "text": text}


def _asked(fact: Fact) -> dict[str, object]:
    changed = {"holds": fact.evidence, "was": fact.was} if fact.was else {}
    return {"kind": fact.kind, "text": fact.question, "evidence": [fact.evidence], **changed}


def _unanswerable(fact: Fact) -> dict[str, object]:
    return {"kind": "unanswerable", "text": fact.question, "evidence": []}


def written() -> Mapping[str, str]:
    """The files of the set by their names."""
    made = list(talks())
    items = [item for _, asked in made for item in asked]
    return {"talks.jsonl": _lines([talk for talk, _ in made]), "items.jsonl": _lines(items)}


def _lines(rows: list[dict[str, object]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


if __name__ == "__main__":
    for name, text in written().items():
        (HERE / name).write_text(text, encoding="utf-8")
