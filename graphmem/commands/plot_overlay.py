"""The drawing of an overlay: the curriculum by domain and grade, with what one student knows of it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from graphmem.commands.canvas import FOOT, GREY, HEAD, MARGIN, Canvas, key_dot, key_line
from graphmem.flows.picture import OverlayPicture
from graphmem.model import Concept, Known, Who
from graphmem.text.sanitize import clipped

NAME_LINE, DOT, SIDE = 0.155, 0.125, 1.15
"""Inches: a line with a name, a place of a hidden concept, the names of the domains."""
NAMED_WIDTH, HIDDEN_WIDTH = 1.75, 0.72
"""Inches of a column in which names stand, and of one without."""
NAME_CHARACTERS, MOST_NAMED, MOST_DOTS = 27, 24, 60
MET, WEAK, FAIR, STRONG = "#7FB2E5", "#E8A33D", "#B5C94C", "#3E9B4F"
HIDDEN_COLOUR, FRONTIER_COLOUR, FOUND_COLOUR = "#D9DCE2", "#E4572E", "#2F6FB2"
WEAK_BELOW, STRONG_FROM = 0.3, 0.6
"""Familiarity under which a concept is weak, and from which it is strong."""


@dataclass
class Cell:
    """The concepts of a domain and a grade: those with a name, how many more of them, dots and how many more."""

    named: list[Concept] = field(default_factory=list)
    unnamed: int = 0
    dots: list[Concept] = field(default_factory=list)
    uncounted: int = 0

    def height(self, width: float) -> float:
        """Inches that it needs in a column of some width."""
        lines = len(self.named) + (self.unnamed > 0) + (self.uncounted > 0)
        rows = -(-len(self.dots) // dots_in(width))
        return lines * NAME_LINE + rows * DOT + 2 * MARGIN


def dots_in(width: float) -> int:
    """Return the number of dots side by side in a column of some width.

    Examples
    --------
    >>> dots_in(0.72)
    4
    """
    return max(1, int((width - 2 * MARGIN) / DOT))


def overlay_cells(picture: OverlayPicture, *, name_frontier: bool) -> dict[tuple[str, int | None], Cell]:
    """The concepts of a world by domain and grade; names only of what is known, and of the frontier if asked for."""
    cells: dict[tuple[str, int | None], Cell] = defaultdict(Cell)
    named = picture.known.keys() | (picture.frontier if name_frontier else set())

    def order(concept: Concept) -> tuple[bool, bool, str]:
        return concept.id not in picture.known, concept.id not in picture.frontier, concept.name

    for concept in sorted(picture.world.concepts.values(), key=order):
        cell = cells[concept.domain or "other", concept.grade]
        if concept.id not in named:
            into, most = cell.dots, MOST_DOTS
            cell.uncounted += len(into) >= most
        else:
            into, most = cell.named, MOST_NAMED
            cell.unnamed += len(into) >= most
        if len(into) < most:
            into.append(concept)
    return dict(cells)


def draw_overlay(who: Who, picture: OverlayPicture, *, name_frontier: bool = False) -> Figure:
    """Draw the world as a table of domains and grades, a dot a concept; the known ones named, with their edges.

    Domains of which nothing is known and nothing could come next are left out. The same overlay is always drawn the
    same way.
    """
    cells = overlay_cells(picture, name_frontier=name_frontier)
    grades = sorted({grade for _, grade in cells}, key=lambda grade: (grade is None, grade or 0))
    first: dict[str, list[int]] = defaultdict(list)
    for concept in picture.world.concepts.values():
        first[concept.domain or "other"].append(concept.grade or 0)
    near = {picture.world.concepts[id].domain or "other" for id in picture.known.keys() | picture.frontier}
    domains = sorted(
        first.keys() & near or first.keys(), key=lambda domain: (sum(first[domain]) / len(first[domain]), domain)
    )
    width = {
        grade: NAMED_WIDTH if any(g == grade and cell.named for (_, g), cell in cells.items()) else HIDDEN_WIDTH
        for grade in grades
    }
    height = {
        domain: max(2 * MARGIN + NAME_LINE, *(cell.height(width[g]) for (d, g), cell in cells.items() if d == domain))
        for domain in domains
    }
    canvas = _page(who, picture, SIDE + sum(width.values()) + MARGIN, HEAD + sum(height.values()) + FOOT)
    places, y = dict[str, tuple[float, float]](), HEAD
    for row, domain in enumerate(domains):
        if row % 2 == 0:
            band = Rectangle((0, y), SIDE + sum(width.values()) + MARGIN, height[domain], facecolor="#F6F7F9", zorder=0)
            canvas.axes.add_patch(band)
        canvas.text(MARGIN, y + height[domain] / 2, clipped(domain, 18), size=9)
        x = SIDE
        for grade in grades:
            if cell := cells.get((domain, grade)):
                places |= dict(_draw_cell(canvas, picture, cell, x, y, width[grade]))
            x += width[grade]
        y += height[domain]
    x = SIDE
    for grade in grades:
        canvas.text(x + MARGIN, HEAD - 0.12, "no grade" if grade is None else f"grade {grade}", size=8, color=GREY)
        canvas.axes.plot([x, x], [HEAD, y], color="#E2E5EA", linewidth=0.6, zorder=0.5)
        x += width[grade]
    _draw_edges(canvas, picture, places)
    return canvas.figure


def _page(who: Who, picture: OverlayPicture, width: float, height: float) -> Canvas:
    practised = sum(known.retention is not None for known in picture.known.values())
    line = (
        f"{len(picture.known)} of {len(picture.world.concepts)} concepts are known, {practised} of them practised; "
        f"{len(picture.frontier)} could come next. What has not been met has no name here."
    )
    title = f"{who.student_id}: what is known of the world, {picture.at:%d %B %Y}"
    canvas = Canvas(width, height, title, line)
    dots = (
        (MET, "met", "none"),
        (WEAK, "practised, weak", "none"),
        (FAIR, "fair", "none"),
        (STRONG, "strong", "none"),
        ("white", "could come next", FRONTIER_COLOUR),
        (HIDDEN_COLOUR, "not met", "none"),
    )
    canvas.key([*(key_dot(*each) for each in dots), key_line(FOUND_COLOUR, "practised together")])
    return canvas


def colour_of(known: Known) -> str:
    """Return the colour of a known concept: met only, or how familiar it is since it was practised."""
    if known.retention is None:
        return MET
    return WEAK if known.familiarity < WEAK_BELOW else FAIR if known.familiarity < STRONG_FROM else STRONG


def _draw_cell(
    canvas: Canvas, picture: OverlayPicture, cell: Cell, left: float, top: float, width: float
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Draw a cell; the places of its concepts."""
    y = top + MARGIN + NAME_LINE / 2
    for concept in cell.named:
        x, known = left + MARGIN + DOT / 2, picture.known.get(concept.id)
        _dot(canvas, x, y, colour_of(known) if known else "white", ring=known is None, size=26)
        name = clipped(concept.name, NAME_CHARACTERS)
        canvas.text(x + 0.1, y, name, size=6.8, zorder=3)
        yield concept.id, (x, y)
        y += NAME_LINE
    if cell.unnamed:
        canvas.text(left + MARGIN + 0.16, y, f"and {cell.unnamed} more", size=6.5, color=GREY)
        y += NAME_LINE
    y += DOT / 2 - NAME_LINE / 2
    across = dots_in(width)
    for i, concept in enumerate(cell.dots):
        x = left + MARGIN + DOT / 2 + (i % across) * DOT
        ring = concept.id in picture.frontier
        _dot(canvas, x, y + (i // across) * DOT, "white" if ring else HIDDEN_COLOUR, ring=ring, size=20)
        yield concept.id, (x, y + (i // across) * DOT)
    if cell.uncounted:
        y += -(-len(cell.dots) // across) * DOT
        canvas.text(left + MARGIN, y, f"+ {cell.uncounted}", size=6.5, color=GREY)


def _dot(canvas: Canvas, x: float, y: float, colour: str, *, ring: bool, size: float) -> None:
    edge = FRONTIER_COLOUR if ring else "none"
    canvas.axes.scatter([x], [y], s=size, c=colour, edgecolors=edge, linewidths=1.1, zorder=2.5)


def _draw_edges(canvas: Canvas, picture: OverlayPicture, places: dict[str, tuple[float, float]]) -> None:
    """The edges between known concepts that the student found; all others would hide them."""
    for id in sorted(picture.discovered & picture.world.edges.keys()):
        edge = picture.world.edges[id]
        if {edge.from_id, edge.to_id} <= places.keys() & picture.known.keys():
            canvas.arrow(
                places[edge.from_id], places[edge.to_id], arrowstyle="-", connectionstyle="arc3,rad=-0.12",
                color=FOUND_COLOUR, linewidth=1.3, alpha=0.9, shrinkA=3, shrinkB=3,
            )  # fmt: skip
