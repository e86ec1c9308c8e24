"""Drift cycles by hand: fading for anybody; with the student's key also what needs to be read (spec 16)."""

from dataclasses import dataclass

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.flows import students
from graphmem.flows.compression import compress_beyond_limit
from graphmem.flows.decay import decay
from graphmem.flows.reconciliation import reconcile
from graphmem.jobs.runner import run_jobs
from graphmem.model import UNSETTLED, Compression, CompressionTrigger, Who


@dataclass(frozen=True)
class DriftReport:
    """What drift cycles did.

    students : how many there were
    faded, deleted : memories whose gravity was written down, and that were deleted since they cannot be relied on
    jobs : waiting jobs that were done
    settled, left_open : contradictions found, by what became of them
    compression : what was compressed, if anything was
    """

    students: int
    faded: int
    deleted: int
    jobs: int = 0
    settled: int = 0
    left_open: int = 0
    compression: Compression | None = None


async def drift(gm: Graphmem, institution: str, student: str | None, password: str | None) -> DriftReport:
    """Run a drift cycle of one student, or let everybody's memories fade.

    Without the password only what is clear is touched; what has to be read waits for the student's next session, which
    does it at its end.

    Raises
    ------
    NotFound        there is no such student
    Locked          the password is wrong
    """
    whom = [student] if student is not None else await students.list_all_ids(gm, institution)
    totals = [await decay(gm, Who(institution, each)) for each in whom]
    report = DriftReport(len(whom), sum(faded for faded, _ in totals), sum(deleted for _, deleted in totals))
    if student is None or password is None:
        return report
    return await _read_through(gm, Who(institution, student), password, report)


async def _read_through(gm: Graphmem, who: Who, password: str, report: DriftReport) -> DriftReport:
    async with unlocked(gm, who, password) as session:
        done = await run_jobs(gm, session)
        found = await reconcile(gm, session, by_hand=True)
        compression = await compress_beyond_limit(gm, session, CompressionTrigger.MANUAL)
    left_open = sum(doubt.state in UNSETTLED for doubt in found)
    return DriftReport(
        report.students, report.faded, report.deleted, done, len(found) - left_open, left_open, compression
    )


def drift_lines(report: DriftReport, *, read: bool) -> list[str]:
    """What drift cycles did, in a few lines; `read` where the student's key was there."""
    lines = [f"{report.faded} memories faded to where they are now, {report.deleted} were deleted."]
    if not read:
        return lines
    lines.append(f"{report.jobs} waiting jobs were done.")
    lines.append(f"{report.settled} contradictions were settled, {report.left_open} left open.")
    done = report.compression
    told = "Nothing was compressed." if done is None else f"{done.nodes_before} memories became {done.nodes_after}."
    return [*lines, told]
