"""Near copies among statements, told by their content words, numbers and negation."""

from dataclasses import dataclass

from graphmem.text.doc import Doc

SAME_SHARE = 0.8
"""Share of the content words of the shorter of two texts that the other must hold, to say the same."""
FEW_STEMS = 1
"""Content words of a text too short to be part of another by chance."""
LITTLE = 1
"""Content words that a statement may have more than another and still say next to nothing more."""
# How a statement speaks of the student, who speaks of "I" and "my".
_STUDENT = frozenset({"student", "said", "say", "tell"})


@dataclass(frozen=True)
class Gist:
    """Content of a statement: stems of its content words, numbers, and whether it denies."""

    stems: frozenset[str]
    numbers: tuple[float, ...]
    negates: bool


def gist(text: str | Doc, name: str | None = None) -> Gist:
    """The content of a statement, whoever speaks.

    Parameters
    ----------
    text : str or its Doc, where there is one
    name : the student's, who may be spoken of by it

    Examples
    --------
    >>> gist("The student has 2 dogs.") == gist("I have 2 dogs!") == gist("Mo has 2 dogs.", "Mo")
    True
    """
    doc = (Doc(text) if isinstance(text, str) else text).excerpt
    own = _STUDENT if name is None else _STUDENT | Doc(name).stems
    return Gist(doc.stems - own, tuple(sorted(doc.numbers)), doc.negates)


def adds_little(one: Gist, other: Gist) -> bool:
    """True if a statement says what another says and next to nothing more.

    Examples
    --------
    >>> adds_little(gist("I am allergic to peanuts, you know"), gist("The student is allergic to peanuts."))
    True
    >>> adds_little(gist("I am allergic to peanuts, my pen is in the bag"), gist("I am allergic to peanuts."))
    False
    """
    more = one.stems - other.stems
    return set(one.numbers) <= set(other.numbers) and len(more) <= LITTLE and is_said_by(other, one)


def contradicts(one: Gist, other: Gist) -> bool:
    """True if two statements of the same words differ in what they deny.

    Examples
    --------
    >>> contradicts(gist("The student does not hate decimals any more."), gist("The student hates decimals."))
    True
    >>> contradicts(gist("The student hates decimals."), gist("The student hates sums."))
    False
    """
    least = min(len(one.stems), len(other.stems))
    return one.negates != other.negates and least > FEW_STEMS and len(one.stems & other.stems) >= SAME_SHARE * least


def is_said_by(one: Gist, other: Gist) -> bool:
    """True if a statement adds nothing to another: its words, numbers and negation stand there.

    Examples
    --------
    >>> is_said_by(gist("My dog is called Bello"), gist("The student's dog is called Bello, a poodle."))
    True
    >>> is_said_by(gist("I am in grade 7"), gist("The student is in grade 8."))
    False
    """
    if not one.stems or one.negates != other.negates or not set(one.numbers) <= set(other.numbers):
        return False
    if len(one.stems) <= FEW_STEMS:
        return one.stems == other.stems
    return len(one.stems & other.stems) >= SAME_SHARE * len(one.stems)
