"""Discourse relations: the pieces of a message by the connectives between them."""

import re
from collections.abc import Sequence

from graphmem.model import EdgeType, Relation
from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.normalize import straightened

CONNECTIVE_CHARACTERS = 600
"""How much of a piece is looked at for words that join."""

OUTRIGHT_WEIGHT = 0.9
"""Weight of what is said outright (because, reminds me of, I was wrong)."""
LOOSE = 0.7
"""Weight of what a word often, not always, says (so, that's right, I mean)."""
IMPLIED = 0.6
"""Weight of a feeling told right after something, without a word that joins them."""
ORDER = 0.5
"""Weight of being told one after the other: just enough to be followed (spec 10)."""


_JOINS = (
    (
        re.compile(r"[, ]\s*(?:(?:because|cuz|since I|since we)\b(?! of\b))", re.I),
        EdgeType.CAUSES,
        False,
        OUTRIGHT_WEIGHT,
    ),
    (
        re.compile(
            r"[,;]\s+(?:(?:and )?(?:therefore|as a result|that's why|which is why|so)\b(?! that\b| (?:far|much"
            r"|many|on)\b))",
            re.I,
        ),
        EdgeType.CAUSES,
        True,
        LOOSE,
    ),
    (
        re.compile(r"[, ]\s*(?:(?:which |that |it )(?:made|makes) me\b)", re.I),
        EdgeType.CAUSES,
        True,
        OUTRIGHT_WEIGHT,
    ),
    (
        re.compile(r"[, ]\s*(?:(?:so that|in order to|in order for)\b)", re.I),
        EdgeType.ENABLES,
        True,
        OUTRIGHT_WEIGHT,
    ),
    (
        re.compile(
            r"[, ]\s*(?:(?:so |and )?(?:now I can|this helps? me|which helps? me"
            r"|which lets? me)\b)",
            re.I,
        ),
        EdgeType.ENABLES,
        True,
        LOOSE,
    ),
)
# What a piece opens with, and what that says of the piece or memory before it: the type, whether the edge runs from
# there to here, the weight. The first that fits counts.
_OPENINGS = (
    (r"(?:because|cuz|'cause)\b(?! of (?:that|this|it)\b)", EdgeType.CAUSES, False, OUTRIGHT_WEIGHT),
    (
        r"(?:and )?(?:(?:that|which)(?:'s| is) why|therefore|as a result|because of (?:that|this|it))\b",
        EdgeType.CAUSES,
        True,
        OUTRIGHT_WEIGHT,
    ),
    (
        r"(?:and |so )?(?:now (?:I|we) can|(?:that|this|it|which) (?:really )?(?:helps?|helped|lets?"
        r"|let) (?:me|us))\b",
        EdgeType.ENABLES,
        True,
        LOOSE,
    ),
    (r"(?:in order (?:to|for)|so that)\b", EdgeType.ENABLES, True, OUTRIGHT_WEIGHT),
    (
        r"(?:no|wait|sorry),? actually\b|actually,? (?:it's|that's|it is|i meant|not|no)\b"
        r"|(?:sorry,? )*(?:(?:i think )?i was wrong|i made a mistake|my mistake|that's (?:not (?:right|true"
        r"|correct)|wrong)"
        r"|i disagree)\b|no,? (?:it's not|it isn't|that's not|that isn't)\b|not \w+(?: \w+){0,3},? but\b",
        EdgeType.CONTRADICTS,
        False,
        OUTRIGHT_WEIGHT,
    ),
    (
        r"(?:i mean|i meant|what i meant?|more precisely|or rather|to be (?:more )?(?:precise|exact)|in other words"
        r"|let me (?:rephrase|clarify))\b",
        EdgeType.REFINES,
        False,
        LOOSE,
    ),
    (
        r"(?:yes|yeah|right|exactly|true|that's (?:right|true|correct)|i agree)\b[^.!?]{0,60}?\b(?:because|since"
        r"|for example)\b",
        EdgeType.SUPPORTS,
        False,
        LOOSE,
    ),
    (
        r"(?:(?:that|this|it|which)(?: really| always)? )reminds? me (?:of"
        r"|about)\b",
        EdgeType.REMINDS_OF,
        True,
        OUTRIGHT_WEIGHT,
    ),
)
_OPENING = tuple((re.compile(pattern, re.I), type_, back, weight) for pattern, type_, back, weight in _OPENINGS)
_SPOKEN = re.compile(r"\W*(?:(?:oh|ah|wow|well|hmm+|um+|uh|ok(?:ay)?|and|but)\b\W*)*", re.I)
_CORRECTION = re.compile(r"\b(?:i was wrong|i made a mistake|my mistake|i changed my mind)\b", re.I)
_REMINDS = re.compile(
    r"\bremind(?:s|ed)? me (?:of|about)\b|\bjust like (?:when|last|the (?:last|other))\b"
    r"|\blike last (?:time|week|year)\b"
    r"|\bsame as (?:last time|before|yesterday)\b",
    re.I,
)
_OF_BEFORE = re.compile(
    r"(?:(?:yes|yeah|so|it's)\b\W*)*(?:(?:that|this|it|which)(?:'s| is| was| made| makes)|i (?:am|was|feel"
    r"|felt)|i'm|made me)\b",
    re.I,
)
_MADE_ME = re.compile(r"(?:and )?(?:that|this|it|which)(?: really)? (?:made|makes) me\b", re.I)
_OWN_REASON = re.compile(r"\b(?:because|when|about|after|since|that i|so i|so we|to (?!hear|see))\b", re.I)
FEELING_WORDS = 12
"""Words of the longest message that only tells how one feels about what was said before."""


