"""What a dialogue has settled for a tool call, in Portuguese and English, and what has to be asked for."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from agents.core.conversation.memory import ConversationTurn
from agents.core.tools import dialogue as tool_dialogue
from agents.core.tools.argument_reading import read
from agents.core.tools.argument_types import Kind, SlotType, sort_of
from agents.core.tools.slot_carryover import EarlierTurn, Used, recall
from bench.evaluation.command import predict
from schemas.tool_policy import Argument, ArgumentType, Contract

Turn = tuple[str, str] | tuple[str, str, Used]


def dialogue(*turns: Turn) -> Sequence[EarlierTurn]:
    return [EarlierTurn({"u": "user", "a": "assistant"}[turn[0]], *turn[1:]) for turn in turns]


def values(said: Sequence[EarlierTurn], tool: str, *missing: str) -> Mapping[str, Any]:
    return {name: (each.value, each.source) for name, each in recall(said, tool, missing).items()}


FERRIES = Used(
    "Ferry.Find",
    {"from_harbour": "Lisboa", "passengers": "3", "leaving_date": "2026-05-04"},
    [
        {"ferry_name": "Tejo Azul", "departure_time": "09:10", "price": "14"},
        {"ferry_name": "Maré Alta", "departure_time": "11:30", "price": "12"},
    ],
)
OFFERED = dialogue(("u", "Find a ferry"), ("a", "The Maré Alta leaves at 11:30 am and costs $12.", FERRIES))


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("pickup_city", SlotType(Kind.PLACE, "origin")),
        ("destination", SlotType(Kind.PLACE)),
        ("cidade_destino", SlotType(Kind.PLACE)),
        ("check_in_date", SlotType(Kind.DATE)),
        ("dropoff_date", SlotType(Kind.DATE, "end")),
        ("appointmentTime", SlotType(Kind.TIME)),
        ("number_of_seats", SlotType(Kind.COUNT, "people")),
        ("numero_de_quartos", SlotType(Kind.COUNT, "quarto")),
        ("stay_length", SlotType(Kind.COUNT, "days")),
        ("transfer_amount", SlotType(Kind.MONEY)),
        ("valor", SlotType(Kind.MONEY)),
        ("recipient_account_type", SlotType(Kind.ACCOUNT, "recipient")),
        ("destinatario", SlotType(Kind.PERSON)),
        ("hotel_name", SlotType(Kind.NAME, "hotel")),
        ("shared_ride", SlotType(Kind.OTHER, "shared ride")),
    ],
)
def test_the_sort_of_an_argument_is_in_its_name(name: str, sort: SlotType) -> None:
    assert sort_of(name) == sort


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("date", "Please confirm: a table for 2 on May 4th at 7:30 pm.", "May 4th"),
        ("data", "Confirma a reserva para 4 de maio às 19h30?", "4 de maio"),
        ("data", "Então fica para depois de amanhã, certo?", "depois de amanhã"),
        ("return_date", "Leaving May 4th and back on May 9th, right?", "May 9th"),
        ("return_date", "Leaving on May 4th, right?", None),
        ("time", "Please confirm: a table for 2 on May 4th at 7:30 pm.", "7:30 pm"),
        ("horario", "Confirma a reserva para 4 de maio às 19h30?", "19h30"),
        ("number_of_seats", "Please confirm: a table for 2 on May 4th at 7:30 pm.", "2"),
        ("pessoas", "Mesa para quatro pessoas, certo?", "4"),
        ("travelers", "Leaving at 4:15 pm, is that right?", None),
        ("stay_length", "A room for 3 nights at $87 per night, right?", "3"),
        ("stay_length", "It costs $87 per night.", None),
        ("transfer_amount", "Your balance is $9,120. Shall I transfer $310 to Rui?", "310"),
        ("transfer_amount", "Your balance is $9,120 right now.", None),
        ("transfer_amount", "Shall I transfer $1,310.50 to Rui?", "1310.50"),
        ("valor", "Envio R$ 1.200,50 para a Ana, certo?", "1200.50"),
        ("valor", "Pago 1.200,5 reais? O saldo é de 9.120 reais.", "1200.5"),
        ("valor", "Pago R$1.200 à Ana?", "1200"),
        ("data", "Passagem para a próxima terça-feira, certo?", "próxima terça-feira"),
        ("horario", "Reserva para o meio-dia, certo?", "meio-dia"),
        ("conta", "Transfiro da poupança, certo?", "poupança"),
        ("numero_de_dias", "Hotel por cinco noites?", "5"),
        ("quantidade_de_ingressos", "Certo, dois para o show de sábado?", "2"),
        ("origem", "Um ônibus saindo de Belo Horizonte às 8h?", "Belo Horizonte"),
        ("destino", "Um ônibus para Ouro Preto?", "Ouro Preto"),
        ("cidade", "Um hotel perto de Ouro Preto?", "Ouro Preto"),
        ("destinatario", "Envio 50 reais para João Souza?", "João Souza"),
        ("nome_do_evento", "Um evento chamado festa da Ana às 20h?", "festa da Ana"),
        ("quarto_duplo", "Um hotel sem quarto duplo, certo?", "False"),
        ("quarto_duplo", "Um hotel com quarto duplo, certo?", "True"),
        ("account_type", "Transfer $310 from savings to her checking account?", "savings"),
        ("recipient_account_type", "Transfer $310 from savings to her checking account?", "checking"),
        ("recipient_name", "Shall I transfer $310 to Rui Prado?", "Rui Prado"),
        ("origin", "A bus from Belo Horizonte to Ouro Preto, right?", "Belo Horizonte"),
        ("destination", "A bus from Belo Horizonte to Ouro Preto, right?", "Ouro Preto"),
        ("destination", "A bus from Belo Horizonte to Ouro Preto May 4th, right?", "Ouro Preto"),
        ("origin", "A bus from Cape May May 4th, right?", "Cape May"),
        ("destino", "Um ônibus para Rio de Janeiro às 9h?", "Rio de Janeiro"),
        ("new_alarm_name", "An alarm called Feed the cat at 6 am, correct?", "Feed the cat"),
        ("numero_de_quartos", "Confirma dois quartos para 4 pessoas?", "2"),
        ("number_of_copies", "Print 3 copies of the contract, right?", "3"),
        ("number_of_copies", "Print the contract on May 3, right?", None),
        ("late_checkout", "A room with late checkout, right?", "True"),
        ("early_check_in", "Without an early check-in, correct?", "False"),
        ("event_type", "Which event type do you want?", None),
        ("shared_ride", "You want a shared ride to Av. Brasil, 10?", "True"),
        ("shared_ride", "You don't want a shared ride, right?", "False"),
        ("colour", "You want it in red, right?", None),
    ],
)
def test_a_value_is_read_as_it_is_written(name: str, text: str, value: str | None) -> None:
    assert read(name, sort_of(name), text) == value


def test_what_was_proposed_last_comes_first() -> None:
    said = [
        *OFFERED,
        *dialogue(
            ("u", "Good"),
            (
                "a",
                "Please confirm: 2 tickets at 11:45 am on May 6th.",
            ),
            ("u", "Yes"),
        ),
    ]
    assert values(said, "Ferry.Book", "passengers", "leaving_date", "departure_time") == {
        "passengers": ("2", "proposal"),
        "leaving_date": ("May 6th", "proposal"),
        "departure_time": ("11:45 am", "proposal"),
    }


def test_of_a_result_the_row_that_was_spoken_of_is_meant() -> None:
    assert values(OFFERED, "Ferry.Book", "ferry_name", "price") == {
        "ferry_name": ("Maré Alta", "result"),
        "price": ("12", "result"),
    }


def test_what_an_earlier_call_of_the_service_had_is_still_so() -> None:
    found = values([*OFFERED, *dialogue(("u", "Perfect, book it"))], "Ferry.Book", "from_harbour", "travelers")
    assert found == {"from_harbour": ("Lisboa", "call"), "travelers": ("3", "call")}


def test_another_task_s_date_is_asked_about_and_its_people_go_along() -> None:
    # The ferry leaves from Lisboa: whoever takes it will not be there.
    said = [*OFFERED, *dialogue(("u", "Also find a hotel for us there"))]
    assert values(said, "Hotels.Search", "destination", "check_in_date", "guests") == {"guests": ("3", "reference")}
    alone = [*OFFERED, *dialogue(("u", "Find a hotel"))]
    assert values(alone, "Hotels.Search", "guests") == {}


TRAIN = Used("Rail.Find", {"from_station": "Porto", "to_city": "Braga", "leaving_date": "2026-05-04"}, [{"seats": "9"}])
CAR = Used("Cars.Find", {"pickup_city": "Faro", "pickup_date": "2026-05-04"}, [{"car": "Clio"}])
DESK = Used("Cars.Reserve", {"pickup_location": "Faro Airport"}, [{"car": "Clio"}])


@pytest.mark.parametrize(
    ("calls", "said", "place"),
    [
        ((TRAIN,), "Find me a hotel there", "Braga"),
        ((TRAIN,), "A room in that city, please", "Braga"),
        ((TRAIN,), "Quero um hotel lá", "Braga"),
        ((TRAIN,), "Procura um quarto nessa cidade", "Braga"),
        ((TRAIN,), "Any hotels at my destination?", "Braga"),
        ((TRAIN,), "Há hotéis no meu destino?", "Braga"),
        ((CAR, DESK), "And a room there", "Faro"),
        ((TRAIN, CAR), "A room there", "Faro"),
        ((TRAIN,), "I need a bus to go there", "Braga"),
        ((TRAIN,), "Hi there, find me a hotel", None),
        ((TRAIN,), "I need a hotel, but not there", None),
        ((TRAIN,), "Não quero ficar lá; procura um hotel", None),
        ((TRAIN,), "Quero um voo de lá", None),
        ((TRAIN,), "My sister is there, find a hotel in Lisboa", None),
        ((TRAIN,), "Find a cinema nearby", None),
        ((TRAIN,), "Find me a hotel", None),
        ((TRAIN,), "There is one more thing: a hotel", None),
        ((TRAIN,), "Preciso de um hotel", None),
    ],
)
def test_there_is_the_place_of_the_task_before(calls: Sequence[Used], said: str, place: str | None) -> None:
    before = [("a", "Here it is.", used) for used in calls]
    found = values(dialogue(("u", "Help me"), *before, ("u", said)), "Hotels.Search", "destination")
    assert found == ({} if place is None else {"destination": (place, "reference")})


def test_there_is_asked_for_where_what_was_confirmed_after_it_cannot_be_read() -> None:
    ride = ("u", "A cab to get there"), ("a", "please confirm: a ride to wrigley field for 4"), ("u", "yes")
    assert "destination" not in values(dialogue(("u", "Hi"), ("a", "Done.", TRAIN), *ride), "Rides.Get", "destination")


@pytest.mark.parametrize(
    ("confirmed", "given", "missing", "value"),
    [
        (
            "3 tickets to see Laura Osnes in New York on March 4th?",
            {"city": "New York"},
            ("event_name",),
            "Laura Osnes",
        ),
        ("Please confirm: playing Glow on the TV.", {"song_name": "Glow"}, ("playback_device",), "TV"),
        ("Table for 2 at Koryo Sushi in Oakland, right?", {"location": "Oakland"}, ("restaurant_name",), "Koryo Sushi"),
        (
            "Posso confirmar: 2 lugares para Os Maias em Évora?",
            {"cidade": "Évora"},
            ("nome_da_peca",),
            "Os Maias",
        ),
        # Two that nothing accounts for, and two that are open.
        ("Confirm Glow on the TV?", {}, ("playback_device",), None),
        ("Please confirm Koryo Sushi at 7 pm.", {}, ("restaurant_name", "menu_kind"), None),
        # Who is spoken to, and what the user does not agree to.
        ("Ok Maria, you want a table for two, correct?", {}, ("restaurant_name",), None),
        ("Thanks, Maria. Please confirm: $310 by Pix?", {}, ("receiver",), None),
        # No name but the day.
        ("Do you confirm it for Friday, March 4th?", {}, ("event_name",), None),
    ],
)
def test_the_one_name_left_takes_the_one_argument_that_is_open(
    confirmed: str, given: Mapping[str, object], missing: Sequence[str], value: str | None
) -> None:
    said = dialogue(("u", "Do it"), ("a", confirmed), ("u", "Yes"))
    found = {name: each.value for name, each in recall(said, "Any.Do", missing, given).items()}
    assert found == ({} if value is None else {missing[0]: value})


@pytest.mark.parametrize(
    ("asked", "answer", "city"),
    [
        ("Would you like to pick it up in Sacramento?", "Yes, that is good.", "Sacramento"),
        ("Would you like to pick it up in Sacramento?", "Where else can I?", None),
        ("Você quer retirar o carro em Braga?", "Sim, pode ser.", "Braga"),
    ],
)
def test_what_the_assistant_asked_is_settled_by_a_yes(asked: str, answer: str, city: str | None) -> None:
    found = values(dialogue(("u", "A car"), ("a", asked), ("u", answer)), "Cars.Find", "pickup_city")
    assert found == ({} if city is None else {"pickup_city": (city, "proposal")})


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Send $20 to Grace. Is that right?", "Grace"),
        ("Transferir 20 euros para Rui. Certo?", "Rui"),
        ("You send $20 to St. John, correct?", "St. John"),
        ("You send $20 to Prof. Brown, correct?", "Prof. Brown"),
    ],
)
def test_a_value_ends_with_its_sentence(said: str, value: str) -> None:
    assert read("receiver", sort_of("receiver"), said) == value


def test_what_a_result_tells_of_something_else_is_no_proposal() -> None:
    """The time of an alarm that is set is not that of the next."""
    alarms = Used("Alarm.List", {}, [{"alarm_name": "Gym", "alarm_time": "06:00"}])
    said = dialogue(("u", "Which alarms?"), ("a", "There is one for 6 am.", alarms), ("u", "Add one called Cat"))
    assert values(said, "Alarm.Add", "new_alarm_time") == {}


@pytest.mark.parametrize("again", ["Pay.MakePayment", "Pay.RequestPayment"])
def test_what_was_carried_out_is_over(again: str) -> None:
    paid = Used("Pay.MakePayment", {"amount": "31", "receiver": "Rui"}, [{"amount": "31", "receiver": "Rui"}])
    said = dialogue(("u", "Pay Rui"), ("a", "Your payment is complete.", paid), ("u", "One more payment, please"))
    found = values(said, again, "amount", "receiver")
    assert found == {}


def test_what_undoes_a_task_takes_its_values() -> None:
    paid = Used("Pay.MakePayment", {"amount": "31", "receiver": "Rui"}, [{"payment_id": "p-7", "receiver": "Rui"}])
    said = dialogue(("u", "Pay Rui"), ("a", "Your payment is complete.", paid), ("u", "Cancel it"))
    assert values(said, "Pay.CancelPayment", "payment_id") == {"payment_id": ("p-7", "result")}


def test_what_could_not_be_carried_out_goes_on() -> None:
    tried = Used("Ferry.Book", {"passengers": "3", "departure_time": "11:30"}, [{"departure_time": "12:00"}])
    told = "Sorry, it is full. How about 12:00 pm instead?"
    said = [*OFFERED, *dialogue(("u", "Book it"), ("a", told, tried), ("u", "Fine"))]
    assert values(said, "Ferry.Book", "passengers", "departure_time") == {
        "passengers": ("3", "call"),
        "departure_time": ("12:00 pm", "proposal"),
    }


def test_nothing_is_recalled_of_nothing() -> None:
    assert values(dialogue(("u", "Book a ferry")), "Ferry.Book", "destination", "passengers", "date") == {}
    assert recall([], "Ferry.Book", ["date"]) == {}


def test_the_kit_s_items_are_predicted_through_the_same_code(tmp_path: Any) -> None:
    item = {
        "id": "i1",
        "dialogue": [
            {"role": "user", "text": "Find a ferry"},
            {
                "role": "assistant",
                "text": "The Maré Alta leaves at 11:30 am.",
                "call": {"name": FERRIES.tool, "args": FERRIES.args},
                "result": FERRIES.rows,
            },
            {"role": "user", "text": "Perfect, book it"},
        ],
        "call": {"name": "Ferry.Book", "args": {"class": "first"}},
        "contract": {"required": ["passengers", "harbour_tax", "class"], "optional": ["ferry_name", "meal"]},
    }
    source, target = tmp_path / "items.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(orjson.dumps(item) + b"\n")
    predict.predict("tool_arguments", source, target)
    assert orjson.loads(target.read_bytes()) == {
        "id": "i1", "filled": {"passengers": "3", "ferry_name": "Maré Alta"}, "ask": ["harbour_tax"],
    }  # fmt: skip


def test_that_a_thing_is_spoken_of_is_a_value_of_yes_or_no_arguments_alone() -> None:
    turn = ConversationTurn("assistant", "You want a shared ride, right?", datetime(2026, 1, 14, 12, tzinfo=UTC), "m1")

    def found(type_: ArgumentType) -> list[object]:
        contract = Contract(arguments={"shared_ride": Argument(type=type_, recall=True)})
        each = tool_dialogue.DialogueState([turn]).values("Ride.Book", contract, ["shared_ride"])["shared_ride"]
        return list(each.values)

    assert found("boolean") == [True]
    assert found("string") == []


@pytest.mark.parametrize("answer", ["No, the other one", "Yes, but for four", "To my brother"])
def test_a_name_that_the_user_does_not_agree_to_fills_nothing(answer: str) -> None:
    said = dialogue(("u", "A table"), ("a", "Please confirm: a table at Koryo Sushi?"), ("u", answer))
    assert values(said, "Tables.Reserve", "restaurant_name") == {}


def test_a_yes_settles_no_sum_and_no_receiver() -> None:
    asked = ("a", "Is it a gift for Ana, and did you pay $500 last time?"), ("u", "Yes")
    assert values(dialogue(("u", "Money"), *asked), "Bank.Transfer", "amount", "receiver") == {}


def test_a_way_has_no_origin_where_its_end_is() -> None:
    said = dialogue(("u", "A bus"), ("a", "You want a bus to the museum in Braga, correct?"), ("u", "Yes"))
    assert "origin" not in values(said, "Bus.Find", "origin", "destination")
