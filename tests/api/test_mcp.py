"""The MCP server with the SDK's own client, over stdio and HTTP, on a served API."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp.client.client import Client as McpClient
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from graphmem.app import Graphmem
from graphmem.flows.students import find_student
from graphmem.local.process import free_ports
from graphmem.model import Role
from tests.conftest import PASSWORD, Enrol, Pupil

TOOLS = {"remember", "recall", "context", "correct", "forget", "progress"}


def over_stdio(api: str, student_id: str, **settings: str) -> McpClient:
    """A client of `graphmem mcp`, in a process of its own."""
    env = {"GRAPHMEM_MCP_API": api} | {f"GRAPHMEM_MCP_{name.upper()}": value for name, value in settings.items()}
    return McpClient(StdioServerParameters(command=sys.executable, args=["-m", "graphmem", "mcp", student_id], env=env))


async def told(client: McpClient, tool: str, **arguments: Any) -> Any:
    """The answer of a tool."""
    result = await client.call_tool(tool, arguments)
    (content, *_) = [*result.content, None]
    assert not result.is_error, content
    return (result.structured_content or {}).get("result", result.structured_content)


async def refusal(client: McpClient, tool: str, **arguments: Any) -> str:
    """The sentence with which a tool refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def found(client: McpClient, query: str) -> dict[str, Any]:
    """The best memory of a query, once it is formed."""
    while True:
        for each in await told(client, "recall", query=query, limit=1):
            if each["id"].startswith("memory"):
                return dict(each)
        await asyncio.sleep(0.2)


async def test_a_client_remembers_recalls_corrects_and_forgets(
    gm: Graphmem, api: str, bearer: Callable[[Role], str], ann: Pupil
) -> None:
    async with over_stdio(api, "ann", token=bearer(Role.APP), password=PASSWORD) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        said = await told(client, "remember", text="My dog is called Bello.", reply="Nice!", turn_id="one")
        assert said == {"turn_id": "one", "concern": None}
        assert await told(client, "remember", text="My dog is called Bello.", reply="Nice!", turn_id="one") == said
        memory = await found(client, "What is my dog called?")
        assert "Bello" in memory["content"]
        assert "Bello" in await told(client, "context", question="What is my dog called?")
        corrected = await told(client, "correct", memory_id=memory["id"], content="My dog is called Rex.")
        assert "Rex" in corrected["content"]
        assert (await told(client, "forget", memory_id=corrected["id"]))["memories"] >= 1
        assert await told(client, "progress") == []
        (about,) = (await client.read_resource("graphmem://context")).contents
        (asked,) = (await client.read_resource("graphmem://context/my%20dog")).contents
        assert not {"Rex"} & {*re.findall(r"\w+", about.model_dump_json() + asked.model_dump_json())}
    student = await find_student(gm, ann.who)
    assert student is not None
    assert student.session_ids == (ann.session.session_id,)


async def test_the_example_runs(api: str, bearer: Callable[[Role], str], ann: Pupil) -> None:
    example = Path(__file__).parents[2] / "examples" / "mcp_session.py"
    env = {"GRAPHMEM_MCP_API": api, "GRAPHMEM_MCP_TOKEN": bearer(Role.APP), "GRAPHMEM_MCP_PASSWORD": PASSWORD}
    process = await asyncio.create_subprocess_exec(
        sys.executable, example, "ann", env=os.environ | env, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    assert "Bello" in printed.decode().split("context:")[1]


async def test_a_concern_is_told(api: str, bearer: Callable[[Role], str], ann: Pupil) -> None:
    async with over_stdio(api, "ann", token=bearer(Role.APP), password=PASSWORD) as client:
        said = await told(client, "remember", text="I want to kill myself.", reply="I am here.")
    assert said["concern"] == {"kind": "SELF_HARM", "urgency": 3, "about": "self"}


async def test_what_the_api_refuses_is_a_sentence(api: str, bearer: Callable[[Role], str], ann: Pupil) -> None:
    async with over_stdio(api, "ann", token=bearer(Role.APP)) as client:
        assert "LOCKED: " in await refusal(client, "context", question="dog")
    async with over_stdio(api, "ann", token=bearer(Role.APP), password="a wrong password") as client:
        assert "The password is wrong or there is no such student." in await refusal(client, "recall", query="dog")
    async with over_stdio(api, "ann", token=bearer(Role.TEACHER)) as client:
        assert "FORBIDDEN: " in await refusal(client, "context", question="dog")
        assert await told(client, "progress") == []
    async with over_stdio(api, "ann", token="forged", password=PASSWORD) as client:
        assert "UNAUTHENTICATED: " in await refusal(client, "progress")
    async with over_stdio("http://127.0.0.1:1", "ann", token=bearer(Role.APP), password=PASSWORD) as client:
        assert "does not answer" in await refusal(client, "context", question="dog")
    async with over_stdio(api, "ann", token=bearer(Role.APP), password=PASSWORD) as client:
        assert "NOT_FOUND: " in await refusal(client, "forget", memory_id="memory-99")
        assert "limit must lie between" in await refusal(client, "recall", query="dog", limit=1_000)


@asynccontextmanager
async def served_mcp(api: str) -> AsyncIterator[str]:
    """`graphmem mcp --http` in a process of its own; its address."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "graphmem", "mcp", "--http", "--port", str(port)]
    process = await asyncio.create_subprocess_exec(*command, env={"GRAPHMEM_MCP_API": api})
    address = f"http://127.0.0.1:{port}/mcp"
    try:
        async with httpx.AsyncClient() as http:
            while True:
                try:
                    await http.get(address)
                    break
                except httpx.ConnectError:
                    assert process.returncode is None
                    await asyncio.sleep(0.1)
        yield address
    finally:
        process.terminate()
        await process.wait()


async def test_over_http_each_request_brings_its_own_token_and_session(
    api: str, bearer: Callable[[Role], str], enrol: Enrol
) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    async with served_mcp(api) as address:

        @asynccontextmanager
        async def connected(**headers: str) -> AsyncIterator[McpClient]:
            async with (
                httpx2.AsyncClient(headers=headers) as http,
                McpClient(streamable_http_client(address, http_client=http)) as client,
            ):
                yield client

        def as_app(pupil: Pupil) -> dict[str, str]:
            named = {"x-graphmem-student": pupil.who.student_id, "x-graphmem-session": pupil.token}
            return {"authorization": f"Bearer {bearer(Role.APP)}", **named}

        async with connected(**as_app(ann)) as client:
            await told(client, "remember", text="My dog is called Bello.", reply="Nice!")
            assert "Bello" in await told(client, "context", question="What is my dog called?")
        async with connected(**as_app(bob)) as client:
            assert "Bello" not in await told(client, "context", question="What is my dog called?")
        async with connected(**(as_app(bob) | {"x-graphmem-student": "ann"})) as client:
            assert "LOCKED: " in await refusal(client, "context", question="dog")
        async with connected() as client:
            assert "UNAUTHENTICATED: " in await refusal(client, "context", question="dog")
