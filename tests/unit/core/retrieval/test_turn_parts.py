"""The parts by which a long turn is searched."""

from agents.core.retrieval.turn_parts import message_of, part_id, parts_of


def test_a_short_turn_is_one_part_with_the_id_of_its_message() -> None:
    assert parts_of("The boiler was serviced.", "en") == ["The boiler was serviced."]
    assert part_id("m1", 0) == "m1"


def test_the_parts_of_a_long_turn_have_all_of_it_in_order() -> None:
    said = "\n".join(f"- reading {number} of the meter was normal" for number in range(90)) + "\nThe seal is K-40."
    parts = parts_of(said, "en")
    assert len(parts) > 3
    assert "\n".join(parts) == said
    assert max(len(part.split()) for part in parts) <= 120


def test_words_without_a_sentence_are_cut_too() -> None:
    assert len(parts_of("ok " * 1_000, "en")) > 3


def test_every_part_names_its_message() -> None:
    assert [message_of(part_id("a#b", number)) for number in (0, 1, 12)] == ["a#b"] * 3
