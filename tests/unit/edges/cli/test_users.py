"""What `profile`, `feedback` and `correct` send: read by the first stage as it was meant, or refused."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from agents.core.packs.planning import pack_id_of
from schemas import codec
from schemas.base import Conversation
from schemas.memory import ObjectiveEntry, Profile
from schemas.topics import CORRECTIONS_IN, DOCUMENTS_IN, FEEDBACK_IN, Topic
from streams.edges.cli import feedback
from streams.edges.cli import profile as cli_profile
from streams.edges.client import records
from streams.edges.client.options import Correct, Feedback, SetProfile
from streams.edges.client.records import BadInput, Identity, OutgoingRecord
from streams.kafka.records import Record


def as_read(topic: Topic, prepared: OutgoingRecord):
    assert prepared.topic == topic.name
    return codec.decode(
        topic, prepared.key, prepared.value, prepared.headers, partition=0, offset=7, timestamp=1_700_000_000_000
    )


def test_a_feedback_names_the_pack_of_its_message_in_its_conversation():
    prepared = feedback.prepared_feedback(Feedback("m1", 2, "D2", "raso", "acme", "web", "c1", "ana"))
    read = as_read(FEEDBACK_IN, prepared)
    talk = Conversation(tenant="acme", client_id="web", conversation_id="c1")
    assert prepared.key == talk.key().encode()
    assert read.event.pack_id == prepared.name == pack_id_of(talk, "m1")
    assert (read.event.expected_depth, read.event.rating, read.event.reason) == ("D2", 2, "raso")
    assert (read.envelope.tenant, read.envelope.user_id) == ("acme", "ana")


def test_a_depth_that_does_not_exist_is_not_sent():
    with pytest.raises(BadInput, match="expected_depth"):
        feedback.prepared_feedback(Feedback("m1", 2, "D9", "", None, "web", "c1", None))


def test_a_correction_is_keyed_by_what_it_corrects():
    wanted = Correct("O prazo é dia 20", "lia", "k1", None, "dia 20", "juridico", "acme")
    prepared = feedback.prepared_correction(wanted, wanted.text)
    read = as_read(CORRECTIONS_IN, prepared)
    assert prepared.key == b"acme|k1"
    assert (read.event.claim_id, read.event.consulta_id, read.event.new_value) == ("k1", None, "dia 20")
    assert (read.event.tipo, read.event.usuario_id, read.envelope.tenant) == ("juridico", "lia", "acme")
    with pytest.raises(BadInput, match="tipo"):
        feedback.prepared_correction(Correct("x", "lia", "k1", None, None, "opinion", None), "x")


def change(**fields: object) -> SetProfile:
    plain = {"user": "ana", "tenant": None, "role": None, "department": None, "access": None, "objectives": ()}
    return SetProfile(**{**plain, **fields})  # type: ignore[arg-type]


def test_what_is_not_given_stays_and_an_objective_of_the_same_title_changes_its_status():
    known = Profile(
        user_id="ana",
        user_role="analista",
        access_level="internal",
        objectives=(ObjectiveEntry(id="vender-mais", title="Vender mais"),),
    )
    changed = cli_profile.merged(known, change(department="RH", objectives=("Vender mais=done", "Férias em dia")))
    assert (changed.user_role, changed.department, changed.access_level) == ("analista", "RH", "internal")
    assert [(each.id, each.title, each.status) for each in changed.objectives] == [
        ("vender-mais", "Vender mais", "done"),
        ("ferias-em-dia", "Férias em dia", "active"),
    ]
    with pytest.raises(ValidationError, match="access_level"):
        cli_profile.merged(known, change(access="everything"))


def sent(profile: Profile, tenant: str | None = None) -> Record:
    prepared = records.document(codec.dump(cli_profile.document_of(profile)), Identity(tenant))
    as_read(DOCUMENTS_IN, prepared)
    return Record(prepared.topic, 0, 0, 0, prepared.key, prepared.value, tuple(prepared.headers))


def test_only_the_users_own_profile_in_the_tenant_is_read_back():
    ana = Profile(user_id="ana", user_role="analista")
    found = cli_profile.profile_in(sent(ana), "default", "ana")
    assert found is not None
    assert found[1] == ana
    assert found[0] <= datetime.now(UTC)
    assert cli_profile.profile_in(sent(ana, "acme"), "default", "ana") is None
    assert cli_profile.profile_in(sent(ana), "default", "bia") is None
    broken = Record(DOCUMENTS_IN.name, 0, 0, 0, b"k", b'{"tipo": "profile"', ())
    assert cli_profile.profile_in(broken, "default", "ana") is None
