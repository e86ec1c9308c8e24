"""OpenAI Agents SDK: a session, and what it puts before the model."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from agents.memory import SessionSettings

from graphmem_client.clients import AsyncClient
from graphmem_client.generated import Turn


class GraphmemSession:
    """Session of one student, by the SDK's protocol `Session`.

    `Runner.run(agent, text, session=session, run_config=RunConfig(session_input_callback=session.with_memory))`

    Parameters
    ----------
    client : AsyncClient, with an open session of the student
    student_id : str
    token_budget : int, 1 to 32,000, most tokens of what is remembered
    history : int, 0 to 50, latest turns that stand before a new message, where the SDK asks for no other number
    """

    session_settings: SessionSettings | None = None

    def __init__(self, client: AsyncClient, student_id: str, *, token_budget: int = 2_000, history: int = 10) -> None:
        self.client, self.session_id, self.token_budget, self.history = client, student_id, token_budget, history
        self.turn: Turn | None = None
        """What came of the latest message; its `concern` is what a person should look at."""
        self._said: list[Any] = []

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the latest messages of this session; with `with_memory` nothing else is needed."""
        turns = min(limit or self.history, 50)
        found = await self.client.context(self.session_id, "?", token_budget=1, history=turns)
        items = [{"role": each.role, "content": each.content} for each in found.messages if each.role != "system"]
        return [*items, *self._said][-limit if limit else None :]

    async def with_memory(self, history: list[Any], new: list[Any]) -> list[Any]:
        """Return the messages for the model: the latest turns, what is remembered that fits, the new ones."""
        question = "\n".join(_item_text(item) for item in new if item.get("role") == "user") or "?"
        found = await self.client.context(
            self.session_id, question, token_budget=self.token_budget, history=min(len(history), 50)
        )
        return [*({"role": each.role, "content": each.content} for each in found.messages), *new]

    async def add_items(self, items: list[Any]) -> None:
        """Remember what the student said, once the agent has replied; calls of tools are left out."""
        self._said += [item for item in items if item.get("role") == "user"]
        replies = [_item_text(item) for item in items if item.get("role") == "assistant" and _item_text(item)]
        if self._said and replies:
            text = "\n".join(map(_item_text, self._said))
            self.turn = await self.client.handle_turn(self.session_id, uuid4().hex, text, reply=replies[-1])
            self._said = []

    async def pop_item(self) -> Any | None:
        """Take back the latest message that has no reply yet; what is remembered stays."""
        return self._said.pop() if self._said else None

    async def clear_session(self) -> None:
        """Take back messages that have no reply yet; `forget` and `erase_student` are for what is remembered."""
        self._said = []


def _item_text(item: Any) -> str:
    """Return the text of an item of the Responses API."""
    content = item.get("content") or ""
    parts: Sequence[Any] = [{"text": content}] if isinstance(content, str) else content
    return "\n".join(part["text"] for part in parts if part.get("text"))
