"""All that is kept of a student, opened (spec 14)."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any
from zlib import decompress

from graphmem.model import Session
from graphmem.store.graph import Graph, Row
from graphmem.store.rows import NodeSealer
from graphmem.store.tampering import Damage, report

TEXT, JSON, PACKED = "text", "json", "packed"
SEALED_FIELDS: Mapping[str, Mapping[str, str]] = {
    "Student": {"display_name": TEXT},
    "Companion": {"persona": JSON, "prediction": JSON},
    "Memory": {"content": TEXT, "details": JSON, "surprise_response": JSON, "verdict_note": TEXT},
    "Fact": {"text": TEXT, "tags": JSON},
    "LedgerEntry": {"content": TEXT, "summary": TEXT, "triggers": JSON, "trigger_entities": JSON, "note": TEXT},
    "Entity": {"name": TEXT},
    "Uncertainty": {"reasoning": TEXT, "surface_context": TEXT, "resolution_detail": TEXT, "undo": JSON},
    "Concern": {"text": TEXT, "note": TEXT},
    "Question": {"text": TEXT},
    "Reflection": {"text": TEXT},
    "Turn": {
        "text": TEXT,
        "reply": TEXT,
        "given_reply": TEXT,
        "task": TEXT,
        "opener": TEXT,
        "outcome": PACKED,
    },
}
"""What is sealed of each kind of node, and the form it has when it is opened. Embeddings are made of the texts."""
NEVER_EXPORTED = frozenset(
    {
        "salt",
        "argon2_ops",
        "argon2_memory",
        "wrapped_key",
        "sealed_private_key",
        "public_key",
        "public_key_seal",
        "manifest_root",
    }
)
"""Properties of a student that open the rest; nobody needs them outside the database."""
EDGES_AT_ONCE = 2_000
"""Nodes whose relationships are read at once."""


async def read_everything(
    graph: Graph, session: Session, now: datetime
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]] | None:
    """Every node and relationship of a student, opened; `export/list_nodes`, `export/list_edges`.

    Returns
    -------
    nodes, each with `number`, `labels` and `properties`, where a sealed value does not open with its name in
    `tampered`, and edges between the numbers; None when the session has ended
    """
    rows = await graph.run("export/list_nodes", session, session_id=session.session_id, now=now)
    if not rows:
        return None
    turns = next(row["properties"].get("turns", 0) for row in rows if "Student" in row["labels"])
    number = {row["element"]: i for i, row in enumerate(rows)}
    nodes, damage = [], Damage()
    for i, row in enumerate(rows):
        known = len(damage)
        properties = _opened(session, row, turns, damage)
        nodes.append({"number": i, "labels": sorted(row["labels"]), "properties": properties})
        if damage[known:]:
            nodes[-1]["tampered"] = [each.field for each in damage[known:]]
    await report(graph, session, damage)
    edges = []
    elements = list(number)
    for start in range(0, len(elements), EDGES_AT_ONCE):
        part = elements[start : start + EDGES_AT_ONCE]
        edges += [
            {
                "from": number[row["start"]],
                "to": number[row["end"]],
                "type": row["type"],
                "properties": {name: _plain(value) for name, value in row["properties"].items()},
            }
            for row in await graph.run("export/list_edges", session, elements=part)
            if row["end"] in number
        ]
    return nodes, edges


def _opened(session: Session, row: Row, turns: int, damage: Damage) -> dict[str, Any]:
    """The properties of a node, opened; without keys and embeddings, and without what does not open."""
    properties, labels = row["properties"], row["labels"]
    kind = next((label for label in labels if label in SEALED_FIELDS), "")
    sealed, found = SEALED_FIELDS.get(kind, {}), {}
    for name, value in properties.items():
        if name in sealed:
            place = NodeSealer(session.keys, session, kind, _bound_to(kind, name, properties, turns))
            opened = damage.opened(partial(_unsealed, place, name, value, sealed[name]))
            if opened is not None:
                found[name] = opened
        elif name not in NEVER_EXPORTED and not isinstance(value, (bytes, bytearray)):
            found[name] = _plain(value)
    return found


def _bound_to(kind: str, name: str, properties: Mapping[str, Any], turns: int) -> str:
    """The id that a sealed field is bound to."""
    if kind == "Student":
        return "student"
    if kind == "Companion":
        return "companion" if name == "persona" else f"companion@{turns}"
    return str(properties["id"])


def _unsealed(place: NodeSealer, name: str, value: bytes, form: str) -> Any:
    if form == TEXT:
        return place.text(name, value)
    if form == JSON:
        return place.json(name, value)
    return json.loads(decompress(place.opened(name, value)))


def _plain(value: Any) -> Any:
    """A value of the database as JSON has it; times in ISO 8601."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.iso_format() if hasattr(value, "iso_format") else value
