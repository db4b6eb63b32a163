"""The progress of a message with a run, from the log."""

import pytest

from schemas.topics import (
    COGNITION_STEPS,
    CONTEXT_PACKS,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
)
from streams.testing.pipeline import Pipeline
from tests.unit.edges.http.test_progress_tail import (  # noqa: F401
    Log,
    fathom,
    following,
    in_c1,
    of_conversation,
    records,
    told,
    watched,
)


def test_a_message_of_the_log_is_told_whole_from_its_own_partitions(
    fathom: Pipeline,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
):
    log = Log(records(fathom), monkeypatch)
    progress = following(fathom, lambda tail: watched(tail, stated=fathom.conversation("c1"), sees=in_c1))
    assert told(progress) == of_conversation(fathom, "c1")
    assert progress.is_ended
    own = fathom.conversation("c1").key()
    found, *searched = log.searched
    assert found == (RETRIEVAL_PLANS.name, own)
    of_talk = (PACKS_PARTIAL, CONTEXT_PACKS, TOOLS_CALLS_IN, TOOLS_CALLS_OUT, RETRIEVAL_PLANS)
    assert sorted(searched) == sorted(
        [*((topic.name, own) for topic in of_talk), (COGNITION_STEPS.name, f"acme|{told(progress)[-1].job_id}")]
    )
