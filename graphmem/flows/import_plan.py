"""The pure half of importing a student: the faults of a document, and the graph to create from it (spec 14)."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from pydantic import ValidationError

from graphmem.errors import InvalidInput
from graphmem.model import Keys
from graphmem.sealing import keyed_hash
from graphmem.store import jobs, turns
from graphmem.store.changes import entity_key
from graphmem.store.document import EDGE_TYPES, FORMAT, FORMAT_VERSION, MODALITY_LABELS, NodePart, StudentDocument
from graphmem.store.nodes import NODE_KINDS, SealedForm, kind_of
from graphmem.store.surprises import RESPONSE
from graphmem.store.transfer import ImportedEdge, ImportedGraph, ImportedNode
from graphmem.store.uncertainties import UNDO

MOST_FAULTS = 5
"""Faults of a document that are named."""
UNIQUE: Mapping[str, Sequence[Sequence[str]]] = {
    "Memory": (("id",), ("content_hash",)),
    "Source": (("kind", "ref"),),
    "Entity": (("key",), ("id",)),
    "Usage": (("day", "kind", "prompt"),),
}
"""Properties that no two nodes of a kind may share; of other kinds it is the id."""


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
