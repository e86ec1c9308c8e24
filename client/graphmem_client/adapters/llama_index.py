"""LlamaIndex: the memory of a chat engine or an agent.

It is a whole memory, no block of one: a block hears of messages only when they leave the short-term memory, and never
of a conversation's last ones.
"""

from typing import Any
from uuid import uuid4

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import ConfigDict, PrivateAttr
from llama_index.core.memory import BaseMemory

from graphmem_client.clients import Client
from graphmem_client.generated import Turn


class GraphmemMemory(BaseMemory):
    """Memory of one student: `SimpleChatEngine.from_defaults(memory=GraphmemMemory(client=client, student_id="ada"))`.

    Parameters
    ----------
    client : Client, with an open session of the student
    student_id : str
    token_budget : int, 1 to 32,000, most tokens of what is remembered
    history : int, 0 to 50, latest turns that stand before it
    turn : Turn, what came of the latest message; its `concern` is what a person should look at
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Client
    student_id: str
    token_budget: int = 2_000
    history: int = 10
    turn: Turn | None = None
    _said: list[ChatMessage] = PrivateAttr(default_factory=list)

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> "GraphmemMemory":
        """Return the memory of a student."""
        return cls(**kwargs)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return the latest turns, what is remembered that fits the message, and the message that waits for a reply."""
        question = input or "\n".join(str(each.content) for each in self._said if each.role == MessageRole.USER) or "?"
        found = self.client.context(self.student_id, question, token_budget=self.token_budget, history=self.history)
        return [*(ChatMessage(role=each.role, content=each.content) for each in found.messages), *self._said]

    def get_all(self) -> list[ChatMessage]:
        """Return the same as `get`: all that is remembered is asked for by what it is about."""
        return self.get()

    def put(self, message: ChatMessage) -> None:
        """Take a message; with a reply in words the turn is remembered."""
        self._said.append(message)
        said = [str(each.content) for each in self._said if each.role == MessageRole.USER]
        if message.role == MessageRole.ASSISTANT and message.content:
            if said:
                self.turn = self.client.handle_turn(
                    self.student_id, uuid4().hex, "\n".join(said), reply=str(message.content)
                )
            self._said = []

    def set(self, messages: list[ChatMessage]) -> None:
        """Take messages in place of those that wait for a reply; what is remembered stays."""
        self._said = []
        self.put_messages(messages)

    def reset(self) -> None:
        """Drop messages that wait for a reply; what is remembered stays."""
        self._said = []
