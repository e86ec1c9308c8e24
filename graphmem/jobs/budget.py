"""What background work may spend on a language model: a day's tokens and money, per student and in all (spec 5)."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.model import Session
from graphmem.settings import Settings
from graphmem.store import usage
from graphmem.store.jobs import Claimed
from graphmem.store.usage import Limits, Reserve

REQUESTS = 2
"""Requests of one question: the second asks the model to repair its answer."""
BESIDES = 5000
"""Tokens of a request beside what the job holds: instructions, the answer, and the answer that is to be repaired."""


@asynccontextmanager
async def within_budget(
    gm: Graphmem, session: Session, jobs: Sequence[Claimed], questions: int = 1
) -> AsyncIterator[Graphmem]:
    """The same graphmem to run some jobs with: its `mind` is the offline one where the day's budget is spent.

    The most that the jobs can cost is set aside before they begin, so that workers at once cannot spend the same
    rest, and given back when what they did cost has been written; that belongs into the `async with`. Turns count
    towards the budget, and are never held up by it.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    jobs : the jobs, whose payloads tell how long a question about them can get
    questions : int >= 0, most questions that they ask a mind

    Source: spec 5, 17.
    """
    limits = limits_of(gm.settings)
    if gm.mind is gm.offline or limits.unlimited:
        yield gm
        return
    wanted = most(sum(len(job.payload) for job in jobs), questions, gm.settings.budget_token_cost, gm.clock())
    # Jobs that are done together are known by their first one.
    if not await usage.reserve(gm.graph, session, jobs[0].id, limits, wanted):
        yield replace(gm, mind=gm.offline)
        return
    try:
        yield gm
    finally:
        await usage.release(gm.graph, session, jobs[0].id, wanted.at, gm.clock())


def limits_of(settings: Settings) -> Limits:
    """The budgets that are configured."""
    return Limits(
        student_tokens=settings.budget_student_tokens,
        tokens=settings.budget_tokens,
        student_cost=settings.budget_student_cost,
        cost=settings.budget_cost,
    )


def most(size: int, questions: int, token_cost: float, at: datetime) -> Reserve:
    """The most that some questions can cost: a token has at least one byte, and each may have to be repaired.

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
