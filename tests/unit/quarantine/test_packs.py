"""What is quarantined is in no pack, and is in it again when lifted: the whole pipeline in memory."""

from collections.abc import Iterator

import pytest

from schemas.packs import ContextPack
from schemas.topics import MEMORY_CLAIMS
from streams.testing.pipeline import Pipeline

POISON = "# Refunds\n\nThe xylophone office approves refunds up to 500 euros.\n"
HEALTHY = "# Refunds of the shop\n\nThe team lead approves refunds up to 500 euros.\n"
HOW_TO = "# How to publish a page\n\n1. Open the xylophone.\n2. Press the publish button.\n3. Wait for the page.\n"
WHO = "Who approves refunds up to 500 euros?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def shown(pack: ContextPack) -> set[str]:
    return {item for source in pack.sources or () for item in source.items}


def planted(fathom: Pipeline) -> None:
    fathom.document("poison", "Refunds", POISON)
    fathom.document("healthy", "Refunds of the shop", HEALTHY)


@pytest.mark.covers("B23")
def test_a_quarantined_document_is_in_no_pack_and_comes_back(fathom: Pipeline) -> None:
    planted(fathom)
    before = fathom.ask(WHO, conversation="a")
    assert "xylophone" in before.text
    fathom.quarantine("document", "poison")
    hidden = fathom.ask(WHO, conversation="b")
    assert "xylophone" not in hidden.model_dump_json()
    assert "team lead" in hidden.text
    fathom.quarantine("document", "poison", state="lifted")
    assert shown(fathom.ask(WHO, conversation="c")) == shown(before)


@pytest.mark.covers("B23")
def test_a_feed_hides_all_documents_below_it(fathom: Pipeline) -> None:
    fathom.document("feed/1", "Refunds", POISON)
    fathom.document("healthy", "Refunds of the shop", HEALTHY)
    fathom.quarantine("feed", "feed/")
    assert "xylophone" not in fathom.ask(WHO).model_dump_json()


@pytest.mark.covers("B23")
def test_a_hidden_process_gives_no_steps(fathom: Pipeline) -> None:
    fathom.document("howto", "How to publish a page", HOW_TO)
    asked = "How do I publish a page?"
    assert "xylophone" in fathom.ask(asked, conversation="a").text
    fathom.quarantine("document", "howto")
    assert "xylophone" not in fathom.ask(asked, conversation="b").model_dump_json()


@pytest.mark.covers("B23")
def test_hidden_passages_leave_their_places_to_others(fathom: Pipeline) -> None:
    for number in range(60):
        fathom.document(f"feed/{number}", f"Refunds {number}", f"# Refunds {number}\n\n{POISON} Number {number}.")
    fathom.document("healthy", "Rules", "# Rules\n\nRefunds up to 500 euros are what the team lead approves.\n")
    fathom.quarantine("feed", "feed/")
    pack = fathom.ask(WHO)
    assert "xylophone" not in pack.model_dump_json()
    assert "team lead" in pack.text


@pytest.mark.covers("B23")
def test_a_quarantined_conversation_is_known_in_no_other(fathom: Pipeline) -> None:
    fathom.say("The code of the Atlas vault is zircon.", conversation="poisoned")
    asked = "Explain what we know about the code of the Atlas vault."
    before = fathom.ask(asked, conversation="a")
    assert "zircon" in before.text
    fathom.quarantine("conversation", "poisoned", client_id="web")
    after = fathom.ask(asked, conversation="b")
    assert "zircon" not in after.model_dump_json()
    fathom.quarantine("conversation", "poisoned", client_id="web", state="lifted")
    again = fathom.ask(asked, conversation="c")
    assert "zircon" in again.text


@pytest.mark.covers("B23")
def test_nor_is_it_in_packs_of_its_own(fathom: Pipeline) -> None:
    fathom.say("The code of the Atlas vault is zircon.", conversation="poisoned")
    fathom.quarantine("conversation", "poisoned", client_id="web")
    pack = fathom.ask("And what is its code?", conversation="poisoned")
    assert "zircon" not in pack.model_dump_json()


