"""Judge what became of complex questions: one job each, its steps without a gap and once, and one answer.

Pure, as `checker`. A step is made once, whatever dies: its stores may answer otherwise the second time.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from schemas.cognition import Node
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, MEMORY_CONSULTATIONS
from tests.chaos.entries import Entry, Sent
from tests.chaos.findings import DOUBLED, LOST, Finding
from tests.chaos.messages import is_complex

Streams = Mapping[str, list[Entry]]
Subject = tuple[str, str]


def findings(sent: Iterable[Sent], streams: Streams) -> Iterator[Finding]:
    """Everything there is to find in the log."""
    asked = {
        (message.conversation.tenant, message.message_id)
        for message in sent
        if message.role == "user" and not message.again and is_complex(message.content)
    }
    yield from _jobs(asked, streams[COGNITION_STEPS.name])
    yield from _answers(asked, streams[ANSWERS_OUT.name])
    yield from _kept(streams)


def _jobs(asked: set[Subject], entries: Iterable[Entry]) -> Iterator[Finding]:
    steps: dict[Subject, dict[int, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    of_message: dict[Subject, set[Subject]] = defaultdict(set)
    for entry in entries:
        job = (entry.tenant, str(entry.event.get("job_id")))
        steps[job][int(entry.event.get("step") or 0)].append(entry)
        if entry.event.get("step") == 1:
            state = entry.whole().get("state") or {}
            of_message[entry.tenant, str(state.get("message_id"))].add(job)
    for subject in asked - of_message.keys():
        yield Finding(LOST, f"{COGNITION_STEPS.name}: no job for {subject}")
    for subject, jobs in of_message.items():
        # A question that looks complex and turns out not to be ends with its first step.
        if (subject not in asked and any(max(steps[job]) > 1 for job in jobs)) or len(jobs) > 1:
            yield Finding(DOUBLED, f"{COGNITION_STEPS.name}: {len(jobs)} jobs for {subject}")
    for job, by_number in steps.items():
        last = max(by_number)
        for number in set(range(1, last + 1)) - by_number.keys():
            yield Finding(LOST, f"{COGNITION_STEPS.name}: step {number} of {job}")
        if all(entry.event.get("next") != Node.END for entry in by_number[last]):
            yield Finding(LOST, f"{COGNITION_STEPS.name}: the end of {job}")
        for number, made in by_number.items():
            if len({entry.ce_id for entry in made}) > 1 or (number > 1 and len(made) > 1):
                yield Finding(DOUBLED, f"{COGNITION_STEPS.name}: step {number} of {job} was made {len(made)} times")


def _answers(asked: set[Subject], entries: Iterable[Entry]) -> Iterator[Finding]:
    found: dict[Subject, set[str]] = defaultdict(set)
    for entry in entries:
        meta = entry.whole().get("meta") or {}
        if meta.get("intent") == "deep":
            found[entry.tenant, str(meta.get("answers"))].add(entry.ce_id)
    for subject in asked - found.keys():
        yield Finding(LOST, f"{ANSWERS_OUT.name}: no answer to {subject}")
    for subject, ids in found.items():
        if subject not in asked or len(ids) > 1:
            yield Finding(DOUBLED, f"{ANSWERS_OUT.name}: {len(ids)} answers to {subject}")


def _kept(streams: Streams) -> Iterator[Finding]:
    """Answers that are not kept as a consultation; what abstained or quotes a talk need not be."""
    kept = {(entry.tenant, str(entry.event.get("job_id"))) for entry in streams[MEMORY_CONSULTATIONS.name]}
    for entry in streams[ANSWERS_OUT.name]:
        given = entry.whole()
        job = (entry.tenant, str((given.get("results") or {}).get("job_id")))
        sources = (given.get("results") or {}).get("sources") or ()
        is_due = given.get("status") != "abstained" and not any(each.get("turn") for each in sources)
        if given.get("meta", {}).get("intent") == "deep" and is_due and job not in kept:
            yield Finding(LOST, f"{MEMORY_CONSULTATIONS.name}: of {job}")
