"""Telling people what was altered by hand in the database."""

from graphmem.app import Graphmem
from graphmem.flows.integrity import accept_integrity, verify_integrity
from graphmem.flows.students import list_all_ids
from graphmem.model import Integrity, Who


async def verified(gm: Graphmem, institution: str, student: str | None, *, accept: bool) -> dict[str, Integrity]:
    """What verification finds of a student, or of every student of an institution, by student.

    Raises
    ------
    NotFound        there is no such student
    """
    ids = await list_all_ids(gm, institution) if student is None else [student]
    flow = accept_integrity if accept else verify_integrity
    return {each: await flow(gm, Who(institution, each)) for each in ids}


def integrity_lines(student: str, found: Integrity) -> list[str]:
    """What was found of a student, line by line.

    Examples
    --------
    >>> integrity_lines("ada", Integrity(True, "0f" * 32))[0]
    'ada is intact: all nodes and relationships are as graphmem wrote them.'
    >>> integrity_lines("ada", Integrity(False, "0f" * 32, removed=("fact-t1",)))[0:2]
    ['ada is NOT intact: the database was changed outside of graphmem.', ' removed  fact-t1']
    """
    if found.intact:
        first = f"{student} is intact: all nodes and relationships are as graphmem wrote them."
    else:
        first = f"{student} is NOT intact: the database was changed outside of graphmem."
    lines = [first]
    fields = list(found.fields)
    for what, ids in (("altered", found.altered), ("removed", found.removed), ("added", found.added)):
        for each in ids:
            own = sorted(name.removeprefix(f"{each}.") for name in fields if name.startswith(f"{each}."))
            named = f" ({', '.join(own)})" if what == "altered" and own and not own[0].startswith(":") else ""
            lines.append(f"{what:>8}  {each}{named}")
    return [*lines, f"    hash  {found.hash}"]
