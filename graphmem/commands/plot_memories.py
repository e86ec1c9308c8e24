"""The drawing of a memory graph: a box a memory, coloured by its modality, and what it speaks of."""

import textwrap
from collections import Counter
from dataclasses import dataclass

import networkx as nx
import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from graphmem.commands.canvas import FOOT, HEAD, OUTLINE, Canvas, key_box, key_line
from graphmem.flows.picture import MemoryPicture
from graphmem.model import EdgeType, EntityKind, Memory, MemoryRole, Modality, Reliability, Who
from graphmem.text.sanitize import clipped

Places = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
"""A pair of inches for each box."""
LETTER, LINE, PADDING, GAP = 0.062, 0.135, 0.09, 0.16
"""Inches: a letter's width, a line's height, around a label, between boxes."""
FONT, LABEL_COLUMNS, LABEL_CHARACTERS = 7.5, 27, 104
WIDE = 1.7
"""Width of a picture for each inch of its height."""
ROOMINESS = 3.2
"""Area of a picture for each square inch of its boxes."""
PUSHES = 600
COLOURS = {
    Modality.EPISODIC: "#D9CCF2",
    Modality.SEMANTIC: "#B79BE8",
    Modality.PROCEDURAL: "#A5DDD7",
    Modality.EMOTIONAL: "#F8B9CB",
    Modality.SENSORY: "#FAD3B8",
}
WORDS = {
    Modality.EPISODIC: "what happened",
    Modality.SEMANTIC: "what is so",
    Modality.PROCEDURAL: "how it goes best",
    Modality.EMOTIONAL: "feelings",
    Modality.SENSORY: "what it was like",
}
ENTITY, CONCEPT = "#D5EBB9", "#F7C6DB"
EDGE_COLOURS = {
    EdgeType.PRECEDES: ("#8FB8DE", "comes before"),
    EdgeType.CAUSES: ("#D84315", "causes, enables"),
    EdgeType.ENABLES: ("#D84315", "causes, enables"),
    EdgeType.RELATES_TO: ("#9A80CC", "is like"),
    EdgeType.REMINDS_OF: ("#9A80CC", "is like"),
    EdgeType.SUPPORTS: ("#5E8C31", "supports, refines, sums up"),
    EdgeType.REFINES: ("#5E8C31", "supports, refines, sums up"),
    EdgeType.ABSTRACTS: ("#5E8C31", "supports, refines, sums up"),
    EdgeType.EVOKES: ("#D05C7E", "evokes"),
    EdgeType.CONTRADICTS: ("#B71C1C", "contradicts"),
    EdgeType.TEMPORAL_EVOLUTION: ("#00796B", "became"),
}
SPEAKS_OF = ("#B5BAC4", "speaks of")


@dataclass(frozen=True)
class MemoryBox:
    """A labelled box of a picture; sizes in inches."""

    id: str
    label: str
    colour: str
    dashed: bool = False
    bold: bool = False
    round: bool = False

    @property
    def width(self) -> float:
        """Width that its longest line needs."""
        return max(map(len, self.label.splitlines())) * LETTER + 2 * PADDING

    @property
    def height(self) -> float:
        """Height that its lines need."""
        return len(self.label.splitlines()) * LINE + 2 * PADDING


def draw_memories(who: Who, picture: MemoryPicture) -> Figure:
    """Draw memories, entities and concepts as boxes, the edges between them as arrows, and a legend.

    The same picture is always drawn the same way.
    """
    boxes = memory_boxes(picture)
    there = {box.id for box in boxes}
    edges = [edge for edge in picture.edges if edge.to_id in there]
    places = placed(boxes, [(edge.from_id, edge.to_id) for edge in edges])
    sizes = np.array([(box.width, box.height) for box in boxes]).reshape(-1, 2)
    low = (places - sizes / 2).min(axis=0, initial=0.0) - GAP
    width, height = (places + sizes / 2).max(axis=0, initial=0.0) + GAP - low
    said = "what is remembered" if picture.readable else "memories by kind, without words: those need the password"
    shown = len(picture.memories)
    most = f"{shown}" if shown == picture.total else f"the {shown} most present of {picture.total}"
    line = f"{most} memories, {picture.at:%d %B %Y}"
    canvas = Canvas(max(7.0, width), height + HEAD + FOOT, f"{who.student_id}: {said}", line)
    at = {box.id: (float(x), float(y)) for box, (x, y) in zip(boxes, places - low + (0.0, HEAD), strict=True)}
    patches = {box.id: _draw_box(canvas, box, *at[box.id]) for box in boxes}
    styles = {}
    for edge in edges:
        colour, label = EDGE_COLOURS.get(edge.type, SPEAKS_OF) if edge.to_label == "Memory" else SPEAKS_OF
        styles[label] = colour
        canvas.arrow(
            at[edge.from_id], at[edge.to_id], patchA=patches[edge.from_id], patchB=patches[edge.to_id],
            arrowstyle="-|>", mutation_scale=7, color=colour, linewidth=0.6 + 0.8 * edge.weight,
        )  # fmt: skip
    present = {each.modality for each in picture.memories}
    keys: list[Artist] = [key_box(COLOURS[m], WORDS[m]) for m in Modality if m in present]
    keys += [key_box(ENTITY, "person, place, thing")] * bool(there & picture.entities.keys())
    keys += [key_box(CONCEPT, "concept of the world")] * bool(picture.concepts)
    keys += [key_box("white", "never fades", edgecolor="#30343C", linewidth=1.6)]
    keys += [key_box("white", "doubted, or past", linestyle="--")]
    canvas.key([*keys, *(key_line(colour, label) for label, colour in sorted(styles.items()))])
    return canvas.figure


