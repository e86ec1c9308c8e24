"""The world of an institution: concepts and the edges between them (spec 11)."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from graphmem.model import Concept, ConceptHit, Matrix, Vector, World, WorldEdge
from graphmem.store.graph import Graph

READ_AT_ONCE = 2_000
"""Concepts that one statement reads."""
MOST_SEARCHED = 20
"""Most words of a search that the full-text index is asked for."""
FUZZY_LETTERS = 4
"""Letters of the shortest word that is also found with a wrong letter."""


async def load_world(graph: Graph, institution: str) -> World:
    """Return all concepts and edges of an institution, read in pages; `world/list`."""
    concepts, edges, names = dict[str, Concept](), dict[str, WorldEdge](), dict[str, str]()
    async for row in graph.pages("world/list", READ_AT_ONCE, institution=institution):
        found = concepts[row["id"]] = concept_of(row["concept"])
        edges |= {id: WorldEdge(id, found.id, to_id, kind) for id, to_id, kind in row["edges"]}
        names[found.id] = row["world"]
    return World(concepts, edges, names)


async def list_names(graph: Graph, institution: str) -> list[Concept]:
    """Return all concepts of an institution, read in pages; `world/list_names`."""
    rows = graph.pages("world/list_names", READ_AT_ONCE, institution=institution)
    return [concept_of(row["concept"]) async for row in rows]


async def note_import(graph: Graph, institution: str, world: str, now: datetime) -> None:
    """Note that an import is under way, and alive at a moment; `world/note_import`."""
    await graph.run("world/note_import", institution=institution, world=world, now=now)


async def finish_import(graph: Graph, institution: str, world: str) -> None:
    """Note that an import has ended; `world/finish_import`."""
    await graph.run("world/finish_import", institution=institution, world=world)


async def list_unfinished(graph: Graph, before: datetime) -> list[tuple[str, str]]:
    """Institutions and names of worlds whose import was cut short before a moment; `world/list_unfinished`."""
    rows = await graph.run("world/list_unfinished", before=before)
    return [(row["institution"], name) for row in rows for name in row["worlds"]]


async def save_concepts(graph: Graph, institution: str, world: str, concepts: Sequence[Concept], now: datetime) -> None:
    """Add concepts, or change those of the same ids, which lose their embeddings; `world/set_concepts`."""
    # Null removes a property that an earlier import set.
    own = {"world": world, "embedding": None}
    rows = [asdict(concept) | {"words": _searched_words(concept)} | own for concept in concepts]
    await graph.run("world/set_concepts", institution=institution, concepts=rows, now=now)


async def list_unembedded(graph: Graph, institution: str, after: str, limit: int) -> list[Concept]:
    """Return concepts after a certain one that have no embedding, by id; `world/list_unembedded`."""
    rows = await graph.run("world/list_unembedded", institution=institution, after=after, limit=limit)
    return [concept_of(row["concept"]) for row in rows]


async def save_concept_embeddings(graph: Graph, institution: str, concepts: Sequence[Concept], vectors: Matrix) -> None:
    """Set the embeddings of concepts whose words have not changed meanwhile; `world/set_embeddings`."""
    rows = [
        {"id": concept.id, "words": _searched_words(concept), "embedding": vector.tolist()}
        for concept, vector in zip(concepts, vectors, strict=True)
    ]
    await graph.run("world/set_embeddings", institution=institution, embeddings=rows)


async def drop_concept_embeddings(graph: Graph) -> AsyncIterator[int]:
    """Drop the embeddings of all concepts, batch by batch; how many of each batch; `world/drop_embeddings`."""
    while rows := await graph.run("world/drop_embeddings", limit=READ_AT_ONCE):
        yield sum(row["dropped"] for row in rows)


async def list_institutions(graph: Graph) -> list[str]:
    """Institutions that have a world; `world/list_institutions`."""
    return [row["institution"] for row in await graph.run("world/list_institutions")]


async def save_world_edges(graph: Graph, institution: str, edges: Sequence[WorldEdge]) -> None:
    """Add edges; `world/set_edges`."""
    await graph.run("world/set_edges", institution=institution, edges=[asdict(edge) for edge in edges])


async def delete_concepts(graph: Graph, institution: str, ids: Sequence[str]) -> None:
    """Delete concepts with all edges; `world/delete_concepts`."""
    await graph.run("world/delete_concepts", institution=institution, ids=ids)


async def delete_world_edges(graph: Graph, institution: str, edges: Sequence[WorldEdge]) -> None:
    """Delete edges; `world/delete_edges`."""
    await graph.run("world/delete_edges", institution=institution, edges=[asdict(edge) for edge in edges])


async def list_through_grade(graph: Graph, institution: str, grade: int) -> list[str]:
    """Return ids of the concepts that are taught up to a school year; `world/list_through_grade`."""
    return [row["id"] for row in await graph.run("world/list_through_grade", institution=institution, grade=grade)]


async def find_stored_concept(graph: Graph, institution: str, id: str) -> Concept | None:
    """Return a concept by its id; `concept/find`."""
    return await graph.value(concept_of, "concept/find", institution=institution, id=id)


async def list_concept_page(
    graph: Graph, institution: str, domain: str | None, after: str, limit: int
) -> tuple[int, list[Concept]]:
    """Return the number of concepts, and a page of them by id; `concept/list_page`."""
    (row,) = await graph.run("concept/list_page", institution=institution, domain=domain, after=after, limit=limit)
    return row["total"], [concept_of(each) for each in row["concepts"]]


async def search_concepts(
    graph: Graph, institution: str, search: str, vector: Vector, domain: str | None, limit: int
) -> list[ConceptHit]:
    """Return concepts that hold some words, are like them by full text, or near in meaning; `concept/search`."""
    rows = await graph.run(
        "concept/search",
        institution=institution,
        query=_lucene(institution, search),
        words=search.casefold().strip(),
        vector=vector.tolist(),
        domain=domain,
        limit=limit,
    )
    return [ConceptHit(concept_of(r["concept"]), r["holds"], r["lexical"], r["similarity"]) for r in rows]


def _lucene(institution: str, search: str) -> str:
    """Return a query of the full-text index: any of the words, whole, begun or with a wrong letter."""
    found = re.findall(r"\w+", search.casefold())[:MOST_SEARCHED]
    words = [f"{word}^4 {word}*^2 {word}~1" if len(word) >= FUZZY_LETTERS else f"{word}^4 {word}*" for word in found]
    named = institution.replace("\\", "\\\\").replace('"', '\\"')
    # Words of the query are letters and digits only, so that nothing in it is an operator.
    asked = (
        " ".join(f"{field}:({' '.join(words)})" for field in ("name", "aliases", "description")) if words else "none"
    )
    return f'+institution:"{named}" +({asked})'


def concept_of(row: Sequence[Any]) -> Concept:
    """Return a concept as the statements return it: id, name, aliases, description, domain, grade, misconceptions."""
    id, name, aliases, description, domain, grade, misconceptions = row
    # Concepts imported before there were misconceptions have none.
    return Concept(id, name, tuple(aliases), description, domain, grade, tuple(misconceptions or ()))


def _searched_words(concept: Concept) -> str:
    return "\n".join((concept.name, *concept.aliases, concept.description or "")).casefold()
