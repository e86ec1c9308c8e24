"""A language mind with the offline mind behind it: a turn is answered even when the model is away (spec 3).

After some failures in a row the model is left alone for a while, so that a dead endpoint does not cost
every turn its time limit. A `Circuit` is the whole memory of that.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import TypeVar

from graphmem.errors import MindError
from graphmem.metrics import model_errors
from graphmem.model import Answer, MindQuestion, OnFailure, Usage
from graphmem.ports import Mind, OnToken
from graphmem.settings import Settings

FAILURES = 3
"""Times in a row that the model may be away before it is left alone."""
MODEL_PAUSE = 30.0
"""Seconds it is left alone, while the offline mind answers."""
log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Circuit:
    """State of a circuit breaker; each event gives the next circuit, and time is an argument.

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
        """True if a request may go to the model at `now`, in seconds."""
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
    """The mind `first`, and where it fails and the question's policy allows it the mind `second` (spec 3).

    Answers of `second` are marked `degraded`; what the failed question cost is added to their usage. Only a model that
    is away counts towards leaving it alone; an unusable answer does not, so that one student's odd messages cannot
    take it from the others. Failures beginning, changing in kind and ending are logged, once each.

    With `refuse` the questions of a turn, which cannot wait, raise MindError too.

    When `first` fails after some of its reply was streamed, the reply of `second` is not streamed: what
    counts is the reply of the answer, which replaces what was shown.
    """

    def __init__(
        self,
        first: Mind,
        second: Mind,
        *,
        failures: int = FAILURES,
        pause: float = 30.0,
        refuse: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.name = first.name
        self.first = first
        self.second = second
        self.seconds = first.seconds
        self.together = first.together
        self.links = first.links
        self.failing: str | None = None
        self._refuse = refuse
        self._clock = clock
        self._circuit = Circuit(failures, pause)

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        """See `Mind.ask`; raises MindError where `first` fails and the question can wait."""
        shown = False

        async def passed_on(piece: str) -> None:
            nonlocal shown
            shown = True
            if on_token is not None:
                await on_token(piece)

        try:
            return await self._asked(question, None if on_token is None else passed_on)
        except MindError as error:
            policy = question.when_away if error.away else question.when_unusable
            if policy is OnFailure.WAIT or (self._refuse and not question.can_wait):
                raise
            answer = await self.second.ask(question, None if shown else on_token)
            return replace(answer, usage=answer.usage + (error.usage or Usage()), degraded=True)

    async def aclose(self) -> None:
        """Release the connections of both."""
        await self.first.aclose()
        await self.second.aclose()

    async def _asked(self, question: MindQuestion[T], on_token: OnToken | None) -> Answer[T]:
        """Ask `first`, unless it is left alone."""
        if not self._circuit.admits(self._clock()):
            kind = self.failing or "away"
            raise MindError(f"The language model failed ({kind}) and is left alone for a while.", kind=kind, away=True)
        self._circuit = self._circuit.asked(self._clock())
        try:
            answer = await self.first.ask(question, on_token)
        except MindError as error:
            self._circuit = self._circuit.failed(self._clock()) if error.away else self._circuit.succeeded()
            model_errors.labels(error.kind).inc()
            self._log_change(error.kind)
            raise
        self._circuit = self._circuit.succeeded()
        self._log_change(None)
        return answer

    def _log_change(self, failing: str | None) -> None:
        if failing == self.failing:
            return
        self.failing = failing
        if failing is None:
            log.warning("the language model %s answers again", self.name)
        else:
            log.warning("the language model %s fails: %s", self.name, failing)


def make_mind(settings: Settings, offline: Mind) -> Mind:
    """The mind that is configured: the offline one, or a language model with the offline one behind it.

    Parameters
    ----------
    settings : Settings             `degrade` and all that begins with `model`
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

    return Fallback(
        LanguageMind(settings),
        offline,
        failures=FAILURES,
        pause=MODEL_PAUSE,
        refuse=settings.degrade == "refuse",
    )
