"""A language mind with the offline mind behind it: a turn is answered even when the model is not there (spec 3).

After some failures in a row the model is left alone for a while, so that a dead endpoint does not cost
every turn its time limit. A `Circuit` is the whole memory of that.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TypeVar

from graphmem.errors import MindError
from graphmem.model import (
    Analysis,
    Answer,
    Conversation,
    Extraction,
    Heard,
    Lesson,
    Message,
    Mismatch,
    Prediction,
    Reflection,
    Remembered,
    Response,
    Surprising,
    Usage,
)
from graphmem.ports import Mind, OnToken
from graphmem.settings import Settings

__all__ = ["Circuit", "Fallback", "make_mind"]

T = TypeVar("T")


@dataclass(frozen=True)
class Circuit:
    """Whether a model is worth asking; each event gives the next circuit, and time is an argument.

    `limit` failures in a row open it for `pause` seconds; then one question is let through to try, and the
    others go on waiting until that one has succeeded or another pause has passed.

    Examples
    --------
    >>> circuit = Circuit(limit=2, pause=30.0).failed(now=0.0).failed(now=1.0)
    >>> circuit.admits(now=30.0), circuit.admits(now=31.0)
    (False, True)
    >>> circuit.asked(now=31.0).admits(now=32.0)
    False
    >>> circuit.asked(now=31.0).succeeded().admits(now=32.0)
    True
    """

    limit: int
    pause: float
    failures: int = 0
    resumes_at: float = 0.0

    def admits(self, now: float) -> bool:
        """Whether a question may go to the model at `now`, in seconds."""
        return self.failures < self.limit or now >= self.resumes_at

    def asked(self, now: float) -> "Circuit":
        """After a question was let through: while on trial, nobody else is for a pause."""
        return self if self.failures < self.limit else replace(self, resumes_at=now + self.pause)

    def failed(self, now: float) -> "Circuit":
        """After the model could not be reached."""
        return replace(self, failures=self.failures + 1, resumes_at=now + self.pause)

    def succeeded(self) -> "Circuit":
        """After the model answered, be it nonsense."""
        return replace(self, failures=0, resumes_at=0.0)


class Fallback:
    """The mind `first`, and where it fails the mind `second`, marked `degraded` (spec 3).

    What the failed questions cost is added to the answer's usage. Only a model that is away counts towards
    leaving it alone; nonsense does not, so that one student's odd messages cannot take it from the others.
    A failed `distil` raises MindError instead: its job waits and is tried again. So does a failed `extract` where the
    model is away; but a message of which the model makes nothing usable would fail again and again until its job is
    given up and nothing of it remembered, so `second` reads that one. `analyse`, `ask` and `reflect`, which are asked
    by jobs too, do as `extract` does.

    When `first` fails after some of its reply was streamed, the reply of `second` is not streamed: what
    counts is the reply of the answer, which replaces what was shown.
    """

    def __init__(
        self,
        first: Mind,
        second: Mind,
        *,
        failures: int = 3,
        pause: float = 30.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.name = first.name
        self.first = first
        self.second = second
        self._clock = clock
        self._circuit = Circuit(failures, pause)

    async def predict(self, talk: Conversation) -> Answer[Prediction]:
        """See `Mind.predict`."""
        try:
            return await self._ask(lambda: self.first.predict(talk))
        except MindError as error:
            return _degraded(await self.second.predict(talk), error)

    async def respond(
        self, talk: Conversation, remembered: Remembered, reply: Message | None, on_token: OnToken | None = None
    ) -> Answer[Response]:
        """See `Mind.respond`."""
        shown = False

        async def passed_on(piece: str) -> None:
            nonlocal shown
            shown = True
            if on_token is not None:
                await on_token(piece)

        listener = None if on_token is None else passed_on
        try:
            return await self._ask(lambda: self.first.respond(talk, remembered, reply, listener))
        except MindError as error:
            return _degraded(await self.second.respond(talk, remembered, reply, None if shown else on_token), error)

    async def distil(self, mismatch: Mismatch) -> Answer[Lesson]:
        """See `Mind.distil`; raises MindError where `first` fails."""
        return await self._ask(lambda: self.first.distil(mismatch))

    async def extract(self, heard: Heard) -> Answer[Extraction]:
        """See `Mind.extract`; raises MindError where `first` is away."""
        return await self._job(lambda mind: mind.extract(heard))

    async def analyse(self, surprising: Sequence[Surprising]) -> Answer[tuple[Analysis, ...]]:
        """See `Mind.analyse`; raises MindError where `first` is away."""
        return await self._job(lambda mind: mind.analyse(surprising))

    async def ask(self, surprising: Surprising, analysis: Analysis) -> Answer[tuple[str, ...]]:
        """See `Mind.ask`; raises MindError where `first` is away."""
        return await self._job(lambda mind: mind.ask(surprising, analysis))

    async def reflect(self, surprising: Surprising, analysis: Analysis) -> Answer[Reflection]:
        """See `Mind.reflect`; raises MindError where `first` is away."""
        return await self._job(lambda mind: mind.reflect(surprising, analysis))

    async def aclose(self) -> None:
        """Release the connections of both."""
        await self.first.aclose()
        await self.second.aclose()

    async def _job(self, question: Callable[[Mind], Awaitable[Answer[T]]]) -> Answer[T]:
        """A job's question, which can wait for a model that is away, yet not for one that answers nonsense."""
        try:
            return await self._ask(lambda: question(self.first))
        except MindError as error:
            if error.away:
                raise
            return _degraded(await question(self.second), error)

    async def _ask(self, question: Callable[[], Awaitable[Answer[T]]]) -> Answer[T]:
        if not self._circuit.admits(self._clock()):
            raise MindError("The language model was away and is left alone for a while.", away=True)
        self._circuit = self._circuit.asked(self._clock())
        try:
            answer = await question()
        except MindError as error:
            self._circuit = self._circuit.failed(self._clock()) if error.away else self._circuit.succeeded()
            raise
        self._circuit = self._circuit.succeeded()
        return answer


def _degraded(answer: Answer[T], error: MindError) -> Answer[T]:
    return replace(answer, usage=answer.usage + (error.usage or Usage()), degraded=True)


def make_mind(settings: Settings, offline: Mind) -> Mind:
    """The mind that is configured: the offline one, or a language model with the offline one behind it.

    Parameters
    ----------
    settings : Settings             `model`, `model_base_url`, `model_timeout`, `model_failures`, `model_pause`
    offline : Mind                  owned by the result, whose `aclose` closes it

    Raises
    ------
    SetupError                      the model string, its package or its key is missing or wrong

    Source: spec 17.

    Examples
    --------
    >>> offline = object()
    >>> make_mind(Settings(model="offline"), offline) is offline
    True
    """
    if settings.model == "offline":
        return offline
    # pydantic-ai takes seconds to import, which nobody without a model should wait for.
    from graphmem.llm.mind import LanguageMind

    return Fallback(LanguageMind(settings), offline, failures=settings.model_failures, pause=settings.model_pause)
