"""Fit the weights that tell Portuguese from English by letters.

python -m bench.fit.language_letters DATA_FOLDER
"""

import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from agents.core.language.identification import letter_features
from agents.core.language.text import surface_terms
from bench.fit.fitting import Sample, fit, write
from bench.fit.playing import items

SETS = {
    "nfcats": ("depth_question_type", "text", "en"),
    "clinc150": ("context_needs", "text", "en"),
    "inferbr": ("contradiction", "hypothesis", "pt"),
    "lener_br": ("legal_entities", "text", "pt"),
}
PER_SET = 6_000


def samples(data: Path) -> Iterator[Sample]:
    """One to three words that stand side by side, as somebody types them into a search box."""
    dice = random.Random(11)
    for source, (task, field, lang) in SETS.items():
        texts = [item[field] for item in items(data / f"{task}.dev.jsonl.gz") if item["source"] == source]
        dice.shuffle(texts)
        for text in texts[:PER_SET]:
            content = dice.random() < 0.5
            terms = [term for term in (surface_terms(text, lang) if content else text.split()) if term.isalpha()]
            if not terms:
                continue
            start = dice.randrange(len(terms))
            few = " ".join(terms[start : start + dice.randint(1, 3)])
            # People leave their accents out as often as not.
            written = few if dice.random() < 0.5 else few.translate(str.maketrans("ãõçáéíóúâêôà", "aocaeiouaeoa"))
            yield Sample(_counted(letter_features(written)), lang == "en", source, written)


def _counted(features: Iterable[str]) -> dict[str, float]:
    counted: dict[str, float] = {}
    for feature in features:
        counted[feature] = counted.get(feature, 0.0) + 1
    return counted


def main() -> None:
    found = list(samples(Path(sys.argv[1])))
    fitted = fit(found, penalty="l1", strength=0.05, rows=150, by_group=False, biased=False)
    write(
        "language_letters",
        "that a few words are English rather than Portuguese, by their letters",
        fitted,
        sets={"nfcats": "MIT", "clinc150": "CC BY 3.0", "inferbr": "MIT", "lener_br": "MIT"},
        script="bench/fit/language_letters.py",
    )


if __name__ == "__main__":
    main()
