"""The name by which somebody introduces themselves, for English."""

import re

from graphmem.model import EntityKind
from graphmem.text.doc import Doc

_INTRODUCES = re.compile(
    r"\b(?:(?:[Mm]y|[Tt]he student's) name(?:'s| is)|I'm|I am|i'm|i am|im|[Cc]all me|[Tt]he student is(?: called)?)\s+"
    r"(?P<name>[^\W\d_][\w'-]*)"
)


def after_introduction(text: str, name: str) -> str:
    """A text without the words that give its speaker's name, where more of the speaker follows.

    Examples
    --------
    >>> after_introduction("I'm Kim, I'm 12", "Kim"), after_introduction("my name is Kim and i love maths", "Kim")
    ("I'm 12", 'i love maths')
    >>> after_introduction("I'm Kim", "Kim"), after_introduction("I'm Kim, from Leeds", "Kim")
    ("I'm Kim", "I'm Kim, from Leeds")
    """
    more = r"\s*(?:[,.!;–-]|\band\b)+\s*(?:and\s+)?(?=(?:i|i['’]?m|i['’]ve|my|we)\b)"
    given = rf"^(?:i['’]?m|i am|my name is|my name['’]s|this is)\s+{re.escape(name)}{more}"
    return re.sub(given, "", text, flags=re.IGNORECASE)


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
