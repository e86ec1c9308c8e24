"""Pictures of a student's memory graph and of the overlay: pages of boxes and arrows, in inches (spec 18)."""

import textwrap
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch

from graphmem.app import Graphmem
from graphmem.commands.frame import unlocked
from graphmem.errors import InvalidInput
from graphmem.flows.memories import MemoryPicture, OverlayPicture, pictured_memories, pictured_overlay
from graphmem.jobs.runner import run_jobs
from graphmem.model import Concept, EdgeType, EntityKind, Known, Memory, MemoryRole, Modality, Reliability, Who
from graphmem.text.normalize import clipped

Places = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
"""Centres of boxes in inches, of shape (boxes, 2)."""
LETTER, LINE, PADDING, GAP = 0.062, 0.135, 0.09, 0.16
"""Inches: a letter's width, a line's height, around a label, between boxes."""
HEAD, FOOT, NARROWEST = 0.85, 0.7, 7.0
"""Inches: for the title, for the key, of the narrowest page."""
WIDE, ROOMINESS, PUSHES = 1.7, 3.2, 600
"""Width of a picture for each inch of its height, its area for each square inch of its boxes, rounds of pushing."""
INK, GREY, OUTLINE = "#1F2430", "#5A6070", "#8A8F99"
FORMATS: Mapping[str, dict[str, None]] = {".svg": {"Date": None}, ".png": {}, ".pdf": {"CreationDate": None}}
"""Metadata by ending, without the time, so that the same picture gives the same file."""


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


@dataclass(frozen=True)
class Box:
    """A labelled box; `edge` is the colour of its outline, `padding` inches around its label."""

    id: str
    label: str
    colour: str
    edge: str = OUTLINE
    dashed: bool = False
    thick: bool = False
    round: bool = False
    padding: float = PADDING

    @property
    def size(self) -> tuple[float, float]:
        """Width and height that its lines need."""
        lines = self.label.splitlines()
        return max(map(len, lines)) * LETTER + 2 * self.padding, len(lines) * LINE + 2 * self.padding


Arrow = tuple[str, str, str, float]
"""An arrow between two boxes, by their ids; its colour and width."""


