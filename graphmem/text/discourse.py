"""Discourse relations: what the words that open a statement say of the one before it."""

import re
from collections.abc import Sequence

from graphmem.model import EdgeType, Relation
from graphmem.text.doc import Doc
from graphmem.text.normalize import straightened

OUTRIGHT_WEIGHT, LOOSE, ORDER = 0.9, 0.7, 0.5
"""Weight of what is said outright, of what a word often says, and of being told one after the other: just enough to be
followed (spec 10)."""
OPENING_CHARACTERS = 100
"""How much of a statement is looked at."""
# The type, whether the edge runs from the statement before to this one, the weight. The first that fits counts.
_OPENINGS = tuple(
    (re.compile(rf"\W*(?:(?:oh|well|ok|and|but|yes|yeah),? )*(?:{words})\b", re.IGNORECASE), type_, back, weight)
    for words, type_, back, weight in (
        (r"because|cuz|'cause|since (?:i|we)", EdgeType.CAUSES, False, OUTRIGHT_WEIGHT),
        (r"(?:that's|which is|that is) why|therefore|as a result|so (?:i|we|now)", EdgeType.CAUSES, True, LOOSE),
        (r"(?:that|this|it|which) (?:really )?(?:made|makes) me", EdgeType.CAUSES, True, LOOSE),
        (r"(?:that|this|it|which) (?:really |always )?reminds? me", EdgeType.REMINDS_OF, True, OUTRIGHT_WEIGHT),
        (r"(?:that|this|it|which)? ?(?:helps?|helped|lets?) me|now i can", EdgeType.ENABLES, True, LOOSE),
        (r"i was wrong|my mistake|no,? actually|that's wrong", EdgeType.CONTRADICTS, False, OUTRIGHT_WEIGHT),
        (r"for example|i agree|exactly", EdgeType.SUPPORTS, False, LOOSE),
    )
)


def relations(pieces: Sequence[Doc], feelings: Sequence[bool], passes: int = 2) -> tuple[Relation, ...]:
    """Return the relations between the statements of a message, and of the first to what was remembered before it.

    Parameters
    ----------
    pieces : the statements, in order
    feelings : for each, whether it tells a feeling: what caused it, evoked it
    passes : 1 to 3; with one only the order is told

    Returns
    -------
    tuple of Relation, at most one between two statements and one to what was before (`target` None). The edge runs from
    `source` to `target`, or back where `reverse`; PRECEDES from the earlier to the later, where nothing else runs there

    Source: spec 2, 7.

    Examples
    --------
    >>> relations([Doc("Because the fractions had different denominators.")], [False])
    (Relation(source=0, target=None, type=<EdgeType.CAUSES: 'CAUSES'>, weight=0.9, reverse=False),)
    >>> [r.type.value for r in relations([Doc("That made me so happy!")], [True])]
    ['EVOKES']
    """
    found = list[Relation]()
    for place, piece in enumerate(pieces):
        before = place - 1 if place else None
        opened = _opening(piece, place, before, feelings[place]) if passes > 1 else None
        if opened is not None and opened.reverse and before is not None:
            opened = Relation(before, place, opened.type, opened.weight)
        if opened is not None:
            found.append(opened)
        elif before is not None:
            found.append(Relation(before, place, EdgeType.PRECEDES, ORDER))
    return tuple(found)


def _opening(piece: Doc, here: int, there: int | None, feeling: bool) -> Relation | None:
    text = straightened(piece.text[:OPENING_CHARACTERS])
    for pattern, type_, back, weight in _OPENINGS:
        if pattern.match(text):
            evoked = feeling and type_ is EdgeType.CAUSES and back
            return Relation(here, there, EdgeType.EVOKES if evoked else type_, weight, reverse=back)
    return None
