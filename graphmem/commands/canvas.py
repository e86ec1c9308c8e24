"""The page that both pictures are drawn on: measured in inches from its upper left corner."""

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch

INK, GREY, OUTLINE = "#1F2430", "#5A6070", "#8A8F99"
MARGIN, HEAD, FOOT = 0.09, 0.85, 0.7
"""Inches: left of the title, for the title, for the key."""


class Canvas:
    """A white page with a title, a line below it, and room for a key at its foot."""

    figure: Figure
    axes: Axes

    def __init__(self, width: float, height: float, title: str, line: str) -> None:
        self.height = height
        self.figure = Figure(figsize=(width, height), facecolor="white")
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self.axes.set_xlim(0, width)
        self.axes.set_ylim(height, 0)
        self.text(MARGIN, 0.22, title, size=13)
        self.text(MARGIN, 0.46, line, size=8.5, color=GREY)

    def text(self, x: float, y: float, said: str, *, size: float, **more: Any) -> None:
        """Write a line."""
        self.axes.text(x, y, said, fontsize=size, va="center", parse_math=False, **({"color": INK} | more))

    def arrow(self, start: tuple[float, float], end: tuple[float, float], **more: Any) -> None:
        """Draw a slightly bent line or arrow."""
        given: dict[str, Any] = {"connectionstyle": "arc3,rad=0.06", "zorder": 1} | more
        self.axes.add_patch(FancyArrowPatch(start, end, **given))

    def key(self, handles: Sequence[Artist]) -> None:
        """Explain the signs at the foot of the page, in as few rows as fit its width."""
        for columns in range(len(handles), 0, -1):
            legend = self.figure.legend(
                handles=handles, loc="lower left", bbox_to_anchor=(0.005, 0.04 / self.height), ncols=columns,
                frameon=False, fontsize=8, handlelength=1.4, columnspacing=1.3,
            )  # fmt: skip
            if legend.get_window_extent().x1 <= self.figure.bbox.x1:
                return
            legend.remove()


def key_line(colour: str, label: str) -> Line2D:
    """Return the sign of a kind of edge."""
    return Line2D([], [], color=colour, label=label, linewidth=2.0)


def key_dot(colour: str, label: str, edge: str = "none") -> Line2D:
    """Return the sign of a kind of dot."""
    return Line2D([], [], marker="o", linestyle="none", markersize=5.5, color=colour, label=label, markeredgecolor=edge)


def key_box(colour: str, label: str, **more: Any) -> Patch:
    """Return the sign of a kind of box."""
    return Patch(facecolor=colour, label=label, **({"edgecolor": OUTLINE} | more))
