"""`fathom serve` as an OpenAI-compatible server beside a running `fathom up`: the official clients, a scripted model.

The clients know nothing of Fathom but its address and a token.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from uuid import uuid4

import openai
import pytest

from tests.builders.chat_model import KEY, ScriptedModel
from tests.e2e.calls import reachable, records, until
from tests.e2e.chat_front import answered, ask, client, in_background, settings, turns
from tests.e2e.conftest import Tenant
from tests.e2e.processes import running

ANA, EVA, BIA = "front-ana-0123456789", "front-eva-0123456789", "front-bia-0123456789"


@pytest.fixture(scope="module")
def model() -> ScriptedModel:
    return ScriptedModel([answered])


@pytest.fixture(scope="module")
def url(
    tenant: Tenant, stranger: Tenant, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    place = tmp_path_factory.mktemp("serve")
    tokens = {ANA: {"tenant": tenant.name, "user": "ana"}, EVA: {"tenant": stranger.name}}
    tokens |= {BIA: {"tenant": tenant.name, "user": "bia"}}
    beside = ("--broker", tenant.bootstrap)
    with in_background(model) as upstream:
        fronted = settings(upstream, tokens, place)
        with running("serve", "--port", "0", *beside, stderr=place / "err", **fronted) as process:
            yield reachable(process).removesuffix("/ask") + "/v1"
            assert process.end() == (0, "")
            assert "Traceback" not in process.said()
            assert not [secret for secret in (*tokens, KEY) if secret in process.said()]


@pytest.fixture(scope="module")
def broker(tenant: Tenant) -> str:
    return tenant.bootstrap


def test_the_conversation_of_another_user_is_not_found(url: str, model: ScriptedModel):
    conversation = f"c-{uuid4()}"
    ask(client(url, ANA, conversation), "My salary is FRONTCANARY.")
    calls = len(model.asked)
    with pytest.raises(openai.NotFoundError, match="there is no conversation"):
        ask(client(url, BIA, conversation), "What was said before?")
    assert len(model.asked) == calls


def test_both_sides_of_a_chat_are_in_memory_for_the_next_question(broker: str, url: str, model: ScriptedModel):
    asking = client(url, ANA, f"c-{uuid4()}")
    first = ask(asking, "When is the deadline of the Atlas contract?")
    conversation = first.headers["fathom-conversation"]
    assert (first.headers["fathom-depth"][0], int(first.headers["fathom-tokens"]) > 0) == ("D", True)
    said = first.parse().choices[0].message.content
    [user, assistant] = until(lambda: len(found := turns(broker, conversation)) == 2 and found)
    assert (user["message_id"], user["user_id"]) == (first.headers["fathom-message-id"], "ana")
    assert (assistant["role"], assistant["content"]) == ("assistant", said)
    assert (assistant["answers"], assistant["pack_id"]) == (user["message_id"], first.headers["fathom-pack-id"])
    second = ask(asking, user["content"], said, "And who decides about it?")
    [pack] = [p["value"] for p in records(broker, "context-packs.out")
              if p["value"]["pack_id"] == second.headers["fathom-pack-id"]]  # fmt: skip
    assert said in [message["content"] for message in pack["working_set"]["recent_messages"]]
    # The model had the text of that pack, and its own words are in its memory.
    instructions = model.asked[-1]["messages"][0]["content"]
    assert pack["template"] == "context"
    assert (second.headers["fathom-status"], instructions) == (
        "context", f"<fathom-context>\n{pack['text']}\n</fathom-context>",
    )  # fmt: skip
    # Asked again, it is the same turn.
    assert ask(asking, user["content"]).headers["fathom-message-id"] == user["message_id"]
    assert [turn["role"] for turn in turns(broker, conversation)].count("user") == 2


def test_twenty_chats_of_two_tenants_at_once_keep_apart(tenant: Tenant, stranger: Tenant, url: str):
    asking = {token: client(url, token) for token in (ANA, EVA)}

    def chat(number: int) -> tuple[str, str]:
        token = (ANA, EVA)[number % 2]
        done = ask(asking[token], f"The code word of chat {number} is canary-{number:02}, remember it please.")
        assert f"canary-{number:02}" in done.parse().choices[0].message.content
        return done.headers["fathom-pack-id"], done.headers["fathom-conversation"]

    with ThreadPoolExecutor(20) as pool:
        made = list(pool.map(chat, range(20)))
    assert len({conversation for _, conversation in made}) == 20
    packs = {p["value"]["pack_id"]: p for p in records(tenant.bootstrap, "context-packs.out")}
    for number, (pack_id, conversation) in enumerate(made):
        pack = packs[pack_id]
        assert (pack["value"]["conversation_id"], pack["headers"]["tenant"]) == (
            conversation,
            (tenant.name, stranger.name)[number % 2],
        )
        others = [f"canary-{other:02}" for other in range(20) if other % 2 != number % 2]
        assert [word for word in others if word in json.dumps(pack["value"])] == []


def test_what_one_tenant_said_no_other_gets_in_a_conversation_of_the_same_name(broker: str, url: str):
    name = f"c-{uuid4()}"
    ask(client(url, ANA, name), "The secret code is canary-77.")
    question = "What did I say about the secret code?"
    found = {token: ask(client(url, token, name), question).headers["fathom-pack-id"] for token in (ANA, EVA)}
    packs = {p["value"]["pack_id"]: json.dumps(p["value"]) for p in records(broker, "context-packs.out")}
    assert "canary-77" in packs[found[ANA]]
    assert "canary-77" not in packs[found[EVA]]


def test_users_behind_one_token_and_who_is_none_do_not_hear_of_each_other(url: str, model: ScriptedModel):
    asking = client(url, EVA)
    first = ask(asking, "My salary is 4711 euros, says canary-ann.", user="ann")
    question, marks = "What did I say about my salary", count(1)

    def told(**who: str) -> str:
        # Another message each time: the same one is a retry, with the pack of before. In the same words: questions in
        # other words are nearer to this one than what was said, where that is not indexed before them.
        ask(asking, f"{question}{'?' * next(marks)}", **who)
        return json.dumps(model.asked[-1])

    until(lambda: "canary-ann" in told(user="ann"))
    assert "canary-ann" not in told(user="ben")
    assert "canary-ann" not in told()
    # Who begins with her words, but is not her.
    again = ask(asking, "My salary is 4711 euros, says canary-ann.")
    assert again.headers["fathom-conversation"] != first.headers["fathom-conversation"]


def test_the_gate_completes_or_refuses_the_models_calls(url: str):
    asking = client(url, ANA, f"c-{uuid4()}")
    [refused] = ask(asking, "status, please").parse().choices
    assert refused.finish_reason == "stop"
    assert refused.message.tool_calls is None
    assert "ORD-1042" in refused.message.content  # as the policy's sentence has it
    [completed] = ask(asking, "status of ORD-2002, please").parse().choices
    [call] = completed.message.tool_calls
    assert json.loads(call.function.arguments) == {"order_id": "ORD-2002", "include_items": True}
