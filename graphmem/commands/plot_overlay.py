"""The drawing of an overlay: the curriculum by domain and grade, with what one student knows of it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Rectangle

from graphmem.flows.picture import OverlayPicture
from graphmem.model import Concept, Known, Who, WorldEdgeType
from graphmem.text.sanitize import clipped

NAME_LINE, DOT, MARGIN, SIDE, HEAD = 0.155, 0.125, 0.09, 1.15, 0.85
"""Inches: a line with a name, a place of a hidden concept, around a cell, the names of the domains, the head."""
NAMED_WIDTH, HIDDEN_WIDTH = 1.75, 0.72
"""Inches of a column in which names stand, and of one without."""
NAME_CHARACTERS, MOST_NAMED, MOST_DOTS = 27, 24, 60
MET, WEAK, FAIR, STRONG = "#7FB2E5", "#E8A33D", "#B5C94C", "#3E9B4F"
HIDDEN_COLOUR, FRONTIER_COLOUR, INK = "#D9DCE2", "#E4572E", "#1F2430"
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
    """Number of dots side by side in a column of some width.

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

    The same overlay is always drawn the same way.
    """
    cells = overlay_cells(picture, name_frontier=name_frontier)
    grades = sorted({grade for _, grade in cells}, key=lambda grade: (grade is None, grade or 0))
    first: dict[str, list[int]] = defaultdict(list)
    for concept in picture.world.concepts.values():
        first[concept.domain or "other"].append(concept.grade or 0)
    domains = sorted(first, key=lambda domain: (sum(first[domain]) / len(first[domain]), domain))
    width = {
        grade: NAMED_WIDTH if any(g == grade and cell.named for (_, g), cell in cells.items()) else HIDDEN_WIDTH
        for grade in grades
    }
    height = {
        domain: max(2 * MARGIN + NAME_LINE, *(cell.height(width[g]) for (d, g), cell in cells.items() if d == domain))
        for domain in domains
    }
    wide, high = SIDE + sum(width.values()) + MARGIN, HEAD + sum(height.values()) + 0.45
    figure = Figure(figsize=(wide, high), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, wide)
    axes.set_ylim(high, 0)
    places: dict[str, tuple[float, float]] = {}
    y = HEAD
    for row, domain in enumerate(domains):
        if row % 2 == 0:
            axes.add_patch(Rectangle((0, y), wide, height[domain], facecolor="#F6F7F9", zorder=0))
        axes.text(MARGIN, y + height[domain] / 2, clipped(domain, 18), fontsize=9, va="center", color=INK)
        x = SIDE
        for grade in grades:
            if cell := cells.get((domain, grade)):
                places |= dict(_draw_cell(axes, picture, cell, x, y, width[grade]))
            x += width[grade]
        y += height[domain]
    x = SIDE
    for grade in grades:
        said = "no grade" if grade is None else f"grade {grade}"
        axes.text(x + MARGIN, HEAD - 0.12, said, fontsize=8, va="center", color="#5A6070")
        axes.plot([x, x], [HEAD, y], color="#E2E5EA", linewidth=0.6, zorder=0.5)
        x += width[grade]
    _draw_edges(axes, picture, places)
    _head(axes, who, picture)
    _key(figure, high)
    return figure


def colour_of(known: Known) -> str:
    """The colour of a known concept: met only, or how familiar it is since it was practised."""
    if known.retention is None:
        return MET
    return WEAK if known.familiarity < WEAK_BELOW else FAIR if known.familiarity < STRONG_FROM else STRONG


def _draw_cell(
    axes: Axes, picture: OverlayPicture, cell: Cell, left: float, top: float, width: float
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Draw a cell; the places of its concepts."""
    y = top + MARGIN + NAME_LINE / 2
    for concept in cell.named:
        x, known = left + MARGIN + DOT / 2, picture.known.get(concept.id)
        _dot(axes, x, y, colour_of(known) if known else "white", ring=known is None, size=26)
        name = clipped(concept.name, NAME_CHARACTERS)
        axes.text(x + 0.1, y, name, fontsize=6.8, va="center", color=INK, parse_math=False, zorder=3)
        yield concept.id, (x, y)
        y += NAME_LINE
    if cell.unnamed:
        axes.text(left + MARGIN + 0.16, y, f"and {cell.unnamed} more", fontsize=6.5, va="center", color="#5A6070")
        y += NAME_LINE
    y += DOT / 2 - NAME_LINE / 2
    across = dots_in(width)
    for i, concept in enumerate(cell.dots):
        x = left + MARGIN + DOT / 2 + (i % across) * DOT
        ring = concept.id in picture.frontier
        _dot(axes, x, y + (i // across) * DOT, "white" if ring else HIDDEN_COLOUR, ring=ring, size=20)
        yield concept.id, (x, y + (i // across) * DOT)
    if cell.uncounted:
        y += -(-len(cell.dots) // across) * DOT
        axes.text(left + MARGIN, y, f"+ {cell.uncounted}", fontsize=6.5, va="center", color="#5A6070")


def _dot(axes: Axes, x: float, y: float, colour: str, *, ring: bool, size: float) -> None:
    edge = FRONTIER_COLOUR if ring else "none"
    axes.scatter([x], [y], s=size, c=colour, edgecolors=edge, linewidths=1.1, zorder=2.5)


def _draw_edges(axes: Axes, picture: OverlayPicture, places: dict[str, tuple[float, float]]) -> None:
    """The edges between known concepts, those the student found the strongest, and the ways to the frontier."""
    for edge in picture.world.edges.values():
        if edge.from_id not in places or edge.to_id not in places or edge.from_id not in picture.known:
            continue
        found, leads = edge.id in picture.discovered, edge.type == WorldEdgeType.PREREQUISITE_OF
        if edge.to_id in picture.known:
            colour, line, opacity = ("#2F6FB2", 1.3, 0.9) if found else ("#B9C6D6", 0.5, 0.6)
        elif leads and edge.to_id in picture.frontier:
            colour, line, opacity = FRONTIER_COLOUR, 0.4, 0.3
        else:
            continue
        axes.add_patch(
            FancyArrowPatch(
                places[edge.from_id], places[edge.to_id], arrowstyle="-", connectionstyle="arc3,rad=-0.12",
                color=colour, linewidth=line, alpha=opacity, zorder=1, shrinkA=3, shrinkB=3,
            )
        )  # fmt: skip


def _head(axes: Axes, who: Who, picture: OverlayPicture) -> None:
    practised = sum(known.retention is not None for known in picture.known.values())
    told = (
        f"{len(picture.known)} of {len(picture.world.concepts)} concepts are known, {practised} of them practised; "
        f"{len(picture.frontier)} could come next. What has not been met has no name here."
    )
    title = f"{who.student_id}: what is known of the world, {picture.at:%d %B %Y}"
    axes.text(MARGIN, 0.22, title, fontsize=13, va="center", color=INK, parse_math=False)
    axes.text(MARGIN, 0.46, told, fontsize=8.5, va="center", color="#5A6070")


def _key(figure: Figure, high: float) -> None:
    def dot(colour: str, said: str, edge: str = "none") -> Line2D:
        return Line2D(
            [], [], marker="o", linestyle="none", markersize=5.5, color=colour, label=said, markeredgecolor=edge
        )

    handles = [
        dot(MET, "met"),
        dot(WEAK, "practised, weak"),
        dot(FAIR, "fair"),
        dot(STRONG, "strong"),
        dot("white", "could come next", FRONTIER_COLOUR),
        dot(HIDDEN_COLOUR, "not met"),
        Line2D([], [], color="#B9C6D6", label="prerequisite, part, neighbour"),
        Line2D([], [], color="#2F6FB2", linewidth=1.6, label="found by the student"),
    ]
    figure.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.005, 0.04 / high), ncols=8, frameon=False, fontsize=8,
        handlelength=1.3, columnspacing=1.3,
    )  # fmt: skip
