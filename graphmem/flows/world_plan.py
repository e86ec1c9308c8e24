"""Plan of a world import and its faults, as pure decisions (spec 11)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from graphmem.errors import InvalidInput
from graphmem.model import MAIN_WORLD, Concept, ConceptHit, World, WorldEdge, WorldEdgeType
from graphmem.validation import checked_new_id, checked_text

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
