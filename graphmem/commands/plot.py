"""Pictures of a student's memory graph, and of the overlay on the world, without a display."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.app import Graphmem
from graphmem.commands.frame import unlocked
from graphmem.errors import InvalidInput
from graphmem.flows.picture import pictured_memories, pictured_overlay
from graphmem.jobs.runner import run_jobs
from graphmem.model import Who

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
DOTS_PER_INCH = 130


async def memory_figure(gm: Graphmem, who: Who, password: str | None, most: int) -> "Figure":
    """Return a picture of a student's most present memories; words only with the password.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    NotFound        no password was given, and there is no such student
    """
    from graphmem.commands.plot_memories import draw_memories

    if password is None:
        return draw_memories(who, await pictured_memories(gm, who, most))
    async with unlocked(gm, who, password) as session:
        await run_jobs(gm, session)
        return draw_memories(who, await pictured_memories(gm, who, most, session))


async def overlay_figure(gm: Graphmem, who: Who, *, name_frontier: bool = False) -> "Figure":
    """A picture of what a student knows of the world; what could come next is named only where that is asked for.

    Raises
    ------
    NotFound        there is no such student, or no world
    """
    from graphmem.commands.plot_overlay import draw_overlay

    return draw_overlay(who, await pictured_overlay(gm, who), name_frontier=name_frontier)


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


def save_figure(figure: "Figure", file: Path) -> None:
    """Write a picture; the same picture gives the same file, and only its owner can read it.

    Raises
    ------
    InvalidInput    it cannot be written
    """
    from matplotlib import rc_context

    made: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".png": {}, ".pdf": {"CreationDate": None}}
    kind = file.suffix.lower()
    try:
        file.touch(mode=0o600)
        with rc_context({"svg.hashsalt": "graphmem"}), warnings.catch_warnings():
            # A sign that the font lacks is drawn as a box.
            warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
            figure.savefig(file, format=kind[1:], dpi=DOTS_PER_INCH, metadata=made[kind])
    except OSError as e:
        raise InvalidInput(f"{file.name} cannot be written: {e.strerror}.") from e
