"""The clients against a server that runs: what comes out of a pack, of documents, of a conversation, of errors."""

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from proxies import cutting

from fathom_client import AsyncFathom, Fathom, FathomError

REFUNDS = "# Refunds\n\nThe team lead approves refunds up to 500 euros."


def public(kind: type) -> dict[str, Any]:
    return {name: member for name, member in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}


def test_both_clients_have_the_same_methods_with_the_same_parameters_and_promises() -> None:
    blocking, coroutines = public(Fathom), public(AsyncFathom)
    coroutines["close"] = coroutines.pop("aclose")
    assert blocking.keys() == coroutines.keys()
    for name, method in blocking.items():
        other = coroutines[name]
        assert inspect.signature(method).parameters == inspect.signature(other).parameters, name
        assert method.__doc__ == other.__doc__, name
        assert inspect.iscoroutinefunction(other) or inspect.isasyncgenfunction(other), name


def test_a_pack_has_text_sources_and_items(fathom: Fathom) -> None:
    document = fathom.ingest_text(REFUNDS, title="Policy", document_id="policy-refunds")
    pack = fathom.ask("Who approves refunds?", look_up="always")
    assert (document.document_id, document.visible) == ("policy-refunds", True)
    assert "The team lead approves refunds up to 500 euros." in pack.text
    assert str(pack) == pack.text
    assert pack.evidence == "found"
    assert "Policy" in [source.name.partition(" ")[0] for source in pack.sources]
    [item] = [item for item in pack.items() if item.type == "chunk"]
    assert str(item) == "The team lead approves refunds up to 500 euros."


def test_an_answer_closes_the_loop(fathom: Fathom) -> None:
    pack = fathom.ask("Who approves refunds?")
    answer = fathom.say("The team lead does.", answers=pack)
    talk = fathom.conversation(until=answer.message_id)
    assert [(turn.role, turn.content) for turn in talk.turns] == [
        ("user", "Who approves refunds?"),
        ("assistant", "The team lead does."),
    ]
    assert talk.turns[1].answers == pack.message_id  # type: ignore[attr-defined]
    assert [decision.pack_id for decision in talk.decisions] == [pack.pack_id]


def test_what_a_caller_decides_about_a_pack_holds(fathom: Fathom) -> None:
    pack = fathom.ask("Thanks!", min_depth="D2", max_tokens=400)
    assert (pack.depth_level, pack.max_tokens) == ("D2", 400)
    assert fathom.ask("Compare everything.", max_depth="D0", have=[pack]).depth_level == "D0"


@pytest.mark.parametrize("text", ["Onde está o coração? 日本語 🦊", "a" * 20_000, 'line\n"quoted"\t\\'])
def test_a_text_of_any_letters_comes_back_as_it_was(fathom: Fathom, text: str) -> None:
    sent = fathom.remember(text, conversation="açúcar/日本?x=1#y")
    talk = fathom.conversation("açúcar/日本?x=1#y", until=sent.message_id)
    assert talk.turns[-1].content == text


def test_a_folder_is_remembered_whole_and_again_in_place(fathom: Fathom, tmp_path: Path) -> None:
    folder = tmp_path / "manuals"
    (folder / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "machine.md").write_text("# Machine\n\nDescale the machine with vinegar.")
    (folder / "deep" / "máquina.txt").write_text("A garantia é de dois anos.")
    (folder / ".git" / "hidden.md").write_text("# Hidden")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    documents = fathom.ingest(folder)
    assert {Path(one.document_id).name for one in documents} == {"machine.md", "máquina.txt"}
    (folder / "machine.md").write_text("# Machine\n\nDescale the machine with citric acid.")
    fathom.ingest(folder / "machine.md")
    text = fathom.ask("How do I descale the machine?", look_up="always").text
    assert "citric acid" in text
    assert "vinegar" not in text
    fathom.forget_document((folder / "machine.md").as_posix())


def test_a_folder_without_documents_is_refused_in_a_sentence(fathom: Fathom, tmp_path: Path) -> None:
    with pytest.raises(FathomError, match="holds no document: files that end in"):
        fathom.ingest(tmp_path)


def test_a_claim_is_corrected_and_a_profile_and_feedback_are_taken(fathom: Fathom) -> None:
    assert fathom.user is not None
    assert fathom.profile(fathom.user, user_role="clerk", department="finance").topic == "documents.in"
    first = fathom.ask("O prazo do relatório é dia 15.")
    fathom.say("Anotado: o prazo do relatório é dia 15.", answers=first)
    pack = fathom.ask("Não, o prazo do relatório mudou para dia 20.", min_depth="D3")
    assert fathom.feedback(pack, 5, expected_depth="D3", reason="útil").topic == "feedback.in"
    [claim] = [item for item in pack.items() if item.type == "claim"][:1]
    assert fathom.correct(claim.claim_id, "it is day 22", new_value="dia 22").topic == "corrections.in"  # type: ignore[attr-defined]


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


