"""Points in time in Portuguese and English, resolved from a Wednesday afternoon."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.core.language.dates import MAX_EVENTS, MAX_LABEL_CHARS, events_in, with_dates
from tests.builders.examples import examples

EARLIEST, LATEST = (datetime.fromisoformat(day) for day in ("1971-01-01", "2200-01-01"))
WEDNESDAY = datetime(2026, 3, 11, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "lang", "when", "kind"),
    [
        ("Vence em 15/03/2026.", "pt", "2026-03-15T00:00", "day"),
        ("Vence em 15/03", "pt", "2026-03-15T00:00", "day"),
        ("O prazo é 15 de março de 2027", "pt", "2027-03-15T00:00", "day"),
        ("1º de maio", "pt", "2026-05-01T00:00", "day"),
        ("foi em 20 de dezembro", "pt", "2025-12-20T00:00", "day"),
        ("É no dia 20", "pt", "2026-03-20T00:00", "day"),
        ("A reunião foi ontem.", "pt", "2026-03-10T00:00", "day"),
        ("anteontem", "pt", "2026-03-09T00:00", "day"),
        ("amanhã às 10h30", "pt", "2026-03-12T10:30", "minute"),
        ("depois de amanhã", "pt", "2026-03-13T00:00", "day"),
        ("na semana passada", "pt", "2026-03-02T00:00", "week"),
        ("no mês que vem", "pt", "2026-04-01T00:00", "month"),
        ("no ano passado", "pt", "2025-01-01T00:00", "year"),
        ("próxima terça às 15h", "pt", "2026-03-17T15:00", "minute"),
        ("terça-feira passada", "pt", "2026-03-10T00:00", "day"),
        ("a entrega é quarta", "pt", "2026-03-11T00:00", "day"),
        ("há dois dias", "pt", "2026-03-09T00:00", "day"),
        ("3 semanas atrás", "pt", "2026-02-18T00:00", "day"),
        ("daqui a 10 dias", "pt", "2026-03-21T00:00", "day"),
        ("há um mês", "pt", "2026-02-11T00:00", "day"),
        ("em abril de 2024", "pt", "2024-04-01T00:00", "month"),
        ("desde então, em 2019", "pt", "2019-01-01T00:00", "year"),
        ("há 2 horas", "pt", "2026-03-11T12:30", "minute"),
        ("on 2026-03-15", "en", "2026-03-15T00:00", "day"),
        ("March 15, 2027", "en", "2027-03-15T00:00", "day"),
        ("the 15th of April", "en", "2026-04-15T00:00", "day"),
        ("It's due on the 20th", "en", "2026-03-20T00:00", "day"),
        ("03/04/2026", "en", "2026-03-04T00:00", "day"),
        ("15/04/2026", "en", "2026-04-15T00:00", "day"),
        ("yesterday", "en", "2026-03-10T00:00", "day"),
        ("tomorrow at 3pm", "en", "2026-03-12T15:00", "minute"),
        ("next Friday", "en", "2026-03-13T00:00", "day"),
        ("next Wednesday", "en", "2026-03-18T00:00", "day"),
        ("last Wednesday", "en", "2026-03-04T00:00", "day"),
        ("last week", "en", "2026-03-02T00:00", "week"),
        ("next month", "en", "2026-04-01T00:00", "month"),
        ("two days ago", "en", "2026-03-09T00:00", "day"),
        ("a year ago", "en", "2025-03-11T00:00", "day"),
        ("in 3 days", "en", "2026-03-14T00:00", "day"),
        ("Friday at noon", "en", "2026-03-13T12:00", "minute"),
    ],
)
def test_a_date_resolves_from_the_time_it_was_said(text: str, lang: str, when: str, kind: str) -> None:
    [moment] = events_in(text, lang, WEDNESDAY)
    assert (moment.at.isoformat(timespec="minutes"), moment.kind) == (f"{when}+00:00", kind)


@pytest.mark.parametrize(
    "text",
    [
        "na segunda fase do projeto",
        "a terça parte",
        "um suporte 24/7",
        "a versão 2.3.1 saiu",
        "no século 15",
        "the 15th century",
        "dia 31 de fevereiro",
        "40% do total",
        "o set 3 do jogo",
        "o orçamento é de 2000 euros",
        "uma carga de 1950 kg",
        "written in 2000 words",
        "um curso de 2000 horas",
        "",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert events_in(text, "pt", WEDNESDAY) == ()


def test_each_date_keeps_its_sentence_as_label() -> None:
    moments = events_in("Falei com a Dra. Ana ontem. A entrega é dia 20, na Av. Brasil.", "pt", WEDNESDAY)
    assert [moment.label for moment in moments] == ["Falei com a Dra. Ana ontem.", "A entrega é dia 20, na Av. Brasil."]


def test_a_long_sentence_is_cut_around_its_date() -> None:
    text = f"{'muita coisa foi dita antes ' * 20}e a visita foi ontem {'e muita coisa foi dita depois ' * 20}"
    [moment] = events_in(text, "pt", WEDNESDAY)
    assert "ontem" in moment.label
    assert len(moment.label) <= MAX_LABEL_CHARS


def test_the_day_is_the_one_in_utc() -> None:
    late_in_lisbon = datetime(2026, 3, 11, 23, 30, tzinfo=timezone(timedelta(hours=-3)))
    [moment] = events_in("hoje", "pt", late_in_lisbon)
    assert moment.at == datetime(2026, 3, 12, tzinfo=UTC)


def test_many_dates_are_bounded_in_number_and_in_time() -> None:
    began = time.process_time()
    days = (f"{day}/{month}/2026" for month in range(1, 13) for day in range(1, 28))
    moments = events_in("Houve algo em " + ", ".join(days), "pt", WEDNESDAY)
    events_in("dia 1 " * 3_000, "pt", WEDNESDAY)
    assert len(moments) == MAX_EVENTS
    assert time.process_time() - began < 1.0


_WORDS = st.lists(
    st.sampled_from(["dia", "31", "fevereiro", "de", "há", "999", "anos", "próxima", "sexta", "às", "25h", "99/99/9999",
                     "0000-00-00", "last", "week", "in", "months", "March", "the", "15th", "ago", "dois", "em",
                     "1900"]),
    max_size=15,
).map(" ".join)  # fmt: skip


@settings(max_examples=examples(50), deadline=None)
@given(st.one_of(_WORDS, st.text(max_size=80)), st.datetimes(EARLIEST, LATEST, timezones=st.just(UTC)))
def test_any_text_gives_aware_times_or_none(text: str, said_at: datetime) -> None:
    for moment in events_in(text, "pt", said_at):
        assert moment.at.utcoffset() == timedelta(0)
        assert moment.label


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("The vet comes next Friday at two.", "The vet comes next Friday at two. (next friday: 2031-05-16)"),
        (
            "I sold the boat the day before yesterday.",
            "I sold the boat the day before yesterday. (the day before yesterday: 2031-05-10)",
        ),
        ("A mudança é neste fim de semana.", "A mudança é neste fim de semana. (neste fim de semana: 2031-05-17)"),
        ("Volto daqui a duas semanas.", "Volto daqui a duas semanas. (daqui a duas semanas: 2031-05-26)"),
        ("No mês que vem não.", "No mês que vem não. (mês que vem: 2031-06)"),
        ("We met two years ago", "We met two years ago (two years ago: 2029)"),
        ("Yoga is on Mondays and Fridays, terça e quinta também.", None),
        ("The rent is due on 5 May, in two hours.", None),
    ],
)
def test_what_hangs_on_the_day_it_was_said_has_its_date_behind_it(said: str, written: str | None) -> None:
    assert with_dates(said, datetime(2031, 5, 12, 9, tzinfo=UTC)) == (written or said)
