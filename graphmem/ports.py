"""The two ports: a mind that answers questions, and an embedder (spec 17)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from graphmem.model import Answer, Matrix, MindQuestion

OnToken = Callable[[str], Awaitable[None]]
"""Called with each further piece of a reply while it is being written."""

T = TypeVar("T")


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
    """Answers typed questions about a conversation.

    A new kind of question is a class in `graphmem.model.conversation` and a row in the tables of the two minds,
    `graphmem.llm.mind.FORMS` and `graphmem.offline.mind.RULES`.
    """

    name: str

    @property
    def seconds(self) -> float:
        """Most seconds that a question takes; 0 for a mind that answers at once."""
        ...

    @property
    def together(self) -> int:
        """Most messages that it remembers of in one question, 1 or more."""
        ...

    @property
    def links(self) -> bool:
        """True if it names what its notes end or contradict, so that no network is asked about it beside it."""
        ...

    @property
    def failing(self) -> str | None:
        """Kind of the failure of the newest question (`MindError.kind`); None where it was answered."""
        ...

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        """Answer a question.

        Parameters
        ----------
        question : MindQuestion[T]
        on_token : called with each piece of a reply while it is written; the other answers come whole

        Raises
        ------
        MindError       it cannot; what was spent all the same is told
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
