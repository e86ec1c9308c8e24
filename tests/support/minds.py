"""Minds of a test's own making."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from graphmem.model import Answer, MindQuestion
from graphmem.ports import Mind, OnToken

T = TypeVar("T")

Script = Mapping[type[MindQuestion[Any]], Callable[[Any], Awaitable[Any]]]
"""What a mind answers to some kinds of question."""


class ScriptedMind:
    """Answers as another mind does, but for the kinds of question that a test has an answer for."""

    failing: str | None = None

    def __init__(self, behind: Mind, script: Script, *, name: str | None = None, slow: bool = False) -> None:
        self.name = name or behind.name
        self.seconds = 20.0 if slow else 0.0
        self.together = 1
        self.links = behind.links
        self._behind = behind
        self._script = script

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        answer = self._script.get(type(question))
        if answer is None:
            return await self._behind.ask(question, on_token)
        return Answer(await answer(question))

    async def aclose(self) -> None:
        """Release nothing."""
