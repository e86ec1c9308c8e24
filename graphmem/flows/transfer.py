"""Exporting a student as one readable document, and importing it under another key (spec 14)."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from pydantic import ValidationError

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.errors import Conflict, InvalidInput, Locked
from graphmem.flows.session_cache import ENDED
from graphmem.flows.students import check_sealing, finish_erasure_of, written_student
from graphmem.model import Keys, Session, Student, Vector, Who
from graphmem.sealing import keyed_hash
from graphmem.store import jobs, overlays, students, transfer, turns
from graphmem.store.changes import entity_key
from graphmem.store.document import EDGE_TYPES, FORMAT, FORMAT_VERSION, MODALITY_LABELS, NodePart, StudentDocument
from graphmem.store.nodes import NODE_KINDS, SealedForm, kind_of
from graphmem.store.transfer import ImportedEdge, ImportedGraph, ImportedNode
from graphmem.store.uncertainties import RESPONSE, UNDO
from graphmem.validation import PASSWORD_MIN, checked_new_id, checked_password

MOST_FAULTS = 5
"""Faults of a document that are named."""
UNIQUE: Mapping[str, Sequence[Sequence[str]]] = {
    "Memory": (("id",), ("content_hash",)),
    "Source": (("kind", "ref"),),
    "Entity": (("key",), ("id",)),
    "Usage": (("day", "kind", "prompt"),),
}
"""Properties that no two nodes of a kind may share; of other kinds it is the id."""
PIECE = 64 * 1024
"""Characters from which a piece of the document is given out."""
EXPORT_TRIES = 3
"""How often a document is begun again, because the student was changed meanwhile."""
EMBEDDED_TOGETHER = 256
"""Texts that are embedded at once."""
NAMED = 5
"""Unknown concepts that an error names."""


@dataclass(frozen=True)
class ReadDocument:
    """A document that was read and found to be whole, and a digest of its text."""

    document: StudentDocument
    nodes: tuple[ImportedNode, ...]
    keyed: Mapping[int, Mapping[str, str]]
    digest: str

    @property
    def concepts(self) -> list[str]:
        """The concepts of the world that it names."""
        named = [known.concept for known in self.document.overlay] + [link.concept for link in self.document.links]
        return sorted(set(named))


def read_document(text: str | bytes) -> ReadDocument:
    """Read and check a document, all of it.

    Parameters
    ----------
    text : the document, as `exportStudent` gives it

    Raises
    ------
    InvalidInput    it is none, or not whole; the message names the first faults

    Source: spec 14.

    Examples
    --------
    >>> read_document('{"format": "graphmem-student", "version": 1}')
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: This document has version 1, and version 2 is imported: export it again.
    """
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise InvalidInput("This is no document of a student: it is not JSON, or was cut short.") from e
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise InvalidInput(f'This is no document of a student: its "format" must be "{FORMAT}".')
    if told.get("version") != FORMAT_VERSION:
        raise InvalidInput(
            f"This document has version {told.get('version')}, and version {FORMAT_VERSION} is imported: "
            "export it again."
        )
    try:
        document = StudentDocument.model_validate(told)
    except ValidationError as e:
        raise InvalidInput(_refusal("This document is not whole", _schema_faults(e))) from e
    document = _without_impossible_jobs(document)
    nodes, faults = _nodes(document)
    faults = [*faults, *_structure_faults(document, nodes)]
    if faults:
        raise InvalidInput(_refusal("This document is not whole", faults))
    keyed = {node.number: node.keyed or {} for node in document.nodes}
    raw = text.encode() if isinstance(text, str) else text
    return ReadDocument(document, tuple(nodes), keyed, sha256(raw).hexdigest())  # type: ignore[arg-type]


def without_concepts(read: ReadDocument, concepts: Sequence[str], edge_ids: Sequence[str]) -> ReadDocument:
    """Return the document without some concepts and edges of the world, which another institution may not have."""
    gone, edges, document = set(concepts), set(edge_ids), read.document
    changed = {
        "links": [link for link in document.links if link.concept not in gone],
        "overlay": [known for known in document.overlay if known.concept not in gone],
        "discovered": [found for found in document.discovered if found.edge_id not in edges],
    }
    return replace(read, document=document.model_copy(update=changed))


def texts_to_embed(read: ReadDocument) -> dict[int, str]:
    """Return the texts that memories, ledger entries and the prediction are found by, by the numbers of their nodes.

    An observation is embedded by its own words, any other memory by its statement.
    """
    sources = {node.number: node.properties["kind"] for node in read.nodes if node.label == "Source"}
    formed = [edge for edge in read.document.edges if edge.type == "FORMED_FROM"]
    observed = {edge.from_ for edge in formed if sources.get(edge.to, "chat") != "chat"}
    found: dict[int, str] = {}
    for node in read.nodes:
        told = node.properties
        if node.label == "Memory":
            if told["details"].get("statements"):
                # Of summaries the next session embeds them together with what they are made of.
                continue
            own = told["role"] == "said" and node.number in observed
            found[node.number] = (own and told["details"].get("quote")) or told["content"]
        elif node.label == "LedgerEntry":
            found[node.number] = told["content"]
        elif node.label == "Companion" and told.get("prediction"):
            found[node.number] = told["prediction"]["text"]
    return found


def planned_graph(read: ReadDocument, keys: Keys, student_id: str) -> ImportedGraph:
    """Return the graph to create, with ids and keyed hashes recomputed with the new key.

    Notes
    -----
    A hash whose text is not known (that of a summary, of a surprise whose words were known already) is made of the old
    hash: equal ones stay equal, and nothing else meets them.
    """
    ids = dict(_new_ids(read, keys))
    nodes = tuple(
        replace(node, properties=_renewed_node(node, read.keyed.get(node.number, {}), keys, ids, student_id))
        for node in read.nodes
    )
    (student,) = [node for node in nodes if node.label == "Student"]
    document = read.document
    return ImportedGraph(
        nodes=nodes,
        edges=tuple(ImportedEdge(e.from_, e.to, e.type, e.properties.model_dump()) for e in document.edges),
        links=tuple(ImportedEdge(e.from_, e.concept, e.type, e.properties.model_dump()) for e in document.links),
        overlay=tuple(known.model_dump(exclude={"name", "practice"}) for known in document.overlay),
        discovered=tuple(found.model_dump() for found in document.discovered),
        digest=read.digest,
        turns=student.properties["turns"],
    )


def _new_ids(read: ReadDocument, keys: Keys) -> Iterator[tuple[str, str]]:
    """Yield ids made of keyed hashes, each with its id under the new key."""
    for node in read.nodes:
        if node.label == "Entity":
            yield node.properties["id"], entity_key(keys, node.properties["kind"], node.properties["name"])[1]
        elif node.label == "LedgerEntry" and (made_of := read.keyed.get(node.number, {}).get("id")):
            yield node.properties["id"], f"ledger-{keyed_hash(keys, 'ledger', made_of)[:16]}"


def _renewed_node(
    node: ImportedNode, keyed: Mapping[str, str], keys: Keys, ids: Mapping[str, str], student_id: str
) -> dict[str, Any]:
    sealed = {name for name, form in NODE_KINDS[node.label].sealed.items() if form is not SealedForm.TEXT}
    told = {name: _with_ids(value, ids) if name in sealed else value for name, value in node.properties.items()}
    if node.label == "Student":
        told["id"] = student_id
    elif node.label in ("Entity", "LedgerEntry"):
        told["id"] = ids.get(told["id"], told["id"])
    if node.label == "Entity":
        told["key"] = entity_key(keys, told["kind"], told["name"])[0]
    elif node.label == "Memory":
        told |= _rehashed(told, keyed, keys)
        statements = [_rehashed_statement(each, keys) for each in told["details"].get("statements") or ()]
        told["details"] = {**told["details"], "statements": statements}
        if not statements:
            del told["details"]["statements"]
    return told


def _rehashed(told: Mapping[str, Any], keyed: Mapping[str, str], keys: Keys) -> dict[str, str]:
    """Return the keyed hashes of a statement, made with another key."""
    return {
        name: keyed_hash(keys, kind, keyed.get(name) or f"imported\n{told[name]}")
        for name, kind in (("content_hash", "content"), ("slot_key", "slot"))
        if told.get(name) is not None
    }


def _rehashed_statement(told: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    own = {name: value for name, value in told.items() if name != "keyed"}
    return own | _rehashed(own, told.get("keyed") or {}, keys)


def _with_ids(value: Any, ids: Mapping[str, str]) -> Any:
    """Return JSON with the changed ids replaced."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, list):
        return [_with_ids(each, ids) for each in value]
    return {name: _with_ids(each, ids) for name, each in value.items()} if isinstance(value, dict) else value


