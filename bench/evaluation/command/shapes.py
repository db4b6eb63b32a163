"""The shapes of what `fathom eval` prints: figures of packs and of answers, scores and predictions."""

from typing import NotRequired

from typing_extensions import TypedDict


class Measured(TypedDict):
    """A mean over `n` questions, and its 95 % interval; null where there is none."""

    value: float | None
    n: int
    ci95: tuple[float, float] | None


Baseline = dict[str, Measured]


class UnansweredPacks(TypedDict):
    """What packs brought to questions that nothing answers."""

    questions: int
    brought: Measured
    items: Measured
    source_tokens: Measured
    tokens: Measured


class PackTraffic(TypedDict):
    """How often memory was searched, and what was delivered, whatever the questions were."""

    questions: int
    looked: Measured
    tokens: Measured
    levels: dict[str, int]
    degraded: int
    missing: int


class BeliefFigures(TypedDict):
    """Precision and recall of single beliefs, how often exactly the needed came, and none where none was needed."""

    questions: int
    precision: NotRequired[Measured]
    recall: NotRequired[Measured]
    exact: Measured
    silent: Measured


class MissedEvidence(TypedDict):
    """A question whose pack lacked evidence."""

    id: str
    text: str
    level: str
    evidence: list[str]


class MissReason(TypedDict):
    """How many packs lacked evidence for a reason, with examples."""

    count: int
    examples: list[MissedEvidence]


class PackFigures(PackTraffic):
    """The figures of one data set: packs with any and all of their evidence, and plain search in as many tokens."""

    answerable: int
    any: Measured
    all: Measured
    answer: Measured
    budget: int
    baselines: dict[str, Baseline]
    same_recall: dict[str, dict[str, float | None]]
    needless: NotRequired[Measured]
    unanswerable: UnansweredPacks
    beliefs: BeliefFigures
    kinds: dict[str, dict[str, Measured | int | dict[str, int]]]
    errors: dict[str, MissReason]


class PackEvaluation(TypedDict):
    """`fathom eval packs`, by data set; `foreign` and `chat` where these were asked, too."""

    datasets: dict[str, PackFigures]
    foreign: NotRequired[dict[str, UnansweredPacks]]
    chat: NotRequired[PackTraffic]


class ClaimsUnproven(TypedDict):
    """The claims of answers, and those that are not in the passage they cite."""

    claims: int
    unproven: int


class AnswerFigures(TypedDict):
    """The figures of one data set: right, wrong and missing answers, and plain sentences of the same length."""

    questions: int
    answerable: int
    right: Measured
    wrong: Measured
    missing: Measured
    cited: Measured
    precision: Measured
    partial: Measured
    hallucinated: ClaimsUnproven
    words: float
    none: int
    telling: Measured
    plain: Measured
    plain_telling: Measured
    rightly_silent: NotRequired[Measured]
    curve: list[tuple[float, float]]
    area: float | None
    wrong_examples: list[str]


class AnswerEvaluation(TypedDict):
    """`fathom eval answers`, by data set."""

    datasets: dict[str, AnswerFigures]


class ScoreShown(TypedDict):
    """A figure of a part of a data set; `floor` is what a trivial rule gets, `rule` which one."""

    part: str
    measure: str
    value: float | None
    n: int
    ci95: tuple[float, float] | None
    floor: NotRequired[float]
    rule: NotRequired[str]


class TaskScored(TypedDict):
    """The figures of a task, by data set; `missing` items have no prediction."""

    task: str
    items: int
    missing: int
    unknown_ids: int
    datasets: dict[str, list[ScoreShown]]


class TaskUnscored(TypedDict):
    """A task without figures, and why."""

    task: str
    why: str


class ScoreReport(TypedDict):
    """`fathom eval report`, by task."""

    tasks: list[TaskScored | TaskUnscored]


class TaskPrediction(TypedDict):
    """A prediction of one item, with the fields of its task."""

    id: str
    label: NotRequired[str]
    score: NotRequired[float]
    confidence: NotRequired[float]
    needs_context: NotRequired[bool]
    correction: NotRequired[bool]
    shifts: NotRequired[list[int]]
    scores: NotRequired[list[float]]
    filled: NotRequired[dict[str, object]]
    ask: NotRequired[list[str]]
    spans: NotRequired[list[dict[str, int | str]]]
    sub_questions: NotRequired[list[str]]
    kind: NotRequired[str]
    ranked: NotRequired[list[str]]
