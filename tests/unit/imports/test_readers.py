"""What each export holds: turns with their dates and ids, and what is left out, by reason."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from streams.imports import formats, json_lines, langchain, mem0, openai, zep
from streams.imports.turns import (
    BRANCH,
    ENDED,
    HIDDEN,
    MEMORIES,
    NO_TEXT,
    PART,
    SYSTEM,
    TOOL,
    UNKNOWN,
    UNKNOWN_ROLE,
    ExportPlace,
    ImportedTurn,
    LeftOut,
    time_of,
)

PLACE = ExportPlace("historico", 0)
MAY = 1_714_557_600.25


def read(module: Any, value: Any, place: ExportPlace = PLACE) -> tuple[list[ImportedTurn], Counter[str]]:
    found = list(module.turns(value, place))
    left = Counter(each.reason for each in found if isinstance(each, LeftOut))
    return [each for each in found if isinstance(each, ImportedTurn)], left


def words(module: Any, value: Any) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in read(module, value)[0]]


def node(name: str, parent: str | None, role: str, *parts: Any, **message: Any) -> dict[str, Any]:
    content = {"content_type": message.pop("content_type", "text"), "parts": list(parts)}
    own = {"id": name, "author": {"role": role}, "create_time": MAY, "content": content, "recipient": "all", **message}
    return {"id": name, "parent": parent, "children": [], "message": own}


def chat(*nodes: dict[str, Any], end: str | None = None, **fields: Any) -> dict[str, Any]:
    root = {"id": "root", "parent": None, "children": [], "message": None}
    mapping = {each["id"]: each for each in (root, *nodes)}
    for each in nodes:
        if each["parent"] in mapping:
            mapping[each["parent"]]["children"].append(each["id"])
    return {
        "conversation_id": "c-1",
        "title": "Férias",
        "create_time": MAY,
        "current_node": end,
        "mapping": mapping,
        **fields,
    }


# --- ChatGPT


def test_of_chatgpt_the_branch_that_the_user_sees_is_read_and_the_others_are_counted() -> None:
    value = chat(
        node("s", "root", "system", ""),
        node("u1", "s", "user", "Minha alergia é a amendoim."),
        node("a-old", "u1", "assistant", "Anotei mal."),
        node("a1", "u1", "assistant", "Anotado."),
        end="a1",
    )
    turns, left = read(openai, value)
    assert [(turn.role, turn.content, turn.conversation_id) for turn in turns] == [
        ("user", "Minha alergia é a amendoim.", "c-1"),
        ("assistant", "Anotado.", "c-1"),
    ]
    assert turns[0].at == datetime(2024, 5, 1, 10, 0, 0, 250_000, UTC)
    assert left == {SYSTEM: 1, BRANCH: 1}


def test_of_chatgpt_what_is_no_words_of_the_two_is_left_out_by_reason() -> None:
    turns, left = read(
        openai,
        chat(
            node(
                "u1",
                "root",
                "user",
                {"content_type": "image_asset_pointer"},
                "What is this?",
                content_type="multimodal_text",
            ),
            node(
                "u2",
                "u1",
                "user",
                {"content_type": "audio_transcription", "text": "And that?"},
                content_type="multimodal_text",
            ),
            node("a1", "u2", "assistant", "search('x')", recipient="browser"),
            node("t1", "a1", "tool", "results"),
            node("a2", "t1", "assistant", "print(1)", content_type="code"),
            node("a3", "a2", "assistant", "", create_time=None),
            node("u3", "a3", "user", "context", metadata={"is_visually_hidden_from_conversation": True}),
            node("a4", "u3", "assistant", "A cat.", create_time=None),
            end="a4",
        ),
    )
    assert [turn.content for turn in turns] == ["What is this?", "And that?", "A cat."]
    assert turns[2].at == turns[1].at  # of a message without a time that of the one before it
    assert left == {PART: 1, TOOL: 2, NO_TEXT: 2, HIDDEN: 1}


def test_of_chatgpt_a_chat_without_a_current_node_ends_at_its_newest_and_a_circle_ends() -> None:
    value = chat(node("u1", "root", "user", "Oi"), node("a1", "u1", "assistant", "Olá", create_time=MAY + 5))
    assert words(openai, value) == [("user", "Oi"), ("assistant", "Olá")]
    value["mapping"]["u1"]["parent"] = "a1"
    assert words(openai, {**value, "current_node": "a1"}) == [("user", "Oi"), ("assistant", "Olá")]
    assert read(openai, {"mapping": {"x": 3, "y": {"message": "?"}}}) == ([], Counter())


# --- LangChain


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "human", "data": {"content": "Oi", "type": "human"}}, {"type": "ai", "data": {"content": "Olá"}}],
        [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "messages", "HumanMessage"],
                "kwargs": {"content": "Oi"},
            },
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain_core", "messages", "AIMessageChunk"],
                "kwargs": {"content": "Olá"},
            },
        ],
        {
            "messages": [
                {"type": "human", "content": "Oi"},
                {"type": "ai", "content": [{"type": "text", "text": "Olá"}]},
            ]
        },
        {
            "s": [
                {"type": "chat", "data": {"role": "user", "content": "Oi"}},
                {"type": "chat", "data": {"role": "assistant", "content": "Olá"}},
            ]
        },
    ],
)
def test_of_langchain_each_form_of_a_history_is_the_same_turns(value: Any) -> None:
    assert formats.format_of(value) is formats.FORMATS["langchain"]
    assert words(langchain, value) == [("user", "Oi"), ("assistant", "Olá")]


def test_of_langchain_a_time_is_found_where_one_is_and_system_and_tools_are_left_out() -> None:
    turns, left = read(
        langchain,
        [
            {"type": "system", "data": {"content": "You are helpful"}},
            {"type": "ai", "data": {"content": "Hi", "response_metadata": {"created_at": "2024-05-01T10:00:00Z"}}},
            {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "f"}]}},
            {"type": "tool", "data": {"content": "42"}},
            {
                "type": "ai",
                "data": {"content": [{"type": "image_url", "image_url": {}}, {"type": "thinking", "text": "hm"}]},
            },
            "noise",
        ],
    )
    assert [(turn.content, turn.at) for turn in turns] == [("Hi", datetime(2024, 5, 1, 10, tzinfo=UTC))]
    assert left == {SYSTEM: 1, NO_TEXT: 1, TOOL: 1, PART: 2, UNKNOWN: 1}


# --- mem0


def test_of_mem0_each_memory_is_a_turn_of_its_user_dated_when_it_was_last_changed() -> None:
    value = {
        "results": [
            {
                "id": "m1",
                "memory": "É alérgica a amendoim",
                "user_id": "ana",
                "created_at": "2024-05-01T03:00:00-07:00",
            },
            {
                "id": "m2",
                "memory": "Lives in Leeds",
                "user_id": "eva",
                "created_at": "2024-01-01",
                "updated_at": "2024-06-01T00:00:00Z",
            },
            {"id": "m3", "memory": ""},
        ]
    }
    turns, left = read(mem0, value)
    assert [(turn.conversation_id, turn.role, turn.user_id, turn.content) for turn in turns] == [
        (MEMORIES, "user", "ana", "É alérgica a amendoim"),
        (MEMORIES, "user", "eva", "Lives in Leeds"),
    ]
    assert [turn.at for turn in turns] == [datetime(2024, 5, 1, 10, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)]
    assert left == {NO_TEXT: 1}
    assert read(mem0, value["results"][0])[0] == turns[:1]
    value["results"][0]["memory"] = "É alérgica a nozes"
    assert read(mem0, value)[0][0].message_id != turns[0].message_id  # changed since: another turn


# --- Zep


def test_of_zep_messages_of_all_versions_and_the_facts_that_hold_are_turns() -> None:
    session = {
        "session_id": "s-9",
        "user_id": "ana",
        "created_at": "2024-05-01T10:00:00Z",
        "messages": [
            {
                "uuid": "1",
                "role": "Ana",
                "role_type": "user",
                "content": "Moro em Lisboa.",
                "created_at": "2024-05-01T10:01:00Z",
            },
            {"uuid": "2", "role": "ai", "content": "Anotado.", "updated_at": "0001-01-01T00:00:00Z"},
            {"uuid": "3", "role_type": "tool", "role": "x", "content": "?"},
            {"uuid": "4", "role_type": "norole", "role": "Bob", "content": "Hm"},
        ],
        "facts": [
            "Ana prefers tea",
            {
                "uuid": "f1",
                "fact": "Ana works at Atlas",
                "created_at": "2024-05-02T00:00:00Z",
                "valid_at": "2023-01-01T00:00:00Z",
            },
            {"uuid": "f2", "fact": "Ana lives in Porto", "invalid_at": "2024-05-01T10:01:00Z"},
        ],
    }
    turns, left = read(zep, {"sessions": [session]})
    assert [(turn.conversation_id, turn.role, turn.content, turn.user_id) for turn in turns] == [
        ("s-9", "user", "Moro em Lisboa.", "ana"),
        ("s-9", "assistant", "Anotado.", "ana"),
        (MEMORIES, "user", "Ana prefers tea", "ana"),
        (MEMORIES, "user", "Ana works at Atlas", "ana"),
    ]
    assert [turn.at and turn.at.isoformat()[:10] for turn in turns] == [
        "2024-05-01",
        "2024-05-01",
        "2024-05-01",
        "2023-01-01",
    ]
    assert left == {TOOL: 1, UNKNOWN_ROLE: 1, ENDED: 1}
    assert read(zep, session)[0] == turns
    assert words(zep, {"thread_id": "t", "messages": [{"role": "user", "name": "Ana", "content": "Oi"}]}) == [
        ("user", "Oi")
    ]
    assert words(zep, {"edges": [{"fact": "Ana works at Atlas", "name": "WORKS_AT"}]}) == [
        ("user", "Ana works at Atlas")
    ]


# --- our own lines


def test_a_line_of_ours_keeps_its_id_and_one_without_has_that_of_its_place_and_words() -> None:
    line = {
        "conversation_id": "c",
        "role": "user",
        "content": "Oi",
        "created_at": "2024-05-01T10:00:00",
        "user_id": "ana",
    }
    [named], _ = read(json_lines, {**line, "message_id": "m-1"})
    assert (named.message_id, named.user_id, named.at) == ("m-1", "ana", datetime(2024, 5, 1, 10, tzinfo=UTC))
    [first], _ = read(json_lines, line)
    [again], _ = read(json_lines, line)
    [second], _ = read(json_lines, line, ExportPlace("historico", 1))
    assert first.message_id == again.message_id != second.message_id
    assert read(json_lines, {"question": "?"}) == ([], Counter({UNKNOWN: 1}))


# --- all of them


@pytest.mark.parametrize("module", [openai, langchain, mem0, zep, json_lines])
@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [[]], {"mapping": 1}, {"results": 4}, {"messages": "x"}])
def test_another_form_is_no_turn_and_no_error(module: Any, value: Any) -> None:
    assert not module.fits(value)
    assert read(module, value)[0] == []


def test_an_id_that_none_may_be_becomes_one_and_half_characters_are_no_text() -> None:
    line = {"conversation_id": " \x1b[31mred\n", "role": "user", "content": "a \ud83d b"}
    [turn], _ = read(json_lines, line)
    assert turn.conversation_id.isprintable()
    assert turn.content == "a ? b"


@pytest.mark.parametrize(
    ("stated", "year"),
    [
        (MAY, 2024),
        (MAY * 1000, 2024),
        ("2024-05-01T10:00:00Z", 2024),
        ("0001-01-01T00:00:00Z", None),
        (0, None),
        ("yesterday", None),
        (float("nan"), None),
        (10**30, None),
        (True, None),
        ([], None),
    ],
)
def test_a_time_is_one_of_three_forms(stated: object, year: int | None) -> None:
    found = time_of(stated)
    assert (found and found.year) == year
