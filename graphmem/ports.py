"""The two ports of this room: what a mind answers, and what an embedder gives (spec 17)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from graphmem.model import (
    Analysis,
    Answer,
    Conversation,
    Extraction,
    Heard,
    Lesson,
    Matrix,
    Message,
    Mismatch,
    Prediction,
    Reflection,
    Remembered,
    Response,
    Surprising,
)

OnToken = Callable[[str], Awaitable[None]]
"""Called with each further piece of a reply while it is being written."""


class Embedder(Protocol):
    """Turns texts into vectors of meaning."""

    name: str
    """Model and form, as recorded in the graph, e.g. `onnx:all-MiniLM-L6-v2`."""
    dimension: int

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed texts off the event loop, batched with whatever else waits.

        Parameters
        ----------
        texts : sequence of str, of length n; the empty string is allowed

        Returns
        -------
        float32 array of shape (n, dimension), rows of Euclidean length 1
        """
        ...

    async def aclose(self) -> None:
        """Release threads and memory."""
        ...


class Mind(Protocol):
    """Answers typed questions about a conversation. Raises MindError when it cannot."""

    name: str

    async def predict(self, talk: Conversation) -> Answer[Prediction]:
        """From the conversation alone: the student's next message, and what one needs to know for it."""
        ...

    async def respond(
        self, talk: Conversation, remembered: Remembered, reply: Message | None, on_token: OnToken | None = None
    ) -> Answer[Response]:
        """The companion's reply, and what the student is expected to say to it.

        With `reply` given (an app that writes its own) only the prediction is asked for.
        """
        ...

    async def distil(self, mismatch: Mismatch) -> Answer[Lesson]:
        """What is learned from a violated expectation: one sentence, 1 to 5 tags."""
        ...

    async def extract(self, heard: Heard) -> Answer[Extraction]:
        """What in a message is worth remembering, how it hangs together, and what belongs into the ledger."""
        ...

    async def analyse(self, surprising: Sequence[Surprising]) -> Answer[tuple[Analysis, ...]]:
        """What some surprising episodes mean, all in one question; one analysis for each, in the same order."""
        ...

    async def ask(self, surprising: Surprising, analysis: Analysis) -> Answer[tuple[str, ...]]:
        """1 to 3 follow-up questions, ready to be put to the student; none that was asked just before."""
        ...

    async def reflect(self, surprising: Surprising, analysis: Analysis) -> Answer[Reflection]:
        """What the companion takes from a surprise for itself, perhaps a way to go about such a situation."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
