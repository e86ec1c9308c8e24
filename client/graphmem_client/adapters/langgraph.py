"""LangGraph: two nodes, before and after the one that asks the model."""

from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState

from graphmem_client.clients import AsyncClient
from graphmem_client.generated import Turn


class MemoryState(MessagesState):
    """State of a graph with memory: `memory` is the block for the model, `turn` what came of the latest message."""

    memory: str
    turn: Turn


class MemoryNodes:
    """Nodes for all students: the config's `configurable` names the one whom a run is about, in `student_id`.

    Parameters
    ----------
    client : AsyncClient, with open sessions of the students
    token_budget : int, 1 to 32,000, most tokens of what is remembered
    """

    def __init__(self, client: AsyncClient, *, token_budget: int = 2_000) -> None:
        self.client, self.token_budget = client, token_budget

    async def recall(self, state: MemoryState, config: RunnableConfig) -> dict[str, Any]:
        """Put into `memory` what is remembered that fits the latest message of the student."""
        said = _latest(state["messages"], "human")
        found = await self.client.context(_student_of(config), str(said.text), token_budget=self.token_budget)
        return {"memory": found.prompt}

    async def remember(self, state: MemoryState, config: RunnableConfig) -> dict[str, Any]:
        """Remember the latest message with the latest reply; a message counts once, by its id in the graph."""
        said, reply = (_latest(state["messages"], kind) for kind in ("human", "ai"))
        turn = await self.client.handle_turn(_student_of(config), str(said.id), str(said.text), reply=str(reply.text))
        return {"turn": turn}


def _latest(messages: list[AnyMessage], kind: str) -> AnyMessage:
    return next(message for message in reversed(messages) if message.type == kind and message.text)


def _student_of(config: RunnableConfig) -> str:
    return str(config["configurable"]["student_id"])