def memory_boxes(picture: MemoryPicture) -> list[MemoryBox]:
    """Return a box for each memory, entity and concept of a picture; without words where they may not be read.

    Persons and places have one, and such things as two memories or more speak of: others only repeat a memory's words.
    """
    boxes = [
        MemoryBox(
            each.id,
            _label(picture, each),
            COLOURS[each.modality],
            dashed=each.reliability is not Reliability.RELIABLE or each.invalid_at is not None,
            bold=each.flashbulb or each.in_ledger,
        )
        for each in picture.memories
    ]
    spoken = Counter(edge.to_id for edge in picture.edges)
    for id, entity in picture.entities.items():
        if spoken[id] > (entity.kind is EntityKind.THING):
            name = entity.kind.value if entity.name is None or id in picture.veiled else entity.name
            boxes.append(MemoryBox(id, clipped(name, LABEL_COLUMNS), ENTITY, round=True))
    return boxes + [
        MemoryBox(id, clipped(each.name, LABEL_COLUMNS), CONCEPT, round=True) for id, each in picture.concepts.items()
    ]


def placed(boxes: list[MemoryBox], edges: list[tuple[str, str]]) -> Places:
    """Centres of boxes in inches: connected ones near each other, none upon another.

    Examples
    --------
    >>> boxes = [MemoryBox("a", "one", CONCEPT), MemoryBox("b", "two", CONCEPT)]
    >>> a, b = placed(boxes, [("a", "b")])
    >>> bool(abs(a[0] - b[0]) >= boxes[0].width or abs(a[1] - b[1]) >= boxes[0].height)
    True
    """
    graph = nx.Graph()
    graph.add_nodes_from(box.id for box in boxes)
    graph.add_edges_from(edges)
    if not boxes:
        return np.zeros((0, 2))
    found = nx.spring_layout(graph, seed=1, iterations=300, k=2.2 / np.sqrt(len(boxes)))
    places = np.array([found[box.id] for box in boxes])
    sizes = np.array([(box.width + GAP, box.height + GAP) for box in boxes])
    height = np.sqrt(ROOMINESS * sizes.prod(axis=1).sum() / WIDE)
    places *= (height * WIDE / 2, height / 2)
    return _apart(places, sizes)


def _apart(places: Places, sizes: Places) -> Places:
    """Boxes pushed off each other, each pair along the shorter way."""
    half = (sizes[:, None] + sizes[None, :]) / 2
    rows = np.arange(len(places))
    for _ in range(PUSHES):
        away = places[:, None] - places[None, :]
        overlap = half - np.abs(away)
        overlap[rows, rows] = 0.0
        touching = np.asarray((overlap > 1e-6).all(axis=2))
        if not touching.any():
            break
        # Those that lie upon each other exactly part by their order.
        way = np.where(away == 0.0, np.sign(rows[:, None] - rows[None, :])[:, :, None], np.sign(away))
        shorter = np.eye(2)[overlap.argmin(axis=2)]
        places = places + (way * shorter * overlap * touching[:, :, None]).sum(axis=1) * 0.3
    return places


def _label(picture: MemoryPicture, memory: Memory) -> str:
    gravity = f"{picture.gravity[memory.id]:.1f}"
    if memory.content is None:
        return f"{memory.modality.value} {memory.kind.value}\ngravity {gravity}"
    if memory.id in picture.veiled:
        return "(names what has not\nbeen met yet)"
    # An episode is titled by what it was about.
    title = "a talk about " if memory.role is MemoryRole.EPISODE else ""
    said = clipped(title + " ".join(memory.content.split()), LABEL_CHARACTERS)
    return "\n".join(textwrap.wrap(said, LABEL_COLUMNS)) or "(empty)"


def _draw_box(canvas: Canvas, box: MemoryBox, x: float, y: float) -> FancyBboxPatch:
    width, height = box.width - 2 * PADDING, box.height - 2 * PADDING
    style = f"round,pad={PADDING},rounding_size={PADDING * (1.6 if box.round else 0.6)}"
    patch = FancyBboxPatch(
        (x - width / 2, y - height / 2), width, height, boxstyle=style, facecolor=box.colour, zorder=2,
        edgecolor="#30343C" if box.bold else OUTLINE, linewidth=1.6 if box.bold else 0.6,
        linestyle="--" if box.dashed else "-",
    )  # fmt: skip
    canvas.axes.add_patch(patch)
    weight = "bold" if box.round else "normal"
    canvas.text(x, y, box.label, size=FONT, ha="center", zorder=3, linespacing=1.15, fontweight=weight)
    return patch
