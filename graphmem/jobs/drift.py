"""The drift cycle of a student: what time and distance do to memories (spec 16).

Decay, consolidation of what a session left behind, and the question queue look at numbers alone. Waiting jobs,
reconciliation and compression read, so they need the student's key and run while a session is open. Surprise is
calibrated by each turn from the student's own history and corrections, so that a cycle finds nothing left to do.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import timedelta

from graphmem.app import Graphmem
from graphmem.errors import Conflict, GraphmemError
from graphmem.flows.consolidation import consolidate, decay
from graphmem.flows.uncertainty import reconcile
from graphmem.jobs.runner import compress_beyond_limit, run_jobs, trouble_logged
from graphmem.logs import log_ids
from graphmem.model import UNSETTLED, Compression, CompressionTrigger, Session, Uncertainty, Who
from graphmem.store import jobs, uncertainties

log = logging.getLogger(__name__)

STUDENTS_A_SWEEP = 20
"""Most students whose cycle one sweep begins; more wait for the next one."""


@dataclass(frozen=True)
class DriftReport:
    """What drift cycles did.

    students : how many there were
    faded, deleted : memories whose gravity was written down, and that were deleted since they cannot be relied on
    considered, kept, failed : memories that no session's end had considered, kept of them, and cycles that could not
    questions : questions of the companion that came to nothing, since nothing holds any more that raised them
    jobs : waiting jobs that were done
    settled, left_open : contradictions found, by outcome
    compressions : that were run
    """

    students: int = 0
    faded: int = 0
    deleted: int = 0
    considered: int = 0
    kept: int = 0
    failed: int = 0
    questions: int = 0
    jobs: int = 0
    settled: int = 0
    left_open: int = 0
    compressions: tuple[Compression, ...] = ()

    def __add__(self, more: "DriftReport") -> "DriftReport":
        """Both together."""
        pairs = {each.name: (getattr(self, each.name), getattr(more, each.name)) for each in fields(self)}
        return DriftReport(**{name: one + other for name, (one, other) in pairs.items()})


async def drift_cycle(gm: Graphmem, who: Who, session: Session | None, *, by_hand: bool = False) -> DriftReport:
    """Run a drift cycle of one student.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    session : Session, open; None: what has to be read waits for a cycle that finds one
    by_hand : somebody asks for it, so that there need not be half an hour since memories were last compared

    Raises
    ------
    NotFound        there is no such student
    Locked          the session has ended
    """
    faded, deleted = await decay(gm, who)
    considered = kept = failed = 0
    if session is None and await jobs.find_token(gm.graph, who, gm.clock()) is None:
        # While a session runs its memories are tentative; this is for one that nobody closed.
        try:
            considered, kept = await consolidate(gm, who)
        except GraphmemError as error:
            failed = 1
            log.warning("memories could not be considered for consolidation: %s", error.code)
    questions = await uncertainties.delete_idle_questions(gm.graph, who)
    report = DriftReport(1, faded, deleted, considered, kept, failed, questions)
    return report if session is None else report + await _read_through(gm, session, by_hand)


async def _read_through(gm: Graphmem, session: Session, by_hand: bool) -> DriftReport:
    done = await run_jobs(gm, session, yield_to_turns=not by_hand)
    found: tuple[Uncertainty, ...] = ()
    with suppress(Conflict):
        found = await reconcile(gm, session, by_hand=by_hand)
    trigger = CompressionTrigger.MANUAL if by_hand else CompressionTrigger.NODE_LIMIT
    compression = await compress_beyond_limit(gm, session, trigger)
    left_open = sum(doubt.state in UNSETTLED for doubt in found)
    compressions = () if compression is None or compression.id is None else (compression,)
    return DriftReport(jobs=done, settled=len(found) - left_open, left_open=left_open, compressions=compressions)


async def drift_due(gm: Graphmem) -> DriftReport:
    """Run the cycles of some students whose last one was `drift_hours` ago, a few side by side.

    Of several processes at once each takes other students. One student's trouble stops nobody else's.
    """
    hours = gm.settings.drift_hours
    if not hours:
        return DriftReport()
    now = gm.clock()
    due = await uncertainties.claim_due(gm.graph, now - timedelta(hours=hours), now, STUDENTS_A_SWEEP)
    return sum(await asyncio.gather(*(_drift_one(gm, who, token) for who, token in due)), DriftReport())


async def _drift_one(gm: Graphmem, who: Who, token: str | None) -> DriftReport:
    async with gm.background.slots:
        if not gm.background.stopping.is_set():
            with log_ids(student=who.student_id), trouble_logged():
                return await drift_cycle(gm, who, None if token is None else gm.opened_session(token))
    return DriftReport()
