"""The operations by which the memory learns: turns, and observations of the app and of teachers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from time import monotonic
from typing import Any

import strawberry

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError
from graphmem.flows.memories import memory_events
from graphmem.flows.observation import observe
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.dispatch import start_jobs
from graphmem.jobs.webhooks import start_notices
from graphmem.logs import log_ids
from graphmem.metrics import count_turn, measured_turn
from graphmem.model import MemoryEvent, Role, Source
from graphmem.model import Session as OpenSession
from graphmem.ports import OnToken
from graphmem_api.access import Info, check_observations, in_session, maybe_in_session, of_student
from graphmem_api.errors import log_unexpected
from graphmem_api.mapper import ID, NONE_USED
from graphmem_api.types import ObservationInput, TurnEventType, TurnType


@strawberry.type
class TurnMutation:
    """Mutations that take what was said or observed."""

    @strawberry.mutation
    async def handle_turn(
        self,
        info: Info,
        student_id: ID,
        turn_id: ID,
        text: str,
        at: datetime | None = None,
        reply: str | None = None,
        task: str | None = None,
        opener: str | None = None,
        used: list[ID] | None = NONE_USED,
    ) -> TurnType:
        """Answer a message, learn from it and predict the next. Repeat with the same id."""
        session, gm = in_session(info, student_id), info.context.gm
        incoming = Incoming(turn_id, text, at or gm.clock(), reply, task, opener, tuple(used or ()))
        return await _answered(gm, session, incoming)

    @strawberry.mutation
    async def observe(self, info: Info, student_id: ID, observations: list[ObservationInput]) -> list[Source]:
        """Note lessons, teachers' remarks, other speakers; also while locked. An app notes CHAT, LESSON and PROMPT_RUN,
        a teacher LESSON and TEACHER, an admin LESSON, TEACHER and SYSTEM.

        Parameters
        ----------
        observations : What was observed, at most 200 at once.
        """
        who, gm = of_student(info, student_id, Role.APP, Role.TEACHER, Role.ADMIN), info.context.gm
        # Whoever is refused has written nothing.
        check_observations(info, who, [each.kind for each in observations])
        session = maybe_in_session(info, student_id)
        noted = await observe(gm, who, [each.observation(gm.clock()) for each in observations])
        if session is not None:
            start_jobs(gm, session)
        start_notices(gm, who.institution)
        return noted


@strawberry.type
class Subscription:
    """Subscriptions: streams of events."""

    @strawberry.subscription
    async def turn_stream(
        self,
        info: Info,
        student_id: ID,
        turn_id: ID,
        text: str,
        at: datetime | None = None,
        reply: str | None = None,
        task: str | None = None,
        opener: str | None = None,
    ) -> AsyncIterator[TurnEventType]:
        """The reply while it is written, then the turn."""
        session, gm = in_session(info, student_id), info.context.gm
        incoming = Incoming(turn_id, text, at or gm.clock(), reply, task, opener)
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        async def answered() -> TurnType:
            try:
                return await _answered(gm, session, incoming, pieces.put)
            finally:
                await pieces.put(None)

        # A listener that goes away must not end a turn half way: the turn is the process' own.
        handled = asyncio.create_task(answered())
        _keep(gm, handled)
        while (piece := await pieces.get()) is not None:
            yield TurnEventType(token=piece)
        yield TurnEventType(turn=await handled)

    @strawberry.subscription
    async def memory_events(self, info: Info, student_id: ID) -> AsyncIterator[MemoryEvent]:
        """What happens to a student's memories from now on, within EVENTS_SECONDS, until the session ends: then
        LOCKED."""
        session = in_session(info, student_id)
        async with aclosing(memory_events(info.context.gm, session)) as events:
            async for event in events:
                yield event


def _keep(gm: Graphmem, task: asyncio.Task[Any]) -> None:
    """Hold a task until it ends, and take its error, which is lost where its listener has gone."""

    def ended(task: asyncio.Task[Any]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, GraphmemError):
            log_unexpected(error)

    gm.background.keep(task)
    task.add_done_callback(ended)


async def _answered(
    gm: Graphmem, session: OpenSession, incoming: Incoming, on_token: OnToken | None = None
) -> TurnType:
    """Handle a turn and count it; what follows from it is done after the reply."""
    caller = {"institution": session.institution, "student": session.student_id}
    gm.rates.check("turns", 1, monotonic(), **caller)
    with log_ids(student=session.student_id, turn=incoming.turn_id), measured_turn():
        outcome = await handle_turn(gm, session, incoming, on_token=on_token)
    if not outcome.repeated:
        count_turn(outcome.usage, degraded=outcome.degraded)
        if outcome.jobs:
            start_jobs(gm, session)
        if outcome.concern is not None:
            start_notices(gm, session.institution)
    return TurnType(session, outcome)