def test_packs_of_a_conversation_that_never_was_are_refused(fathom: Fathom) -> None:
    with pytest.raises(FathomError, match="there is no conversation 'nowhere'") as error:
        list(fathom.packs("nowhere"))
    assert error.value.status == 404


def test_the_async_client_does_the_same(data: Path) -> None:
    async def talk() -> list[str]:
        async with AsyncFathom(data=data, wait_s=30) as fathom:
            await fathom.ingest_text(REFUNDS, document_id="policy-refunds")
            packs = await asyncio.gather(*(fathom.ask(f"Question {n}?", conversation=str(uuid4())) for n in range(5)))
            pack = await fathom.ask("Who approves refunds?", look_up="always")
            await fathom.say("The team lead.", answers=pack)
            followed = fathom.packs(follow=True)
            assert (await anext(followed)).pack_id == pack.pack_id
            waiting = asyncio.ensure_future(anext(followed))
            late = await fathom.ask("And above that?")
            assert (await asyncio.wait_for(waiting, 30)).pack_id == late.pack_id
            return [*sorted(one.query for one in packs), pack.text]

    *queries, text = asyncio.run(talk())
    assert queries == [f"Question {n}?" for n in range(5)]
    assert "team lead" in text


@pytest.mark.parametrize("cuts", [1, 3])
def test_a_connection_that_breaks_after_the_server_took_the_call_makes_one_turn(fathom: Fathom, cuts: int) -> None:
    host, port = fathom.url.removeprefix("http://").split(":")
    conversation = str(uuid4())
    with cutting(host, int(port), cuts) as (url, counts):
        with Fathom(url, _token(fathom), conversation=conversation) as broken:
            sent = broken.remember("I am allergic to peanuts.")
        assert counts.requests > cuts
    turns = fathom.conversation(conversation, until=sent.message_id).turns
    assert [turn.content for turn in turns] == ["I am allergic to peanuts."]


def test_a_connection_that_always_breaks_ends_in_a_sentence(fathom: Fathom) -> None:
    host, port = fathom.url.removeprefix("http://").split(":")
    with cutting(host, int(port), 100) as (url, counts), Fathom(url, _token(fathom)) as broken:
        with pytest.raises(FathomError, match="no Fathom answers at") as error:
            broken.ask("Hello?")
        assert error.value.status is None
        assert counts.requests == 4


@pytest.mark.parametrize(
    ("call", "status", "sentence"),
    [
        (lambda one: one.ask(" "), 422, "content: there is no text in it"),
        (lambda one: one.ask("x", min_depth="D4", max_depth="D1"), 422, "min_depth D4 is above max_depth D1"),
        (lambda one: one.ask("x", max_tokens=0), 422, "max_tokens"),
        (lambda one: one.pack("nope"), 404, "no pack of a message 'nope'"),
        (lambda one: one.say("x", answers="nope"), 422, "nope"),
        (lambda one: one.correct("nope", "x"), 422, "there is no claim 'nope'"),
        (lambda one: one.forget_document("nope"), 404, "no document 'nope' was sent"),
        (lambda one: one.ingest_text("x", lang="fr"), 422, "lang"),
    ],
)
def test_a_refusal_is_the_servers_own_sentence(fathom: Fathom, call: Any, status: int, sentence: str) -> None:
    with pytest.raises(FathomError, match=sentence) as error:
        call(fathom)
    assert error.value.status == status


def test_a_wrong_token_is_told(fathom: Fathom) -> None:
    with Fathom(fathom.url, "wrong") as stranger, pytest.raises(FathomError) as error:
        stranger.ask("Hello?")
    assert error.value.status == 401


def test_a_server_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FathomError, match="start one with `fathom up`"):
        Fathom(data=tmp_path)
    with Fathom("http://127.0.0.1:9", "token") as nobody, pytest.raises(FathomError, match="no Fathom answers at http"):
        nobody.ask("Hello?")
    monkeypatch.setenv("FATHOM_TOKEN_FILE", str(tmp_path / "none"))
    with pytest.raises(FathomError, match="FATHOM_TOKEN_FILE"):
        Fathom("http://127.0.0.1:9")


def test_the_token_of_a_server_here_is_not_sent_elsewhere(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FATHOM_TOKEN", "FATHOM_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FATHOM_DATA", str(data))
    with Fathom() as here:
        assert here.url.startswith("http://127.0.0.1:")
    with pytest.raises(FathomError, match="there is no token for http://elsewhere"):
        Fathom("http://elsewhere")


def test_address_and_token_come_from_the_environment(fathom: Fathom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_URL", fathom.url + "/")
    monkeypatch.setenv("FATHOM_TOKEN", _token(fathom))
    with Fathom() as other:
        assert other.url == fathom.url
        assert other.ask("Hello?").query == "Hello?"


def _token(fathom: Fathom) -> str:
    return str(fathom._http.headers["authorization"]).removeprefix("Bearer ")
