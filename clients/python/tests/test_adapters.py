"""The adapters in their own libraries, against a server that runs."""

import asyncio
import time
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from agents.memory import Session
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from fathom_client import AsyncFathom, Fathom, FathomError, NotFound
from fathom_client.langchain import FathomChatMessageHistory
from fathom_client.langchain import FathomRetriever as LangChainRetriever
from fathom_client.llamaindex import FathomRetriever as LlamaIndexRetriever
from fathom_client.openai_agents import FathomSession

WITH_HISTORY = pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
FACT = "The team lead approves refunds up to 500 euros."


@pytest.fixture(autouse=True)
def _policy(fathom: Fathom) -> None:
    fathom.ingest_text(f"# Refunds\n\n{FACT}", title="Policy", document_id="policy-refunds")


def test_langchain_retrieves_in_a_chain(fathom: Fathom) -> None:
    retriever = LangChainRetriever(fathom=fathom)
    [found] = [one for one in retriever.invoke("Who approves refunds?") if one.metadata["type"] == "document"]
    assert found.page_content == FACT
    assert found.metadata["source"].startswith("Policy")
    assert found.metadata["document_id"] == "policy-refunds"
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    chain = {"context": retriever, "question": RunnablePassthrough()} | prompt
    assert FACT in chain.invoke("Who approves refunds?").to_string()
    assert FACT in asyncio.run(chain.ainvoke("Who approves refunds?")).to_string()


@WITH_HISTORY
def test_langchain_keeps_a_conversation(fathom: Fathom) -> None:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    talk = RunnableWithMessageHistory(
        prompt | FakeListChatModel(responses=["The team lead.", "The director."]),
        lambda session_id: FathomChatMessageHistory(fathom, session_id),
        input_messages_key="question",
        history_messages_key="history",
    )
    session: Any = {"configurable": {"session_id": str(uuid4())}}
    talk.invoke({"question": "Who approves refunds?"}, session)
    talk.invoke({"question": "And above that?"}, session)
    history = FathomChatMessageHistory(fathom, session["configurable"]["session_id"])
    assert _until(lambda: [(one.type, one.content) for one in history.messages], 4) == [
        ("human", "Who approves refunds?"),
        ("ai", "The team lead."),
        ("human", "And above that?"),
        ("ai", "The director."),
    ]
    with pytest.raises(FathomError, match="new conversation id"):
        history.clear()


@pytest.mark.parametrize("adapter", ["langchain", "llamaindex"])
def test_a_retriever_stores_nothing(fathom: Fathom, adapter: str) -> None:
    if adapter == "langchain":
        found = LangChainRetriever(fathom=fathom, options={"document": "policy-refunds"}).invoke(
            "Who approves refunds?"
        )
        texts = [one.page_content for one in found]
    else:
        nodes = LlamaIndexRetriever(fathom, document="policy-refunds").retrieve("Who approves refunds?")
        texts = [node.text for node in nodes]
    assert texts == [FACT]
    with pytest.raises(NotFound):
        fathom.conversation()


@WITH_HISTORY
def test_langchain_sends_a_question_once_where_a_retriever_and_a_history_are_of_one_session(fathom: Fathom) -> None:
    retriever = LangChainRetriever(fathom=fathom)
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{question}")])
    model = FakeListChatModel(responses=["The team lead."])
    asked = RunnablePassthrough.assign(context=itemgetter("question") | retriever)
    talk = RunnableWithMessageHistory(
        asked | prompt | model,
        lambda session_id: FathomChatMessageHistory(fathom, session_id),
        input_messages_key="question",
        history_messages_key="history",
    )
    for name in ("one", "two"):
        talk.invoke({"question": "Who approves refunds?"}, {"configurable": {"session_id": f"{name}-{fathom.user}"}})
        history = _until(lambda: fathom.conversation(f"{name}-{fathom.user}").turns, 2)  # noqa: B023  # called here
        assert [(turn.role, turn.content) for turn in history] == [
            ("user", "Who approves refunds?"),
            ("assistant", "The team lead."),
        ]
        assert history[1].answers == history[0].message_id


def test_llamaindex_retrieves_in_a_query_engine(fathom: Fathom) -> None:
    retriever = LlamaIndexRetriever(fathom)
    [node] = [one for one in retriever.retrieve("Who approves refunds?") if one.metadata["type"] == "document"]
    assert node.text == FACT
    assert node.metadata["source"].startswith("Policy")
    shown = node.get_content(MetadataMode.LLM)
    assert shown.startswith("source: Policy")
    assert "score" not in shown
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    assert FACT in str(engine.query("Who approves refunds?"))
    found = asyncio.run(LlamaIndexRetriever(fathom, limit=1).aretrieve("Who approves refunds?"))
    assert [one.text for one in found] == [FACT]


class Parrot(Model):
    """A model that answers with a number and keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **named: Any) -> ModelResponse:
        self.given.append(input)
        text = ResponseOutputText(text=f"Answer {len(self.given)}.", type="output_text", annotations=[])
        message = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **named: Any) -> Any:
        raise NotImplementedError


def test_the_agents_sdk_keeps_a_conversation(data: Path) -> None:
    async def talk() -> tuple[list[Any], Parrot]:
        async with AsyncFathom(data=data, wait_s=30) as fathom:
            session, model = FathomSession(fathom, str(uuid4())), Parrot()
            assert isinstance(session, Session)
            agent, quiet = Agent("a", model=model), RunConfig(tracing_disabled=True)
            await Runner.run(agent, "Who approves refunds?", session=session, run_config=quiet)
            await Runner.run(agent, "And above that?", session=session, run_config=quiet)
            with pytest.raises(FathomError, match="new conversation id"):
                await session.clear_session()
            assert len(await session.get_items(limit=1)) == 1
            return list(await session.get_items()), model

    items, model = asyncio.run(talk())
    expected = [
        ("user", "Who approves refunds?"),
        ("assistant", "Answer 1."),
        ("user", "And above that?"),
        ("assistant", "Answer 2."),
    ]
    assert [(one["role"], one["content"]) for one in items] == expected
    assert [(one["role"], one["content"]) for one in model.given[1]] == expected[:3]


def test_the_agents_sdk_is_given_the_pack_in_place_of_the_history(data: Path) -> None:
    async def talk() -> tuple[list[Any], Any]:
        async with AsyncFathom(data=data, wait_s=30) as fathom:
            session, model = FathomSession(fathom, str(uuid4())), Parrot()
            how = RunConfig(tracing_disabled=True, session_input_callback=session.with_context)
            for question in ("Hello!", "Who approves refunds?"):
                await Runner.run(Agent("a", model=model), question, session=session, run_config=how)
            await session.get_items()
            return model.given, await fathom.conversation(session.session_id)

    given, conversation = asyncio.run(talk())
    system, user = given[1]
    assert (system["role"], user["role"], user["content"]) == ("system", "user", "Who approves refunds?")
    assert FACT in system["content"]
    turns = [(one.role, one.content) for one in conversation.turns]
    assert turns == [
        ("user", "Hello!"),
        ("assistant", "Answer 1."),
        ("user", "Who approves refunds?"),
        ("assistant", "Answer 2."),
    ]
    assert [one.answers for one in conversation.turns if one.role == "assistant"] == [
        one.message_id for one in conversation.turns if one.role == "user"
    ]


def _until(look: Any, length: int) -> Any:
    deadline = time.monotonic() + 20
    while len(found := look()) < length and time.monotonic() < deadline:
        time.sleep(0.1)
    return found
