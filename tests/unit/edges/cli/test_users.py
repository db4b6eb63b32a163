"""What `profile`, `feedback` and `correct` send: read by the first stage as it was meant, or refused."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from agents.core.packs.planning import pack_id_of
from schemas import codec
from schemas.base import Conversation
from schemas.memory import ObjectiveEntry, Profile
from schemas.topics import CORRECTIONS_IN, DOCUMENTS_IN, FEEDBACK_IN, Topic
from streams.edges.cli import profile
from streams.edges.cli.main import app
from streams.edges.client import profiles, records, send
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.records import Identity, OutgoingRecord
from streams.kafka.records import Record


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Callable[..., OutgoingRecord]:
    """The record that a command line sends; raises what refuses it."""
    found: list[OutgoingRecord] = []
    monkeypatch.setattr(send, "send_one", lambda prepared, broker, *, as_json, names=None: found.append(prepared))

    def run(*words: str) -> OutgoingRecord:
        ended = CliRunner().invoke(app, words)
        if ended.exception is not None:
            raise ended.exception
        return found[-1]

    return run


def as_read(topic: Topic, prepared: OutgoingRecord):
    assert prepared.topic == topic.name
    return codec.decode(
        topic, prepared.key, prepared.value, prepared.headers, partition=0, offset=7, timestamp=1_700_000_000_000
    )


WHERE = ("--client", "web", "--conversation", "c1")


@pytest.mark.parametrize(("whose", "tenant"), [(("--tenant", "acme"), "acme"), ((), "web")])
def test_a_feedback_names_the_pack_of_its_message_in_its_conversation(sent, whose: tuple[str, ...], tenant: str):
    opinion = ("--rating", "2", "--expected", "D2", "--reason", "raso", "--user", "ana")
    prepared = sent("feedback", "m1", *opinion, *WHERE, *whose)
    read = as_read(FEEDBACK_IN, prepared)
    talk = Conversation(tenant=tenant, client_id="web", conversation_id="c1")
    assert prepared.key == talk.key().encode()
    assert read.event.pack_id == prepared.name == pack_id_of(talk, "m1")
    assert (read.event.expected_depth, read.event.rating, read.event.reason) == ("D2", 2, "raso")
    assert (read.envelope.tenant, read.envelope.user_id) == (tenant, "ana")


def test_a_depth_that_does_not_exist_is_not_sent(sent):
    with pytest.raises(CommandFailed, match=r"this cannot be sent: .*expected_depth") as failed:
        sent("feedback", "m1", "--rating", "2", "--expected", "D9", *WHERE)
    assert failed.value.code == USAGE


def test_a_feedback_on_nobodys_conversation_is_not_sent(sent):
    with pytest.raises(CommandFailed, match=r"this cannot be sent: .*client_id"):
        sent("feedback", "m1", "--rating", "2", "--client", "")


def test_a_correction_is_keyed_by_what_it_corrects(sent):
    right = ("--claim", "k1", "--value", "dia 20", "--type", "juridico")
    prepared = sent("correct", "O prazo é dia 20", "--user", "lia", *right, "--tenant", "acme")
    read = as_read(CORRECTIONS_IN, prepared)
    assert prepared.key == b"acme|k1"
    assert prepared.name == read.envelope.id
    assert (read.event.claim_id, read.event.consultation_id, read.event.new_value) == ("k1", None, "dia 20")
    assert (read.event.correction_kind, read.event.user_id, read.envelope.tenant) == ("juridico", "lia", "acme")
    assert sent("correct", "x", "--user", "lia", "--consultation", "q1").key == b"default|q1"
    named = as_read(CORRECTIONS_IN, sent("correct", "x", "--user", "lia", "--claim", "k1", "--type", "legal"))
    assert named.event.correction_kind == "juridico"
    with pytest.raises(CommandFailed, match="'opinion'; there are: factual, legal, formatting"):
        sent("correct", "x", "--user", "lia", "--claim", "k1", "--type", "opinion")


def test_what_is_not_given_stays_and_an_objective_of_the_same_title_changes_its_status():
    known = Profile(
        user_id="ana",
        user_role="analista",
        access_level="internal",
        objectives=(ObjectiveEntry(id="vender-mais", title="Vender mais"),),
    )
    changed = profile.merged(known, {"department": "RH"}, ("Vender mais=done", "Férias em dia"))
    assert (changed.user_role, changed.department, changed.access_level) == ("analista", "RH", "internal")
    assert [(each.id, each.title, each.status) for each in changed.objectives] == [
        ("vender-mais", "Vender mais", "done"),
        ("ferias-em-dia", "Férias em dia", "active"),
    ]
    with pytest.raises(ValidationError, match="access_level"):
        profile.merged(known, {"access_level": "everything"}, ())


def record(of: Profile, tenant: str | None = None) -> Record:
    prepared = records.record_of(DOCUMENTS_IN, codec.dump(profiles.document_of(of)), Identity(tenant))
    as_read(DOCUMENTS_IN, prepared)
    return Record(prepared.topic, 0, 0, 0, prepared.key, prepared.value, tuple(prepared.headers))


def test_only_the_users_own_profile_in_the_tenant_is_read_back():
    ana = Profile(user_id="ana", user_role="analista")
    found = profiles.profile_in(record(ana), "default", "ana")
    assert found is not None
    assert found[1] == ana
    assert found[0] <= datetime.now(UTC)
    assert profiles.profile_in(record(ana, "acme"), "default", "ana") is None
    assert profiles.profile_in(record(ana), "default", "bia") is None
    broken = Record(DOCUMENTS_IN.name, 0, 0, 0, b"k", b'{"tipo": "profile"', ())
    assert profiles.profile_in(broken, "default", "ana") is None
