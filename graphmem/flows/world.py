"""The world that an institution's students share: files, import and look-up (spec 11)."""

import csv
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.world_plan import WorldDraft, plan_import, ranked_concepts, searched_text
from graphmem.model import MAIN_WORLD, Concept, Imported, WorldEdge, WorldEdgeType
from graphmem.ports import Embedder
from graphmem.samples import SAMPLES, sample_worlds
from graphmem.store import world as store
from graphmem.store.graph import Graph
from graphmem.store.nodes import batches
from graphmem.validation import PAGE_SIZE, checked_count, checked_id, checked_new_id, checked_text

WRITTEN_AT_ONCE = 2_000
"""Concepts or edges that one transaction writes."""
EMBEDDINGS_AT_ONCE = 500
"""Concepts whose embeddings one transaction writes."""
MOST_FOUND = 200
"""Most concepts that a search finds."""
SEARCH_LIMIT = 500
"""Most characters of a search."""


LINKS = {
    "prerequisites": WorldEdgeType.PREREQUISITE_OF,
    "parts": WorldEdgeType.PART_OF,
    "related": WorldEdgeType.RELATED_TO,
}
"""Columns of a CSV file that name other concepts, from which an edge leads to the concept of the line."""
COLUMNS = ("id", "name", "aliases", "description", "domain", "grade", "misconceptions", *LINKS)
"""Columns of a CSV file; all but the first two may be missing, and several values are separated by `|`."""


@dataclass(frozen=True)
class ConceptPage:
    """Some concepts, how many there are, and where the next page begins."""

    items: tuple[Concept, ...]
    """Concepts of this page, by id."""
    total: int
    """Concepts in all pages, 0 or more."""
    next: str | None
    """Value of `after` for the next page; null on the last."""


