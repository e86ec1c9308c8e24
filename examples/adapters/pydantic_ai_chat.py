"""A pydantic-ai agent that remembers Ada.

pip install "graphmem-client[pydantic-ai]"; graphmem serve; graphmem enrol ada
export API=http://127.0.0.1:8000 APP_TOKEN=$(graphmem token --role app) PASSWORD="Ada's password"
python examples/adapters/pydantic_ai_chat.py openai:gpt-5
"""

import asyncio
import os
import sys
from typing import Any

from pydantic_ai import Agent

from graphmem_client import AsyncClient
from graphmem_client.adapters.pydantic_ai import MemoryCapability


async def chat(client: AsyncClient, student_id: str, model: Any, *said: str) -> list[str]:
    """Return the replies to what Ada says."""
    memory = MemoryCapability(client, student_id)
    agent = Agent(model, instructions="You are a kind tutor.", capabilities=[memory])
    return [(await agent.run(text)).output for text in said]


async def main(model: str) -> None:
    """Talk about a dog."""
    async with AsyncClient(os.environ["API"], os.environ["APP_TOKEN"]) as client:
        await client.open_session("ada", os.environ["PASSWORD"])
        print(*await chat(client, "ada", model, "My dog is called Bello.", "What is my dog called?"), sep="\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
