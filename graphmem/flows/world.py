"""The world that an institution's students share: files, faults of one, import and look-up (spec 11)."""

import csv
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.model import MAIN_WORLD, Concept, ConceptHit, Imported, World, WorldEdge, WorldEdgeType
from graphmem.ports import Embedder
from graphmem.samples import SAMPLES, sample_worlds
from graphmem.store import world as store
from graphmem.store.graph import Graph
from graphmem.store.nodes import batches
from graphmem.validation import PAGE_SIZE, checked_count, checked_id, checked_new_id, checked_text

NAME_LIMIT = 200
"""Most characters of a name, an alias or a domain."""
DESCRIPTION_LIMIT = 2_000
"""Most characters of a description."""
ALIASES = 50
"""Most aliases of a concept."""
MISCONCEPTION_LENGTH = 500
"""Most characters of a misconception."""
MISCONCEPTIONS = 10
"""Most misconceptions of a concept."""
GRADES = range(1, 21)
"""School years that a concept can be taught in."""
FAULTS_TOLD = 20
"""Most faults that one error names."""
LEAST_SIMILARITY = 0.7
"""Least similarity, (1 + cosine) / 2, of a concept found by its embedding alone."""
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
class WorldDraft:
    """A world as given, each part with the place it stands at, such as `line 7`."""

    concepts: Sequence[tuple[str, Concept]]
    edges: Sequence[tuple[str, WorldEdge]]


@dataclass(frozen=True)
class WorldChanges:
    """Changes that an import writes: none where the world is already so."""

    concepts: tuple[Concept, ...]
    edges: tuple[WorldEdge, ...]
    gone_concepts: tuple[str, ...]
    gone_edges: tuple[WorldEdge, ...]


def plan_import(
    world: World, draft: WorldDraft, *, replace: bool, name: str = MAIN_WORLD
) -> tuple[World, WorldChanges]:
    """Return the world after an import, and the changes to be written for it.

    Parameters
    ----------
    world : World, as it is
    draft : WorldDraft, as given; a known id changes or renames the stored concept
    replace : bool, True: elements missing in the draft are deleted from this world; an edge belongs to its end's world
    name : of the world that the concepts belong to; concepts of another one cannot be changed

    Raises
    ------
    InvalidInput    it names every fault with its place, the first 20 of them in full

    Source: spec 11.

    Examples
    --------
    >>> half = Concept("half", "half")
    >>> after, changes = plan_import(World({}, {}), WorldDraft([("line 2", half)], []), replace=False)
    >>> changes.concepts == (half,)
    True
    >>> plan_import(after, WorldDraft([("line 2", half)], []), replace=False)[1].concepts
    ()
    """
    given, edges = {c.id: c for _, c in draft.concepts}, {e.id: e for _, e in draft.edges}
    own = {i for i in world.concepts if replace and world.names.get(i, MAIN_WORLD) == name}
    concepts = {i: c for i, c in world.concepts.items() if i not in own} | given
    kept = {i: e for i, e in world.edges.items() if i not in edges and e.to_id not in own} | edges
    after = World(concepts, kept, {i: n for i, n in world.names.items() if i in concepts} | dict.fromkeys(given, name))
    faults = [*_form_faults(draft), *_twice(draft), *_name_faults(draft, after), *_edge_faults(draft, after)]
    faults += _foreign_concepts(world, draft, name)
    # Only a world that is sound in itself has an order.
    faults += [] if faults else _cycles(after)
    if faults:
        more = len(faults) - FAULTS_TOLD
        told = "\n".join(faults[:FAULTS_TOLD]) + (f"\nand {more} more" if more > 0 else "")
        raise InvalidInput(f"The world will not do, nothing was imported:\n{told}")
    changes = WorldChanges(
        concepts=tuple(c for i, c in given.items() if world.concepts.get(i) != c),
        edges=tuple(e for i, e in edges.items() if world.edges.get(i) != e),
        gone_concepts=tuple(i for i in world.concepts if i not in concepts),
        gone_edges=tuple(e for i, e in world.edges.items() if kept.get(i) != e),
    )
    return after, changes


def searched_text(concept: Concept) -> str:
    """Return the text of a concept that is embedded for semantic search.

    Examples
    --------
    >>> searched_text(Concept("m", "mean", ("average",), "A sum divided by a count."))
    'mean, average: A sum divided by a count.'
    """
    return f"{', '.join((concept.name, *concept.aliases))}: {concept.description or concept.domain or ''}".rstrip(": ")


