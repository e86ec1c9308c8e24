"""Exporting a student as one readable document, and importing it under another key (spec 14)."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.errors import Conflict, InvalidInput, Locked
from graphmem.flows.import_plan import ReadDocument, planned_graph, read_document, texts_to_embed, without_concepts
from graphmem.flows.session_cache import ENDED
from graphmem.flows.students import check_sealing, finish_erasure_of, written_student
from graphmem.model import Session, Student, Vector, Who
from graphmem.store import overlays, students, transfer
from graphmem.store.document import FORMAT, FORMAT_VERSION
from graphmem.validation import PASSWORD_MIN, checked_new_id, checked_password

PIECE = 64 * 1024
"""Characters from which a piece of the document is given out."""
EXPORT_TRIES = 3
"""How often a document is begun again, because the student was changed meanwhile."""


EMBEDDED_TOGETHER = 256
"""Texts that are embedded at once."""
NAMED = 5
"""Unknown concepts that an error names."""


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
    inventory = await transfer.take_inventory(gm.graph, session, gm.clock())
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
        "nodes": transfer.read_nodes(gm.graph, session, enrolled.lock, inventory),
        "edges": transfer.read_edges(gm.graph, session, inventory),
        "links": transfer.read_links(gm.graph, session, inventory),
        "overlay": transfer.read_overlay(gm.graph, session),
        "discovered": transfer.read_discovered(gm.graph, session),
    }
    text = [json.dumps(head, ensure_ascii=False)[:-1]]
    for name, items in parts.items():
        text.append(f',\n"{name}": [')
        separator = "\n"
        async for item in items:
            text.append(separator + json.dumps(item, ensure_ascii=False, allow_nan=False, default=transfer.json_time))
            separator = ",\n"
            if sum(map(len, text)) >= PIECE:
                yield "".join(text)
                text = []
        text.append("]")
    after = await transfer.take_inventory(gm.graph, session, gm.clock())
    if after is None:
        raise Locked(ENDED)
    if after.versions != inventory.versions:
        raise Conflict("The student was changed while being exported: export again.")
    yield "".join([*text, "}\n"])


async def export_text(gm: Graphmem, session: Session) -> str:
    """Return the document as one text; begun again where the student was changed meanwhile.

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
    """Return the document, as JSON has it.

    Raises
    ------
    Locked, Conflict    as of `export_pieces`
    """
    document: dict[str, Any] = json.loads(await export_text(gm, session))
    return document


@dataclass(frozen=True)
class ImportedStudent:
    """An exported student that was made anew."""

    student: Student
    nodes: int
    """Nodes of the document, 0 or more."""
    edges: int
    """Edges of the document, to concepts of the world included, 0 or more."""
    left_out: int = 0
    """Concepts and edges that the world does not have, 0 or more."""
    repeated: bool = False
    """True: imported from this document before; nothing was changed."""

    @property
    def student_id(self) -> str:
        """Id of the new student."""
        return self.student.id


async def import_student(
    gm: Graphmem, who: Who, password: str, document: str, *, skip_unknown: bool = False
) -> ImportedStudent:
    """Make the graph of an exported student anew, sealed with a new key that a new password opens.

    The document is checked first, all of it. What is cut short has written nothing. The same document again changes
    nothing.

    Parameters
    ----------
    gm : Graphmem
    who : the student to be made; another id and institution than the exported one's will do
    password : the new student's
    document : as `exportStudent` gives it
    skip_unknown : leave out concepts and edges that the institution's world does not have, instead of refusing

    Raises
    ------
    InvalidInput    id, password or document will not do, or the world lacks concepts; nothing was imported
    Conflict        somebody of this id is enrolled, or was at the same time
    Unavailable     Neo4j does not answer; import again

    Source: spec 14.
    """
    checked_new_id("institution", who.institution)
    checked_new_id("studentId", who.student_id)
    checked_password("password", password, PASSWORD_MIN)
    read = await asyncio.to_thread(read_document, document)
    lacking, edge_ids = await _lacking(gm, who, read)
    if (lacking or edge_ids) and not skip_unknown:
        raise InvalidInput(_lacks(lacking, edge_ids))
    read, left_out = without_concepts(read, lacking, edge_ids), len(lacking) + len(edge_ids)
    clear = await check_sealing(gm, who.institution)
    imported = await transfer.find_imported(gm.graph, who)
    if imported == read.digest:
        return await _import_done(gm, who, read, left_out, repeated=True)
    if imported is not None:
        raise Conflict(transfer.ENROLLED)
    recovery = gm.settings.recovery_keys.get(who.institution)
    lock, keys = await gm.passwords.computed(
        lambda: sealing.new_lock(who, password, gm.argon2, clear=clear, recovery=recovery)
    )
    planned = planned_graph(read, keys, who.student_id)
    vectors = await _node_vectors(gm, read)
    planned = replace(planned, nodes=tuple(replace(n, vector=vectors.get(n.number)) for n in planned.nodes))
    while not await transfer.write_imported(gm.graph, who, keys, lock, planned, gm.clock()):
        # An erasure that was cut short is finished first, and with it whoever is still at it.
        await finish_erasure_of(gm, who)
    gm.lock_up(who)
    return await _import_done(gm, who, read, left_out, repeated=False)


async def _import_done(gm: Graphmem, who: Who, read: ReadDocument, left_out: int, *, repeated: bool) -> ImportedStudent:
    student, document = await written_student(gm, who), read.document
    edges = len(document.edges) + len(document.links) + len(document.overlay) + len(document.discovered)
    return ImportedStudent(student, len(document.nodes), edges, left_out, repeated)


async def _lacking(gm: Graphmem, who: Who, read: ReadDocument) -> tuple[list[str], list[str]]:
    """Return concepts and edges that a document names and the institution's world does not have."""
    concepts = read.concepts
    lacking = await overlays.list_unknown_concepts(gm.graph, who.institution, concepts) if concepts else []
    found = [each.edge_id for each in read.document.discovered]
    known = await transfer.list_known_edges(gm.graph, who.institution, concepts, found) if found else set()
    return lacking, [each for each in found if each not in known]


def _lacks(concepts: Sequence[str], edge_ids: Sequence[str]) -> str:
    named = ", ".join([*concepts, *edge_ids][:NAMED])
    return (
        f"The world of this institution lacks {len(concepts)} concepts and {len(edge_ids)} edges of this document "
        f"({named}), so nothing was imported: import the world first, or leave them out with skipUnknown."
    )


async def _node_vectors(gm: Graphmem, read: ReadDocument) -> dict[int, Vector]:
    """Return embeddings of the nodes that have one, by number."""
    texts = texts_to_embed(read)
    numbers, found = list(texts), dict[int, Vector]()
    for start in range(0, len(numbers), EMBEDDED_TOGETHER):
        part = numbers[start : start + EMBEDDED_TOGETHER]
        found |= dict(zip(part, await gm.embedder.embed([texts[number] for number in part]), strict=True))
    return found
