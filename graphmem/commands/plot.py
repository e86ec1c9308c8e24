"""Pictures of a student's memory graph, and of the overlay on the world, without a display (spec 18)."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator

from matplotlib.figure import Figure

from graphmem.app import Graphmem
from graphmem.commands.drawing import OUTLINE, Arrow, Box, draw_page, key_box, key_line, placed, tabled
from graphmem.commands.frame import unlocked
from graphmem.flows.picture import MemoryPicture, OverlayPicture, pictured_memories, pictured_overlay
from graphmem.jobs.runner import run_jobs
from graphmem.model import Concept, EdgeType, EntityKind, Known, Memory, MemoryRole, Modality, Reliability, Who
from graphmem.text.normalize import clipped

LABEL_COLUMNS, LABEL_CHARACTERS = 27, 104
MODALITIES = {
    Modality.EPISODIC: ("#D9CCF2", "what happened"),
    Modality.SEMANTIC: ("#B79BE8", "what is so"),
    Modality.PROCEDURAL: ("#A5DDD7", "how it goes best"),
    Modality.EMOTIONAL: ("#F8B9CB", "feelings"),
    Modality.SENSORY: ("#FAD3B8", "what it was like"),
}
ENTITY, CONCEPT, LASTING = "#D5EBB9", "#F7C6DB", "#30343C"
SUPPORTING, CAUSING, LIKE = (
    ("#5E8C31", "supports, refines, sums up"),
    ("#D84315", "causes, enables"),
    ("#9A80CC", "is like"),
)
EDGES = {
    EdgeType.PRECEDES: ("#8FB8DE", "comes before"),
    EdgeType.CAUSES: CAUSING,
    EdgeType.ENABLES: CAUSING,
    EdgeType.RELATES_TO: LIKE,
    EdgeType.REMINDS_OF: LIKE,
    EdgeType.SUPPORTS: SUPPORTING,
    EdgeType.REFINES: SUPPORTING,
    EdgeType.ABSTRACTS: SUPPORTING,
    EdgeType.EVOKES: ("#D05C7E", "evokes"),
    EdgeType.CONTRADICTS: ("#B71C1C", "contradicts"),
    EdgeType.TEMPORAL_EVOLUTION: ("#00796B", "became"),
}
SPEAKS_OF = ("#B5BAC4", "speaks of")
MET, WEAK, FAIR, STRONG = (
    ("#B9D6F2", "met"),
    ("#F3CE94", "practised, weak"),
    ("#DCE6A5", "practised, fair"),
    ("#9CCFA7", "practised, strong"),
)
WEAK_BELOW, STRONG_FROM = 0.3, 0.6
"""Familiarity under which a practised concept is weak, and from which it is strong."""
HIDDEN, FRONTIER, FOUND = "#E5E7EB", "#E4572E", "#2F6FB2"
MOST_NAMED, CLOSE = 24, 0.04
"""Most concepts of a domain and a grade that are named; inches around the name of one."""


async def memory_figure(gm: Graphmem, who: Who, password: str | None, most: int) -> Figure:
    """Return a picture of a student's most present memories; words only with the password.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    NotFound        no password was given, and there is no such student
    """
    if password is None:
        return draw_memories(who, await pictured_memories(gm, who, most))
    async with unlocked(gm, who, password) as session:
        await run_jobs(gm, session)
        return draw_memories(who, await pictured_memories(gm, who, most, session))


async def overlay_figure(gm: Graphmem, who: Who, *, name_frontier: bool = False) -> Figure:
    """Return a picture of what a student knows of the world; what could come next is named only where asked for.

    Raises
    ------
    NotFound        there is no such student, or no world
    """
    return draw_overlay(who, await pictured_overlay(gm, who), name_frontier=name_frontier)


def draw_memories(who: Who, picture: MemoryPicture) -> Figure:
    """Draw memories, entities and concepts as boxes, with the edges between them; the same picture the same way."""
    boxes = memory_boxes(picture)
    there = {box.id for box in boxes}
    arrows, styles = list[Arrow](), set[tuple[str, str]]()
    for edge in picture.edges:
        if edge.to_id in there:
            style = EDGES.get(edge.type, SPEAKS_OF) if edge.to_label == "Memory" else SPEAKS_OF
            arrows.append(Arrow(edge.from_id, edge.to_id, style[0], 0.6 + 0.8 * edge.weight))
            styles.add(style)
    said = "what is remembered" if picture.readable else "memories by kind, without words: those need the password"
    shown = len(picture.memories)
    most = f"{shown}" if shown == picture.total else f"the {shown} most present of {picture.total}"
    present = {each.modality for each in picture.memories}
    key = [key_box(*style) for modality, style in MODALITIES.items() if modality in present]
    key += [key_box(ENTITY, "person, place, thing")] * bool(there & picture.entities.keys())
    key += [key_box(CONCEPT, "concept of the world")] * bool(picture.concepts)
    key += [key_box("white", "never fades", edgecolor=LASTING, linewidth=1.6)]
    key += [key_box("white", "doubted, or past", linestyle="--")]
    key += [key_line(*style) for style in sorted(styles, key=lambda style: style[1])]
    title, line = f"{who.student_id}: {said}", f"{most} memories, {picture.at:%d %B %Y}"
    return draw_page(title, line, boxes, placed(boxes, [arrow[:2] for arrow in arrows]), arrows, key)


def memory_boxes(picture: MemoryPicture) -> list[Box]:
    """Return a box for each memory, entity and concept of a picture; without words where they may not be read.

    Persons and places have one, and such things as two memories or more speak of: others only repeat a memory's words.
    """
    boxes = []
    for each in picture.memories:
        lasts, colour = each.flashbulb or each.in_ledger, MODALITIES[each.modality][0]
        doubted = each.reliability is not Reliability.RELIABLE or each.invalid_at is not None
        edge = LASTING if lasts else OUTLINE
        boxes.append(Box(each.id, _label(picture, each), colour, dashed=doubted, thick=lasts, edge=edge))
    spoken = Counter(edge.to_id for edge in picture.edges)
    for id, entity in picture.entities.items():
        if spoken[id] > (entity.kind is EntityKind.THING):
            name = entity.kind.value if entity.name is None or id in picture.veiled else entity.name
            boxes.append(Box(id, clipped(name, LABEL_COLUMNS), ENTITY, round=True))
    return boxes + [
        Box(id, clipped(each.name, LABEL_COLUMNS), CONCEPT, round=True) for id, each in picture.concepts.items()
    ]


def _label(picture: MemoryPicture, memory: Memory) -> str:
    if memory.content is None:
        return f"{memory.modality.value} {memory.kind.value}\ngravity {picture.gravity[memory.id]:.1f}"
    if memory.id in picture.veiled:
        return "(names what has not\nbeen met yet)"
    # An episode is titled by what it was about.
    title = "a talk about " if memory.role is MemoryRole.EPISODE else ""
    said = clipped(title + " ".join(memory.content.split()), LABEL_CHARACTERS)
    return "\n".join(textwrap.wrap(said, LABEL_COLUMNS)) or "(empty)"


def draw_overlay(who: Who, picture: OverlayPicture, *, name_frontier: bool = False) -> Figure:
    """Draw the world as a table of domains and grades: known concepts by name, of the others how many there are.

    Domains of which nothing is known and nothing could come next are left out. The same overlay is always drawn the
    same way.
    """
    cells, grades = defaultdict[str, dict[int | None, list[Concept]]](dict), defaultdict[str, list[int]](list)
    for concept in picture.world.concepts.values():
        cells[concept.domain or "other"].setdefault(concept.grade, []).append(concept)
        grades[concept.domain or "other"].append(concept.grade or 0)
    columns = sorted({each for row in cells.values() for each in row}, key=lambda grade: (grade is None, grade or 0))
    near = {picture.world.concepts[id].domain or "other" for id in picture.known.keys() | picture.frontier}
    mean = {domain: sum(given) / len(given) for domain, given in grades.items()}
    heads = [[], *([_heading_box("no grade" if grade is None else f"grade {grade}")] for grade in columns)]
    rows = [heads] + [
        [
            [_heading_box(domain)],
            *(list(_concept_boxes(picture, domain, cells[domain].get(grade, []), name_frontier)) for grade in columns),
        ]
        for domain in sorted(cells.keys() & near or cells.keys(), key=lambda domain: (mean[domain], domain))
    ]
    boxes = [box for row in rows for cell in row for box in cell]
    drawn = {box.id for box in boxes} & picture.known.keys()
    found = [picture.world.edges[id] for id in sorted(picture.discovered & picture.world.edges.keys())]
    arrows = [Arrow(each.from_id, each.to_id, FOUND) for each in found if {each.from_id, each.to_id} <= drawn]
    practised = sum(known.retention is not None for known in picture.known.values())
    line = (
        f"{len(picture.known)} of {len(picture.world.concepts)} concepts are known, {practised} of them practised; "
        f"{len(picture.frontier)} could come next. What has not been met has no name here."
    )
    key = [*(key_box(*style) for style in (MET, WEAK, FAIR, STRONG)), key_box(HIDDEN, "not met")]
    key += [key_box("white", "could come next", edgecolor=FRONTIER), key_line(FOUND, "practised together")]
    title = f"{who.student_id}: what is known of the world, {picture.at:%d %B %Y}"
    return draw_page(title, line, boxes, tabled(rows), arrows, key)


def _heading_box(text: str) -> Box:
    return Box(f"heading {text}", clipped(text, LABEL_COLUMNS), "white", edge="white", padding=CLOSE)


def _concept_boxes(picture: OverlayPicture, domain: str, concepts: list[Concept], name_frontier: bool) -> Iterator[Box]:
    """Yield the boxes of a domain and a grade: names only of what is known, and of the frontier if asked for."""
    place = f"{domain}, {concepts[0].grade}" if concepts else ""
    known = [each for each in concepts if each.id in picture.known]
    near = [each for each in concepts if each.id in picture.frontier]
    named = sorted(known, key=lambda each: each.name) + sorted(near, key=lambda each: each.name) * name_frontier
    for each in named[:MOST_NAMED]:
        colour, edge = (_colour_of(picture.known[each.id]), OUTLINE) if each in known else ("white", FRONTIER)
        yield Box(each.id, clipped(each.name, LABEL_COLUMNS), colour, edge=edge, padding=CLOSE)
    more, hidden = named[MOST_NAMED:], len(concepts) - len(known) - len(near)
    if more:
        yield Box(f"more of {place}", f"and {len(more)} more", "white", edge="white", padding=CLOSE)
    if near and not name_frontier:
        yield Box(f"next of {place}", f"{len(near)} could come next", "white", edge=FRONTIER, padding=CLOSE)
    if hidden:
        yield Box(f"hidden of {place}", f"{hidden} not met", HIDDEN, edge=HIDDEN, padding=CLOSE)


def _colour_of(known: Known) -> str:
    """Return the colour of a known concept: met only, or how familiar it is since it was practised."""
    if known.retention is None:
        return MET[0]
    return (WEAK if known.familiarity < WEAK_BELOW else FAIR if known.familiarity < STRONG_FROM else STRONG)[0]