def draw_page(
    title: str, line: str, boxes: Sequence[Box], places: Places, arrows: Iterable[Arrow], key: Sequence[Artist]
) -> Figure:
    """Draw boxes at their places, the arrows between them, a title with a line below it, and a key at the foot."""
    sizes = np.array([box.size for box in boxes]).reshape(-1, 2)
    low = (places - sizes / 2).min(axis=0, initial=0.0) - GAP
    width, height = (places + sizes / 2).max(axis=0, initial=0.0) + GAP - low + (0.0, HEAD + FOOT)
    figure = Figure(figsize=(max(NARROWEST, width), height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, max(NARROWEST, width))
    axes.set_ylim(height, 0)

    def write(x: float, y: float, text: str, size: float, **more: Any) -> None:
        axes.text(x, y, text, fontsize=size, va="center", parse_math=False, **({"color": INK} | more))

    write(PADDING, 0.22, title, 13)
    write(PADDING, 0.46, line, 8.5, color=GREY)
    at, patches = dict[str, tuple[float, float]](), dict[str, FancyBboxPatch]()
    for box, size, (x, y) in zip(boxes, sizes, places - low + (0.0, HEAD), strict=True):
        inner, corner = size - 2 * box.padding, box.padding * (1.6 if box.round else 0.6)
        at[box.id] = float(x), float(y)
        patches[box.id] = FancyBboxPatch(
            (x - inner[0] / 2, y - inner[1] / 2), inner[0], inner[1], zorder=2,
            boxstyle=f"round,pad={box.padding},rounding_size={corner}", facecolor=box.colour,
            edgecolor=box.edge, linewidth=1.6 if box.thick else 0.6, linestyle="--" if box.dashed else "-",
        )  # fmt: skip
        axes.add_patch(patches[box.id])
        write(x, y, box.label, 7.5, ha="center", zorder=3, linespacing=1.15, weight="bold" if box.round else "normal")
    for start, end, colour, thick in arrows:
        bent = FancyArrowPatch(
            at[start], at[end], patchA=patches[start], patchB=patches[end], zorder=1, arrowstyle="-|>",
            connectionstyle="arc3,rad=0.06", mutation_scale=7, color=colour, linewidth=thick,
        )  # fmt: skip
        axes.add_patch(bent)
    add_key(figure, key)
    return figure


def add_key(figure: Figure, key: Sequence[Artist]) -> None:
    """Explain the signs at the foot of a page, in as few rows as fit its width."""
    for columns in range(len(key), 0, -1):
        legend = figure.legend(
            handles=key, loc="lower left", bbox_to_anchor=(0.005, 0.04 / figure.get_figheight()), ncols=columns,
            frameon=False, fontsize=8, handlelength=1.4, columnspacing=1.3,
        )  # fmt: skip
        if legend.get_window_extent().x1 <= figure.bbox.x1:
            return
        legend.remove()


def key_line(colour: str, label: str) -> Artist:
    """Return the sign of a kind of arrow."""
    return Line2D([], [], color=colour, label=label, linewidth=2.0)


def key_box(colour: str, label: str, **more: Any) -> Artist:
    """Return the sign of a kind of box."""
    return Patch(facecolor=colour, label=label, **({"edgecolor": OUTLINE} | more))


def placed(boxes: Sequence[Box], edges: Iterable[tuple[str, str]]) -> Places:
    """Return the centres of boxes: connected ones near each other, none upon another.

    Examples
    --------
    >>> boxes = [Box("a", "one", "white"), Box("b", "two", "white")]
    >>> a, b = placed(boxes, [("a", "b")])
    >>> bool((abs(a - b) >= boxes[0].size).any())
    True
    """
    if not boxes:
        return np.zeros((0, 2))
    graph = nx.Graph(edges)
    graph.add_nodes_from(box.id for box in boxes)
    found = nx.spring_layout(graph, seed=1, iterations=300, k=2.2 / np.sqrt(len(boxes)))
    sizes = np.array([box.size for box in boxes]) + GAP
    height = np.sqrt(ROOMINESS * sizes.prod(axis=1).sum() / WIDE)
    return _apart(np.array([found[box.id] for box in boxes]) * (height * WIDE / 2, height / 2), sizes)


def _apart(places: Places, sizes: Places) -> Places:
    """Push boxes off each other, each pair along the shorter way."""
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


def tabled(rows: Sequence[Sequence[Sequence[Box]]]) -> Places:
    """Return the centres of the boxes of a table: those of a cell below each other, from its upper left corner on.

    Examples
    --------
    >>> one, two = Box("a", "one", "white"), Box("b", "two", "white")
    >>> tabled([[[one, two], [one]]]).round(2).tolist()
    [[0.18, 0.16], [0.18, 0.47], [0.71, 0.16]]
    """
    widths = [
        max((box.size[0] for cell in column for box in cell), default=0.0) + GAP for column in zip(*rows, strict=True)
    ]
    found, top = list[tuple[float, float]](), 0.0
    for row in rows:
        heights = [np.cumsum([box.size[1] for box in cell]) for cell in row]
        for left, cell, ends in zip(np.cumsum([0.0, *widths]), row, heights, strict=False):
            found += [
                (left + box.size[0] / 2, top + end - box.size[1] / 2) for box, end in zip(cell, ends, strict=True)
            ]
        top += max(float(ends[-1]) for ends in heights if len(ends)) + GAP / 2
    return np.array(found).reshape(-1, 2)


def checked_picture(file: Path) -> Path:
    """Return the name of a picture, if it says a format that can be drawn.

    Raises
    ------
    InvalidInput    another ending than .svg, .png or .pdf, or no such folder

    Examples
    --------
    >>> checked_picture(Path("ada.svg")).name
    'ada.svg'
    """
    if file.suffix.lower() not in FORMATS:
        raise InvalidInput(f"{file.name}: a picture ends in one of {', '.join(FORMATS)}.")
    if not file.absolute().parent.is_dir():
        raise InvalidInput(f"{file}: there is no such folder: make it first.")
    return file


def save_figure(figure: Figure, file: Path) -> None:
    """Write a picture; the same picture gives the same file, and only its owner can read it.

    Raises
    ------
    InvalidInput    it cannot be written
    """
    kind = file.suffix.lower()
    try:
        file.touch(mode=0o600)
        with rc_context({"svg.hashsalt": "graphmem"}), warnings.catch_warnings():
            # A sign that the font lacks is drawn as a box.
            warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
            figure.savefig(file, format=kind[1:], dpi=130, metadata=FORMATS[kind])
    except OSError as e:
        raise InvalidInput(f"{file.name} cannot be written: {e.strerror}.") from e


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
            arrows.append((edge.from_id, edge.to_id, style[0], 0.6 + 0.8 * edge.weight))
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
    arrows = [(each.from_id, each.to_id, FOUND, 1.0) for each in found if {each.from_id, each.to_id} <= drawn]
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
