"""Signs of markup in what is shown."""

import re

_COMPARED = re.compile(r"(?<=[\w)%]) ?[<>]=? ?-?(?:\d|…|$)")


def compares_only(text: str) -> bool:
    """True of a text that has "<" and ">" only to compare numbers: no tag can be made of it."""
    return set(_COMPARED.sub("", text)).isdisjoint("<>")
