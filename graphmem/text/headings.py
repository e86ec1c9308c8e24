"""Headings of lessons and episodes: the task, or the names and topics of what was said (spec 7)."""

from graphmem.text.doc import Doc
from graphmem.text.normalize import cleaned
from graphmem.text.sanitize import clean, clipped

HEADING_CHARACTERS = 120
"""Longest heading."""
HEADING_TOPICS = 2
"""Most names and topics of a heading."""


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
    >>> heading(Doc("the telescope of my grandma is broken")), heading(Doc("ok"))
    ('grandma, telescope', '')
    """
    if task.strip():
        asked = [each.text for each in Doc(cleaned(task)).sentences if each.text.endswith("?")]
        return clipped(asked[-1] if asked else cleaned(task), HEADING_CHARACTERS)
    names = [entity.name for entity in said.excerpt.entities]
    topics = [clean(phrase) for phrase in said.excerpt.key_phrases(HEADING_TOPICS)]
    return clipped(", ".join(list(dict.fromkeys([*names, *topics]))[:HEADING_TOPICS]), HEADING_CHARACTERS)
