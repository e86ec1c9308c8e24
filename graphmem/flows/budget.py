"""Language-model budget: a day's tokens and money, per student and in all (spec 5)."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from graphmem.app import Graphmem
from graphmem.errors import BudgetExceeded
from graphmem.model import Answer, MindQuestion, Session
from graphmem.ports import Mind, OnToken
from graphmem.store import jobs
from graphmem.store.jobs import Limits, Reserve

BUDGET_TOKEN_COST = 2e-05
"""US dollars set aside for each token that a question may use."""

T = TypeVar("T")

REQUESTS = 2
"""Requests of one question: the second asks the model to repair its answer."""
BESIDES = 5000
"""Tokens of a request beside what the job holds: instructions, the answer, and the answer that is to be repaired."""


class BudgetedMind:
    """A mind that the day's budget limits: where it is spent `offline` answers, marked `degraded`.

    The most that some questions can cost is set aside before the first one, so that workers at once cannot spend the
    same rest, and given back when what they did cost has been written. With `refuse` the questions of a turn, which
    cannot wait, raise BudgetExceeded where it is spent.

    Parameters
    ----------
    mind : Mind, that costs something
    offline : Mind, that costs nothing
    reserve : sets the most aside; False where it does not fit
    refuse : whether a turn is refused and not answered offline
    """

    def __init__(self, mind: Mind, offline: Mind, reserve: Callable[[], Awaitable[bool]], *, refuse: bool) -> None:
        self.name = mind.name
        self.seconds = mind.seconds
        self.together = mind.together
        self.links = mind.links
        self.within: bool | None = None
        self._mind = mind
        self._offline = offline
        self._reserve = reserve
        self._refuse = refuse

    @property
    def failing(self) -> str | None:
        """See `Mind.failing`."""
        return self._mind.failing

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        """See `Mind.ask`.

        Raises
        ------
        BudgetExceeded      the day's budget is spent, and the offline mind must not answer the question
        """
        if self.within is None:
            self.within = await self._reserve()
        if self.within:
            return await self._mind.ask(question, on_token)
        if self._refuse and not question.can_wait:
            raise BudgetExceeded
        return replace(await self._offline.ask(question, on_token), degraded=True)

    async def aclose(self) -> None:
        """Release nothing: both minds belong to their maker."""


@asynccontextmanager
async def within_budget(
    gm: Graphmem, session: Session, name: str, size: int, questions: int = 1
) -> AsyncIterator[Graphmem]:
    """The same graphmem for some work, its `mind` limited by the day's budget (`BudgetedMind`).

    What was set aside is given back when what the work did cost has been written; that belongs into the `async with`.
    Nothing limits a mind that answers at once, and so spends nothing.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    name : of the work; two at once of one name and student share what is set aside
    size : int >= 0, bytes that each question is about at most
    questions : int >= 0, most questions that it asks a mind

    Source: spec 5, 17.
    """
    own = gm.settings
    limits = Limits(own.budget_student_tokens, own.budget_tokens, own.budget_student_cost, own.budget_cost)
    if not gm.mind.seconds or limits == Limits():
        yield gm
        return
    wanted = most(size, questions, BUDGET_TOKEN_COST, gm.clock())
    mind = BudgetedMind(
        gm.mind,
        gm.offline,
        lambda: jobs.reserve(gm.graph, session, name, limits, wanted),
        refuse=own.degrade == "refuse",
    )
    try:
        yield replace(gm, mind=mind)
    finally:
        if mind.within:
            await jobs.release_budget(gm.graph, session, name, wanted.at, gm.clock())


def most(size: int, questions: int, token_cost: float, at: datetime) -> Reserve:
    """Return the most that some questions can cost: a token has at least one byte, and each may have to be repaired.

    Parameters
    ----------
    size : int >= 0, bytes that the questions are about
    questions : int >= 0
    token_cost : float >= 0, US dollars of the dearest token
    at : datetime, of the day that pays for it

    Examples
    --------
    >>> most(300, 1, 0.00001, datetime(2026, 1, 15)).tokens
    10600
    """
    tokens = questions * REQUESTS * (size + BESIDES)
    return Reserve(tokens, tokens * token_cost, at)
