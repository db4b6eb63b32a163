"""Which earlier turn a message corrects, in whatever words; and what corrects none."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agents.core.claims import lifecycle, summaries
from agents.core.conversation.memory import ConversationTurn, meta_of, turn_of
from agents.core.conversation.turn_links import link, repaired
from agents.core.conversation.utterances import Utterance
from schemas.base import Conversation, Source
from schemas.chat import TurnLink

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PLACE = Source(topic="conversation.turns", partition=0, offset=0)
HERE = Conversation(tenant="acme", client_id="web", conversation_id="c1")


def talk(*said: str, lang: str) -> tuple[ConversationTurn, ...]:
    """A talk of user and assistant by turns; the messages are m0, m1 and so on."""
    return tuple(
        ConversationTurn(
            "assistant" if at % 2 else "user",
            text,
            AT,
            message_id=f"m{at}",
            seq=at,
            frame_id="f1",
            lang=lang,
            user_id="ana",
            source=PLACE,
        )
        for at, text in enumerate(said)
    )


CORRECTING = [
    ("The deposit is 300 euros.", "Sorry, I meant 350.", "en", "300 euros", "350"),
    ("The ferry leaves at 7:15.", "*7:45", "en", "7:15", "7:45"),
    ("The ferry leaves at 7:15.", "7:45*", "en", "7:15", "7:45"),
    ("My shoe size is 38.", "Not 38, 39.", "en", "38", "39"),
    ("The crate weighs 31 kg.", "It weighs 28.5 kg, not 31.", "en", "31 kg", "28.5 kg"),
    ("The loop is 12 km.", "Make it 14 km please.", "en", "12 km", "14 km"),
    ("The vet is called Dr. Lund.", "I misspelled it, it's Lundh.", "en", "Dr. Lund", "Lundh"),
    ("The gate code is 4417.", "I mistyped the gate code, it's 4471.", "en", "4417", "4471"),
    ("My favourite tree is the birch.", "I mean the beech.", "en", "", "the beech"),
    ("O sinal são 300 euros.", "Enganei-me, são 350.", "pt", "300 euros", "350"),
    ("A balsa sai às 7h15.", "*7h45", "pt", "7h15", "7h45"),
    ("O veterinário é o Dr. Lima.", "Quis dizer Limeira.", "pt", "Dr. Lima", "Limeira"),
    ("O caixote pesa 31 kg.", "Pesa 28,5 kg, não 31.", "pt", "31 kg", "28,5 kg"),
    ("A consulta é na quarta.", "Ou melhor, na quinta.", "pt", "quarta", "quinta"),
    ("O código do portão é 4417.", "Digitei mal o código do portão, é 4471.", "pt", "4417", "4471"),
    ("Minha árvore favorita é o ipê.", "Ipê não, jacarandá.", "pt", "ipê", None),
]


@pytest.mark.parametrize(("fact", "said", "lang", "old", "new"), CORRECTING)
def test_a_correction_is_linked_to_what_it_corrects(fact: str, said: str, lang: str, old: str, new: str | None) -> None:
    found = link(said, lang, AT, talk(fact, "Ok.", lang=lang))
    assert found is not None
    assert (found.to, found.new) == (("m0",), new)
    assert (found.old or "").lower().endswith(old.lower())


def test_what_the_other_side_repeated_is_corrected_with_it() -> None:
    found = link("I mean 930.", "en", AT, talk("The repair is 390 euros.", "Understood, 390 euros.", lang="en"))
    assert found == TurnLink(kind="corrects", to=("m1", "m0"), old="390 euros", new="930")


def test_of_several_values_the_one_is_corrected_whose_thing_is_named() -> None:
    before = talk("The shed code is 7718.", "Ok.", "The gate code is 4417.", "Ok.", lang="en")
    found = link("I mistyped the shed code earlier, it's 7781.", "en", AT, before)
    assert found is not None
    assert found.to == ("m0",)


@pytest.mark.parametrize(
    ("before", "said", "lang"),
    [
        (("My flight is at 9:40.", "Ok."), "Lunch is at 12:30.", "en"),
        (("My flight is at 9:40.", "Ok."), "Sorry, I have to go now.", "en"),
        (("The rent is 800 euros.", "Ok."), "Is it 850?", "en"),
        (("The rent is 800 euros.", "How many rooms?"), "3", "en"),
        (("The rent is 800 euros.", "Noted."), "Actually, thanks for the help!", "en"),
        (("The rent is 800 euros.", "Ok."), "Right, 800 euros.", "en"),
        (("O aluguel é 800 reais.", "Ok."), "O cinema passa um filme antigo hoje.", "pt"),
        (("O aluguel é 800 reais.", "Anotado."), "O pacote tem que ser despachado até as 8h05.", "pt"),
        (("Tenho 2 gatos e 3 cães.", "Ok."), "Não, obrigado.", "pt"),
        (("The ferry leaves from Porto at 7:15.", "Noted."), "Correct.", "en"),
        (("The ferry leaves from Porto at 7:15.", "Noted."), "I think Friday is fine.", "en"),
        (("A balsa sai do Porto às 7h15.", "Anotado."), "Correto.", "pt"),
    ],
)
def test_what_corrects_nothing_has_no_link(before: Sequence[str], said: str, lang: str) -> None:
    assert link(said, lang, AT, talk(*before, lang=lang)) is None


@pytest.mark.parametrize(
    ("said", "lang", "left"),
    [
        ("The meeting is on Monday. Wait, no, on Tuesday.", "en", "The meeting is on Tuesday."),
        ("My flight is at 9:40, sorry, 9:50. Wake me at 8.", "en", "My flight is at 9:50. Wake me at 8."),
        ("A reunião é na segunda, não, na terça.", "pt", "A reunião é na terça."),
        ("I have 3 dogs. Sorry, I need 2 days for that.", "en", "I have 3 dogs. Sorry, I need 2 days for that."),
    ],
)
def test_a_text_that_repairs_itself_says_what_it_ends_with(said: str, lang: str, left: str) -> None:
    assert repaired(said, lang) == left


def test_the_claim_of_a_bare_correction_has_the_subject_of_what_it_corrects() -> None:
    said, bare = talk("My shoe size is 38.", "Ok.", "Not 38, 39.", lang="en")[::2]
    linked = replace(bare, link=TurnLink(kind="corrects", to=("m0",), old="38", new="39"))
    claims = lifecycle.session_claims([Utterance.from_memory(each, HERE) for each in (said, linked)])
    assert [(each.value, each.status) for each in claims] == [("38", "superseded"), ("39", "asserted")]
    assert len({each.subject for each in claims}) == 1


def test_no_summary_tells_what_was_corrected() -> None:
    said, ok, bare = talk("The ferry to Lund leaves on 3 May at 7:15.", "I see.", "*7:45", lang="en")
    linked = replace(bare, link=TurnLink(kind="corrects", to=("m0",), old="7:15", new="7:45"))
    assert "7:15" in summaries.summarise((said, ok, bare), lang="en", max_chars=300)
    assert "7:15" not in summaries.summarise((said, ok, linked), lang="en", max_chars=300)
    assert not summaries.relevant_events(HERE, (said, linked), "en")[1:]


def test_a_remembered_turn_keeps_its_link() -> None:
    linked = ConversationTurn("user", "*7:45", AT, message_id="m2", link=TurnLink(kind="corrects", to=("m0",)))
    assert turn_of(linked.role, linked.content, linked.created_at, meta_of(linked)) == linked