def _without_impossible_jobs(document: StudentDocument) -> StudentDocument:
    """Return the document without jobs that can never be done: their payload did not open, or no version has them.

    Nothing leads to them.
    """
    kept = [node for node in document.nodes if node.labels != ["Job"] or _is_possible(node)]
    return document.model_copy(update={"nodes": kept})


def _is_possible(job: NodePart) -> bool:
    return "payload" not in (job.tampered or ()) and job.properties.get("kind") in set(jobs.Kind)


def _nodes(document: StudentDocument) -> tuple[list[ImportedNode], list[str]]:
    """Return the nodes with their properties as the database takes them, and their faults."""
    nodes, faults = [], []
    for place, node in enumerate(document.nodes):
        where, label = f"nodes[{place}]", kind_of(node.labels)
        others = [each for each in node.labels if each != label]
        modality = label == "Memory" and len(others) == 1 and others[0] in MODALITY_LABELS
        if label is None or (others and not modality) or (label == "Memory" and not modality):
            faults.append(f"{where} has unknown labels {node.labels}")
            continue
        try:
            part = NODE_KINDS[label].part.model_validate(node.properties)
        except ValidationError as e:
            faults += [f"{where}.properties.{fault}" for fault in _schema_faults(e)]
            continue
        told = {name: value for name, value in part.model_dump().items() if value is not None}
        faults += [f"{where}.properties.{fault}" for fault in _sealed_faults(label, told)]
        nodes.append(ImportedNode(node.number, label, tuple(node.labels), told))
    return nodes, faults