def content_words(doc: Doc) -> int:
    """Number of content words in a text; numbers do not count.

    Examples
    --------
    >>> content_words(Doc("I added 3 green apples to the basket"))
    4
    """
    return sum(w[0].isalpha() and len(w) > 1 and w.split("'")[0] not in STOP_WORDS for w in doc.plain_words)


def relations(pieces: Sequence[Doc], feelings: Sequence[bool], passes: int = 2) -> tuple[Relation, ...]:
    """Discourse relations, by connectives, between the pieces of a message and to what was remembered just before it.

    Parameters
    ----------
    pieces : in order
    feelings : for each piece, whether it tells a feeling
    passes : 1 to 3; with one only the order is told

    Returns
    -------
    tuple of Relation, at most one between two pieces and one to what was before. The edge runs from `source` to
    `target`, or back where `reverse`:

    - CAUSES, ENABLES from the cause or means to its effect
    - EVOKES from what happened to the feeling
    - REMINDS_OF from what was told to what it reminds of: "that reminds me of ..." runs from there to here
    - SUPPORTS, CONTRADICTS, REFINES from the later to the earlier
    - PRECEDES (with any number of passes) from the earlier to the later, where nothing else runs between them

    Source: spec 2, 7.

    Examples
    --------
    >>> relations([Doc("Because the fractions had different denominators.")], [False])
    (Relation(source=0, target=None, type=<EdgeType.CAUSES: 'CAUSES'>, weight=0.9, reverse=False),)
    >>> [r.type.value for r in relations([Doc("That made me so happy!")], [True])]
    ['EVOKES']
    """
    if passes < 2:
        return tuple(Relation(i, i + 1, EdgeType.PRECEDES, ORDER) for i in range(len(pieces) - 1))
    between = [_between(i, piece, feelings[i + 1]) for i, piece in enumerate(pieces[1:])]
    before = _opening(pieces[0], 0, None, feelings[0]) if pieces else None
    return (before, *between) if before else tuple(between)


def _between(first: int, second: Doc, feeling: bool) -> Relation:
    """Discourse relation of a piece to the one before it in the same message; here nothing needs to be reversed."""
    found = _opening(second, first + 1, first, feeling) or _joined(second, first)
    if found is None:
        return Relation(first, first + 1, EdgeType.PRECEDES, ORDER)
    return Relation(first, first + 1, found.type, found.weight) if found.reverse else found


def _joined(second: Doc, first: int) -> Relation | None:
    """Relation signalled by the connective before which a piece was split off."""
    for pattern, type_, forward, weight in _JOINS:
        if pattern.match(f", {second.text[:CONNECTIVE_CHARACTERS]}"):
            return Relation(first + 1, first, type_, weight, reverse=forward)
    return None


def _opening(doc: Doc, here: int, there: int | None, feeling: bool) -> Relation | None:
    """Relation to the preceding piece, signalled by the opening words of this one."""
    text = straightened(doc.text[:CONNECTIVE_CHARACTERS])
    start = _end_of(_SPOKEN, text)
    if _MADE_ME.match(text, start) and not feeling:
        return Relation(here, there, EdgeType.CAUSES, LOOSE, reverse=True)
    for pattern, type_, back, weight in _OPENING:
        if pattern.match(text, start):
            return Relation(here, there, type_, weight, back)
    if _CORRECTION.search(text):
        return Relation(here, there, EdgeType.CONTRADICTS, OUTRIGHT_WEIGHT)
    if _REMINDS.search(text):
        return Relation(here, there, EdgeType.REMINDS_OF, LOOSE)
    return _evoked(text, start, here, there) if feeling else None


def _evoked(text: str, start: int, here: int, there: int | None) -> Relation | None:
    if _MADE_ME.match(text, start):
        return Relation(here, there, EdgeType.EVOKES, OUTRIGHT_WEIGHT, reverse=True)
    short = len(text.split()) <= FEELING_WORDS
    if short and _OF_BEFORE.match(text, start) and not _OWN_REASON.search(text):
        return Relation(here, there, EdgeType.EVOKES, IMPLIED, reverse=True)
    return None


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    return match.end() if match else 0
