"""The clients against a server that runs: what comes out of packs, documents, conversations, corrections."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from fathom_client import AsyncFathom, Fathom, FathomError, Item, NotFound, Pack, Refused

# A document, a question about it, and what is to be in the pack.
EN = ("en", "# Invoices\n\nThe accountant approves invoices up to 700 euros.", "Who approves invoices?", "700 euros")
PT = ("pt", "# Faturas\n\nA contadora aprova faturas até 700 reais.", "Quem aprova faturas?", "700 reais")
BOTH = pytest.mark.parametrize(("lang", "text", "question", "told"), [EN, PT], ids=["en", "pt"])


@BOTH
def test_a_document_is_found_once_it_is_sent_and_no_more_once_it_is_forgotten(
    fathom: Fathom, lang: Any, text: str, question: str, told: str
) -> None:
    document = fathom.ingest_text(text, title="Policy", document_id=f"policies/{lang}", lang=lang)
    assert (document.document_id, document.visible) == (f"policies/{lang}", True)
    pack = fathom.ask(question, look_up="always")
    assert told in pack.text
    assert str(pack) == pack.text
    assert (pack.lang, pack.evidence, pack.user_id) == (lang, "found", fathom.user)
    [(source, item)] = [(source, item) for source, item in pack.cited() if item.document_id == document.document_id]
    assert f"[{source.number}]" in pack.text
    assert source.name.startswith("Policy")
    assert told in str(item)
    fathom.forget(document)
    assert told not in _until(
        lambda: fathom.ask(question, conversation=str(uuid4())).text, lambda text: told not in text
    )


@BOTH
def test_an_answer_closes_the_loop(fathom: Fathom, lang: str, text: str, question: str, told: str) -> None:
    pack = fathom.ask(question)
    answer = fathom.say(text, answers=pack)
    talk = fathom.conversation(until=answer.message_id)
    assert [(turn.role, turn.content, turn.lang) for turn in talk.turns] == [
        ("user", question, lang),
        ("assistant", text, lang),
    ]
    assert talk.turns[1].answers == pack.message_id
    assert [decision.pack_id for decision in talk.decisions] == [pack.pack_id]
    assert fathom.pack(pack.message_id) == pack
    later = fathom.ask(question)
    assert told in str([str(item) for item in later.items("message")])


@pytest.mark.parametrize(
    ("said", "contested", "sides"),
    [
        (
            "The deadline of the Atlas contract is day 15.",
            "No, that is not right: the deadline of the Atlas contract is another.",
            ("day 15", "day 20"),
        ),
        (
            "O prazo do contrato Boreal é dia 15.",
            "Não, isso não está certo: o prazo do contrato Boreal é outro.",
            ("dia 15", "dia 20"),
        ),
    ],
    ids=["en", "pt"],
)
def test_a_claim_is_corrected_and_both_sides_are_shown(
    fathom: Fathom, said: str, contested: str, sides: tuple[str, str]
) -> None:
    def values(pack: Pack) -> dict[str | None, Item]:
        return {item.value: item for item in pack.items("claim")}

    fathom.remember(said)
    before = _until(lambda: fathom.ask(contested), lambda pack: sides[0] in values(pack))
    assert sides[1] not in before.text
    # A pack may show what was said a moment before the claim itself is in the log.
    claim = values(before)[sides[0]]
    assert _until(lambda: _corrected(fathom, claim, contested, sides[1]), bool) == "corrections.in"
    pack = _until(lambda: fathom.ask(contested), lambda pack: sides[1] in values(pack))
    assert set(sides) <= values(pack).keys()
    assert all(side in pack.text for side in sides)
    [conflict] = [item for item in pack.items("contradiction") if all(side in str(item) for side in sides)]
    assert values(pack)[sides[0]].id in (conflict.claim_id, conflict.contradicts)


def test_a_profile_and_feedback_are_taken(fathom: Fathom) -> None:
    assert fathom.user is not None
    told = fathom.profile(fathom.user, user_role="clerk", department="finance", access_level="internal")
    assert told.topic == "documents.in"
    pack = _until(
        lambda: fathom.ask("Who approves refunds?"),
        lambda pack: pack.persona_context["user_role"] == "clerk",
    )
    with pytest.raises(Refused, match=r"^feedback is about a pack, as `ask` returns it, not about 'x'; `pack"):
        fathom.feedback("x", 9)  # type: ignore[arg-type]
    taken = fathom.feedback(pack, 2, expected_depth="D3", reason="too shallow")
    assert (taken.topic, taken.pack_id) == ("feedback.in", pack.pack_id)  # type: ignore[attr-defined]  # a field of the server's


def test_what_a_user_may_not_see_is_not_in_the_pack(fathom: Fathom) -> None:
    assert fathom.user is not None
    fathom.ingest_text("# Payroll\n\nThe payroll runs on day 27.", document_id="payroll", access="restricted")
    assert "day 27" not in fathom.ask("When does the payroll run?", look_up="always").text
    fathom.profile(fathom.user, access_level="restricted")
    seen = _until(
        lambda: fathom.ask("When does the payroll run?", look_up="always"), lambda pack: "day 27" in pack.text
    )
    assert "day 27" in seen.text


def test_what_a_caller_decides_about_a_pack_holds(fathom: Fathom) -> None:
    pack = fathom.ask("Thanks!", min_depth="D2", max_tokens=400)
    assert (pack.depth_level, pack.max_tokens) == ("D2", 400)
    assert fathom.ask("Compare everything.", max_depth="D0", have=[pack]).depth_level == "D0"


def test_what_a_held_pack_shows_is_not_shown_again(fathom: Fathom) -> None:
    fathom.ingest_text("# Descaling\n\nDescale the machine with citric acid.", document_id="descaling")
    first = fathom.ask("How do I descale the machine?", look_up="always")
    again = fathom.ask("How do I descale the machine?", look_up="always", have=[first])
    assert "citric acid" in first.text
    assert "citric acid" not in again.text


def test_facts_of_a_user_are_listed_corrected_confirmed_and_taken_back(fathom: Fathom) -> None:
    def until(wanted: dict[str, str], every: bool = False) -> dict[str, str]:
        found: dict[str, str] = {}
        for _ in range(100):
            page = fathom.memories("locker", every=every, user="rui").memories
            found = {each.value: each.status for each in page}
            if found == wanted:
                break
            time.sleep(0.2)
        return found

    def check(wanted: dict[str, str], every: bool = False) -> None:
        assert until(wanted, every) == wanted

    fathom.add_memory("My locker code is 7781.", user="rui")
    check({"7781": "holds"})
    [old] = fathom.memories("locker", user="rui").memories
    assert (str(old), old.author, old.user_id) == ("My locker code is 7781.", "user", "rui")
    fathom.correct_memory(old, "9002", reason="moved")
    check({"9002": "holds", "7781": "replaced"}, every=True)
    [new] = fathom.memories("locker", user="rui").memories
    with pytest.raises(FathomError, match=f"this memory was replaced by {new.memory_id} meanwhile"):
        fathom.confirm_memory(old)
    fathom.confirm_memory(new)
    check({"9002": "confirmed"})
    [confirmed] = fathom.memories("locker", user="rui").memories
    fathom.delete_memory(confirmed)
    check({"7781": "holds"})
    fathom.delete_memory(old)
    check({})
    assert "7781" not in fathom.ask("What is my locker code?", user="rui", look_up="always").text


def test_conversations_are_listed_and_found_by_their_first_question(fathom: Fathom) -> None:
    word = f"zebra{uuid4().hex[:8]}"
    fathom.ask(f"Where does the {word} live?")
    deadline = time.monotonic() + 20
    while (found := fathom.conversations(word, days=1)).total < 1 and time.monotonic() < deadline:
        time.sleep(0.2)
    [talk] = found.conversations
    assert (talk.conversation_id, talk.title) == (fathom.conversation_id, f"Where does the {word} live?")
    assert (talk.questions, len(talk.tokens), found.complete) == (1, 1, True)
    assert fathom.conversations(word, offset=1).conversations == ()


def test_a_search_finds_documents_and_own_turns_and_is_stored_nowhere(fathom: Fathom) -> None:
    policy = fathom.ingest_text("# Parking\n\nParking permits are issued by the front desk.", title="Parking")
    found = fathom.search("Who issues parking permits?", document=policy, kind="document", limit=2)
    [result] = found.results
    assert (str(result), result.document_id) == ("Parking permits are issued by the front desk.", policy.document_id)
    assert (found.evidence, found.degraded, str(result) in str(found)) == ("found", False, True)
    assert fathom.search("Who issues parking permits?", until="2020-01-01").evidence == "none"
    with pytest.raises(Refused, match="since is after until"):
        fathom.search("x", since=datetime(2025, 2, 1, tzinfo=UTC), until="2025-01-01")
    with pytest.raises(NotFound):
        fathom.conversation()


def test_a_query_is_assessed_without_being_stored(fathom: Fathom) -> None:
    assert fathom.assess("Thanks!").recommended_action == "respond_directly"
    assert fathom.assess("Compare the two contracts and explain why they differ.").needs_deep_context
    with pytest.raises(NotFound):
        fathom.conversation()


@pytest.mark.parametrize("text", ["Onde está o coração? 日本語 🦊", "a" * 20_000, 'line\n"quoted"\t\\'])
def test_a_text_of_any_letters_comes_back_as_it_was(fathom: Fathom, text: str) -> None:
    sent = fathom.remember(text, conversation="açúcar/日本?x=1#y", user="josé")
    turn = fathom.conversation("açúcar/日本?x=1#y", until=sent.message_id).turns[-1]
    assert (turn.content, turn.user_id) == (text, "josé")


def test_a_folder_is_remembered_whole_and_again_in_place(
    fathom: Fathom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "manuals"
    (folder / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "machine.md").write_text("# Grinder\n\nClean the grinder with rice.")
    (folder / "deep" / "máquina.txt").write_text("A garantia é de dois anos.")
    (folder / ".git" / "hidden.md").write_text("# Hidden")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    monkeypatch.chdir(tmp_path)
    documents = fathom.ingest("manuals")
    assert [one.document_id for one in documents] == ["manuals/deep/máquina.txt", "manuals/machine.md"]
    assert all(one.visible for one in documents)
    (folder / "machine.md").write_text("# Grinder\n\nClean the grinder with a brush.")
    fathom.ingest("manuals/machine.md")
    text = fathom.ask("How do I clean the grinder?", look_up="always").text
    assert "a brush" in text
    assert "rice" not in text
    fathom.forget("manuals/machine.md")


def test_many_documents_are_sent_side_by_side_and_come_back_in_order(fathom: Fathom, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}.md").write_text(f"# Shelf {number}\n\nShelf {number} holds the screws M{number}.")
    documents = fathom.ingest(tmp_path)
    assert [Path(one.document_id).name for one in documents] == [f"{number:02}.md" for number in range(20)]
    assert "screws M17" in fathom.ask("What does shelf 17 hold?", look_up="always").text


def test_packs_are_given_in_order_and_followed(fathom: Fathom) -> None:
    questions, found = ["One?", "Two?", "Three?"], list[str]()
    with Fathom(fathom.url, _token(fathom), conversation=fathom.conversation_id) as following:
        packs = following.packs(follow=True)
        reader = threading.Thread(target=lambda: found.extend(next(packs).query for _ in questions))
        reader.start()
        for question in questions:
            fathom.ask(question)
        reader.join(30)
    assert found == questions
    assert [pack.query for pack in fathom.packs()] == questions


def test_threads_share_a_client(fathom: Fathom) -> None:
    def talk(number: int) -> tuple[str, str]:
        pack = fathom.ask(f"Question {number}?", conversation=f"thread-{number}")
        return pack.query, pack.conversation_id

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(talk, range(40)))
    assert told == [(f"Question {number}?", f"thread-{number}") for number in range(40)]


def test_the_async_client_does_the_same(data: Path, clean: None, tmp_path: Path) -> None:
    (tmp_path / "refunds.md").write_text(EN[1])

    async def talk() -> None:
        async with AsyncFathom(data=data, user=f"eva-{uuid4()}", wait_s=30) as fathom:
            assert fathom.user is not None
            [file, text] = [*await fathom.ingest(tmp_path / "refunds.md"), await fathom.ingest_text(EN[1])]
            assert file.visible
            assert text.visible
            packs = await asyncio.gather(*(fathom.ask(f"Question {n}?", conversation=str(uuid4())) for n in range(5)))
            assert sorted(one.query for one in packs) == [f"Question {n}?" for n in range(5)]
            pack = await fathom.ask(EN[2], look_up="always")
            assert EN[3] in pack.text
            said = await fathom.say("The team lead.", answers=pack)
            assert (await fathom.conversation(until=said.message_id)).turns[-1].answers == pack.message_id
            assert (await fathom.pack(pack.message_id)) == pack
            assert (await fathom.feedback(pack, 5)).topic == "feedback.in"
            assert (await fathom.profile(fathom.user, user_role="clerk")).topic == "documents.in"
            assert (await fathom.assess("Thanks!")).recommended_action == "respond_directly"
            followed = fathom.packs(follow=True)
            assert (await anext(followed)).pack_id == pack.pack_id
            waiting = asyncio.ensure_future(anext(followed))
            late = await fathom.ask("And above that?")
            assert (await asyncio.wait_for(waiting, 30)).pack_id == late.pack_id
            told = await fathom.remember("The deadline of the report is day 15.")
            assert told.message_id in {
                turn.message_id for turn in (await fathom.conversation(until=told.message_id)).turns
            }
            pack = await fathom.ask("No, the deadline of the report moved to day 20.")
            claim = next(item for item in pack.items("claim") if item.value == "day 15")
            assert (await fathom.correct(claim, "it is day 22", new_value="day 22")).topic == "corrections.in"
            for document in (file, text):
                assert (await fathom.forget(document)).topic == "documents.in"
        with pytest.raises(FathomError, match="this client is closed"):
            await fathom.ask("Hello?")

    asyncio.run(talk())


def test_of_many_files_that_are_sent_with_coroutines_the_refused_one_is_named(
    data: Path, clean: None, tmp_path: Path
) -> None:
    (tmp_path / "good.md").write_text("# Good\n\nThis is a text.")
    (tmp_path / "empty.md").write_text("")

    async def send() -> None:
        async with AsyncFathom(data=data) as fathom:
            await fathom.ingest(tmp_path)

    with pytest.raises(FathomError, match=r"empty\.md: document_empty"):
        asyncio.run(send())


def test_the_token_of_a_server_here_is_not_sent_elsewhere(
    data: Path, clean: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".fathom").symlink_to(data)
    with Fathom() as here:
        assert here.assess("Hello?").depth_level == "D0"
    with pytest.raises(FathomError, match="there is no token for http://elsewhere"):
        Fathom("http://elsewhere")


def test_address_and_token_come_from_the_environment(
    fathom: Fathom, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_URL", fathom.url + "/")
    monkeypatch.setenv("FATHOM_TOKEN", _token(fathom))
    with Fathom() as other:
        assert other.url == fathom.url
        assert other.ask("Hello?").query == "Hello?"
    monkeypatch.delenv("FATHOM_TOKEN")
    monkeypatch.setenv("FATHOM_TOKEN_FILE", str(data / "token"))
    with Fathom() as other:
        assert other.ask("Hello?").query == "Hello?"


def _until(look: Any, wanted: Any) -> Any:
    """What is looked for, once it is as wanted: learning takes its time."""
    for _ in range(40):
        if wanted(found := look()):
            break
    return found


def _corrected(fathom: Fathom, claim: Item, text: str, new_value: str) -> str | None:
    """The topic of a correction, None where the claim is not known yet."""
    with suppress(Refused):
        return fathom.correct(claim, text, new_value=new_value).topic
    return None


def _token(fathom: Fathom) -> str:
    return str(fathom._http.headers["authorization"]).removeprefix("Bearer ")
