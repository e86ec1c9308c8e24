"""The name by which somebody introduces themselves, for English."""

import re

from graphmem.model import EntityKind
from graphmem.text.doc import Doc

_INTRODUCES = re.compile(
    r"\b(?:(?:[Mm]y|[Tt]he student's) name(?:'s| is)|I'm|I am|i'm|i am|im|[Cc]all me|[Tt]he student is(?: called)?)\s+"
    r"(?P<name>[^\W\d_][\w'-]*)"
)


def introduced_name(text: str) -> str:
    """The first name that somebody gives for their own, in a message or in a statement about them; empty without one.

    Examples
    --------
    >>> introduced_name("Hi! I'm Kim and I live in Hamburg"), introduced_name("pls call me Tobi")
    ('Kim', 'Tobi')
    >>> introduced_name("I'm Happy today"), introduced_name("I am German"), introduced_name("My dog's name is Bello")
    ('', '', '')
    """
    doc = Doc(text).excerpt
    named = {entity.name.split()[0] for entity in doc.entities if entity.kind is not EntityKind.PLACE}
    found = (match["name"] for match in _INTRODUCES.finditer(doc.text.replace("’", "'")))
    return next((name for name in found if name in named), "")
