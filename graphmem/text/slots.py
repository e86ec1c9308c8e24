"""Slots: attributes of the student or the family that have one value at a time; of one slot the newer holds."""

import re

from graphmem.text.doc import Doc
from graphmem.text.lexicon import KIN, SMALL_NUMBERS, base_kin
from graphmem.text.stems import stem

TYPE_CHARACTERS = 600
"""Characters of a piece that are read: what it is, it says early."""
SHARE = 0.4
"""Part of a piece the sentence with the attribute must make up for the whole to be about it."""

_NUMBER = rf"(?:\d{{1,3}}|{SMALL_NUMBERS})"
_AM = r"\b(?:i'm|im|i am|we're|we are)(?: (?:now|only|already|currently|actually|just|almost))*"
_AGE = rf"{_NUMBER}(?= ?(?:$|[.,!;]|years?|yrs?|since|and|now|but|today))"
_FAVOURITE = r"fav(?:ou?rite|e)?"
_OWN = tuple(
    (re.compile(pattern), slot)
    for pattern, slot in (
        (rf"\bmy (?:all[- ]time )?{_FAVOURITE} (?P<a>[a-z]+(?: (?!is\b|are\b)[a-z]+)?) (?:is|are)\b", "favourite {a}"),
        (rf"\b(?:is|are) (?:now |still )?my (?:all[- ]time )?{_FAVOURITE} (?P<a>[a-z]+)", "favourite {a}"),
        (r"\bmy (?:full |first )?name(?:'s| is)\b|\b(?:i'm|i am) called\b|\bcall me\b", "name"),
        (rf"{_AM} {_AGE}|\bi (?:just )?turned {_NUMBER}\b", "age"),
        (
            r"\b(?:i|we)(?:'ve)? (?:still |now |just )*(?:live|lived|moved) (?:in|to|at|near|on|from|over)\b",
            "home",
        ),
        (r"\bi (?:now )?(?:go|went|switched|changed) to (?:a |the )?[a-z' .]*\b(?:school|academy|college)\b", "school"),
        (rf"{_AM} (?:in|starting) (?:the )?(?:(?:year|grade|class) )?(?:\w+ grade|\d+[a-z]*)\b", "grade"),
        (r"\bmy best friend(?:'s name)?(?: is|'s| are)\b|\bis my best friend\b", "best friend"),
        (r"\bi (?:work|worked) (?:as|at|for|in)\b|\bi (?:got|have) (?:a|my) (?:new )?job (?:as|at)\b", "job"),
        (r"\bi (?:want|wanna|would like|'d like) (?:to )?(?:be|become) an? [a-z]+|\bmy dream job is\b", "dream job"),
        (r"\bi drive an? [a-z]+", "car"),
        (r"\bmy (?P<a>birthday|address|nickname|school|class|grade|hometown|height|[a-z]+ teacher)(?:'s)? is\b", "{a}"),
    )
)
_THEIRS = tuple(
    (re.compile(pattern), slot)
    for pattern, slot in (
        (r"(?:'s)? name is\b|is (?:called|named)\b", "name"),
        (r"(?:'s)? birthday is\b", "birthday"),
        (r"(?:[a-z]+ )?(?:still |now |also )?(?:lives?|lived|living|moved)\b", "home"),
        (rf"(?:[a-z]+ )?is (?:already |now |only )?{_AGE}", "age"),
        (r"(?:[a-z]+ )?(?:works|teaches|got a (?:new )?job) (?:as|at|in|for)\b", "job"),
        (rf"(?:'s)? {_FAVOURITE} (?P<a>[a-z]+) is\b", "favourite {a}"),
    )
)
_RELATIVE = "|".join(sorted(KIN, key=len, reverse=True))
_RELATED = re.compile(rf"\b(?:my|our) (?:(?:older|younger|big|little|twin) )?(?P<who>{_RELATIVE})(?= |')\s?")
_QUOTED_SPEECH = re.compile(r"[\"“][^\"”]*\b(?:i|i'm|im|my|me|we|our)\b[^\"”]*(?:[\"”]|$)")
"""Words of somebody's that are quoted."""
_FOR_LIFE = ("name", "birthday", "hometown")
_RARELY_CHANGED = ("birthday", "hometown", "home", "school", "job", "car")


def tells_attribute(doc: Doc) -> bool:
    """Return whether a message tells an attribute of the student or the family.

    Examples
    --------
    >>> tells_attribute(Doc("I am 15")), tells_attribute(Doc("I like it here"))
    (True, False)
    """
    return any(slot_of(sentence) is not None for sentence in doc.sentences)


def slot_of(doc: Doc, speaker: str | None = None) -> str | None:
    """Return the attribute of one value that a piece tells, and whose.

    Parameters
    ----------
    doc : Doc, in English; of a long one the first 600 characters are read
    speaker : who says it; the student ("self") if None

    Returns
    -------
    str such as `self favourite colour`, `Caroline home`, `self sister name`; None where no attribute is told, or only
    in passing (less than 0.4 of the piece). Slots are compared by `slot_key`

    Source: spec 12 (only memories of one slot are compared); lesson: unrelated facts must not retire each other.

    Examples
    --------
    >>> slot_of(Doc("My favourite colour is teal!")), slot_of(Doc("We moved to Rome"), "Ann")
    ('self favourite colour', 'Ann home')
    >>> slot_of(Doc("My mum lives in Rome")), slot_of(Doc("Do you live in Rome?"))
    ('self mother home', None)
    """
    whole = min(len(doc.text), TYPE_CHARACTERS)
    for sentence in doc.sentences:
        # "The girl says: I live in the walls" tells of no home.
        told = _QUOTED_SPEECH.sub(lambda m: " " * len(m.group()), sentence.plain[: max(0, whole - sentence.start)])
        if len(told) < SHARE * whole or told.endswith("?"):
            continue
        if (found := _theirs(told) or _own(told)) is not None:
            return f"{speaker or 'self'} {found}"
    return None


def slot_key(slot: str) -> str:
    """Return a slot as it is compared: the same for all inflections of its words.

    Examples
    --------
    >>> slot_key("self favourite games") == slot_key("self favourite game")
    True
    """
    return " ".join(stem(word) for word in slot.casefold().split())


def may_change(slot: str) -> bool:
    """Return whether a slot has another value some day.

    Examples
    --------
    >>> may_change("self home"), may_change("self birthday")
    (True, False)
    """
    return not slot.endswith(_FOR_LIFE)


def changes_rarely(slot: str) -> bool:
    """Return whether another value of a slot is told of as a change: a home, a school, a job.

    Examples
    --------
    >>> changes_rarely("self home"), changes_rarely("self favourite book")
    (True, False)
    """
    return slot.endswith(_RARELY_CHANGED)


def _theirs(sentence: str) -> str | None:
    related = _RELATED.search(sentence)
    if related is None:
        return None
    who = base_kin(related["who"])
    for pattern, slot in _THEIRS:
        found = pattern.match(sentence, related.end("who")) or pattern.match(sentence, related.end())
        if found:
            return f"{who} {_filled_slot(slot, found)}"
    return None


def _own(sentence: str) -> str | None:
    found = ((pattern.search(sentence), slot) for pattern, slot in _OWN)
    return next((_filled_slot(slot, match) for match, slot in found if match), None)


def _filled_slot(slot: str, found: re.Match[str]) -> str:
    """The slot with the attribute that was found in it."""
    attribute = (found.groupdict().get("a") or "").replace("favorite", "favourite").replace("color", "colour")
    return slot.replace("{a}", attribute)