def _sealed_faults(label: str, told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of texts that hold JSON of their own."""
    checks: Mapping[tuple[str, str], Callable[[Any], Any]] = {
        ("Memory", "surprise_response"): RESPONSE.validate_python,
        ("Uncertainty", "undo"): UNDO.validate_python,
        ("Turn", "outcome"): lambda value: turns.check_outcome(value, told.get("reply", "")),
        ("Job", "payload"): lambda value: jobs.check_payload(told["kind"], value),
        ("Companion", "prediction"): lambda value: (value["text"] + "", list(value["needed_info"])),
    }
    for (kind, name), check in checks.items():
        if kind == label and name in told:
            try:
                check(told[name])
            except (ValueError, KeyError, TypeError):
                yield f"{name} is not one"


def _structure_faults(document: StudentDocument, nodes: Sequence[ImportedNode]) -> Iterator[str]:
    """Yield the faults of numbers, keys and relationships."""
    labels = {node.number: node.label for node in nodes}
    if len({node.number for node in document.nodes}) != len(document.nodes):
        yield "two nodes have the same number"
    for label in ("Student", "Companion"):
        if list(labels.values()).count(label) != 1:
            yield f"there must be one {label}"
    yield from _repeated_keys(nodes)
    for place, edge in enumerate(document.edges):
        if edge.from_ not in labels or edge.to not in labels:
            yield f"edges[{place}] names a node that is not there"
        if edge.type not in EDGE_TYPES:
            yield f"edges[{place}] has the unknown type {edge.type}"
    for place, link in enumerate(document.links):
        if labels.get(link.from_) != {"ABOUT": "Memory", "PRACTISED": "Source"}[link.type]:
            yield f"links[{place}] begins at no node that it could"
    known = Counter(held.concept for held in document.overlay)
    yield from (f"overlay names {concept} twice" for concept, n in known.items() if n > 1)


def _repeated_keys(nodes: Sequence[ImportedNode]) -> Iterator[str]:
    for label in NODE_KINDS:
        own = [node.properties for node in nodes if node.label == label]
        for names in UNIQUE.get(label, (("id",),)):
            counted = Counter(tuple(told.get(name) for name in names) for told in own)
            yield from (f"two nodes {label} have the same {names[-1]}" for n in counted.values() if n > 1)


def _schema_faults(error: ValidationError) -> list[str]:
    """Return the faults that a schema finds, without any value."""
    return [f"{_path(each['loc'])}: {each['msg']}" for each in error.errors(include_input=False, include_url=False)]


def _path(places: Sequence[int | str]) -> str:
    told = "".join(f"[{place}]" if isinstance(place, int) else f".{place}" for place in places)
    return told.removeprefix(".") or "document"


def _refusal(what: str, faults: Sequence[str]) -> str:
    named = "; ".join(faults[:MOST_FAULTS])
    more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    return f"{what}, so nothing was imported: {named}{more}."


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
        "links": transfer.read_edges(gm.graph, session, inventory, links=True),
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
