"""Headings of lessons and episodes: the task, or the names in what was said (spec 7)."""

from graphmem.text.doc import Doc
from graphmem.text.normalize import cleaned
from graphmem.text.sanitize import clipped

HEADING_CHARACTERS = 120
"""Longest heading."""
HEADING_NAMES = 2
"""Most names in a heading."""


def heading(said: Doc, task: str = "") -> str:
    """Return the heading of a lesson or episode; empty where nothing is named.

    Parameters
    ----------
    said : what the student said in it
    task : the exercise or lesson it was about, where that is known

    Examples
    --------
    >>> heading(Doc("I have 4 left."), "Sam sells bread. How many loaves are left?")
    'How many loaves are left?'
    >>> heading(Doc("Grandma gave Mia the telescope")), heading(Doc("my telescope is broken"))
    ('Grandma, Mia', '')
    """
    if task.strip():
        asked = [each.text for each in Doc(cleaned(task)).sentences if each.text.endswith("?")]
        return clipped(asked[-1] if asked else cleaned(task), HEADING_CHARACTERS)
    names = [entity.name for entity in said.excerpt.entities]
    return clipped(", ".join(list(dict.fromkeys(names))[:HEADING_NAMES]), HEADING_CHARACTERS)
