"""A LangGraph graph that remembers each student.

pip install "graphmem-client[langgraph]" langchain-openai; graphmem serve; graphmem enrol ada
export API=http://127.0.0.1:8000 APP_TOKEN=$(graphmem token --role app) PASSWORD="Ada's password"
python examples/adapters/langgraph_chat.py gpt-5
"""

import asyncio
import os
import sys
from typing import Any

from langchain_core.messages import SystemMessage
from langgraph.graph import END, START, StateGraph

from graphmem_client import AsyncClient
from graphmem_client.adapters.langgraph import MemoryNodes, MemoryState


async def chat(client: AsyncClient, student_id: str, model: Any, *said: str) -> list[str]:
    """Return the replies to what Ada says."""

    async def reply(state: MemoryState) -> dict[str, Any]:
        told = SystemMessage("You are a kind tutor.\n" + state["memory"])
        return {"messages": [await model.ainvoke([told, *state["messages"]])]}

    nodes = MemoryNodes(client)
    graph = StateGraph(MemoryState)
    graph.add_node("recall", nodes.recall)
    graph.add_node("reply", reply)
    graph.add_node("remember", nodes.remember)
    for first, second in ((START, "recall"), ("recall", "reply"), ("reply", "remember"), ("remember", END)):
        graph.add_edge(first, second)
    compiled, replies = graph.compile(), []
    for text in said:
        done = await compiled.ainvoke({"messages": [("user", text)]}, {"configurable": {"student_id": student_id}})
        replies.append(str(done["messages"][-1].text))
    return replies


async def main(model: str) -> None:
    """Talk about a dog."""
    from langchain_openai import ChatOpenAI

    async with AsyncClient(os.environ["API"], os.environ["APP_TOKEN"]) as client:
        await client.open_session("ada", os.environ["PASSWORD"])
        said = ("My dog is called Bello.", "What is my dog called?")
        print(*await chat(client, "ada", ChatOpenAI(model=model), *said), sep="\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