@pytest.mark.covers("B23")
def test_a_correction_that_was_said_in_a_quarantined_conversation_leaves_the_other_claim_as_it_was(
    fathom: Pipeline,
) -> None:
    fathom.say("The deadline of the Atlas project is 15 April.", conversation="healthy", headers={"user_id": "ana"})
    fathom.say("The deadline of the Atlas project is 20 April.", conversation="poisoned", headers={"user_id": "eve"})
    asked = "What is the deadline of the Atlas project?"
    fathom.quarantine("conversation", "poisoned", client_id="web")
    pack = fathom.ask(asked, conversation="b", headers={"user_id": "ana"})
    assert "15 April" in pack.text
    assert "20 April" not in pack.model_dump_json()


@pytest.mark.covers("B23")
def test_what_a_quarantined_user_said_is_in_no_pack(fathom: Pipeline) -> None:
    fathom.say("The code of the Atlas vault is zircon.", conversation="one", headers={"user_id": "eve"})
    asked = "Explain what we know about the code of the Atlas vault."
    assert "zircon" in fathom.ask(asked, conversation="a", headers={"user_id": "eve"}).text
    fathom.quarantine("user", "eve")
    assert "zircon" not in fathom.ask(asked, conversation="b", headers={"user_id": "eve"}).model_dump_json()


@pytest.mark.covers("B23")
def test_a_claim_alone_can_be_hidden(fathom: Pipeline) -> None:
    fathom.say("The deadline of the Atlas project is 15 April.", conversation="one", headers={"user_id": "ana"})
    [claim] = [one.event for one in fathom.events(MEMORY_CLAIMS)]
    message = {"message_id": claim.message_id, "client_id": "web", "conversation_id": "one", "seq": claim.seq}
    fathom.quarantine("claim", claim.claim_id, messages=[message])
    found = fathom.ask("No, the deadline of the Atlas project is 20 April.", conversation="one")
    assert claim.claim_id not in found.model_dump_json()


@pytest.mark.covers("B23")
def test_the_profile_of_a_quarantined_user_or_document_is_unknown(fathom: Pipeline) -> None:
    profile = {"user_id": "eve", "user_role": "director", "department": "board", "access_level": "restricted"}
    fathom.document("profile-eve", "eve", tipo="profile", profile=profile)
    who = {"user_id": "eve"}
    assert fathom.ask("Hello", conversation="a", headers=who).persona_context.user_role == "director"
    for source in (("document", "profile-eve"), ("user", "eve")):
        fathom.quarantine(*source)
        persona = fathom.ask("Hello", conversation=f"b-{source[0]}", headers=who).persona_context
        assert (persona.user_role, persona.access_level) == ("unknown", "public")
        fathom.quarantine(*source, state="lifted")
    assert fathom.ask("Hello", conversation="c", headers=who).persona_context.user_role == "director"


@pytest.mark.covers("B23")
def test_an_answer_that_was_given_on_it_is_hidden_with_it(fathom: Pipeline) -> None:
    planted(fathom)
    asked = fathom.ask(WHO, conversation="a")
    answer = fathom.say("It is the xylophone office.", role="assistant", conversation="a", answers=asked.message_id)
    message = {"message_id": answer, "client_id": "web", "conversation_id": "a", "seq": 1}
    fathom.quarantine("document", "poison", messages=[message])
    for conversation in ("a", "b"):
        pack = fathom.ask("Explain who approves refunds up to 500 euros.", conversation=conversation)
        assert "xylophone" not in pack.model_dump_json()


@pytest.mark.covers("B23")
def test_another_tenant_sees_its_document_of_the_same_id(fathom: Pipeline) -> None:
    fathom.document("poison", "Refunds", POISON, tenant="globex")
    fathom.quarantine("document", "poison")
    assert "xylophone" in fathom.ask(WHO, tenant="globex").text
