"""A page of labelled boxes and the arrows between them, measured in inches from its upper left corner."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch

from graphmem.errors import InvalidInput

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


class Arrow(NamedTuple):
    """An arrow between two boxes, by their ids."""

    start: str
    end: str
    colour: str
    width: float = 1.0


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
    for arrow in arrows:
        bent = FancyArrowPatch(
            at[arrow.start], at[arrow.end], patchA=patches[arrow.start], patchB=patches[arrow.end], zorder=1,
            arrowstyle="-|>", connectionstyle="arc3,rad=0.06", mutation_scale=7, color=arrow.colour,
            linewidth=arrow.width,
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
