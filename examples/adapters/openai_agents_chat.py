"""An agent of the OpenAI Agents SDK that remembers Ada.

pip install "graphmem-client[openai-agents]"; graphmem serve; graphmem enrol ada
export API=http://127.0.0.1:8000 APP_TOKEN=$(graphmem token --role app) PASSWORD="Ada's password"
python examples/adapters/openai_agents_chat.py gpt-5
"""

import asyncio
import os
import sys
from typing import Any

from agents import Agent, RunConfig, Runner

from graphmem_client import AsyncClient
from graphmem_client.adapters.openai_agents import GraphmemSession


async def chat(client: AsyncClient, student_id: str, model: Any, *said: str) -> list[str]:
    """Return the replies to what Ada says."""
    session = GraphmemSession(client, student_id)
    agent = Agent(name="Tutor", instructions="You are a kind tutor.", model=model)
    config = RunConfig(session_input_callback=session.with_memory, tracing_disabled=True)
    return [(await Runner.run(agent, text, session=session, run_config=config)).final_output for text in said]


async def main(model: str) -> None:
    """Talk about a dog."""
    async with AsyncClient(os.environ["API"], os.environ["APP_TOKEN"]) as client:
        await client.open_session("ada", os.environ["PASSWORD"])
        print(*await chat(client, "ada", model, "My dog is called Bello.", "What is my dog called?"), sep="\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
