"""pydantic-ai: a capability of an agent."""

from dataclasses import dataclass
from typing import Any

from pydantic_ai import AgentRunResult, RunContext
from pydantic_ai.capabilities import AbstractCapability

from graphmem_client.clients import AsyncClient
from graphmem_client.generated import Turn


@dataclass
class MemoryCapability(AbstractCapability[Any]):
    """Memory of one student: `Agent(model, capabilities=[MemoryCapability(client, "ada")])`.

    Parameters
    ----------
    client : AsyncClient, with an open session of the student
    student_id : str
    token_budget : int, 1 to 32,000, most tokens of what is remembered
    turn : Turn, what came of the latest run; its `concern` is what a person should look at
    """

    client: AsyncClient
    student_id: str
    token_budget: int = 2_000
    turn: Turn | None = None

    def get_instructions(self) -> Any:
        """Return what is remembered that fits the prompt of a run, as an instruction."""

        async def remembered(context: RunContext[Any]) -> str:
            question = str(context.prompt or "")
            if not question:
                return ""
            return (await self.client.context(self.student_id, question, token_budget=self.token_budget)).prompt

        return remembered

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Remember the prompt, with the agent's output as the reply; a run counts once."""
        if ctx.prompt and ctx.run_id:
            text, reply = str(ctx.prompt), str(result.output)
            self.turn = await self.client.handle_turn(self.student_id, ctx.run_id, text, reply=reply)
        return result
