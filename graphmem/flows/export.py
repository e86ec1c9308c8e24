"""Exporting a student: all that is kept, readable, as one document (spec 14)."""

from typing import Any

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows.session_cache import ENDED
from graphmem.model import Session
from graphmem.store import overlays
from graphmem.store.exports import read_everything

FORMAT, FORMAT_VERSION = "graphmem-student", 1
PAGE = 1_000
"""Known concepts that are read at once."""


async def export_student(gm: Graphmem, session: Session) -> dict[str, Any]:
    """All that is kept of a student, opened, as JSON has it; docs/formats.md describes it.

    Left out are keys, embeddings (they are made of the texts), sessions, password tries and jobs; whoever calls has
    jobs done before, so that nothing waits in them.

    Returns
    -------
    dict with `format`, `version`, `institution`, `student_id`, `exported_at`, `nodes`, `edges`, `overlay`

    Raises
    ------
    Locked          the session has ended

    Source: spec 14.
    """
    now = gm.clock()
    found = await read_everything(gm.graph, session, now)
    if found is None:
        raise Locked(ENDED)
    nodes, edges = found
    overlay: list[dict[str, Any]] = []
    while True:
        after = overlay[-1]["concept"] if overlay else ""
        _, known = await overlays.list_known(gm.graph, session, after, PAGE, session)
        practice = await overlays.find_practice(gm.graph, session, [each.concept.id for each in known])
        overlay += [
            {
                "concept": each.concept.id,
                "name": each.concept.name,
                "attitude": each.attitude,
                "familiarity": each.familiarity,
                "practice": [
                    {"at": one.at.isoformat(), "outcome": one.outcome, "set_to": one.set_to}
                    for one in practice.get(each.concept.id, [])
                ],
                "notes": each.notes,
                "since": each.since.isoformat(),
            }
            for each in known
        ]
        if len(known) < PAGE:
            break
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "institution": session.institution,
        "student_id": session.student_id,
        "exported_at": now.isoformat(),
        "nodes": nodes,
        "edges": edges,
        "overlay": overlay,
    }
