"""Logistic tables fitted on permissively licensed sets and written where the rules read them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

WEIGHTS = Path(__file__).resolve().parents[2] / "agents" / "core" / "weights"
FOLDS = 5


@dataclass(frozen=True)
class Sample:
    """The features of one item, what people say of it, and the group that may not stand on both sides of a fold."""

    features: Mapping[str, float]
    positive: bool
    group: str
    text: str = ""


@dataclass(frozen=True)
class Fitted:
    """A table, and what it reaches on the folds it was not fitted on."""

    bias: float
    weights: dict[str, float]
    measured: dict[str, float]


def fit(
    samples: Sequence[Sample],
    *,
    penalty: Literal["l1", "l2"] = "l2",
    strength: float = 1.0,
    rows: int = 60,
    by_group: bool = True,
    balanced: bool = True,
    biased: bool = True,
) -> Fitted:
    """The `rows` heaviest features of a first fit, fitted again without the others."""
    kept = _heaviest(_model(samples, penalty, strength, balanced, biased), rows)
    held_out = _held_out(samples, kept, strength, by_group, balanced, biased)
    bias, weights = _model(_only(samples, kept), "l2", strength, balanced, biased)[:2]
    return Fitted(
        round(bias, 3),
        {name: round(weight, 3) for name, weight in sorted(weights.items(), key=lambda row: -abs(row[1]))},
        held_out,
    )


def _only(samples: Sequence[Sample], kept: frozenset[str]) -> list[Sample]:
    return [
        Sample({k: v for k, v in one.features.items() if k in kept}, one.positive, one.group, one.text)
        for one in samples
    ]


def _model(
    samples: Sequence[Sample], penalty: str, strength: float, balanced: bool, biased: bool
) -> tuple[float, dict[str, float], dict[str, float]]:
    """The bias, the weight of each feature, and how far each moves a decision over all samples."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    reader = DictVectorizer()
    matrix = reader.fit_transform([one.features for one in samples])
    # The solver takes no wider indices.
    matrix.indices, matrix.indptr = matrix.indices.astype("int32"), matrix.indptr.astype("int32")
    model: Any = LogisticRegression(
        l1_ratio=1.0 if penalty == "l1" else 0.0,
        C=strength,
        class_weight="balanced" if balanced else None,
        fit_intercept=biased,
        solver="liblinear",
        max_iter=500,
    )
    model.fit(matrix, [one.positive for one in samples])
    names = reader.get_feature_names_out()
    weights = dict(zip(names, map(float, model.coef_[0]), strict=True))
    moved = {name: abs(weights[name]) * spread for name, spread in zip(names, _spread(matrix), strict=True)}
    return float(model.intercept_[0]) if biased else 0.0, weights, moved


def _spread(matrix: Any) -> list[float]:
    return [float(value) ** 0.5 for value in matrix.power(2).mean(axis=0).tolist()[0]]


def _heaviest(model: tuple[float, dict[str, float], dict[str, float]], rows: int) -> frozenset[str]:
    moved = model[2]
    return frozenset(sorted((name for name in moved if moved[name] > 0), key=lambda name: -moved[name])[:rows])


def _held_out(
    samples: Sequence[Sample], kept: frozenset[str], strength: float, by_group: bool, balanced: bool, biased: bool
) -> dict[str, float]:
    """F1, balanced accuracy and calibration over folds, each judged by a table fitted on the other folds."""
    groups = sorted({one.group for one in samples})
    fold_of = {group: at % FOLDS for at, group in enumerate(groups)}
    folds = [fold_of[one.group] if by_group else at % FOLDS for at, one in enumerate(samples)]
    judged: list[tuple[float, bool]] = []
    few = _only(samples, kept)
    for fold in range(FOLDS):
        others = [one for one, of in zip(few, folds, strict=True) if of != fold]
        bias, weights, _ = _model(others, "l2", strength, balanced, biased)
        for one, of in zip(few, folds, strict=True):
            if of == fold:
                total = bias + sum(weights.get(name, 0.0) * value for name, value in one.features.items())
                judged.append((total, one.positive))
    return measures(judged)


def measures(judged: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Precision, recall, F1 and balanced accuracy of decisions above zero."""
    right = sum(total > 0 and positive for total, positive in judged)
    said = sum(total > 0 for total, _ in judged)
    positives = sum(positive for _, positive in judged)
    negatives = len(judged) - positives
    recall, precision = right / max(positives, 1), right / max(said, 1)
    specificity = 1 - (said - right) / max(negatives, 1)
    return {
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(2 * precision * recall / max(precision + recall, 1e-9), 3),
        "balanced_accuracy": round((recall + specificity) / 2, 3),
    }


def write(name: str, says: str, fitted: Fitted, *, sets: Mapping[str, str], script: str) -> None:
    """The table as a file of the product, with where it comes from."""
    content = {
        "says": says,
        "fitted_on": dict(sets),
        "script": script,
        "date": datetime.now(UTC).date().isoformat(),
        "cross_validated": fitted.measured,
        "bias": fitted.bias,
        "weights": fitted.weights,
    }
    WEIGHTS.mkdir(exist_ok=True)
    (WEIGHTS / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(name, len(fitted.weights), fitted.measured)
