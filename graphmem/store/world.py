"""The world of an institution: concepts and the edges between them (spec 11)."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from graphmem.model import Concept, World, WorldEdge
from graphmem.store.graph import Graph

READ_AT_ONCE = 2_000
"""Concepts that one statement reads."""


async def load_world(graph: Graph, institution: str) -> World:
    """All concepts and edges of an institution, read in pages; `world/list`."""
    concepts: dict[str, Concept] = {}
    edges: dict[str, WorldEdge] = {}
    after = ""
    while True:
        rows = await graph.run("world/list", institution=institution, after=after, limit=READ_AT_ONCE)
        for row in rows:
            found = concept_of(row["concept"])
            concepts[found.id] = found
            edges |= {id: WorldEdge(id, found.id, to_id, kind) for id, to_id, kind in row["edges"]}
            after = found.id
        if len(rows) < READ_AT_ONCE:
            return World(concepts, edges)


async def list_names(graph: Graph, institution: str) -> list[Concept]:
    """All concepts of an institution, read in pages; `world/list_names`."""
    concepts: list[Concept] = []
    after = ""
    while True:
        rows = await graph.run("world/list_names", institution=institution, after=after, limit=READ_AT_ONCE)
        concepts += [concept_of(row["concept"]) for row in rows]
        if len(rows) < READ_AT_ONCE:
            return concepts
        after = concepts[-1].id


async def save_concepts(graph: Graph, institution: str, concepts: Sequence[Concept], now: datetime) -> None:
    """Add concepts, or change those of the same ids; `world/set_concepts`."""
    await graph.run("world/set_concepts", institution=institution, concepts=[_row(c) for c in concepts], now=now)


async def save_world_edges(graph: Graph, institution: str, edges: Sequence[WorldEdge]) -> None:
    """Add edges; `world/set_edges`."""
    await graph.run("world/set_edges", institution=institution, edges=[asdict(edge) for edge in edges])


async def delete_concepts(graph: Graph, institution: str, ids: Sequence[str]) -> None:
    """Delete concepts with all edges; `world/delete_concepts`."""
    await graph.run("world/delete_concepts", institution=institution, ids=list(ids))


async def delete_world_edges(graph: Graph, institution: str, edges: Sequence[WorldEdge]) -> None:
    """Delete edges; `world/delete_edges`."""
    await graph.run("world/delete_edges", institution=institution, edges=[asdict(edge) for edge in edges])


async def find_stored_concept(graph: Graph, institution: str, id: str) -> Concept | None:
    """A concept by its id; `concept/find`."""
    rows = await graph.run("concept/find", institution=institution, id=id)
    return concept_of(rows[0]["concept"]) if rows else None


async def list_concept_page(
    graph: Graph, institution: str, search: str, domain: str | None, after: str, limit: int
) -> tuple[int, list[Concept]]:
    """Number of concepts that hold a text, and a page of them by id; `concept/list_page`."""
    (row,) = await graph.run(
        "concept/list_page",
        institution=institution,
        words=search.casefold(),
        domain=domain,
        after=after,
        limit=limit,
    )
    return row["total"], [concept_of(each) for each in row["concepts"]]


def concept_of(row: Sequence[Any]) -> Concept:
    """A concept as the statements return it: id, name, aliases, description, domain, grade, misconceptions."""
    id, name, aliases, description, domain, grade, misconceptions = row
    # Concepts imported before there were misconceptions have none.
    return Concept(id, name, tuple(aliases), description, domain, grade, tuple(misconceptions or ()))


def _row(concept: Concept) -> dict[str, Any]:
    # Null removes a property that an earlier import set.
    words = "\n".join((concept.name, *concept.aliases, concept.description or "")).casefold()
    return asdict(concept) | {
        "aliases": list(concept.aliases),
        "misconceptions": list(concept.misconceptions),
        "words": words,
    }