async def import_world(
    gm: Graphmem,
    institution: str,
    draft: WorldDraft,
    *,
    name: str = MAIN_WORLD,
    replace: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Add concepts and edges to an institution's world, or change those of the same ids.

    All of it is checked before anything is written. It is written in batches, each of which may run again: what is
    cut short is completed by the same import, and named by `graphmem doctor` until then.

    Parameters
    ----------
    gm : Graphmem
    institution : str
    draft : WorldDraft
    name : of the world that the concepts belong to, 1 to 128 characters; an institution may have several
    replace : bool, True: what the draft lacks of this world is removed, with what students knew of it
    progress : called after each batch with the numbers of changes written and of all; an embedding is a change

    Returns
    -------
    Imported, how many concepts and edges the draft had

    Raises
    ------
    InvalidInput    the draft will not do; names each fault and its place, and nothing is written

    Source: spec 11.
    """
    checked_new_id("world", name, in_paths=False)
    before = await store.load_world(gm.graph, institution)
    _, changes = plan_import(before, draft, replace=replace, name=name)
    # In the order that one rests on another; each concept that is written is embedded, too.
    steps: Sequence[tuple[Sequence[Any], Callable[[Sequence[Any]], Awaitable[None]]]] = (
        (changes.gone_edges, partial(store.delete_world_edges, gm.graph, institution)),
        (changes.gone_concepts, partial(store.delete_concepts, gm.graph, institution)),
        (changes.concepts, lambda some: store.save_concepts(gm.graph, institution, name, some, gm.clock())),
        (changes.edges, partial(store.save_world_edges, gm.graph, institution)),
    )
    total, done = sum(len(changed) for changed, _ in steps) + len(changes.concepts), 0

    async def written(count: int) -> None:
        nonlocal done, total
        # What an import that was cut short has left is done with this one.
        done, total = done + count, max(total, done + count)
        gm.worlds.pop(institution, None)
        progress(done, total)
        await store.note_import(gm.graph, institution, name, gm.clock())

    await store.note_import(gm.graph, institution, name, gm.clock())
    for changed, write in steps:
        for some in batches(changed, WRITTEN_AT_ONCE):
            await write(some)
            await written(len(some))
    await embed_world(gm.graph, gm.embedder, institution, written)
    await store.finish_import(gm.graph, institution, name)
    return Imported(len(draft.concepts), len(draft.edges))


async def embed_world(
    graph: Graph, embedder: Embedder, institution: str, progress: Callable[[int], Awaitable[None]] | None = None
) -> None:
    """Embed the concepts of an institution that have no embedding, for the search by meaning.

    Parameters
    ----------
    graph : Graph
    embedder : Embedder, the one the database is for
    institution : str
    progress : awaited after each batch with the number of concepts in it

    Source: spec 2, 11.
    """
    after = ""
    while some := await store.list_unembedded(graph, institution, after, EMBEDDINGS_AT_ONCE):
        vectors = await embedder.embed([searched_text(each) for each in some])
        await store.save_concept_embeddings(graph, institution, some, vectors)
        after = some[-1].id
        if progress is not None:
            await progress(len(some))


async def find_concept(gm: Graphmem, institution: str, id: str) -> Concept | None:
    """Find a concept of an institution's world; None if there is none of this id."""
    return await store.find_stored_concept(gm.graph, institution, checked_id("id", id))


async def list_concepts(
    gm: Graphmem, institution: str, search: str | None, domain: str | None, first: int, after: str | None
) -> ConceptPage:
    """Return a page of an institution's concepts: by id, or what a search finds, the best first.

    Parameters
    ----------
    gm : Graphmem
    institution : str
    search : words of a name, an alias or a description, whole or in part, or what it means; None or empty: all, by id
    domain : str, only of this domain; None: of all
    first : int, 1 to PAGE_SIZE
    after : str, `next` of the page before

    Raises
    ------
    InvalidInput    `first` or `after` will not do
    """
    checked_count("first", first, PAGE_SIZE)
    place = "" if after is None else checked_id("after", after)
    if search is not None and search.strip():
        (vector,) = await gm.embedder.embed([checked_text("search", search, SEARCH_LIMIT)])
        hits = await store.search_concepts(gm.graph, institution, search, vector, domain, MOST_FOUND)
        ranked = ranked_concepts(search, hits)
        ids = [each.id for each in ranked]
        start = ids.index(place) + 1 if place in ids else len(ids) if place else 0
        total, found = len(ids), ranked[start : start + first + 1]
    else:
        total, found = await store.list_concept_page(gm.graph, institution, domain, place, first + 1)
    items = tuple(found[:first])
    return ConceptPage(items, total, items[-1].id if len(found) > first else None)


class _GivenWorld(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)

    concepts: list[Concept]
    edges: list[WorldEdge] = []


def find_world(given: str) -> Path:
    """Return the file of a world: one that lies at `given`, else the world of this name that ships with graphmem.

    Raises
    ------
    InvalidInput    neither is there; names the worlds that ship

    Examples
    --------
    >>> find_world("mathematics").name
    'world.csv'
    """
    path = Path(given)
    if path.is_file():
        return path
    if given in sample_worlds():
        return SAMPLES / given / "world.csv"
    raise InvalidInput(f"There is no file {given}: give a CSV or JSON file, or one of {', '.join(sample_worlds())}.")


def read_world(path: Path) -> WorldDraft:
    """Read a world: JSON as `importWorld` takes it, or CSV with a line for each concept.

    Raises
    ------
    InvalidInput    the file cannot be read; says at which line or part
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text: {type(e).__name__}.") from e
    return _of_json(path, text) if path.suffix.lower() == ".json" else _of_csv(path, text)


def _of_json(path: Path, text: str) -> WorldDraft:
    try:
        found = _GivenWorld.model_validate_json(text)
    except ValidationError as e:
        told = [f"{'.'.join(map(str, each['loc'])) or path.name}: {each['msg']}" for each in e.errors()[:20]]
        raise InvalidInput(f"{path} is not the JSON of a world:\n" + "\n".join(told)) from None
    return WorldDraft(
        [(f"concepts.{i}", _stripped(each)) for i, each in enumerate(found.concepts)],
        [(f"edges.{i}", each) for i, each in enumerate(found.edges)],
    )


def _of_csv(path: Path, text: str) -> WorldDraft:
    reader = csv.DictReader(text.splitlines(keepends=True), restkey="")
    columns = set(reader.fieldnames or ())
    if not {"id", "name"} <= columns <= set(COLUMNS):
        raise InvalidInput(f"{path}: the first line must name the columns, id and name, and any of {COLUMNS[2:]}.")
    concepts, edges, faults = [], [], []
    for row in reader:
        place = f"line {reader.line_num}"
        if "" in row or None in row.values():
            faults.append(f"{place}: there are not {len(columns)} values: put values that hold a comma into quotes.")
            continue
        grade = (row.get("grade") or "").strip()
        if grade and not grade.isdecimal():
            faults.append(f"{place}: the grade is {grade!r}: write a school year as a whole number, or nothing.")
            continue
        aliases, misconceptions = (tuple(_several(row.get(column))) for column in ("aliases", "misconceptions"))
        told = row.get("description"), row.get("domain"), int(grade) if grade else None
        concepts.append((place, _stripped(Concept(row["id"], row["name"], aliases, *told, misconceptions))))
        for column, kind in LINKS.items():
            for other in _several(row.get(column)):
                edges.append((place, WorldEdge(f"{other} {kind} {row['id']}", other, row["id"], kind)))
    if faults:
        raise InvalidInput(f"{path} will not do, nothing was imported:\n" + "\n".join(faults[:20]))
    return WorldDraft(concepts, edges)


def _several(value: str | None) -> list[str]:
    return [each.strip() for each in (value or "").split("|") if each.strip()]


def _stripped(given: Concept) -> Concept:
    return replaced(
        given,
        id=given.id.strip(),
        name=given.name.strip(),
        aliases=tuple(map(str.strip, given.aliases)),
        description=given.description or None,
        domain=given.domain or None,
        misconceptions=tuple(map(str.strip, given.misconceptions)),
    )