def ranked_concepts(search: str, found: Iterable[ConceptHit]) -> list[Concept]:
    """Return the concepts that a search found: exact names, then texts with the words, then full text and meaning.

    What neither holds the words nor is found by full text needs a similarity of 0.7.

    Examples
    --------
    >>> hits = [ConceptHit(Concept("a", "a mean man"), True), ConceptHit(Concept("m", "mean"), True)]
    >>> [each.id for each in ranked_concepts("Mean", hits)]
    ['m', 'a']
    """
    wanted = search.casefold().strip()
    hits = [hit for hit in found if hit.holds or hit.lexical > 0 or hit.similarity >= LEAST_SIMILARITY]
    most = max((hit.lexical for hit in hits), default=0.0) or 1.0

    def rank(hit: ConceptHit) -> tuple[float, ...]:
        names = [name.casefold() for name in (hit.concept.name, *hit.concept.aliases)]
        exact, inside = wanted in names, any(wanted in name for name in names)
        return -exact, -inside, -hit.holds, -(hit.lexical / most + hit.similarity), len(hit.concept.name)

    return [hit.concept for hit in sorted(hits, key=lambda hit: (*rank(hit), hit.concept.id))]


def _form_faults(draft: WorldDraft) -> Iterator[str]:
    for place, concept in draft.concepts:
        yield from _concept_faults(place, concept)
    for place, edge in draft.edges:
        try:
            checked_new_id("the id of the edge", edge.id, in_paths=False)
        except InvalidInput as e:
            yield f"{place}: {e}"


def _concept_faults(place: str, concept: Concept) -> Iterator[str]:
    named = [("name", concept.name, NAME_LIMIT), *(("alias", alias, NAME_LIMIT) for alias in concept.aliases)]
    named += [("description", concept.description, DESCRIPTION_LIMIT)] if concept.description else []
    named += [("domain", concept.domain, NAME_LIMIT)] if concept.domain else []
    named += [("misconception", each, MISCONCEPTION_LENGTH) for each in concept.misconceptions]
    try:
        checked_new_id("the id of the concept", concept.id, in_paths=False)
    except InvalidInput as e:
        yield f"{place}: {e}"
    for what, value, limit in named:
        if not value.strip():
            yield f"{place}: the {what} is empty: write it, or remove it."
            continue
        try:
            checked_text(f"the {what}", value, limit)
        except InvalidInput as e:
            yield f"{place}: {e}"
    if len(concept.aliases) > ALIASES:
        yield f"{place}: there are {len(concept.aliases)} aliases: at most {ALIASES} are taken."
    if len(concept.misconceptions) > MISCONCEPTIONS:
        yield f"{place}: there are {len(concept.misconceptions)} misconceptions: at most {MISCONCEPTIONS} are taken."
    if concept.grade is not None and concept.grade not in GRADES:
        yield f"{place}: the grade is {concept.grade}: write a school year from {GRADES[0]} to {GRADES[-1]}, or none."


def _twice(draft: WorldDraft) -> Iterator[str]:
    yield from _repeated("concept", ((place, c.id) for place, c in draft.concepts))
    yield from _repeated("edge", ((place, e.id) for place, e in draft.edges))


def _foreign_concepts(world: World, draft: WorldDraft, name: str) -> Iterator[str]:
    for place, concept in draft.concepts:
        other = world.names.get(concept.id, name)
        if other != name:
            yield f"{place}: {concept.id!r} belongs to the world {other!r}: import it there, or give another id."


def _repeated(kind: str, found: Iterable[tuple[str, str]]) -> Iterator[str]:
    places: dict[str, str] = {}
    for place, id in found:
        if id in places:
            yield f"{place}: the id {id!r} is that of another {kind}, at {places[id]}: give each its own."
        places.setdefault(id, place)


def _name_faults(draft: WorldDraft, after: World) -> Iterator[str]:
    bearers: dict[str, set[str]] = {}
    for each in (*after.concepts.values(), *(concept for _, concept in draft.concepts)):
        bearers.setdefault(each.name.casefold().strip(), set()).add(each.id)
    for place, concept in draft.concepts:
        if concept.name.strip() and len(bearers[concept.name.casefold().strip()]) > 1:
            yield f"{place}: another concept is named {concept.name!r}, too: tell them apart."


def _edge_faults(draft: WorldDraft, after: World) -> Iterator[str]:
    places = {edge.id: place for place, edge in draft.edges}
    for edge in after.edges.values():
        # An edge that was there before can only lose an end where another world needs what goes.
        place = places.get(edge.id, "the world so far")
        for id in (edge.from_id, edge.to_id):
            if id not in after.concepts:
                yield f"{place}: there is no concept {id!r}: add it, or remove the edge."
        if edge.from_id == edge.to_id:
            yield f"{place}: the edge leads from {edge.from_id!r} to itself: remove it."
        if edge.type not in set(WorldEdgeType):
            yield f"{place}: there is no edge type {edge.type!r}: write one of {', '.join(WorldEdgeType)}."


def _cycles(after: World) -> list[str]:
    faults = []
    for kind, called in (
        (WorldEdgeType.PREREQUISITE_OF, "its own prerequisite"),
        (WorldEdgeType.PART_OF, "part of itself"),
    ):
        before: dict[str, set[str]] = {}
        for edge in after.edges.values():
            if edge.type == kind:
                before.setdefault(edge.to_id, set()).add(edge.from_id)
        try:
            TopologicalSorter(before).prepare()
        except CycleError as e:
            way = " -> ".join(repr(id) for id in e.args[1])
            faults.append(f"A concept is {called}: {way}: remove one of these edges.")
    return faults


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
