"""The adapters for agent frameworks, by their examples, with models that answer what they were given."""

import asyncio
import os
import runpy
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.jobs.sessions import close_session
from graphmem.model import Role
from graphmem_client import AsyncClient, Client
from tests.conftest import PASSWORD, Pupil

EXAMPLES = Path(__file__).parents[2] / "examples" / "adapters"
SAID = ("My dog is called Bello.", "I hate number lines.")
ASKED = "What is my dog called?"

# What a framework warns of is its own matter.
pytestmark = pytest.mark.filterwarnings("ignore")


def example(name: str, needs: str) -> Callable[..., Any]:
    """The function `chat` of an example; skipped where its framework is missing, but in CI."""
    try:
        import_module(needs)
    except ImportError:
        told = f"needs {needs}: pip install -r requirements/extras.txt"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(told)
    found: Callable[..., Any] = runpy.run_path(str(EXAMPLES / f"{name}.py"))["chat"]
    return found


@pytest.fixture
async def client(api: str, bearer: Callable[[Role], str], ann: Pupil) -> AsyncIterator[AsyncClient]:
    """A client with Ann's session."""
    async with AsyncClient(api, bearer(Role.APP)) as opened:
        await opened.open_session("ann", PASSWORD)
        yield opened


async def next_session(gm: Graphmem, client: AsyncClient, ann: Pupil) -> None:
    """End every session: the turns are gone, what is remembered of them is not."""
    await client.close_session("ann")
    await close_session(gm, ann.session, wait=True)
    await client.open_session("ann", PASSWORD)


async def check(client: AsyncClient, first: list[str], second: list[str]) -> None:
    """What was said was given to the model, in the next session as what is remembered, and is remembered once."""
    assert [SAID[0] in first[0], SAID[1] in first[1]] == [True, True]
    assert "<COMPANION_MEMORY>" in second[0]
    assert "Bello" in second[0]
    history = (await client.context("ann", "?", token_budget=1, history=3)).messages
    assert [(each.role, each.content) for each in history if each.role != "system"] == [
        ("user", ASKED),
        ("assistant", second[0]),
    ]


async def test_pydantic_ai(gm: Graphmem, client: AsyncClient, ann: Pupil) -> None:
    chat = example("pydantic_ai_chat", "pydantic_ai")
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    async def echo(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(f"{info.instructions} {messages[-1].parts[-1].content}")])  # type: ignore[union-attr]

    model = FunctionModel(echo)
    first = await chat(client, "ann", model, *SAID)
    await next_session(gm, client, ann)
    await check(client, first, await chat(client, "ann", model, ASKED))


async def test_langgraph(gm: Graphmem, client: AsyncClient, ann: Pupil) -> None:
    chat = example("langgraph_chat", "langgraph.graph")
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableLambda

    model = RunnableLambda(lambda messages: AIMessage(" ".join(str(each.text) for each in messages)))
    first = await chat(client, "ann", model, *SAID)
    await next_session(gm, client, ann)
    await check(client, first, await chat(client, "ann", model, ASKED))


async def test_openai_agents(gm: Graphmem, client: AsyncClient, ann: Pupil) -> None:
    chat = example("openai_agents_chat", "agents")
    from agents import Model, ModelResponse, Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Echo(Model):
        async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:
            told = " ".join(str(each["content"]) for each in input)
            text = ResponseOutputText(text=told, type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    first = await chat(client, "ann", Echo(), *SAID)
    await next_session(gm, client, ann)
    await check(client, first, await chat(client, "ann", Echo(), ASKED))


async def test_a_session_of_openai_agents_takes_back_what_has_no_reply(client: AsyncClient) -> None:
    example("openai_agents_chat", "agents")
    from agents.memory import Session

    from graphmem_client.adapters.openai_agents import GraphmemSession

    session = GraphmemSession(client, "ann")
    assert isinstance(session, Session)
    message = {"role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
    await session.add_items([message])
    assert await session.get_items() == [message]
    assert await session.pop_item() == message
    assert await session.pop_item() is None
    await session.add_items([message])
    await session.clear_session()
    assert await session.get_items(limit=5) == []


async def test_llama_index(gm: Graphmem, api: str, client: AsyncClient, ann: Pupil) -> None:
    chat = example("llama_index_chat", "llama_index.core")
    from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
    from llama_index.core.llms import CustomLLM

    class Echo(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
            return CompletionResponse(text=prompt)

        def stream_complete(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    def talk(*said: str) -> list[str]:
        with Client(api, client.token) as blocking:
            blocking.sessions = client.sessions
            return list(chat(blocking, "ann", Echo(), *said))

    first = await asyncio.to_thread(talk, *SAID)
    await next_session(gm, client, ann)
    await check(client, first, await asyncio.to_thread(talk, ASKED))
