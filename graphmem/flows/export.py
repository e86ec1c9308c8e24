"""Exporting a student: all that is kept, readable, as one document that is written piece by piece (spec 14)."""

import json
from collections.abc import AsyncIterator
from typing import Any

from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked
from graphmem.flows.session_cache import ENDED
from graphmem.model import Session
from graphmem.store import exports, students
from graphmem.store.document import FORMAT, FORMAT_VERSION

PIECE = 64 * 1024
"""Characters from which a piece of the document is given out."""
EXPORT_TRIES = 3
"""How often a document is begun again, because the student was changed meanwhile."""


async def export_pieces(gm: Graphmem, session: Session) -> AsyncIterator[str]:
    """All that is kept of a student, opened, as pieces of one JSON text; docs/formats.md describes it.

    Memory does not grow with what the student has said: nodes and relationships are read some at a time. Left out are
    keys, embeddings (they are made of the texts), sessions, password tries, budgets and jobs that are done; whoever
    calls has jobs done before, so that as little as can be waits in them.

    Raises
    ------
    Locked          the session has ended
    Conflict        the student was changed meanwhile: the text is not whole; begin again

    Source: spec 14.
    """
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    inventory = await exports.take_inventory(gm.graph, session, gm.clock())
    if enrolled is None or inventory is None:
        raise Locked(ENDED)
    head = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "institution": session.institution,
        "student_id": session.student_id,
        "exported_at": gm.clock().isoformat(),
    }
    parts = {
        "nodes": exports.read_nodes(gm.graph, session, enrolled.lock, inventory),
        "edges": exports.read_edges(gm.graph, session, inventory),
        "links": exports.read_links(gm.graph, session, inventory),
        "overlay": exports.read_overlay(gm.graph, session),
        "discovered": exports.read_discovered(gm.graph, session),
    }
    text = [json.dumps(head, ensure_ascii=False)[:-1]]
    for name, items in parts.items():
        text.append(f',\n"{name}": [')
        separator = "\n"
        async for item in items:
            text.append(separator + json.dumps(item, ensure_ascii=False, allow_nan=False))
            separator = ",\n"
            if sum(map(len, text)) >= PIECE:
                yield "".join(text)
                text = []
        text.append("]")
    after = await exports.take_inventory(gm.graph, session, gm.clock())
    if after is None:
        raise Locked(ENDED)
    if after.versions != inventory.versions:
        raise Conflict("The student was changed while being exported: export again.")
    yield "".join([*text, "}\n"])


async def export_text(gm: Graphmem, session: Session) -> str:
    """The document as one text; begun again where the student was changed meanwhile.

    Raises
    ------
    Locked, Conflict    as of `export_pieces`
    """
    for attempt in range(EXPORT_TRIES):
        try:
            return "".join([piece async for piece in export_pieces(gm, session)])
        except Conflict:
            if attempt == EXPORT_TRIES - 1:
                raise
    raise AssertionError("unreachable")


async def export_student(gm: Graphmem, session: Session) -> dict[str, Any]:
    """The document, as JSON has it.

    Raises
    ------
    Locked, Conflict    as of `export_pieces`
    """
    document: dict[str, Any] = json.loads(await export_text(gm, session))
    return document
