"""The drawing of a memory graph: a box a memory, coloured by its modality, and what it speaks of."""

import textwrap
from dataclasses import dataclass

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch

from graphmem.flows.picture import MemoryPicture
from graphmem.model import EdgeType, Memory, Modality, Reliability, Who
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
ENTITY, CONCEPT, LETTERING = "#D5EBB9", "#F7C6DB", "#1F2430"
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
    places = placed(boxes, [(edge.from_id, edge.to_id) for edge in picture.edges])
    sizes = np.array([(box.width, box.height) for box in boxes]).reshape(-1, 2)
    if not boxes:
        places, sizes = np.zeros((1, 2)), np.ones((1, 2))
    low, high = (places - sizes / 2).min(axis=0) - GAP, (places + sizes / 2).max(axis=0) + GAP
    width, height = max(7.0, high[0] - low[0]), high[1] - low[1]
    figure = Figure(figsize=(width, height + 1.3), facecolor="white")
    axes = figure.add_axes((0.0, 0.8 / (height + 1.3), 1.0, height / (height + 1.3)))
    axes.set_axis_off()
    axes.set_xlim(low[0], low[0] + width)
    axes.set_ylim(low[1], high[1])
    patches = {}
    at = {box.id: (float(x), float(y)) for box, (x, y) in zip(boxes, places, strict=False)}
    for box in boxes:
        patches[box.id] = _draw_box(axes, box, *at[box.id])
    styles = {}
    for edge in picture.edges:
        colour, said = EDGE_COLOURS.get(edge.type, SPEAKS_OF) if edge.to_label == "Memory" else SPEAKS_OF
        styles[said] = colour
        axes.add_patch(
            FancyArrowPatch(
                at[edge.from_id], at[edge.to_id], patchA=patches[edge.from_id], patchB=patches[edge.to_id],
                arrowstyle="-|>", mutation_scale=7, connectionstyle="arc3,rad=0.06", color=colour,
                linewidth=0.6 + 0.8 * edge.weight, zorder=1,
            )
        )  # fmt: skip
    _caption(figure, who, picture, styles)
    return figure


def memory_boxes(picture: MemoryPicture) -> list[MemoryBox]:
    """A box for each memory, entity and concept of a picture; without words where they may not be read."""
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
    linked = {id for edge in picture.edges for id in (edge.from_id, edge.to_id)}
    for id, entity in picture.entities.items():
        if id in linked:
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
    said = clipped(" ".join(memory.content.split()), LABEL_CHARACTERS)
    return "\n".join(textwrap.wrap(said, LABEL_COLUMNS)) or "(empty)"


def _draw_box(axes: Axes, box: MemoryBox, x: float, y: float) -> FancyBboxPatch:
    width, height = box.width - 2 * PADDING, box.height - 2 * PADDING
    style = f"round,pad={PADDING},rounding_size={PADDING * (1.6 if box.round else 0.6)}"
    patch = FancyBboxPatch(
        (x - width / 2, y - height / 2), width, height, boxstyle=style, facecolor=box.colour, zorder=2,
        edgecolor="#30343C" if box.bold else "#8A8F99", linewidth=1.6 if box.bold else 0.6,
        linestyle="--" if box.dashed else "-",
    )  # fmt: skip
    axes.add_patch(patch)
    axes.text(
        x, y, box.label, ha="center", va="center", fontsize=FONT, color=LETTERING, zorder=3, parse_math=False,
        linespacing=1.15, fontweight="bold" if box.round else "normal",
    )  # fmt: skip
    return patch


def _caption(figure: Figure, who: Who, picture: MemoryPicture, styles: dict[str, str]) -> None:
    height = figure.get_figheight()
    said = "what is remembered" if picture.readable else "memories by kind, without words: those need the password"
    shown = f"the {len(picture.memories)} most present of {picture.total} memories, {picture.at:%d %B %Y}"
    for text, down, size, colour in (
        (f"{who.student_id}: {said}", 0.2, 12, LETTERING),
        (shown, 0.42, 8.5, "#5A6070"),
    ):
        figure.text(0.015, 1 - down / height, text, fontsize=size, va="center", color=colour, parse_math=False)
    present = {each.modality for each in picture.memories}
    boxes = [Patch(facecolor=COLOURS[m], edgecolor="#8A8F99", label=m.value) for m in Modality if m in present]
    boxes += [Patch(facecolor=ENTITY, edgecolor="#8A8F99", label="person, place, thing")] * bool(picture.entities)
    boxes += [Patch(facecolor=CONCEPT, edgecolor="#8A8F99", label="concept of the world")] * bool(picture.concepts)
    boxes += [
        Patch(facecolor="white", edgecolor="#30343C", linewidth=1.6, label="never fades"),
        Patch(facecolor="white", edgecolor="#8A8F99", linestyle="--", label="doubted, or past"),
    ]
    lines = [Line2D([], [], color=colour, label=said, linewidth=2) for said, colour in sorted(styles.items())]
    figure.legend(
        handles=[*boxes, *lines], loc="lower left", bbox_to_anchor=(0.01, 0.05 / height), ncols=7, frameon=False,
        fontsize=8, handlelength=1.4, columnspacing=1.3,
    )  # fmt: skip
