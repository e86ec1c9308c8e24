"""Drift cycles by hand: fading for anybody; with the student's key also what needs to be read (spec 16)."""

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.flows import students
from graphmem.jobs.drift import DriftReport, drift_cycle
from graphmem.model import Who


async def drift(gm: Graphmem, institution: str, student: str | None, password: str | None) -> DriftReport:
    """Run a drift cycle of one student, or one of each.

    Without the password only what is clear is touched; what has to be read waits for the student's next session.

    Raises
    ------
    NotFound        there is no such student
    Locked          the password is wrong
    """
    if student is not None and password is not None:
        who = Who(institution, student)
        async with unlocked(gm, who, password) as session:
            return await drift_cycle(gm, who, session, by_hand=True)
    whom = [student] if student is not None else await students.list_all_ids(gm, institution)
    return sum([await drift_cycle(gm, Who(institution, each), None) for each in whom], DriftReport())


def drift_lines(report: DriftReport, *, read: bool) -> list[str]:
    """What drift cycles did, in a few lines; `read` where the student's key was there."""
    lines = [f"{report.faded} memories faded to where they are now, {report.deleted} were deleted."]
    if report.considered or report.failed:
        failed = " This failed for some; see the log." if report.failed else ""
        lines.append(f"{report.kept} of {report.considered} memories of ended sessions were consolidated.{failed}")
    if report.questions:
        lines.append(f"{report.questions} questions came to nothing.")
    if not read:
        return lines
    lines.append(f"{report.jobs} waiting jobs were done.")
    lines.append(f"{report.settled} contradictions were settled, {report.left_open} left open.")
    told = [f"{each.nodes_before} memories became {each.nodes_after}." for each in report.compressions]
    return [*lines, *(told or ["Nothing was compressed."])]
