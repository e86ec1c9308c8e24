"""Two students compared node by node and relationship by relationship, what is sealed opened."""

from collections import Counter
from typing import Any

import numpy as np

from graphmem.app import Graphmem
from graphmem.model import Session, Vector
from graphmem.store.nodes import NodeSealer, kind_of
from tests.support.remembering import asked

OWN = {
    "Student": {"id"},
    "Entity": {"id", "key"},
    "LedgerEntry": {"id"},
    "Memory": {"content_hash", "slot_key"},
}
"""Properties that depend on the student's id or key."""


def comparable(document: dict[str, Any]) -> tuple[dict[Any, Any], Counter[Any], dict[str, Any]]:
    """Nodes by what names them for any key, relationships between such names, and the rest of an export."""
    names = {node["number"]: name_of(node) for node in document["nodes"]}
    ids = {node["properties"]["id"]: str(names[node["number"]]) for node in document["nodes"] if changing(node)}
    nodes = {}
    for node in document["nodes"]:
        left_out = OWN.get(kind_of(node["labels"]) or "", set())
        told = {name: value for name, value in node["properties"].items() if name not in left_out}
        nodes[names[node["number"]]] = (node["labels"], with_names(told, ids), node.get("keyed"))
    assert len(nodes) == len(document["nodes"])
    edges = Counter(
        (names[e["from"]], names[e["to"]], e["type"], str(sorted(e["properties"].items()))) for e in document["edges"]
    )
    edges += Counter(
        (names[e["from"]], e["concept"], e["type"], str(sorted(e["properties"].items()))) for e in document["links"]
    )
    rest = {name: document[name] for name in ("overlay", "discovered")}
    return nodes, edges, rest


def changing(node: dict[str, Any]) -> bool:
    return kind_of(node["labels"]) in ("Entity", "LedgerEntry")


def name_of(node: dict[str, Any]) -> tuple[str, ...]:
    told, label = node["properties"], kind_of(node["labels"]) or ""
    if label == "Student":
        return (label,)
    if label == "Entity":
        return (label, told["kind"], told["name"].casefold())
    if label == "LedgerEntry":
        return (label, node.get("keyed", {}).get("id", told["id"]))
    if label == "Source":
        return (label, told["kind"], told["ref"])
    return (label, told["day"], told["kind"]) if label == "Usage" else (label, told["id"])


def with_names(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, list):
        return [with_names(each, ids) for each in value]
    return {name: with_names(each, ids) for name, each in value.items()} if isinstance(value, dict) else value


async def vectors(gm: Graphmem, session: Session) -> dict[str, Vector]:
    """The embeddings of a student's memories, by id."""
    query = "MATCH (m:Memory {institution: $i, student_id: $s}) RETURN m.id AS id, m.embedding AS e"
    rows = await asked(gm, session, query)
    return {
        row["id"]: NodeSealer(session.keys, session, "Memory", row["id"]).vector("embedding", row["e"]) for row in rows
    }


def alike(ours: dict[str, Vector], theirs: dict[str, Vector]) -> float:
    """The least cosine of two embeddings of one memory."""
    assert ours.keys() == theirs.keys()
    return min(float(np.dot(ours[i], theirs[i])) for i in ours)
